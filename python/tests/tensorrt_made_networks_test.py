"""tenfold.tensorrt's networks made layer by layer: names, options that change late, models before them, what does not fit."""
import unittest

import numpy as np
from case import tanh_model, truth
from layers_case import IMAGE, RANDOM, ROWS, Layers, runtime

import tenfold
import tenfold.tensorrt as trt


class Networks(Layers):
    def test_a_perceptron_as_the_samples_write_it(self):
        w, b = RANDOM.standard_normal((4, 5)).astype(np.float32), RANDOM.standard_normal(4).astype(np.float32)
        n = self.network
        x = self.input(ROWS, shape=(-1, 5))
        kernel = n.add_constant(shape=w.shape, weights=trt.Weights(w.copy()))
        product = n.add_matrix_multiply(x, trt.MatrixOperation.NONE, kernel.get_output(0), trt.MatrixOperation.TRANSPOSE)
        bias = n.add_constant((1, 4), b.copy())
        added = n.add_elementwise(product.get_output(0), bias.get_output(0), trt.ElementWiseOperation.SUM)
        relu = n.add_activation(added.get_output(0), type=trt.ActivationType.RELU)
        relu.name, relu.get_output(0).name = 'relu', 'prob'
        self.assertEqual((n.num_layers, n[4].name, n.get_layer(1).type, kernel.get_output(0).shape, relu.get_output(0).shape),
                         (5, 'relu', trt.LayerType.MATRIX_MULTIPLY, (4, 5), (-1, 4)))
        self.assertEqual(n.get_layer(1).get_input(0), x)
        self.assertEqual(product.name, '(Unnamed Layer* 1) [Matrix Multiply]')
        self.near(self.results(relu)[0], np.maximum(ROWS @ w.T + b, 0), 1e-4)
        self.assertEqual(n.get_output(0).name, 'prob')

    def test_options_may_change_after_layers_behind_them(self):
        w = RANDOM.standard_normal((4, 4, 3, 3)).astype(np.float32)
        n, x = self.network, self.input(IMAGE)
        left, right = (n.add_convolution_nd(x, 4, (3, 3), w) for _ in range(2))
        both = n.add_elementwise(left.get_output(0), right.get_output(0), trt.ElementWiseOperation.SUM)
        n.mark_output(left.get_output(0))
        n.mark_output(both.get_output(0))
        self.assertEqual(both.get_output(0).shape, (2, 4, 5, 4))
        left.get_output(0).name, both.get_output(0).name = 'left', 'both'
        left.padding_nd = (1, 1)   # nothing fits until the other follows
        right.padding_nd = (1, 1)
        self.assertEqual(both.get_output(0).shape, (2, 4, 7, 6))
        self.assertEqual([n.get_output(i).name for i in range(n.num_outputs)], ['left', 'both'])
        truth = runtime('Conv', [IMAGE, w], pads=[1] * 4)
        found = self.results()
        self.assertEqual(found, [])
        for array, expected in zip(self.results(left, both), (truth, 2 * truth), strict=True):
            self.near(array, expected, 1e-4)
        n.unmark_output(n.get_output(0))
        self.assertEqual([n.get_output(i).name for i in range(n.num_outputs)], ['both'])

    def test_weights_outlive_the_script_s_arrays(self):
        layer = self.network.add_constant((1000,), np.arange(1000, dtype=np.float32) + 1)
        [np.zeros(1000, np.float32) for _ in range(50)]
        self.near(self.results(layer)[0], np.arange(1, 1001))
        self.assertEqual((layer.weights[0], layer.weights.shape, layer.weights.dtype, layer.shape), (1, (1000,), np.float32, (1000,)))

    def test_layers_behind_a_model(self):
        parser = trt.OnnxParser(self.network, self.logger)
        self.assertTrue(parser.parse(tanh_model().SerializeToString()))
        y = self.network.get_output(0)
        doubled = self.network.add_elementwise(y, y, trt.ElementWiseOperation.SUM)
        doubled.get_output(0).name = 'doubled'
        self.network.unmark_output(y)
        self.arrays = {'x': RANDOM.standard_normal((4, 6)).astype(np.float32)}
        self.near(self.results(doubled)[0], 2 * truth(self.arrays['x']), 1e-4)
        self.assertEqual([layer.name for layer in self.network][:2], ['product', 'bend'])
        self.assertFalse(parser.parse(tanh_model().SerializeToString()))

    def test_what_does_not_fit(self):
        n, x = self.network, self.input(IMAGE)
        conv = n.add_convolution_nd(x, 4, (3, 3), np.zeros(7, np.float32))
        conv.name = 'conv1'
        self.refused(tenfold.InvalidArgument, ["'conv1'", 'kernel has 7 elements, 144'], lambda: conv.get_output(0).shape)
        kept = n.add_identity(x)
        n.mark_output(kept.get_output(0))
        self.assertIsNone(self.builder.build_serialized_network(n, self.builder.create_builder_config()))
        self.assertIn("'conv1'", self.logger.errors[-1])
        conv.kernel = np.zeros((4, 4, 3, 3), np.float32)
        self.assertEqual(conv.get_output(0).shape, (2, 4, 5, 4))
        self.refused(AttributeError, 'strides', setattr, conv, 'strides', (1, 1))
        self.refused(TypeError, 'get_output(0)', n.add_activation, conv, trt.ActivationType.RELU)
        self.refused(tenfold.Unsupported, 'add_rnn_v2()', n.add_rnn_v2, x, 1, 4, 5, trt.RNNOperation.LSTM)
        self.refused(AttributeError, 'add_nonsense', lambda: n.add_nonsense)
        self.refused(tenfold.InvalidArgument, '(concatenation)', lambda: n.add_concatenation([x, None]).get_output(0).shape)
        late = n.add_identity(conv.get_output(0))
        conv.set_input(0, late.get_output(0))
        self.refused(tenfold.InvalidArgument, 'its own result', lambda: conv.get_output(0).shape)
        conv.set_input(0, x)
        wrong = n.add_reduce(x, trt.ReduceOperation.SUM, 1 << 5, True)
        self.refused(tenfold.InvalidArgument, 'beyond the 4', lambda: wrong.get_output(0).shape)

    def test_a_chain_that_is_asked_late(self):
        n, tensor = self.network, self.input(ROWS)
        for _ in range(20000):
            tensor = n.add_activation(tensor, trt.ActivationType.RELU).get_output(0)
        self.assertEqual((tensor.shape, n.num_layers), (ROWS.shape, 20000))
        self.near(self.results(tensor)[0], np.maximum(ROWS, 0))


if __name__ == '__main__':
    unittest.main()
