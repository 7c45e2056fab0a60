"""tenfold._native's sliding windows. The truth is a restatement in NumPy's float64; predictors depend on the place in the window."""
import functools
import itertools
import math
import unittest

import numpy as np
from case import QUICK, Case, model
from onnx import TensorProto, helper, numpy_helper

import tenfold
from tenfold import _native

PADDING = {'constant': 'constant', 'reflect': 'reflect', 'replicate': 'edge', 'circular': 'wrap'}


def line_starts(extent, roi, overlap):
    step = extent if roi == extent else max(1, int(roi * (1 - overlap)))
    count = next(n for n in itertools.count(1) if (n - 1) * step + roi >= extent)
    return [min(i * step, extent - roi) for i in range(count)]


def weight_map(roi, mode, sigma_scale):
    if mode == 'constant':
        return np.ones(roi)
    lines = [np.exp(-((np.arange(r) - (r - 1) / 2) ** 2) / (2 * (r * s) ** 2)) for r, s in zip(roi, sigma_scale, strict=True)]
    product = functools.reduce(np.multiply.outer, lines)
    return np.maximum(product, max(product.min(), 1e-3))


def truth(images, predict, roi, overlap, mode='constant', sigma_scale=None, padding='constant', cval=0.0):
    """[image, channel, spatial...] of each output; `predict` takes one window [channel, roi...] and gives a list of arrays."""
    shape, rank = images.shape[2:], len(roi)
    before = [max(r - s, 0) // 2 for r, s in zip(roi, shape, strict=True)]
    after = [max(r - s, 0) - b for r, s, b in zip(roi, shape, before, strict=True)]
    value = {'constant_values': cval} if padding == 'constant' else {}
    padded = np.pad(images, [(0, 0), (0, 0), *zip(before, after, strict=True)], mode=PADDING[padding], **value)
    weights = weight_map(roi, mode, sigma_scale or [0.125] * rank)
    places = list(itertools.product(*map(line_starts, padded.shape[2:], roi, overlap)))
    results = []
    for image in padded:
        sums = None
        for place in places:
            region = (slice(None), *(slice(p, p + r) for p, r in zip(place, roi, strict=True)))
            outputs = [np.asarray(y, np.float64) for y in predict(image[region])]
            sums = sums or [[np.zeros((len(y), *image.shape[1:])), np.zeros(image.shape[1:])] for y in outputs]
            for y, (total, count) in zip(outputs, sums, strict=True):
                total[region] += y * weights
                count[region[1:]] += weights
        crop = (slice(None), *(slice(b, b + s) for b, s in zip(before, shape, strict=True)))
        results.append([(total / count)[crop] for total, count in sums])
    return [np.stack(output) for output in zip(*results, strict=True)]


def masks(rng, roi, channels):
    """A predictor by its place in the window: random factors, and a ramp. Of one window, in float32."""
    made = [(rng.random((c, *roi), np.float32), np.float32(rng.random())) for c in channels]
    ramp = sum(np.ix_(*[np.linspace(-1, 1, r, dtype=np.float32) for r in roi]))
    return lambda window: [window[:1] * mask + ramp * slope for mask, slope in made]


def batched(predict):
    def of_batch(windows, first=0):
        return [np.stack(y) for y in zip(*map(predict, np.array(windows)), strict=True)]
    return of_batch


def stitched(images, predict, windows, batch=3, **options):
    stitcher = _native.WindowStitcher(windows, len(images), **options)
    total = len(windows) * len(images)
    for first in range(0, total, batch):
        stitcher.add(batched(predict)(windows.cut(images, first, min(batch, total - first))))
    return stitcher.finish()


def configuration(seed):
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 5))
    most = {1: 50, 2: 30, 3: 14, 4: 8}[rank]
    shape, roi = rng.integers(2, most, rank).tolist(), rng.integers(1, most, rank).tolist()
    options = {'overlap': rng.choice([0, 0.1, 0.25, 0.5, 0.7, 0.9], rank).tolist(), 'mode': str(rng.choice(['constant', 'gaussian'])),
               'sigma_scale': rng.choice([0.05, 0.125, 0.4], rank).tolist()}
    padding = str(rng.choice(list(PADDING)))
    lengths = [r - s - max(r - s, 0) // 2 for r, s in zip(roi, shape, strict=True)]
    if padding == 'reflect' and any(a >= s for a, s in zip(lengths, shape, strict=True)) or \
            padding == 'circular' and any(a > s for a, s in zip(lengths, shape, strict=True)):
        padding = 'replicate'
    images = rng.standard_normal((int(rng.integers(1, 4)), int(rng.integers(1, 4)), *shape)).astype(np.float32)
    return rng, images, roi, options, padding, masks(rng, roi, rng.integers(1, 4, int(rng.integers(1, 3))).tolist())


class Stitching(Case):
    def assert_near(self, outputs, expected):
        self.assertEqual(len(outputs), len(expected))
        for mine, right in zip(outputs, expected, strict=True):
            self.assertEqual(mine.shape, right.shape)
            self.assertLess(np.abs(mine - right).max(), 1e-6 * np.abs(right).max())

    def test_as_numpy_in_float64(self):
        for seed in range(60):
            rng, images, roi, options, padding, predict = configuration(seed)
            with self.subTest(seed=seed):
                cval = float(rng.random()) if padding == 'constant' else 0.0
                windows = _native.SlidingWindow(images.shape[2:], roi, padding_mode=padding, cval=cval, **options)
                expected = truth(images, predict, roi, padding=padding, cval=cval, **options)
                self.assert_near(stitched(images, predict, windows, batch=int(rng.integers(1, 8))), expected)
                self.assert_near(_native.infer(windows, images, batched(predict)), expected)

    def test_the_same_bits_for_threads_and_batches_and_from_planes(self):
        for seed in range(12):
            _, images, roi, options, padding, predict = configuration(seed)
            windows = _native.SlidingWindow(images.shape[2:], roi, padding_mode=padding, **options)
            first = [y.tobytes() for y in stitched(images, predict, windows, batch=1, threads=1)]
            for threads, batch in ((2, 1), (8, 3), (1, 7), (3, 2)):
                with self.subTest(seed=seed, threads=threads, batch=batch):
                    self.assertEqual([y.tobytes() for y in stitched(images, predict, windows, batch=batch, threads=threads)], first)
                    self.assertEqual([y.tobytes() for y in self.swept(images, predict, windows, chunk=threads, window_batch=batch)], first)

    def test_into_the_callers_arrays(self):
        _, images, roi, options, padding, predict = configuration(3)
        windows = _native.SlidingWindow(images.shape[2:], roi, padding_mode=padding, **options)
        expected = _native.infer(windows, images, batched(predict))
        out = [np.full_like(y, np.nan) for y in expected]
        given = _native.infer(windows, images, batched(predict), out=out)
        self.assertTrue(all(mine is one for mine, one in zip(given, out, strict=True)))
        for mine, right in zip(out, expected, strict=True):
            np.testing.assert_array_equal(mine, right)
            mine.fill(0)
        stitched(images, predict, windows, out=out)
        for mine, right in zip(out, expected, strict=True):
            np.testing.assert_array_equal(mine, right)
        read_only = [y.copy() for y in expected]
        read_only[0].flags.writeable = False
        for bad, message in ((read_only, 'writable'), ([y.astype(np.float64) for y in out], 'expected f32'),
                             ([y[..., ::2] for y in out], 'out: array 0'), ([*out, out[0]], 'expected one for each')):
            with self.assertRaisesRegex(Exception, message):
                _native.infer(windows, images, batched(predict), out=bad)

    def swept(self, images, predict, windows, **options):
        """By a source and a sink of planes; each plane is asked for once, and each is written once."""
        asked, outputs = np.zeros((len(images), images.shape[2]), int), {}

        def read(image, begin, extent):
            if images.ndim > 3:   # of a line all is read at once
                self.assertTrue(begin[0] + extent[0] == images.shape[2] or extent[0] == options['chunk'])
            asked[image, begin[0]:begin[0] + extent[0]] += 1
            return images[(image, slice(None), *(slice(b, b + e) for b, e in zip(begin, extent, strict=True)))]

        def open_output(output, dtype, shape):
            outputs[output] = np.full(shape, 7, dtype)
            written = np.zeros((shape[0], shape[2]), int)

            def write(image, begin, planes):
                at = slice(begin[0], begin[0] + planes.shape[1])
                written[image, at] += 1
                self.assertEqual(written.max(), 1)
                outputs[output][image, :, at] = planes
            return write
        _native.sweep(windows, read, images.shape, images.dtype, batched(predict), open_output, **options)
        self.assertEqual((asked.min(), asked.max()), (1, 1))
        return [outputs[i] for i in range(len(outputs))]

    def test_a_source_of_another_shape_or_type(self):
        images = np.zeros((1, 2, 9, 7), 'f4')
        windows = _native.SlidingWindow((9, 7), 4)
        for region, given in ((np.zeros((2, 1, 6), 'f4'), r'f32\[2x1x6\]'), (np.zeros((1, 1, 7), 'f4'), r'f32\[1x1x7\]'),
                              (np.zeros((2, 1, 7), 'u1'), r'u8\[2x1x7\]')):
            with self.assertRaisesRegex(Exception, f'the source gave {given}, expected f32.2x1x7.'):
                _native.sweep(windows, lambda *_, region=region: region, images.shape, images.dtype,
                              lambda windows, first: np.array(windows), lambda *_: lambda *_: None)

    def test_types_of_images(self):
        predict = masks(np.random.default_rng(1), (4, 4), [2])
        for dtype in ('u1', 'u2', 'i2', 'i4', 'f2', 'f4', 'f8'):
            images = np.random.default_rng(2).integers(0, 200, (1, 2, 9, 7)).astype(dtype)
            windows = _native.SlidingWindow((9, 7), 4, mode='gaussian')
            with self.subTest(dtype=dtype):
                self.assertEqual(windows.cut(images, 0, 1).dtype, images.dtype)
                np.testing.assert_array_equal(windows.cut(images, 0, 1, 'float32')[0], images[0, :, :4, :4].astype('f4'))
                self.assert_near(_native.infer(windows, images, batched(predict)),
                                 truth(images.astype('f4'), predict, (4, 4), (0.25, 0.25), 'gaussian'))

    def test_types_of_predictions(self):
        windows = _native.SlidingWindow((9, 7), 4, 0.5)
        images = np.random.default_rng(3).integers(-8, 8, (1, 1, 9, 7)).astype('f4')
        for dtype in ('f2', 'f8', 'i4', 'i1'):
            with self.subTest(dtype=dtype):
                y = _native.infer(windows, images, lambda windows, first, dtype=dtype: np.array(windows).astype(dtype))
                np.testing.assert_array_equal(y[0], images)

    def test_places(self):
        windows = _native.SlidingWindow((10, 3, 8), (4, 5, -1), (0.5, 0, 0.3))
        self.assertEqual((windows.roi, windows.padded_shape), ((4, 5, 8), (10, 5, 8)))
        self.assertEqual((windows.pad_before, windows.pad_after), ((0, 1, 0), (0, 1, 0)))
        self.assertEqual((windows.starts, len(windows), windows.place(3)), (((0, 2, 4, 6), (0,), (0,)), 4, (6, 0, 0)))
        # nnU-Net's steps: ceil(96 / 32) + 1 windows in equal distances.
        self.assertEqual(_native.SlidingWindow((150,), 54, 0.4, placement='even').starts, ((0, 32, 64, 96),))
        self.assertEqual(_native.SlidingWindow((110,), 64, 0.5, placement='even').starts, ((0, 23, 46),))

    def test_halo(self):
        images = np.random.default_rng(5).standard_normal((1, 1, 23, 17)).astype('f4')
        windows = _native.SlidingWindow((23, 17), 8, mode='halo', halo=(2, 1))
        self.assertEqual(windows.starts[0][:2], (0, 4))

        def wrong_at_the_edge(batch, first):
            y = np.array(batch)
            for i in range(len(y)):
                place = windows.place(first + i)
                for axis, (halo, extent) in enumerate(zip((2, 1), (23, 17), strict=True)):
                    edge = np.moveaxis(y[i], axis + 1, 0)
                    edge[:0 if place[axis] == 0 else halo] = np.nan
                    edge[8 - (0 if place[axis] + 8 == extent else halo):] = np.nan
            return y
        np.testing.assert_array_equal(_native.infer(windows, images, wrong_at_the_edge)[0], images)

    def test_weights_of_a_call_and_of_the_caller(self):
        rng = np.random.default_rng(6)
        images, mine = rng.standard_normal((1, 1, 9, 9)).astype('f4'), rng.random((4, 4), np.float32) + 0.1
        windows = _native.SlidingWindow((9, 9), 4, 0.5, weights=mine)
        np.testing.assert_array_equal(windows.weights(), mine)
        y = _native.infer(windows, images, lambda windows, first: np.array(windows))[0]
        np.testing.assert_allclose(y, images, rtol=1e-5, atol=1e-6)
        plain = _native.SlidingWindow((9, 9), 4, 0.5)
        stitcher = _native.WindowStitcher(plain)
        for first in range(len(plain)):   # the first call's weights divide all voxels
            stitcher.add(plain.cut(images, first, 1), np.full((4, 4), 1 if first == 0 else 5, np.float32))
        self.assertAlmostEqual(float(stitcher.finish()[0][0, 0, 8, 8] / images[0, 0, 8, 8]), 5, 5)

    def test_reductions(self):
        rng = np.random.default_rng(7)
        images, predict = rng.standard_normal((2, 1, 11, 12, 5)).astype('f4'), masks(rng, (6, 5, 4), [5])
        windows = _native.SlidingWindow((11, 12, 5), (6, 5, 4), 0.5, 'gaussian')
        mean = stitched(images, predict, windows)[0]
        softmax = np.exp(mean) / np.exp(mean).sum(1, keepdims=True)
        np.testing.assert_allclose(stitched(images, predict, windows, activation='softmax')[0], softmax, rtol=1e-5)
        np.testing.assert_allclose(stitched(images, predict, windows, activation='sigmoid')[0], 1 / (1 + np.exp(-mean)), rtol=1e-5)
        labels = stitched(images, predict, windows, reduce='argmax')[0]
        self.assertEqual(labels.dtype, np.uint8)
        np.testing.assert_array_equal(labels, mean.argmax(1)[:, None])
        over = stitched(images, predict, windows, reduce='threshold', threshold=0.25)[0]
        np.testing.assert_array_equal(over, (mean >= 0.25).astype('u1'))

    def test_outputs_of_other_resolutions(self):
        """Of a window's mean, so that each place is known: windows that do not overlap repeat it over their voxels."""
        images = np.random.default_rng(8).standard_normal((1, 1, 12, 8)).astype('f4')
        windows = _native.SlidingWindow((12, 8), 4, 0, 'gaussian')

        def predict(batch, first):
            mean = np.array(batch).mean((2, 3), keepdims=True)
            return [mean * np.ones((1, 1, *roi), 'f4') for roi in ((2, 4), (4, 4), (8, 1))]
        means = images.reshape(1, 1, 3, 4, 2, 4).mean((3, 5))
        for y, roi in zip(_native.infer(windows, images, predict), ((2, 4), (4, 4), (8, 1)), strict=True):
            np.testing.assert_allclose(y, means.repeat(roi[0], 2).repeat(roi[1], 3), rtol=1e-5, atol=1e-6)


class Engines(Case):
    def engine(self, batch, profiles=None):
        """Two outputs: a mask and a ramp on the window, and its opposite at half the resolution."""
        mask = np.random.default_rng(9).random((2, 8, 8)).astype(np.float32)
        nodes = [helper.make_node('Mul', ['x', 'mask'], ['y']),
                 helper.make_node('AveragePool', ['y'], ['half'], kernel_shape=[2, 2], strides=[2, 2]),
                 helper.make_node('Neg', ['half'], ['z'])]
        made = model(nodes, [('x', TensorProto.FLOAT, [batch, 1, 8, 8])],
                     [('y', TensorProto.FLOAT, [batch, 2, 8, 8]), ('z', TensorProto.FLOAT, [batch, 2, 4, 4])],
                     [numpy_helper.from_array(mask, 'mask')])
        return tenfold.build(made, **({'profiles': profiles} if profiles else {}), **QUICK), mask

    def test_dynamic_and_fixed_batches(self):
        images = np.random.default_rng(10).standard_normal((2, 1, 21, 19)).astype('f4')
        windows = _native.SlidingWindow((21, 19), 8, 0.5, 'gaussian')
        for engine, mask in (self.engine('b', {'x': ([1, 1, 8, 8], [4, 1, 8, 8], [4, 1, 8, 8])}), self.engine(4), self.engine(1)):
            def function(batch, first, mask=mask):
                y = np.array(batch) * mask
                return [y, -y.reshape(len(y), 2, 4, 2, 4, 2).mean((3, 5))]
            expected = _native.infer(windows, images, function)
            told = []
            mine = _native.infer(windows, images, engine, 3, progress=lambda done, total, told=told: told.append((done, total)))
            for y, right in zip(mine, expected, strict=True):
                np.testing.assert_allclose(y, right, rtol=1e-5, atol=1e-6)
            self.assertEqual(told[-1], (len(windows) * 2, len(windows) * 2))

    def test_refusals(self):
        engine, _ = self.engine(4)
        with self.assertRaisesRegex(tenfold.InvalidArgument, "input 'x' is .* takes no windows"):
            _native.infer(_native.SlidingWindow((20, 20), 6), np.zeros((1, 1, 20, 20), 'f4'), engine)
        with self.assertRaisesRegex(TypeError, 'a tenfold.Engine, several of them or a function'):
            _native.infer(_native.SlidingWindow((20, 20), 8), np.zeros((1, 1, 20, 20), 'f4'), 7)


class Refusals(Case):
    def test_options(self):
        for shape, roi, options, message in (
                ((8, 8), (4, 4, 4), {}, 'roi has 3 values, the image 2'), ((8, 8), 4, {'overlap': 1.0}, 'overlap 1: expected at least 0'),
                ((8, 8), 4, {'overlap': math.nan}, 'overlap nan'),
                ((8, 8), 4, {'mode': 'gauss'}, "mode 'gauss': expected constant, gaussian or halo"),
                ((8, 8), 4, {'sigma_scale': 0, 'mode': 'gaussian'}, 'sigma_scale 0'), ((8, 0), 4, {}, 'axis 1 is 0'),
                ((2, 2, 2, 2, 2), 1, {}, '5 spatial axes'), ((4, 4), 12, {'padding_mode': 'reflect'}, 'at most by 3'),
                ((4, 4), 16, {'padding_mode': 'circular'}, 'at most by 4'), ((8, 8), 4, {'weights': np.ones((4, 5), 'f4')}, 'expected f32'),
                ((8, 8), 4, {'weights': -np.ones((4, 4), 'f4')}, 'none negative'), ((8, 8), 4, {'mode': 'halo', 'halo': 2}, 'halo 2')):
            with self.subTest(message), self.assertRaisesRegex(tenfold.InvalidArgument, message):
                _native.SlidingWindow(shape, roi, **options)

    def test_predictions(self):
        windows = _native.SlidingWindow((8, 8), 4, 0)
        images = np.zeros((1, 1, 8, 8), 'f4')
        for given, message in ((np.zeros((2, 1, 4), 'f4'), 'expected .windows, channel, 2 spatial axes'), ([], 'gave no output'),
                               (np.zeros((5, 1, 4, 4), 'f4'), '5 windows after 0: the images have 4')):
            with self.subTest(message), self.assertRaisesRegex(tenfold.InvalidArgument, message):
                _native.WindowStitcher(windows).add(given)
        stitcher = _native.WindowStitcher(windows)
        stitcher.add(np.zeros((1, 2, 4, 4), 'f4'))
        with self.assertRaisesRegex(tenfold.InvalidArgument, r'output 0 is \[1x3x4x4\], expected \[1x2x4x4\]'):
            stitcher.add(np.zeros((1, 3, 4, 4), 'f4'))
        with self.assertRaisesRegex(tenfold.InvalidArgument, '1 windows were added, the images have 4'):
            stitcher.finish()
        zero = _native.SlidingWindow((8, 8), 4, 0, weights=np.zeros((4, 4), 'f4'))
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'sum to zero'):
            _native.infer(zero, images, lambda windows, first: np.array(windows))
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'expected .image, channel, 8x8.'):
            windows.cut(np.zeros((1, 8, 8), 'f4'), 0, 1)
        with self.assertRaisesRegex(ZeroDivisionError, 'mine'):
            _native.infer(windows, images, self.raises)
        with self.assertRaises(tenfold.Cancelled):
            _native.infer(windows, images, lambda windows, first: np.array(windows), progress=lambda done, total: False)

    def raises(self, windows, first):
        raise ZeroDivisionError('mine')


if __name__ == '__main__':
    unittest.main()
