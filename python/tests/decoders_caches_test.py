"""Caches of random shapes beside NumPy in f64, at random lengths and cuts; many steps without growth of memory.

TENFOLD_CACHE_LENGTHS=10000 and TENFOLD_DECODER_STEPS=100000 are the whole; a test run takes a share.
"""
import gc
import os
import unittest

import decoders_caches_case
import numpy as np

import tenfold
from case import Case
from decoders_case import QUICK, VOCABULARY, RandomDecoder
from loaded_decoders_case import resident

STEPS = int(os.environ.get('TENFOLD_DECODER_STEPS', '4000'))


class Shapes(decoders_caches_case.Shapes, Case):
    """Beside NumPy."""


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
