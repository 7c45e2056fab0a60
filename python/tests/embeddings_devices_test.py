"""tenfold.embeddings on several devices, in threads and other processes, and in 8 bits."""
import concurrent.futures
import copy
import multiprocessing
import os
import pickle
import unittest

import numpy as np
from case import Case
from embeddings_case import QUICK, TEXTS, TOKENS, RandomEncoder

import tenfold
from tenfold.embeddings import CrossEncoder, SentenceTransformer


class Devices(Case):
    def test_threads_share_a_model(self):
        model = SentenceTransformer(RandomEncoder(self.path('bert'), 'bert').folder, **QUICK)
        parts = [[' '.join(TOKENS[4 + (i + k * j) % 9] for j in range(1 + i % 7)) for i in range(300)] for k in range(8)]
        expected = [model.encode(part) for part in parts]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for _ in range(3):
                for found, reference in zip(pool.map(model.encode, parts), expected):
                    np.testing.assert_allclose(found, reference, atol=1e-6)
        self.assertEqual(model.counts['texts'], 300 * 8 * 4)

    def test_devices_and_pools(self):
        folder = RandomEncoder(self.path('bert'), 'bert').folder
        texts = [' '.join(TOKENS[4 + (i * n) % 9].replace('##', '') for n in range(1, 2 + i % 9)) for i in range(300)]
        reference = SentenceTransformer(folder, **QUICK).encode(texts)
        first = min(os.sched_getaffinity(0))
        for devices in (['cpu', 'cpu'], [f'cpu:{first}', 'cpu'], (f'cpu:{first}',)):
            for strategy in ('auto', 'round_robin', 'memory', 'utilization', *(['pipeline'] if len(devices) > 1 else [])):
                options = {**QUICK, 'device': devices, 'model_kwargs': {**QUICK['model_kwargs'], 'strategy': strategy}}
                model = SentenceTransformer(folder, **options)
                np.testing.assert_allclose(model.encode(texts), reference, atol=1e-5)
                self.assertEqual([d['device'] for d in model.devices], list(devices))
                self.assertEqual(sum(d['texts'] for d in model.devices), 600 if strategy == 'pipeline' else 300)
        model = SentenceTransformer(folder, **QUICK)
        pool = model.start_multi_process_pool(['cpu', 'cpu'])
        np.testing.assert_allclose(model.encode(texts, pool=pool), reference, atol=1e-5)
        np.testing.assert_allclose(model.encode(texts, device=['cpu', 'cpu']), reference, atol=1e-5)
        self.assertEqual(model.counts['texts'], 0, 'others computed')
        model.stop_multi_process_pool(pool)
        for wrong, words in ((lambda: model.encode(texts, pool=pool), 'was not stopped'),
                             (lambda: SentenceTransformer(folder, device=[]), 'empty list'),
                             (lambda: SentenceTransformer(folder, device=['cpu', 'gpu']), "'gpu' is none"),
                             (lambda: SentenceTransformer(folder, device='cpu', model_kwargs={'strategy': 'best'}), 'round_robin')):
            with self.assertRaisesRegex(tenfold.InvalidArgument, words):
                wrong()

    def test_tokens_and_scores_on_several_devices(self):
        folder = RandomEncoder(self.path('bert'), 'bert').folder
        two = {**QUICK, 'device': ['cpu', 'cpu']}
        both = (SentenceTransformer(folder, **o).encode(TEXTS * 20, output_value='token_embeddings') for o in (two, QUICK))
        for got, reference in zip(*both):
            np.testing.assert_allclose(got, reference, atol=1e-5)
        judge = RandomEncoder(self.path('head'), 'bert', 1).folder
        pairs = [(TEXTS[i % 5], TEXTS[i * 3 % 4]) for i in range(100)]
        model = CrossEncoder(judge, **two)
        np.testing.assert_allclose(model.predict(pairs), CrossEncoder(judge, **QUICK).predict(pairs), atol=1e-5)
        self.assertEqual(sum(d['texts'] for d in model.devices), 100)


