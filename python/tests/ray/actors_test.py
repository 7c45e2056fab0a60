"""Predictor and Embedder as actors of Ray Data on one machine: blocks, places, the plan cache, and an actor that is killed."""
import os
import time
import unittest

import numpy as np
import pyarrow as pa

from ray_case import LEVEL, DiesOnce, RayCase, batch, die, first, ray, right_once, texts_of, truth, vector_truth

from tenfold.ray import Embedder, Predictor
from tenfold.ray._place import place_of


def pool(size=2):
    return ray.data.ActorPoolStrategy(size=size)


class Look(Embedder):
    """Which process answers."""

    def __call__(self, rows):
        table = super().__call__(rows)
        return table.append_column('process', pa.array([os.getpid()] * table.num_rows))


class Builder:
    """An actor that builds, notes who does, and may be killed meanwhile."""

    def __init__(self, folder, dies):
        self.folder, self.dies = folder, dies

    def progress(self, *_):
        open(os.path.join(self.folder, f'built-{os.getpid()}'), 'w').close()
        time.sleep(0.05)   # the other actor comes meanwhile
        if self.dies and first(os.path.join(self.folder, 'died')):
            die()
        return True

    def answer(self, path, x):
        predictor = Predictor(path, plan_cache=os.path.join(self.folder, 'cache'), progress=self.progress, **LEVEL)
        return predictor({'x': x})['y'], self.mapped()

    def mapped(self):
        """kB of the cache's files in this process: shared or as they are in the file, and its own."""
        sums, inside = {'Rss': 0, 'Private_Dirty': 0, 'Anonymous': 0}, False
        with open('/proc/self/smaps') as file:
            for line in file:
                if '-' in line.split()[0]:
                    inside = self.folder in line
                elif inside and line.split(':')[0] in sums:
                    sums[line.split(':')[0]] += int(line.split()[1])
        return sums


class Actors(RayCase):
    STARTED = dict(num_gpus=1)   # which is not there

    def embed(self, kind, rows, size=2, **options):
        options = {'folder': self.path('bert'), 'column': 'text', 'plan_cache': self.path('cache'),
                   'model_kwargs': {'optimization_level': 0}, **options}
        return rows.map_batches(kind, fn_constructor_kwargs=options, batch_size=16, batch_format='pyarrow', compute=pool(size))

    def rows(self, count, blocks=10):
        texts = texts_of(count)
        return ray.data.from_items([{'i': i, 'text': text} for i, text in enumerate(texts)], override_num_blocks=blocks)

    def test_arrays(self):
        x = batch(203)
        rows = ray.data.from_numpy(x).add_column('i', lambda frame: frame.index)   # the column is "data"
        found = rows.map_batches(Predictor, fn_constructor_kwargs=dict(path=self.onnx_file(), batch_size=8, inputs={'x': 'data'},
                                                                       keep=['data'], plan_cache=self.path('cache'), **LEVEL),
                                 batch_size=50, compute=pool()).take_all()
        self.assertEqual(len(found), 203)
        self.near([row['y'] for row in found], truth(np.array([row['data'] for row in found])))
        self.near(np.sort([row['data'][0] for row in found]), np.sort(x[:, 0]))

    def test_two_actors_with_ragged_and_empty_blocks(self):
        encoder = self.encoder()
        rows = self.rows(203).filter(lambda row: row['i'] >= 45)   # the first blocks are empty
        found = self.embed(Look, rows).take_all()
        self.assertEqual(sorted(row['i'] for row in found), list(range(45, 203)))
        for row in found[::20]:
            self.near(row['embedding'], vector_truth(encoder, row['text']), 1e-4)
        self.assertEqual(self.embed(Embedder, rows.filter(lambda row: False), 1).take_all(), [])

    def test_one_of_two_is_killed(self):
        encoder = self.encoder()
        found = self.embed(DiesOnce, self.rows(400, 20), marker=self.path('died'), at=201).take_all()
        self.assertTrue(os.path.exists(self.path('died')))
        right_once(self, encoder, found, 400)

    def test_rows_that_cannot_be_embedded(self):
        encoder = self.encoder()
        rows = ray.data.from_items([{'i': i, 'text': None if i == 7 else 'fine.'} for i in range(40)], override_num_blocks=4)
        found = self.embed(Embedder, rows, on_error='null').take_all()
        self.assertEqual([row['i'] for row in found if row['embedding'] is None], [7])
        self.assertEqual([row['i'] for row in found if row['embedding_error']], [7])
        self.near(found[0]['embedding'], vector_truth(encoder, 'fine.'), 1e-4)
        with self.assertRaises(Exception) as caught:
            self.embed(Embedder, rows, key='i').take_all()
        for word in ('(i 7)', 'null', "on_error='null'"):
            self.assertIn(word, str(caught.exception))

    def test_no_model_at_its_path(self):
        for kind, options, words in ((Predictor, {'path': '/nowhere/m.onnx'}, "no model '/nowhere/m.onnx' on node"),
                                     (Embedder, {'folder': '/nowhere', 'column': 'text'}, "'/nowhere'"), (Predictor, {}, 'needs path=')):
            with self.assertRaises(Exception) as caught:
                self.rows(10, 1).map_batches(kind, fn_constructor_kwargs=options, compute=pool(1)).take_all()
            self.assertIn(words, str(caught.exception))

    def test_devices_and_threads_are_those_that_ray_reserved(self):
        place = lambda **given: ray.remote(**given)(lambda: tuple(place_of(None, None)))
        found = ray.get([place(num_cpus=2).remote(), place(num_cpus=0.5).remote(), place(num_cpus=1, num_gpus=1).remote()])
        self.assertEqual(found, [(['cpu'], 2), (['cpu'], 1), (['cuda:0'], 1)])

    def test_a_reserved_gpu_that_is_not_there(self):
        path, x = self.onnx_file(), batch()

        def answer(fallback):
            return Predictor(path, fallback=fallback, plan_cache=False, **LEVEL)({'x': x})['y']
        on_gpu = ray.remote(num_gpus=1)(answer)
        self.near(ray.get(on_gpu.remote(True)), truth(x))
        with self.assertRaisesRegex(Exception, 'cuda:0.*num_gpus'):
            ray.get(on_gpu.remote(False))

    def builders(self, dies):
        path = self.onnx_file()
        actors = [ray.remote(num_cpus=1)(Builder).remote(self.folder, dies) for _ in range(2)]
        answers = []
        for made in [actor.answer.remote(path, batch(5)) for actor in actors]:
            try:
                answers.append(ray.get(made))
            except ray.exceptions.RayActorError:
                answers.append(None)
        return [one for one in answers if one], [name for name in os.listdir(self.folder) if name.startswith('built-')]

    def test_one_builds_and_both_share_the_weights(self):
        answers, built = self.builders(False)
        self.assertEqual(len(built), 1)
        self.assertEqual(len(answers), 2)
        for found, mapped in answers:
            self.near(found, truth(batch(5)))
            self.assertGreater(mapped['Rss'], 0)
            self.assertEqual((mapped['Private_Dirty'], mapped['Anonymous']), (0, 0))

    def test_the_builder_is_killed_and_the_other_one_builds(self):
        answers, built = self.builders(True)
        self.assertEqual((len(answers), len(built)), (1, 2))
        self.near(answers[0][0], truth(batch(5)))


if __name__ == '__main__':
    unittest.main()
