"""Engines as predictors: what a function that calls the engine gives, without Python between windows."""
import contextlib
import io
import unittest

import numpy as np
import window_cases
from window_engines import engine, noise

import tenfold
from tenfold import imaging
from tenfold.imaging import sliding_window_inference


class Engines(unittest.TestCase):
    def near(self, found, expected):
        self.assertLess(window_cases.relative_difference(found, expected), 1e-6)

    def test_one_output(self):
        e, image = engine(), noise(2, 2, 30, 23)
        for options in ({}, {'mode': 'gaussian', 'overlap': 0.6}, {'sw_batch_size': 1},
                        {'roi_weight_map': noise(8, 6) + 0.1}):
            given = {'inputs': image, 'roi_size': (8, 6), 'sw_batch_size': 3, **options}
            found = sliding_window_inference(predictor=e, **given)
            expected = sliding_window_inference(predictor=lambda x: e(x), **given)
            self.near(found, expected)

    def test_progress(self):
        with contextlib.redirect_stderr(io.StringIO()) as drawn:
            sliding_window_inference(noise(1, 2, 12, 6), (8, 6), 4, engine(), 0.5, progress=True)
        self.assertEqual(drawn.getvalue(), '\rwindows: 2/2\n')

    def test_several_outputs_come_by_name(self):
        e, image = engine(names=('y', 'a')), noise(1, 2, 30, 23)
        found = sliding_window_inference(image, (8, 6), 3, e)
        expected = sliding_window_inference(image, (8, 6), 3, lambda x: e(x))
        self.assertEqual([list(found), list(expected)], [['a', 'y']] * 2)
        for name in found:
            self.near(found[name], expected[name])

    def test_an_engine_of_a_fixed_batch(self):
        image = noise(1, 2, 30, 23)
        found = sliding_window_inference(image, (8, 6), 3, engine(batch=4))
        self.near(found, sliding_window_inference(image, (8, 6), 3, engine()))

    def test_integers_in_and_a_batch_of_none(self):
        image = (noise(1, 2, 30, 23) * 250).astype(np.uint8)
        found = sliding_window_inference(image, (8, 6), 4, engine())
        expected = sliding_window_inference(image.astype(np.float32), (8, 6), 4, engine())
        np.testing.assert_array_equal(found, expected)
        self.assertEqual(sliding_window_inference(image[:0], (8, 6), 4, engine()).shape, (0, 3, 30, 23))

    def test_process_fn_calls_it_from_python(self):
        e, image = engine(), noise(1, 2, 30, 23)
        found = sliding_window_inference(image, (8, 6), 4, e, process_fn=lambda outputs, _, w: ([outputs[0] * 2], w))
        self.near(found, 2 * sliding_window_inference(image, (8, 6), 4, e))

    def test_slices(self):
        e, volume = engine(), noise(2, 2, 12, 11, 10)
        for axis in range(3):
            inferer = imaging.SliceInferer(axis, (8, 6), 4, (0.25, 0.5, 0.6), 'gaussian')
            found, expected = (inferer(volume, network) for network in (e, lambda x: e(x)))
            self.near(found, expected)

    def test_what_an_engine_does_not_take(self):
        e, image = engine(), noise(1, 2, 30, 23)
        for options in ({'with_coord': True}, {'condition': image}, {'scale': 3}):
            with self.assertRaisesRegex(tenfold.InvalidArgument, 'predictor is an engine, which takes windows alone'):
                sliding_window_inference(image, (8, 6), 4, e, **options)
        with self.assertRaises(tenfold.InvalidArgument):
            sliding_window_inference(image, (8, 8), 4, e)   # a window that the engine does not take



if __name__ == '__main__':
    unittest.main()
