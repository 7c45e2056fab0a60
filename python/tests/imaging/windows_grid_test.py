"""`grid` of infer, sweep and WindowStitcher: results beside NumPy in float64, and beside torch where it is installed."""
import importlib.util
import unittest

import numpy as np
import window_cases
from window_truth import resampled

from tenfold import imaging


def predict(windows, first):
    """Three classes that depend on the place in the window, and the half resolution of one."""
    ramp = np.arange(windows[0, 0].size).reshape(windows.shape[2:]) % 11 / 11 + 0.5
    classes = np.concatenate([windows * ramp, windows * ramp[::-1], np.sin(9 * windows * ramp)], 1)
    return np.float32(classes), np.float32(classes[(slice(None), slice(0, 1), *[slice(None, None, 2)] * (windows.ndim - 2))])


class Grid(unittest.TestCase):
    def cases(self):
        rng = np.random.default_rng(3)
        for rank in (1, 2, 3, 4):
            for _ in range(6):
                shape, roi = rng.integers(3, 12, rank), 2 * rng.integers(1, 4, rank)
                grid = rng.integers(1, 25, rank)
                how = list(rng.choice(['linear', 'nearest'], rank, p=[0.8, 0.2]))
                yield window_cases.noise(int(grid[0]), 2, 1, *shape), [int(one) for one in roi], [int(one) for one in grid], how

    def test_beside_float64(self):
        for image, roi, grid, how in self.cases():
            with self.subTest(image=image.shape, grid=grid, how=how):
                windows = imaging.SlidingWindow(image.shape[2:], roi, 0.5, 'gaussian')
                means = imaging.infer(windows, image, predict)
                found = imaging.infer(windows, image, predict, grid=grid, interpolation=how)
                for one, mean in zip(found, means, strict=True):
                    expected = resampled(mean, grid, how)
                    self.assertEqual(one.shape, expected.shape)
                    self.assertLess(abs(one - expected).max(), 2e-6)
                labels = imaging.infer(windows, image, predict, grid=grid, interpolation=how, reduce='argmax')[0]
                np.testing.assert_array_equal(labels[:, 0], found[0].argmax(1))

    def test_plane_by_plane_too(self):
        for image, roi, grid, how in self.cases():
            windows = imaging.SlidingWindow(image.shape[2:], roi, 0.5)
            expected = imaging.infer(windows, image, predict, grid=grid, interpolation=how, activation='softmax')
            arrays = {}

            def read(at, begin, extent):
                return np.ascontiguousarray(image[(at, slice(None), *(slice(b, b + e) for b, e in zip(begin, extent)))])

            def write_to(number, dtype, shape):
                arrays[number] = np.zeros(shape, dtype)

                def write(at, begin, planes):
                    arrays[number][(at, slice(None), *(slice(b, b + e) for b, e in zip(begin, planes.shape[1:])))] = planes
                return write
            imaging.sweep(windows, read, image.shape, 'float32', predict, write_to, grid=grid, interpolation=how,
                          activation='softmax', chunk=2)
            for number, one in enumerate(expected):
                np.testing.assert_array_equal(arrays[number], one)

    @unittest.skipUnless(importlib.util.find_spec('torch'), 'without torch')
    def test_beside_torch(self):
        import torch
        for image, roi, grid, _ in self.cases():
            rank = len(grid)
            if rank > 3:
                continue
            windows = imaging.SlidingWindow(image.shape[2:], roi, 0.5)
            means = torch.from_numpy(imaging.infer(windows, image, predict)[0])
            linear = torch.nn.functional.interpolate(means, grid, mode=('linear', 'bilinear', 'trilinear')[rank - 1])
            nearest = torch.nn.functional.interpolate(means, grid, mode='nearest-exact')
            for how, expected in (('linear', linear), ('nearest', nearest)):
                found = imaging.infer(windows, image, predict, grid=grid, interpolation=how)[0]
                self.assertLess(abs(found - expected.numpy()).max(), 1e-5)

    def test_what_is_wrong_is_named(self):
        windows, image = imaging.SlidingWindow((8, 8), 4), np.zeros((1, 1, 8, 8), np.float32)
        for words, options in (('grid .*expected 2 extents', {'grid': (8,)}), ('grid .*at least 1', {'grid': (8, -1)}),
                               ('interpolation .cubic.: expected linear or nearest', {'grid': (8, 9), 'interpolation': 'cubic'})):
            with self.assertRaisesRegex(ValueError, words):
                imaging.infer(windows, image, predict, **options)


if __name__ == '__main__':
    unittest.main()
