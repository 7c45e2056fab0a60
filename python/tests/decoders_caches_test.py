"""Caches of random shapes beside NumPy in f64, at random lengths and cuts; many steps without growth of memory.

TENFOLD_CACHE_LENGTHS=10000 and TENFOLD_DECODER_STEPS=100000 are the whole; a test run takes a share.
"""
import gc
import os
import unittest

import numpy as np

import tenfold
from case import Case
from decoders_case import QUICK, VOCABULARY, RandomDecoder
from loaded_decoders_case import resident

LENGTHS = int(os.environ.get('TENFOLD_CACHE_LENGTHS', '400'))
STEPS = int(os.environ.get('TENFOLD_DECODER_STEPS', '4000'))


class Shapes(Case):
    def kind(self, random):
        shared = int(random.integers(1, 5))
        kind = dict(model_type=str(random.choice(['llama', 'mistral', 'qwen2', 'qwen3', 'phi3'])), shared=shared,
                    heads=shared * int(random.integers(1, 5)), head_dim=2 * int(random.integers(1, 12)), places=128)
        if kind['model_type'] == 'mistral':
            kind['sliding_window'] = int(random.integers(1, 30))
        if kind['model_type'] == 'phi3':
            kind['head_dim'] *= 2
            kind['partial_rotary_factor'] = 0.5
        if random.random() < 0.2:
            kind = dict(model_type='gpt2', n_embd=24, n_head=int(random.choice([1, 2, 3, 4, 6])), n_layer=3, n_positions=64)
        return kind

    def compared(self, random, truth, decoder, left):
        """One session: tokens in pieces, until its sequences are full or enough was compared. Returns how many lengths were."""
        capacity, batch = decoder.info.max_length, decoder.info.max_batch
        session, done = decoder.start(batch), 0
        whole = [random.integers(0, VOCABULARY, capacity).tolist() for _ in range(batch)]
        expected = [truth.logits(ids) for ids in whole]
        while done < left:
            have = [len(session.ids(i)) for i in range(batch)]
            if min(have) == capacity:
                break
            if random.random() < 0.1:
                session = session.fork()
            if random.random() < 0.15:
                cut = int(random.integers(batch))
                session.truncate(cut, int(random.integers(have[cut] + 1)))
                continue
            each = decoder.info.speculate > 0 and random.random() < 0.3
            longest = decoder.info.speculate + 1 if each else int(random.choice([1, 1, 1, 3, capacity]))
            sizes = [int(random.integers(0, min(longest, capacity - n) + 1)) for n in have]
            pieces = [whole[i][n:n + size] for i, (n, size) in enumerate(zip(have, sizes))]
            if each and any(sizes):
                rows = session.append_each(pieces)
                wanted = [expected[i][n + t] for i, (n, size) in enumerate(zip(have, sizes)) for t in range(size)]
            else:
                rows = [row for row, size in zip(session.append(pieces), sizes) if size]
                wanted = [expected[i][n + size - 1] for i, (n, size) in enumerate(zip(have, sizes)) if size]
            self.assertEqual(len(rows), len(wanted))
            for row, want in zip(rows, wanted):
                self.assertLess(np.abs(row - want).max() / np.abs(want).max(), 3e-5, (have, sizes, each))
            done += len(wanted)
        return done

    def test_random_shapes_and_lengths(self):
        random, done, shapes = np.random.default_rng(11), 0, 0
        while done < LENGTHS:
            kind = self.kind(random)
            truth = RandomDecoder(self.path(f'm{shapes}'), kind, seed=shapes)
            places = kind.get('places', 64)
            options = dict(max_length=int(random.integers(1, places + 1)), max_batch=int(random.integers(1, 4)),
                           prompt_chunk=int(random.choice([1, 2, 7, 16, 512])), speculate=int(random.choice([0, 0, 1, 4])))
            with self.subTest(kind, **options):
                decoder = tenfold.Decoder(truth.folder, **QUICK, **options)
                done += max(1, self.compared(random, truth, decoder, min(LENGTHS - done, 60)))
            shapes += 1
        self.assertGreater(shapes, LENGTHS // 60)


class Endurance(Case):
    def test_memory_does_not_grow(self):
        truth = RandomDecoder(self.path('m'), 'llama')
        decoder = tenfold.Decoder(truth.folder, **QUICK, speculate=3)
        random = np.random.default_rng(1)

        def work(steps):
            """Steps of sessions, of forks, of generations with and without guesses, of calls that are refused."""
            session, done = decoder.start(), 0
            while done < steps:
                for _ in range(60):
                    session.append([[int(random.integers(VOCABULARY))]])
                session.truncate(0, 4)
                session.fork().append([[1]])
                result = decoder.generate(random.integers(0, VOCABULARY, 5).tolist(), max_tokens=39, ignore_end=True,
                                          temperature=float(random.random()), speculate=int(random.integers(0, 4)))
                with self.assertRaises(tenfold.InvalidArgument):
                    session.append([[VOCABULARY]])
                done += 61 + len(result.ids)

        work(1000)
        gc.collect()
        before = resident()
        work(STEPS)
        gc.collect()
        self.assertLess(resident() - before, 4 << 20)


if __name__ == '__main__':
    unittest.main()
