"""8-bit builds from samples that Python gives: a sequence, a function, a cache; and what such a function may do wrong."""
import os
import unittest

import numpy as np
from case import PROFILE, QUICK, Case, batch, tanh_model, truth

import tenfold

OPTIONS = dict(device='cpu', profiles=PROFILE, int8=True, **{k: v for k, v in QUICK.items() if k != 'device'})


def samples(count=60):
    random = np.random.default_rng(3)
    return [{'x': random.standard_normal((2, 6)).astype(np.float32)} for _ in range(count)]


class Calibration(Case):
    def near_but_not_equal(self, engine):
        x = batch()
        error = np.linalg.norm(engine(x) - truth(x)) / np.linalg.norm(truth(x))
        self.assertLess(error, 0.05)
        self.assertGreater(error, 1e-5, 'these are no integers')

    def test_samples_as_a_sequence_a_function_and_in_a_dict(self):
        data = samples()
        for given in (data, tuple(data), lambda i: data[i] if i < len(data) else None,
                      dict(sample=data, method='mse', samples=40), dict(sample=data, method='percentile', corrections=['round'])):
            self.near_but_not_equal(tenfold.build(tanh_model(), calibration=given, **OPTIONS))

    def test_a_cache_is_written_and_read(self):
        cache = self.path('m.cache')
        first = tenfold.build(tanh_model(), calibration=dict(sample=samples(), cache=cache), **OPTIONS)
        self.near_but_not_equal(first)
        self.assertTrue(os.path.exists(cache))
        self.near_but_not_equal(tenfold.build(tanh_model(), calibration=dict(cache=cache), **OPTIONS))

    def test_what_a_function_raises_comes_out(self):
        def bad(i):
            raise KeyError('no more photographs')
        self.refused(KeyError, 'no more photographs', tenfold.build, tanh_model(), calibration=bad, **OPTIONS)
        self.refused(TypeError, 'a dict from names to arrays', tenfold.build, tanh_model(), calibration=lambda i: 3, **OPTIONS)

    def test_wrong_data_is_refused_by_name(self):
        refused = lambda words, given: self.refused(ValueError, words, tenfold.build, tanh_model(), calibration=given, **OPTIONS)
        refused("no value for the input 'x'", [{'y': np.zeros((2, 6), np.float32)}])
        refused('entropy, minmax, mse, percentile', dict(sample=samples(2), method='median'))
        refused("no correction 'hope'", dict(sample=samples(2), corrections=['hope']))
        refused('gave no sample', [])
        refused('at least 1', dict(sample=samples(2), samples=0))
        for given in (3, 'abc', dict(data=[]), dict(sample=3)):
            self.refused(TypeError, "'calibration' takes", tenfold.build, tanh_model(), calibration=given, **OPTIONS)


if __name__ == '__main__':
    unittest.main()
