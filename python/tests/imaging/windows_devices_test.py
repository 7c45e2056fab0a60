"""One network on several devices, here the CPU twice: what one gives."""
import unittest

import numpy as np
import window_cases
from window_engines import engine, noise

import tenfold
from tenfold.imaging import Devices, SlidingWindow, infer, sliding_window_inference, sweep

ROI = (8, 6)
IMAGE = noise(2, 2, 30, 43)


class SeveralDevices(unittest.TestCase):
    def near(self, found, expected):
        self.assertEqual(found.shape, expected.shape)
        self.assertLess(window_cases.relative_difference(found, expected), 1e-6)

    def test_gives_what_one_gives(self):
        one, other = engine(), engine()
        expected = sliding_window_inference(IMAGE, ROI, 4, one, 0.5, 'gaussian')
        for engines in ([one, other], [one, one], [one, other, one]):
            self.near(sliding_window_inference(IMAGE, ROI, 4, Devices(engines), 0.5, 'gaussian'), expected)

    def test_in_memory_and_plane_by_plane(self):
        one, seen = engine(), []
        windows = SlidingWindow(IMAGE.shape[2:], ROI, 0.5, 'gaussian')
        expected = infer(windows, IMAGE, one)[0]

        def progress(done, total):
            seen.append((done, total))
            return True
        self.near(infer(windows, IMAGE, [one, one], devices=True, progress=progress)[0], expected)
        self.assertEqual(*seen[-1])
        found = np.full(expected.shape, np.nan, np.float32)

        def read(image, begin, extent):
            return IMAGE[image][(slice(None), *(slice(at, at + n) for at, n in zip(begin, extent)))]

        def opened(output, dtype, shape):
            def write(image, begin, planes):
                found[image][(slice(None), *(slice(at, at + n) for at, n in zip(begin, planes.shape[1:])))] = planes
            return write
        sweep(windows, read, IMAGE.shape, np.float32, [one, one], opened, devices=True)
        self.near(found, expected)

    def test_what_a_caller_raises_comes_out(self):
        def progress(done, total):
            raise KeyError('stop')
        windows = SlidingWindow(IMAGE.shape[2:], ROI, 0.5)
        with self.assertRaises(KeyError):
            infer(windows, IMAGE, [engine(), engine()], devices=True, progress=progress)

    def test_what_is_no_engine_is_refused(self):
        for given, named in (([], 'at least one'), ([engine(), len], 'engine 1'), ([engine(), engine(names=('y', 'a'))], 'one network')):
            with self.assertRaisesRegex(tenfold.InvalidArgument, named):
                Devices(given)


if __name__ == '__main__':
    unittest.main()
