"""Bands, parts and reading ahead of infer and sweep, with functions, engines and sources of Python."""
import logging
import os
import sys
import threading
import unittest

import numpy as np
import window_cases

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from case import QUICK, TensorProto, helper, model, numpy_helper  # noqa: E402

import tenfold  # noqa: E402
from tenfold import _native, imaging  # noqa: E402

ROI = (6, 8, 5)


def network():
    """A convolution that pads, and then a factor for each voxel: both depend on the place in the window."""
    weights = {'w': window_cases.noise(1, 3, 2, 3, 3, 3), 'mask': window_cases.noise(2, 3, *ROI)}
    nodes = [helper.make_node('Conv', ['x', 'w'], ['c'], pads=[1] * 6), helper.make_node('Mul', ['c', 'mask'], ['y'])]
    return model(nodes, [('x', TensorProto.FLOAT, ['n', 2, *ROI])], [('y', TensorProto.FLOAT, ['n', 3, *ROI])],
                 [numpy_helper.from_array(array, name) for name, array in weights.items()])


def predict(windows, first):
    ramp = np.arange(np.prod(ROI), dtype=np.float32).reshape(ROI) % 13 / 13
    return np.concatenate([windows * ramp, windows[:, :1] * ramp[::-1]], 1)


class Bands(unittest.TestCase):
    def setUp(self):
        self.image = window_cases.noise(3, 1, 2, 17, 60, 14)
        self.windows = imaging.SlidingWindow(self.image.shape[2:], ROI, 0.5, 'gaussian')

    def sweep(self, predictor=predict, read=None, **options):
        """The array that the sink gets, and begin and extent of each region."""
        arrays, regions = {}, []

        def read_image(at, begin, extent):
            return np.ascontiguousarray(self.image[(at, slice(None), *(slice(b, b + e) for b, e in zip(begin, extent)))])

        def open_sink(number, dtype, shape):
            arrays[number] = np.full(shape, 77, dtype)

            def write(at, begin, planes):
                regions.append((begin, planes.shape[1:]))
                arrays[number][(at, slice(None), *(slice(b, b + e) for b, e in zip(begin, planes.shape[1:])))] = planes
            return write
        imaging.sweep(self.windows, read or read_image, self.image.shape, 'float32', predictor, open_sink, chunk=2, **options)
        return arrays[0], regions

    def test_the_bits_of_one_sweep(self):
        expected = imaging.infer(self.windows, self.image, predict)[0]
        with self.assertLogs('tenfold', logging.INFO) as said:
            found = imaging.infer(self.windows, self.image, predict, memory=60000)[0]
        np.testing.assert_array_equal(found, expected)
        self.assertRegex(said.output[0], r'sweep: 60000 bytes: axis 1 is cut into \d+ bands, and \d+ windows are computed, '
                                         f'{len(self.windows)} would do in one')
        with self.assertLogs('tenfold', logging.INFO):
            found, regions = self.sweep(memory=70000)
        np.testing.assert_array_equal(found, expected)
        bands = [begin[1] for begin, _ in regions]
        self.assertEqual(bands, sorted(bands))   # one after the other
        self.assertGreater(len(set(bands)), 2)

    def test_an_engine(self):
        engine = tenfold.build(network(), profiles={'x': [[n, 2, *ROI] for n in (1, 4, 4)]}, **QUICK)
        expected = imaging.infer(self.windows, self.image, engine)[0]
        with self.assertLogs('tenfold', logging.INFO):
            found = imaging.infer(self.windows, self.image, engine, memory=60000)[0]
        self.assertLess(window_cases.relative_difference(found, expected), 1e-6)
        found, _ = self.sweep(engine)
        self.assertLess(window_cases.relative_difference(found, expected), 1e-6)

    def test_other_axes(self):
        expected = imaging.infer(self.windows, self.image, predict)[0]
        for axis, memory in ((1, 0), (2, 0), (1, 70000)):
            found = imaging.infer(self.windows, self.image, predict, axis=axis, memory=memory)[0]
            self.assertLess(window_cases.relative_difference(found, expected), 1e-6)
            swept, regions = self.sweep(axis=axis, memory=memory)
            np.testing.assert_array_equal(swept, found)
            self.assertEqual(len(regions) > 1 and regions[0][1][axis] < self.image.shape[2 + axis], True)
        with self.assertRaisesRegex(ValueError, 'axis 3: the image has 3 spatial axes'):
            imaging.infer(self.windows, self.image, predict, axis=3)

    def test_parts(self):
        expected = imaging.infer(self.windows, self.image, predict)[0]
        found, regions = self.sweep(first_plane=7, rows=(11, 30))
        np.testing.assert_array_equal(found[:, :, 7:, 11:30], expected[:, :, 7:, 11:30])
        self.assertTrue((found[:, :, :7] == 77).all() and (found[:, :, :, 30:] == 77).all())
        self.assertEqual(regions[0][0], (7, 11, 0))

    def test_bands_are_known_beforehand(self):
        ends = _native.sweep_bands(self.windows, self.image.shape, 'float32', [(3, *ROI)], 70000, chunk=2)
        self.assertEqual(ends, sorted(set(ends)))
        self.assertEqual((ends[-1], len(ends) > 2), (60, True))
        whole = np.zeros(0)
        for begin, end in zip([0, *ends], ends):
            found, _ = self.sweep(rows=(begin, end))
            whole = np.concatenate([whole, found[0, 0, 3, begin:end, 2]])
        np.testing.assert_array_equal(whole, imaging.infer(self.windows, self.image, predict)[0][0, 0, 3, :, 2])
        aligned = _native.sweep_bands(self.windows, self.image.shape, 'float32', [(3, *ROI)], 80000, align=10)
        self.assertTrue(all(end % 10 == 0 for end in aligned))
        with self.assertRaisesRegex(ValueError, r'expected at least \d+, or \d+ with a batch of 1'):
            _native.sweep_bands(self.windows, self.image.shape, 'float32', [(3, *ROI)], 1000)
        with self.assertRaisesRegex(ValueError, 'expected at least'):
            imaging.infer(self.windows, self.image, predict, memory=1000)

    def test_bands_of_several_devices(self):
        def bands(memory, *speeds):
            return _native.sweep_bands(self.windows, self.image.shape, 'float32', [(3, *ROI)], memory, chunk=2, speeds=speeds)
        rows = self.image.shape[3]
        self.assertEqual(bands(0, 1.0), [(0, 0, rows)])
        two = bands(0, 1.0, 1.0)
        self.assertEqual([(device, begin) for device, begin, _ in two], [(0, 0), (1, two[0][2])])
        self.assertEqual(two[1][2], rows)
        many = bands(140000, 1.0, 1.0)   # each has the half of it
        self.assertGreater(len(many), 2)
        self.assertEqual([begin for _, begin, _ in many[1:]], [end for _, _, end in many[:-1]])
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'memory 2000, shared by 2 devices: memory 1000: .*, for each device'):
            bands(2000, 1.0, 1.0)
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'speeds of devices'):
            bands(0, 1.0, 0.0)

    def test_a_source_is_read_by_another_thread(self):
        threads = set()

        def read(at, begin, extent):
            threads.add(threading.get_ident())
            if begin[0] == 8:
                raise LookupError('plane 8 is gone')
            return np.zeros((2, *extent), np.float32)
        with self.assertRaisesRegex(LookupError, 'plane 8 is gone'):
            self.sweep(read=read)
        self.assertNotIn(threading.get_ident(), threads)
        self.assertEqual(len(threads), 1)
        with self.assertRaisesRegex(ValueError, r'the source gave f32\[2x1x1x1\], expected f32\[2x2x60x14\]'):
            self.sweep(read=lambda *_: np.zeros((2, 1, 1, 1), np.float32))

    def test_what_ends_the_sweep_ends_the_reading(self):
        reads = []

        def read(at, begin, extent):
            reads.append(begin)
            return np.zeros((2, *extent), np.float32)

        def fails(windows, first):
            raise KeyError('predictor')
        with self.assertRaises(KeyError):
            self.sweep(fails, read=read)
        self.assertLessEqual(len(reads), 5)
        for error in (KeyboardInterrupt, ZeroDivisionError):
            def progress(done, total, error=error):
                raise error
            with self.assertRaises(error):
                self.sweep(progress=progress)


if __name__ == '__main__':
    unittest.main()