class Precisions(Case):
    def test_precisions_of_products(self):
        truth = RandomEncoder(self.path('bert'), 'bert')
        reference = SentenceTransformer(truth.folder, **QUICK).encode(TEXTS)

        def made(**options):
            model = SentenceTransformer(truth.folder, **{**QUICK, 'model_kwargs': {**QUICK['model_kwargs'], **options}})
            got = model.encode(TEXTS)
            return model.devices[0], (got * reference).sum(1) / np.linalg.norm(got, axis=1) / np.linalg.norm(reference, axis=1)
        reported, near = made(precision='int8', calibration_texts=TEXTS, min_cosine=0.9)
        self.assertEqual(reported['precision'], 'int8')
        self.assertAlmostEqual(reported['int8_cosine'], near[1::2].mean(), places=5)
        reported, near = made(precision='int8', calibration_texts=TEXTS, min_cosine=1)
        self.assertNotEqual(reported['precision'], 'int8')
        self.assertGreater(near.min(), 0.999)
        self.assertEqual(made(precision='fp32')[0]['precision'], 'fp32')
        for options, words in (({'precision': 'int4'}, 'fp32, tf32, fp16, bf16, int8 or auto'),
                               ({'precision': 'fp16', 'dtype': 'float16'}, 'say the same'),
                               ({'precision': 'int8', 'min_cosine': 2}, 'above 0 and at most 1')):
            with self.assertRaisesRegex(tenfold.InvalidArgument, words):
                made(**options)

    def test_int8_by_texts_of_any_length(self):
        """Longer than 64 tokens, among those that give ranges and among those that check."""
        truth = RandomEncoder(self.path('bert'), 'bert', places=140)
        texts = [' '.join(TOKENS[4 + i * k % 5] for k in range(1, n)) for i, n in enumerate((3, 70, 12, 100, 130, 6) * 10)]
        reference = SentenceTransformer(truth.folder, **QUICK).encode(texts)
        options = {**QUICK['model_kwargs'], 'precision': 'int8', 'calibration_texts': texts, 'min_cosine': 0.8}
        with self.assertLogs('tenfold', 'INFO') as reported:
            model = SentenceTransformer(truth.folder, **{**QUICK, 'model_kwargs': options})
            got = model.encode(texts)
        self.assertEqual(model.devices[0]['precision'], 'int8')
        self.assertNotIn('is not known', ' '.join(reported.output))
        near = (got * reference).sum(1) / np.linalg.norm(got, axis=1) / np.linalg.norm(reference, axis=1)
        self.assertAlmostEqual(model.devices[0]['int8_cosine'], near[1::2].mean(), places=5)


class Copies(Case):
    """By pickle, to other processes, and by copy."""

    def same(self, copy, model, call):
        np.testing.assert_allclose(call(copy), call(model), atol=1e-6)

    def test_by_pickle_and_deepcopy(self):
        folder, head = RandomEncoder(self.path('bert'), 'bert').folder, RandomEncoder(self.path('head'), 'bert', 1).folder
        own = dict(prompts={'query': 'how '}, default_prompt_name='query', truncate_dim=5, similarity_fn_name='dot', max_seq_length=7)
        model = SentenceTransformer(folder, **QUICK, **own)
        judge = CrossEncoder(head, **QUICK, activation_fn='none')
        for way in (copy.deepcopy, copy.copy, lambda one: pickle.loads(pickle.dumps(one))):
            again = way(model)
            self.same(again, model, lambda m: m.encode(TEXTS))
            self.assertEqual((again.prompts, again.max_seq_length, again.similarity_fn_name), (model.prompts, 7, 'dot'))
            self.assertIsNot(again._encoder, model._encoder)
            self.same(way(judge), judge, lambda m: m.predict([('red', 'blue'), ('fine', '')]))

    def test_to_other_processes(self):
        """Which start anew, and in another folder: what travels names the folder by its whole path."""
        RandomEncoder(self.path('bert'), 'bert')
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.path(''))
        model = SentenceTransformer('bert', **QUICK)
        reference = model.encode(TEXTS)
        os.chdir(before)
        with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context('spawn')) as pool:
            for got in pool.map(_encoded, [model] * 2, [TEXTS] * 2):
                np.testing.assert_allclose(got, reference, atol=1e-6)


def _encoded(model, texts):
    return model.encode(texts)


if __name__ == '__main__':
    unittest.main()
