"""Where tenfold.imaging is to differ from MONAI 1.6.1 for the better, and where it is to be odd like it, in NumPy."""
import contextlib
import io
import types
import unittest
import unittest.mock

import numpy as np
import window_cases
import window_truth
from window_cases import relative_difference

from tenfold import imaging
from tenfold.imaging import sliding_window_inference

TOLERANCE = 1e-6


def noise(*shape, seed=5):
    return window_cases.noise(seed, *shape)


def ramp_network(x):
    """Depends on the place in the window."""
    return x * noise(*x.shape[2:]) + sum(np.indices(x.shape[2:])).astype(np.float32)


def truth(image, roi, predict, overlap=0.25, weights_of=None):
    """In float64, of a predictor of [window, channel, ...]."""
    rank = len(roi)
    return window_truth.sliding_windows(image.astype(np.float64), roi, lambda x, *_: [y[0] for y in predict(x[None])],
                                        [overlap] * rank, weights_of or (lambda _: np.ones(roi)))


class Odd(unittest.TestCase):
    def test_weights_of_the_first_batch_divide_all(self):
        given = iter((1, 2, 5))
        result = sliding_window_inference(np.ones((1, 1, 12), np.float32), 4, 1, lambda x: x, 0,
                                          process_fn=lambda outputs, _, weights: (outputs, weights * next(given)))
        np.testing.assert_array_equal(result[0, 0], np.repeat([1, 2, 5], 4))

    def test_a_map_is_resized_from_the_one_before(self):
        """A quarter of the window, from a half of it, or at once: another voxel is the nearest."""
        weights = noise(8) + np.float32(0.1)

        def halves(x):
            return [np.repeat(noise(8 // n)[None, None], len(x), 0) for n in (2, 4)]

        image = noise(1, 1, 20)
        found = sliding_window_inference(image, 8, 2, halves, 0.5, roi_weight_map=weights)
        expected = truth(image, (8,), halves, 0.5, lambda _: weights)
        alone = sliding_window_inference(image, 8, 2, lambda x: halves(x)[1], 0.5, roi_weight_map=weights)
        self.assertLess(max(map(relative_difference, found, expected)), TOLERANCE)
        self.assertGreater(relative_difference(alone, expected[1]), 1e-3)

    def test_structures(self):
        image = noise(1, 1, 12)
        dictionary = sliding_window_inference(image, 5, 2, lambda x: {'b': x, 'a': x + 1, 'c': x})
        self.assertEqual(list(dictionary), ['a', 'b', 'c'])
        self.assertIsInstance(sliding_window_inference(image, 5, 2, lambda x: [x, x]), tuple)
        self.assertIsInstance(sliding_window_inference(image, 5, 2, lambda x: [x]), np.ndarray)


class Better(unittest.TestCase):
    def test_buffers_keep_all_outputs(self):
        image = noise(2, 1, 19, 13)

        def network(x):
            return ramp_network(x), ramp_network(x)[..., ::2, ::2]

        found = sliding_window_inference(image, 8, 3, network, buffer_steps=2)
        self.assertLess(max(map(relative_difference, found, truth(image, (8, 8), network))), TOLERANCE)

    def test_resolutions_in_any_order(self):
        image = noise(1, 1, 19, 13)

        def network(x):
            y = ramp_network(x)
            return y[..., ::2, ::2], y, y[..., ::4, ::4], y.repeat(2, 2)

        found = sliding_window_inference(image, 8, 3, network, mode='gaussian')
        expected = truth(image, (8, 8), network, weights_of=lambda _: window_truth.gaussian((8, 8), (0.125, 0.125)))
        self.assertLess(max(map(relative_difference, found, expected)), TOLERANCE)

    def test_integers(self):
        image = (noise(1, 2, 19, 13) * 250).astype(np.uint8)
        for dtype in (np.uint8, np.int8, np.uint16, np.int64, bool):
            given = image.astype(dtype)
            kinds = set()

            def network(x, kinds=kinds):
                kinds.add(x.dtype.name)
                return ramp_network(x)

            found = sliding_window_inference(given, 8, 3, network, mode='gaussian')
            self.assertEqual((found.dtype, kinds), (np.float32, {'float32'}))
            expected = sliding_window_inference(given.astype(np.float32), 8, 3, ramp_network, mode='gaussian')
            np.testing.assert_array_equal(found, expected)

    def test_halves(self):
        image = noise(1, 1, 40, 40).astype(np.float16)
        found = sliding_window_inference(image, 8, 3, lambda x: x + np.float16(1), 0.9)
        self.assertEqual(found.dtype, np.float16)
        np.testing.assert_array_equal(found, image + np.float16(1))   # MONAI: off by 0.01

    def test_a_batch_of_none(self):
        none = np.zeros((0, 2, 9, 9), np.float32)
        found = sliding_window_inference(none, 4, 2, lambda x: {'a': x[:, :1], 'b': x[..., ::2]})
        self.assertEqual({name: y.shape for name, y in found.items()}, {'a': (0, 1, 9, 9), 'b': (0, 2, 9, 4)})

    def test_four_axes_are_padded_in_all_modes(self):
        image = noise(1, 1, 3, 4, 2, 5)
        for mode in ('reflect', 'replicate', 'circular'):
            found = sliding_window_inference(image, (4, 6, 3, 7), 3, lambda x: x, padding_mode=mode)
            self.assertLess(relative_difference(found, image.astype(np.float64)), TOLERANCE)

    def test_a_list_of_coordinates_is_the_callers(self):
        kept = []
        sliding_window_inference(noise(1, 1, 12), 5, 2, lambda x, where: kept.extend(where) or x, 0, with_coord=True,
                                 buffer_steps=1)
        self.assertEqual([[(s.start, s.stop) for s in one] for one in kept],
                         [[(0, 1), (None, None), (a, a + 5)] for a in (0, 5, 7)])

    def test_arguments_of_slices(self):
        calls = []

        def network(x, *args, **kwargs):
            calls.append((x.shape, args, kwargs))
            return ramp_network(x)

        volume = noise(1, 1, 3, 9, 8)
        imaging.SliceInferer(0, (9, 8))(volume, network, 7, scale=2)
        self.assertEqual(calls[0], ((1, 1, 9, 8), (7,), {'scale': 2}))
        calls.clear()
        imaging.SliceInferer(0, (9, 8), with_coord=True)(volume, network, 7, condition=volume)
        (where, condition, more), keywords = calls[1][1:]
        self.assertEqual((where[0][2], condition.shape, more, keywords), (slice(1, 2), (1, 1, 9, 8), 7, {}))

    def test_weights_of_slices_along_any_axis(self):
        for axis in range(3):
            inferers = [imaging.SliceInferer(axis, (4, 5), 2, 0.5, 'gaussian', cache_roi_weight_map=cached)
                        for cached in (False, True)]
            np.testing.assert_array_equal(*(one(noise(1, 1, 9, 9, 9), ramp_network) for one in inferers))

    def test_arrays_of_dlpack(self):
        class Foreign:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        image = noise(1, 1, 12)
        np.testing.assert_array_equal(sliding_window_inference(Foreign(image), 5, 2, ramp_network),
                                      sliding_window_inference(image, 5, 2, ramp_network))

    def test_batches_of_many_threads_and_of_one(self):
        """Small batches are cut and blended by one thread."""
        image = noise(1, 1, 300, 260)
        one, several = (sliding_window_inference(image, (128, 128), batch, ramp_network, 0.6, 'gaussian')
                        for batch in (1, 5))
        np.testing.assert_array_equal(one, several)
        weights = window_truth.gaussian((128, 128), (0.125, 0.125))
        (expected,) = truth(image, (128, 128), lambda x: [ramp_network(x)], 0.6, lambda _: weights)
        self.assertLess(relative_difference(several, expected), TOLERANCE)

    def test_layouts_of_memory(self):
        image = noise(2, 3, 12, 11)
        expected = sliding_window_inference(image, 5, 2, ramp_network)
        read_only = image.copy()
        read_only.flags.writeable = False
        strided = np.zeros((2, 3, 24, 11), np.float32)[:, :, ::2]
        strided[:] = image
        for given in (read_only, strided, np.asfortranarray(image), image.astype('>f4'), image.tolist()):
            found = sliding_window_inference(given, 5, 2, ramp_network)
            np.testing.assert_allclose(found, expected, rtol=1e-6)

    def test_a_gpu_without_room(self):
        """Results come to the CPU, now and for later images of that size. What runs out of memory is a stand-in."""
        class OutOfMemoryError(RuntimeError):
            pass

        devices = []

        def inference(*arguments):
            devices.append(arguments[10])
            if arguments[10] is None:
                raise OutOfMemoryError('no room')
            return arguments[10]

        image = types.SimpleNamespace(shape=(1, 1, 9, 9), is_cuda=True)
        inferer = imaging.SlidingWindowInfererAdapt((4, 4))
        with unittest.mock.patch('tenfold.imaging.inferers.sliding_window_inference', inference):
            with self.assertLogs('tenfold', 'WARNING') as logs:
                self.assertEqual(inferer(image, abs), 'cpu')
            self.assertEqual(inferer(image, abs), 'cpu')
            with self.assertRaises(OutOfMemoryError):   # not the GPU's
                inferer(types.SimpleNamespace(shape=(1, 1, 8, 8), is_cuda=False), abs)
        self.assertEqual(devices, [None, 'cpu', 'cpu', None])
        self.assertIn('no room; results of 81 voxels and more come to the CPU', logs.output[0])

    def test_progress(self):
        with contextlib.redirect_stderr(io.StringIO()) as drawn:
            sliding_window_inference(noise(1, 1, 12), 5, 2, ramp_network, progress=True)
        self.assertEqual(drawn.getvalue(), '\rwindows: 2/4\rwindows: 4/4\n')


if __name__ == '__main__':
    unittest.main()
