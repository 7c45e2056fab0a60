"""Layers in forms that public scripts use seldom: fills in several dims, windows over the last dims, open channels, lengths of loops."""
import unittest

import numpy as np
from layers_case import RANDOM, Layers, runtime

import tenfold
import tenfold.tensorrt as trt


def random(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


class Fills(Layers):
    def constant(self, value, kind):
        value = np.asarray(value, kind)
        return self.network.add_constant(value.shape, value).get_output(0)

    def test_numbers_as_scripts_give_them(self):
        for alpha, beta in ((10.5, 2), ([10.5], [2.0]), (np.float32(10.5), np.int64(2)), (np.array([10.5]), np.array(2))):
            self.setUp()
            layer = self.network.add_fill((4,), trt.FillOperation.LINSPACE)
            layer.alpha, layer.beta = alpha, beta
            self.assertEqual((layer.alpha, layer.beta), (10.5, 2))
            self.check(layer, [10.5, 12.5, 14.5, 16.5])
        layer = self.network.add_fill((2,), trt.FillOperation.LINSPACE, trt.int64)
        layer.alpha, layer.beta = [1 << 60], np.int64(3)
        self.assertEqual(self.results(layer)[0].tolist(), [1 << 60, (1 << 60) + 3])
        self.refused(ValueError, 'got 2', setattr, layer, 'alpha', [1, 2])

    def test_lines_in_several_dims(self):
        shapes = (lambda layer: None, lambda layer: layer.set_input(0, self.constant([2, 3, 4], np.int32)))
        for kind, made in ((trt.float32, np.float32), (trt.int32, np.int32)):
            for give_shape in shapes:
                self.setUp()
                layer = self.network.add_fill((2, 3, 4) if give_shape is shapes[0] else (), trt.FillOperation.LINSPACE, kind)
                give_shape(layer)
                layer.set_input(1, self.constant(7, made))
                layer.set_input(2, self.constant([100, 10, 1], made))
                i, j, k = np.indices((2, 3, 4))
                self.check(layer, (7 + 100 * i + 10 * j + k).astype(made))

    def test_a_step_for_each_dim_is_needed(self):
        layer = self.network.add_fill((2, 3), trt.FillOperation.LINSPACE)
        self.refused(tenfold.InvalidArgument, ['2 dims', 'beta'], lambda: layer.get_output(0).shape)


class Windows(Layers):
    def test_of_two_numbers_over_five_dims(self):
        x = random(2, 3, 4, 6, 8)
        for shape in (None, (-1, 3, -1, 6, -1)):
            for kind, op in ((trt.PoolingType.MAX, 'MaxPool'), (trt.PoolingType.AVERAGE, 'AveragePool')):
                self.setUp()
                layer = self.network.add_pooling_nd(self.input(x, shape=shape), kind, (2, 3))
                layer.stride_nd = (2, 1)
                self.near(self.results(layer)[0],
                          runtime(op, [x.reshape(2, 12, 6, 8)], kernel_shape=[2, 3], strides=[2, 1]).reshape(2, 3, 4, 3, 6))
                if shape is None:
                    self.assertEqual(layer.get_output(0).shape, (2, 3, 4, 3, 6))

    def test_convolutions_whose_channels_a_profile_says(self):
        x = random(1, 4, 6, 6)
        for groups, add in ((1, 'convolution'), (2, 'convolution'), (1, 'deconvolution'), (2, 'deconvolution')):
            self.setUp()
            kernel = random(6, 4 // groups, 3, 3) if add == 'convolution' else random(4, 6 // groups, 3, 3)
            layer = getattr(self.network, f'add_{add}_nd')(self.input(x, shape=(1, -1, 6, 6)), 6, (3, 3), kernel, None)
            layer.num_groups = groups
            self.check(layer, runtime('Conv' if add == 'convolution' else 'ConvTranspose', [x, kernel], group=groups), 1e-4)

    def test_weights_that_fit_no_channels(self):
        layer = self.network.add_convolution_nd(self.input(random(1, 4, 6, 6), shape=(1, -1, 6, 6)), 6, (3, 3), random(100), None)
        self.refused(tenfold.InvalidArgument, ["'x_1'", "kernel's weights"], lambda: layer.get_output(0).shape)

    def test_paddings_of_caffe(self):
        x, kernel = random(1, 2, 6, 6), random(3, 2, 3, 3)
        for mode, ceil, end in ((trt.PaddingMode.CAFFE_ROUND_DOWN, 0, 1), (trt.PaddingMode.CAFFE_ROUND_UP, 1, 2)):
            self.setUp()
            pool = self.network.add_pooling_nd(self.input(x), trt.PoolingType.MAX, (3, 3))
            pool.stride_nd, pool.pre_padding, pool.padding_mode = (2, 2), (1, 1), mode
            self.check(pool, runtime('MaxPool', [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, ceil_mode=ceil))
            self.setUp()
            conv = self.network.add_convolution_nd(self.input(x), 3, (3, 3), kernel)
            conv.stride_nd, conv.pre_padding, conv.padding_mode = (2, 2), (1, 1), mode
            self.check(conv, runtime('Conv', [x, kernel], strides=[2, 2], pads=[1, 1, end, end]), 1e-4)
        # A window that would begin behind the image and its first padding is none.
        self.setUp()
        conv = self.network.add_convolution_nd(self.input(x), 3, (3, 3), kernel)
        conv.stride_nd, conv.pre_padding, conv.padding_mode = (4, 4), (2, 2), trt.PaddingMode.CAFFE_ROUND_UP
        self.check(conv, runtime('Conv', [x, kernel], strides=[4, 4], pads=[2] * 4), 1e-4)

    def test_implicit_batches_are_refused_by_that_name(self):
        x = self.input(random(3, 8, 8))
        for layer in (self.network.add_convolution_nd(x, 2, (3, 3), random(2, 3, 3, 3)),
                      self.network.add_pooling_nd(x, trt.PoolingType.MAX, (2, 2))):
            self.refused(tenfold.InvalidArgument, ['implicit-batch networks are not supported'], lambda: layer.get_output(0).shape)

    def test_a_resize_that_is_told_nothing(self):
        x = random(1, 2, 3, 4)
        layer = self.network.add_resize(self.input(x))
        layer.resize_mode = trt.InterpolationMode.LINEAR
        self.assertEqual(list(layer.scales), [])
        self.check(layer, x)


class Lengths(Layers):
    """CONCATENATE and REVERSE hold as many rounds as their second input says."""

    def loop(self, rounds, kind, length, axis=0):
        """Doubles x while it is below 2 ** rounds; in each round what it is."""
        n = self.network
        loop, two = n.add_loop(), n.add_constant((1,), np.float32([2])).get_output(0)
        x = loop.add_recurrence(self.input(np.float32([1])))
        x.set_input(1, n.add_elementwise(x.get_output(0), two, trt.ElementWiseOperation.PROD).get_output(0))
        bound = n.add_constant((1,), np.float32([2.0 ** rounds])).get_output(0)
        less = n.add_elementwise(x.get_output(0), bound, trt.ElementWiseOperation.LESS).get_output(0)
        go_on = n.add_shuffle(less)
        go_on.reshape_dims = ()
        loop.add_trip_limit(go_on.get_output(0), trt.TripLimit.WHILE)
        output = loop.add_loop_output(x.get_output(0), kind, axis)
        output.set_input(1, n.add_constant((), np.int32(length)).get_output(0))
        return output

    def test_of_a_loop_that_ends_by_itself(self):
        for kind, expected in ((trt.LoopOutput.CONCATENATE, [1, 2, 4, 0, 0]), (trt.LoopOutput.REVERSE, [0, 0, 4, 2, 1])):
            self.setUp()
            layer = self.loop(3, kind, 5)
            self.assertEqual(layer.get_output(0).shape, (5, 1))
            self.check(layer, np.float32(expected)[:, None])

    def test_along_another_dim(self):
        layer = self.loop(2, trt.LoopOutput.CONCATENATE, 3, axis=1)
        self.check(layer, np.float32([[1, 2, 0]]))


if __name__ == '__main__':
    unittest.main()
