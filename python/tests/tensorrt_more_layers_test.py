"""tenfold.tensorrt's layers: what 10.x has beside 8.x's options (types of indices, axes of slices, whole numbers), windows that are rounded
up, assertions. The truth is NumPy's or ONNX Runtime's."""
import unittest

import numpy as np
from layers_case import IMAGE, RANDOM, ROWS, Layers, runtime

import tenfold
import tenfold.tensorrt as trt


class Indices(Layers):
    def test_types_of_indices(self):
        x, n = self.input(ROWS), self.network
        for kind, name in ((trt.int64, np.int64), (trt.int32, np.int32)):
            with self.subTest(kind):
                self.setUp()
                x, n = self.input(ROWS), self.network
                best = n.add_topk(x, trt.TopKOperation.MAX, 2, 2, kind)
                places = n.add_non_zero(n.add_cast(x, trt.bool).get_output(0), kind)
                boxes, scores = np.array([[[0, 0, 1, 1], [2, 2, 3, 3]]], np.float32), np.array([[[0.9], [0.8]]], np.float32)
                kept = n.add_nms(self.input(boxes, 'b'), self.input(scores, 's'), n.add_constant((), np.int32(5)).get_output(0), kind)
                kept.topk_box_limit = 7
                self.assertEqual((best.indices_type, places.indices_type, kept.indices_type, kept.topk_box_limit), (kind,) * 3 + (7,))
                found = self.results(best.get_output(1), places, kept)
                self.assertEqual([f.dtype for f in found], [name] * 3)
                np.testing.assert_array_equal(found[0], np.argsort(-ROWS, 1)[:, :2])
                np.testing.assert_array_equal(found[1], np.array(np.nonzero(ROWS)))
                np.testing.assert_array_equal(found[2], [[0, 0, 0], [0, 0, 1]])

    def test_slices_along_some_axes(self):
        x, n = self.input(IMAGE), self.network
        part, last, operand = n.add_slice(x, (1,), (3,), (2,)), n.add_slice(x, (2, 0), (3, 1), (-1, 1)), n.add_slice(x, (2,), (3,), (1,))
        around = n.add_slice(x, (-1,), (8,), (1,))
        part.axes, last.axes = (2,), (-1, 0)
        around.axes, around.mode = (3,), trt.SampleMode.CLAMP
        operand.set_input(5, n.add_constant((1,), np.array([3], np.int32)).get_output(0))
        self.assertEqual(part.axes, (2,))
        found = self.results(part, last, operand, around)
        for array, truth in zip(found, (IMAGE[:, :, 1:7:2], IMAGE[:1, :, :, 2::-1], IMAGE[..., 2:5],
                                        IMAGE[..., [0, 0, 1, 2, 3, 4, 5, 5]]), strict=True):
            np.testing.assert_array_equal(array, truth)

    def test_axes_that_are_none(self):
        part = self.network.add_slice(self.input(ROWS), (0,), (1,), (1,))
        part.axes = (2,)
        self.refused(tenfold.InvalidArgument, 'axis 2 is none of the 2', lambda: part.get_output(0).shape)


class Numbers(Layers):
    def test_whole_numbers_of_64_bits(self):
        big = (1 << 40) + 1
        fill = self.network.add_fill((3,), trt.FillOperation.LINSPACE, trt.int64)
        fill.alpha, fill.beta = big, 3
        self.assertTrue(fill.is_alpha_beta_int64())
        self.assertEqual((fill.alpha, fill.beta, fill.operation), (big, 3, trt.FillOperation.LINSPACE))
        (found,) = self.results(fill)
        np.testing.assert_array_equal(found, big + 3 * np.arange(3))

    def test_groups_with_numbers_of_their_own(self):
        """Of add_normalization() for each group, of add_normalization_v2() for each channel."""
        x, n, c = self.input(IMAGE), self.network, np.arange(1, 5, dtype=np.float32)
        layers = []
        for add, numbers in ((n.add_normalization, c[:2]), (n.add_normalization_v2, c)):
            scale = n.add_constant((1, len(numbers), 1, 1), numbers).get_output(0)
            layers.append(add(x, scale, scale, 0))
            layers[-1].num_groups = 2
        self.assertEqual([layer.is_v2 for layer in layers], [False, True])
        self.assertEqual(layers[0].compute_precision, trt.float32)
        halves = IMAGE.reshape(2, 2, -1)
        halves = ((halves - halves.mean(2, keepdims=True)) / np.sqrt(halves.var(2, keepdims=True) + 1e-5)).reshape(IMAGE.shape)
        for found, each in zip(self.results(*layers), (np.repeat(c[:2], 2), c), strict=True):
            k = each.reshape(1, 4, 1, 1)
            self.near(found, halves * k + k, 1e-4)


