"""tenfold.tensorrt's layers of images: windows, normalizations, sizes. The truth is NumPy's, or ONNX Runtime's where NumPy has none."""
import unittest

import numpy as np
from layers_case import IMAGE, RANDOM, Layers, runtime

import tenfold.tensorrt as trt


class Kinds(Layers):
    def test_convolution_and_its_options(self):
        w, b = RANDOM.standard_normal((6, 2, 3, 2)).astype(np.float32), RANDOM.standard_normal(6).astype(np.float32)
        conv = self.network.add_convolution_nd(self.input(IMAGE), 6, (3, 2), w, b)
        conv.num_groups = 2
        self.assertEqual(conv.get_output(0).shape, (2, 6, 5, 5))
        conv.stride_nd, conv.padding_nd, conv.dilation_nd = (2, 1), (1, 2), (1, 2)
        self.assertEqual((conv.stride, conv.pre_padding, conv.kernel_size_nd, conv.num_output_maps), ((2, 1), (1, 2), (3, 2), 6))
        self.check(conv, runtime('Conv', [IMAGE, w, b], strides=[2, 1], pads=[1, 2, 1, 2], dilations=[1, 2], group=2), 1e-4)

    def test_same_padding_and_no_bias(self):
        w = RANDOM.standard_normal((3, 4, 3, 2)).astype(np.float32)
        conv = self.network.add_convolution(self.input(IMAGE), 3, (3, 2), w)
        conv.padding_mode, conv.stride = trt.PaddingMode.SAME_UPPER, (2, 2)
        self.check(conv, runtime('Conv', [IMAGE, w], strides=[2, 2], auto_pad='SAME_UPPER'), 1e-4)

    def test_a_kernel_that_is_a_tensor(self):
        w = RANDOM.standard_normal((3, 4, 1, 1)).astype(np.float32)
        conv = self.network.add_convolution_nd(self.input(IMAGE), 3, (1, 1), trt.Weights(trt.float32))
        conv.set_input(1, self.input(w, 'w'))
        self.check(conv, runtime('Conv', [IMAGE, w]), 1e-4)

    def test_deconvolution(self):
        w, b = RANDOM.standard_normal((4, 3, 2, 2)).astype(np.float32), RANDOM.standard_normal(3).astype(np.float32)
        up = self.network.add_deconvolution_nd(self.input(IMAGE), 3, (2, 2), w, b)
        up.stride_nd = (2, 2)
        self.check(up, runtime('ConvTranspose', [IMAGE, w, b], strides=[2, 2]), 1e-4)

    def test_poolings(self):
        x = self.input(IMAGE)
        maximum = self.network.add_pooling_nd(x, trt.PoolingType.MAX, (3, 2))
        mean = self.network.add_pooling(x, trt.PoolingType.AVERAGE, (3, 2))
        both = self.network.add_pooling_nd(x, trt.PoolingType.MAX_AVERAGE_BLEND, (3, 2))
        up = self.network.add_pooling_nd(x, trt.PoolingType.MAX, (3, 4))
        for pool in (maximum, mean, both):
            pool.stride_nd = (2, 2)
        mean.padding_nd, mean.average_count_excludes_padding, both.blend_factor = (1, 1), False, 0.25
        up.stride_nd, up.padding_mode = (3, 3), trt.PaddingMode.EXPLICIT_ROUND_UP
        self.assertEqual((mean.type, mean.window_size, mean.average_count_excludes_padding), (trt.PoolingType.AVERAGE, (3, 2), False))
        top = runtime('MaxPool', [IMAGE], kernel_shape=[3, 2], strides=[2, 2])
        average = runtime('AveragePool', [IMAGE], kernel_shape=[3, 2], strides=[2, 2])
        expected = [top, runtime('AveragePool', [IMAGE], kernel_shape=[3, 2], strides=[2, 2], pads=[1] * 4, count_include_pad=1),
                  0.75 * top + 0.25 * average, runtime('MaxPool', [IMAGE], kernel_shape=[3, 4], strides=[3, 3], ceil_mode=1)]
        for found, truth in zip(self.results(maximum, mean, both, up), expected, strict=True):
            self.near(found, truth)

    def test_scale_and_normalizations(self):
        x, n = self.input(IMAGE), self.network
        c = np.arange(1, 5, dtype=np.float32)
        squared = n.add_scale(x, trt.ScaleMode.UNIFORM, np.float32([1]), np.float32([2]), np.float32([2]))
        channel = n.add_scale(x, trt.ScaleMode.CHANNEL, c, 2 * c)
        each = n.add_scale_nd(x, trt.ScaleMode.ELEMENTWISE, scale=IMAGE[0])
        lrn = n.add_lrn(x, 3, 0.1, 0.75, 2)
        s, b = n.add_constant((1, 4, 1, 1), c).get_output(0), n.add_constant((1, 4, 1, 1), -c).get_output(0)
        norm, group = n.add_normalization(x, s, b, 0b1110), n.add_normalization(x, s, b, 0)
        norm.epsilon, group.num_groups = 1e-3, 2
        found = self.results(squared, channel, each, lrn, norm, group)
        k = c.reshape(1, 4, 1, 1)
        centered = IMAGE - IMAGE.mean((1, 2, 3), keepdims=True)
        halves = IMAGE.reshape(2, 2, -1)
        halves = ((halves - halves.mean(2, keepdims=True)) / np.sqrt(halves.var(2, keepdims=True) + 1e-5)).reshape(IMAGE.shape)
        truths = [(2 * IMAGE + 1) ** 2, 2 * k * IMAGE + k, IMAGE * IMAGE[0],
                  runtime('LRN', [IMAGE], size=3, alpha=0.1, beta=0.75, bias=2.0),
                  centered / np.sqrt(IMAGE.var((1, 2, 3), keepdims=True) + 1e-3) * k - k, halves * k - k]
        for array, truth in zip(found, truths, strict=True):
            self.near(array, truth, 1e-4)

    def test_resize(self):
        x, n = self.input(IMAGE), self.network
        layers = [n.add_resize(x) for _ in range(3)]
        layers[0].scales = [1, 1, 2, 2]
        layers[1].shape, layers[1].resize_mode = (2, 4, 9, 5), trt.InterpolationMode.LINEAR
        layers[1].coordinate_transformation = trt.ResizeCoordinateTransformation.HALF_PIXEL
        layers[2].set_input(1, n.add_constant((4,), np.array([2, 4, 3, 12], np.int32)).get_output(0))
        layers[2].resize_mode, layers[2].coordinate_transformation = trt.ResizeMode.CUBIC, trt.ResizeCoordinateTransformation.ALIGN_CORNERS
        sizes = [None, np.array([2, 4, 9, 5]), np.array([2, 4, 3, 12])]
        forms = [dict(mode='nearest', coordinate_transformation_mode='asymmetric', nearest_mode='floor'),
                 dict(mode='linear', coordinate_transformation_mode='half_pixel'),
                 dict(mode='cubic', coordinate_transformation_mode='align_corners')]
        self.near(layers[0].get_output(0).shape, (2, 4, 14, 12))
        for found, size, form in zip(self.results(*layers), sizes, forms, strict=True):
            scales = np.float32([1, 1, 2, 2]) if size is None else None
            self.near(found, runtime('Resize', [IMAGE, None, scales, size], **form), 1e-4)

    def test_samples_of_a_grid_and_boxes(self):
        grid = RANDOM.uniform(-1, 1, (2, 3, 3, 2)).astype(np.float32)
        n = self.network
        sampled = n.add_grid_sample(self.input(IMAGE), self.input(grid, 'g'))
        sampled.align_corners, sampled.sample_mode = True, trt.SampleMode.CLAMP
        boxes = np.float32([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]]])
        scores = np.float32([[[0.9], [0.8], [0.7]]])
        kept = n.add_nms(self.input(boxes, 'b'), self.input(scores, 's'), n.add_constant((), np.int32(5)).get_output(0))
        kept.set_input(3, n.add_constant((), np.float32(0.5)).get_output(0))
        found = self.results(sampled, kept.get_output(0), kept.get_output(1))
        self.near(found[0], runtime('GridSample', [IMAGE, grid], mode='linear', padding_mode='border', align_corners=1), 1e-4)
        np.testing.assert_array_equal(found[1], [[0, 0, 0], [0, 0, 2]])
        self.assertEqual(int(found[2]), 2)


if __name__ == '__main__':
    unittest.main()