class Windows(Layers):
    def test_convolutions_are_rounded_up(self):
        w = RANDOM.standard_normal((3, 4, 3, 2)).astype(np.float32)
        conv = self.network.add_convolution_nd(self.input(IMAGE), 3, (3, 2), w)
        conv.stride_nd, conv.padding_nd, conv.dilation_nd = (3, 4), (1, 0), (1, 2)
        conv.padding_mode = trt.PaddingMode.EXPLICIT_ROUND_UP
        # 7 + 2 - 3 = 6 is two strides of 3; 6 - 3 = 3 is less than one of 4: one more column of windows, with one of padding.
        self.check(conv, runtime('Conv', [IMAGE, w], strides=[3, 4], pads=[1, 0, 1, 1], dilations=[1, 2]), 1e-4)

    def test_deconvolutions_have_no_rest_to_round(self):
        w = RANDOM.standard_normal((4, 3, 2, 2)).astype(np.float32)
        up = self.network.add_deconvolution_nd(self.input(IMAGE), 3, (2, 2), w)
        up.stride_nd, up.padding_mode = (2, 2), trt.PaddingMode.EXPLICIT_ROUND_UP
        self.check(up, runtime('ConvTranspose', [IMAGE, w], strides=[2, 2]), 1e-4)


class Assertions(Layers):
    def test_a_run_ends_where_one_does_not_hold(self):
        x, n = self.input(ROWS), self.network
        minimum = n.add_constant((1, 1), np.array([-100], np.float32)).get_output(0)
        layer = n.add_assertion(n.add_elementwise(x, minimum, trt.ElementWiseOperation.GREATER).get_output(0), 'too small')
        self.assertEqual((layer.message, layer.num_outputs, layer.type), ('too small', 0, trt.LayerType.ASSERTION))
        self.assertIsNone(layer.get_output(1))
        y = n.add_unary(x, trt.UnaryOperation.NEG).get_output(0)
        y.name = 'y'
        n.mark_output(y)
        engine = self.builder.build_engine_with_config(n, self.builder.create_builder_config())
        self.assertIsNotNone(engine, self.logger.errors)
        self.near(engine._engine(ROWS), -ROWS)
        self.refused(tenfold.Error, 'the assertion does not hold: too small', engine._engine, np.full_like(ROWS, -200))
        self.near(engine._engine(ROWS), -ROWS)   # the next run is one of its own
        if engine._on_gpu:
            return   # addresses from here on are the host's
        context, given, got = engine.create_execution_context(), ROWS.copy(), np.empty_like(ROWS)
        context.set_tensor_address('x', given.ctypes.data), context.set_tensor_address('y', got.ctypes.data)
        self.assertTrue(context.execute_async_v3(0), self.logger.errors)
        self.near(got, -ROWS)
        given[1, 2] = -101
        self.assertFalse(context.execute_async_v3(0))
        self.assertIn('the assertion does not hold: too small', self.logger.errors[-1])

    def test_what_is_known_ends_the_build(self):
        n = self.network
        n.add_assertion(n.add_constant((1,), np.array([False])).get_output(0), 'never')
        n.mark_output(n.add_unary(self.input(ROWS), trt.UnaryOperation.NEG).get_output(0))
        self.assertIsNone(self.builder.build_serialized_network(n, self.builder.create_builder_config()))
        self.assertIn('the assertion does not hold: never', self.logger.errors[-1])


if __name__ == '__main__':
    unittest.main()
