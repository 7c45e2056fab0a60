"""Types of single layers through tenfold.tensorrt: kept, obeyed or told of, whatever layers are called and have become."""
import unittest

import numpy as np
from case import WEIGHTS, Case, TensorProto, batch, helper, model, numpy_helper, tanh_model, truth
from tensorrt_calibration_case import Entropy, batches
from tensorrt_case import Lines, parsed, tanh_build

import tenfold.tensorrt as trt

OBEY, PREFER = trt.BuilderFlag.OBEY_PRECISION_CONSTRAINTS, trt.BuilderFlag.PREFER_PRECISION_CONSTRAINTS


class Precisions(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()
        self.builder, self.network, self.config = tanh_build(self.logger)

    def build(self, flag=None, network=None):
        self.config.clear_flag(OBEY), self.config.clear_flag(PREFER)
        if flag is not None:
            self.config.set_flag(flag)
        self.logger.lines.clear()
        return self.builder.build_engine_with_config(network or self.network, self.config)

    def parsed(self, *nodes, domain=''):
        proto = model(nodes, [('x', TensorProto.FLOAT, ['n', 6])], [('y', TensorProto.FLOAT, ['n', 4])],
                      [numpy_helper.from_array(WEIGHTS, 'w'), numpy_helper.from_array(WEIGHTS[0], 'b')])
        if domain:
            proto.opset_import.append(helper.make_opsetid(domain, 1))
        return parsed(self.logger, proto)

    def made(self, *names):
        """tanh_model() layer by layer."""
        network = self.builder.create_network()
        x = network.add_input('x', trt.float32, (-1, 6))
        w = network.add_constant((6, 4), WEIGHTS).get_output(0)
        product = network.add_matrix_multiply(x, trt.MatrixOperation.NONE, w, trt.MatrixOperation.NONE)
        bend = network.add_activation(product.get_output(0), trt.ActivationType.TANH)
        network.mark_output(bend.get_output(0))
        for layer, name in zip((product, bend), names):
            layer.name = name
        return network, product, bend

    def not_obeyed(self, network, layer, name):
        """A CPU computes no layer in fp16."""
        layer.precision = trt.float16
        self.assertIsNone(self.build(OBEY, network))
        for words in (f"layer '{name}'", 'computes in f32', 'not f16 as asked for', 'fp16'):
            self.assertIn(words, self.logger.errors[-1])
        layer.reset_precision()
        self.assertIsNotNone(self.build(OBEY, network), self.logger.errors)


class Fields(Precisions):
    def test_they_are_kept(self):
        for layer in (self.network.get_layer(0), self.made()[1]):
            self.assertEqual((layer.precision_is_set, layer.precision), (False, trt.float32))
            layer.precision = trt.float16
            again = layer._network.get_layer(layer._network.num_layers - 2)
            self.assertEqual((again.precision_is_set, again.precision), (True, trt.float16))
            again.reset_precision()
            layer.reset_precision()
            self.assertEqual((layer.precision_is_set, layer.precision), (False, trt.float32))
            layer.set_output_type(0, trt.bfloat16)
            self.assertEqual((again.output_type_is_set(0), again.get_output_type(0)), (True, trt.bfloat16))
            self.assertFalse(again.output_type_is_set(1))
            layer.reset_output_type(0)
            self.assertEqual((layer.output_type_is_set(0), layer.get_output_type(0), layer.get_output_type(7)), (False, trt.float32, None))
            self.refused(ValueError, ['set_output_type(1', 'no output 1'], layer.set_output_type, 1, trt.float16)
            self.assertRaises(ValueError, setattr, layer, 'precision', 'half')

    def test_layers_that_cast_have_their_output_type_as_what_they_compute(self):
        network = self.builder.create_network()
        layer = network.add_identity(network.add_input('x', trt.float32, (2,)))
        layer.set_output_type(0, trt.int32)
        self.assertEqual((layer.output_type_is_set(0), layer.get_output_type(0), layer.get_output(0).dtype), (True, trt.int32, trt.int32))
        layer.reset_output_type(0)
        self.assertEqual((layer.output_type_is_set(0), layer.get_output(0).dtype), (False, trt.float32))

    def test_strongly_typed_networks_have_none(self):
        network = parsed(self.logger, tanh_model(), 1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
        network[0].precision = trt.float32
        self.assertIsNone(self.build(network=network))
        self.assertIn('precisions of layers contradict STRONGLY_TYPED', self.logger.errors[-1])


class Builds(Precisions):
    def test_obey_and_prefer(self):
        layer = self.network.get_layer(0)
        self.not_obeyed(self.network, layer, 'product')
        layer.precision = trt.float16
        for flag in (PREFER, None):
            self.near(self.build(flag)._engine(batch()), truth(batch()))
            self.assertTrue([line for _, line in self.logger.lines if "layer 'product'" in line and 'not f16 as asked for' in line])
        layer.precision = trt.float32
        self.near(self.build(OBEY)._engine(batch()), truth(batch()))

    def test_what_gives_integers_is_passed_over(self):
        network = self.parsed(helper.make_node('MatMul', ['x', 'w'], ['y'], name='product'), helper.make_node('Shape', ['y'], ['s']))
        for layer in network:
            layer.precision = trt.float32
        self.assertIsNotNone(self.build(OBEY, network), self.logger.errors)

    def test_a_layer_stays_wide_beside_a_calibrator(self):
        network, product, _ = self.made()
        self.config.set_flag(trt.BuilderFlag.INT8)
        for precision in (trt.int8, trt.float32):
            product.precision, self.config.int8_calibrator = precision, Entropy(batches())
            engine = self.build(OBEY, network)
            self.assertIsNotNone(engine, self.logger.errors)
            error = np.linalg.norm(engine._engine(batch()) - truth(batch())) / np.linalg.norm(truth(batch()))
            self.assertTrue(1e-4 < error < 0.05 if precision == trt.int8 else error < 1e-6, (precision, error))

    def test_int8_without_ranges(self):
        self.network[0].precision = trt.int8
        self.assertIsNone(self.build(OBEY))
        self.assertIn("layer 'product'", self.logger.errors[-1])
        self.assertIn('nothing gives its range', self.logger.errors[-1])

    def test_types_of_outputs(self):
        for network, layer in ((self.network, self.network[1]), self.made()[::2]):
            layer.set_output_type(0, trt.float16)
            found = self.build(OBEY, network)._engine(batch())
            np.testing.assert_array_equal(found, found.astype(np.float16).astype(np.float32))
            self.near(found, truth(batch()), 1e-3)


class Names(Precisions):
    """Layers are asked for by the names that the library knows their nodes by."""

    def test_nodes_without_a_name_or_with_anothers(self):
        network = self.parsed(helper.make_node('MatMul', ['x', 'w'], ['t'], name='a'), helper.make_node('Tanh', ['t'], ['u']),
                              helper.make_node('Sigmoid', ['u'], ['v'], name='a'), helper.make_node('Relu', ['v'], ['y'], name='Tanh_1'))
        for layer, name in zip(list(network), ('a', 'Tanh -> u', 'a -> v', 'Tanh_1')):
            self.not_obeyed(network, layer, name)

    def test_nodes_of_a_file(self):
        import onnx
        onnx.save(tanh_model(), self.path('m.onnx'))
        network = self.builder.create_network()
        self.assertTrue(trt.OnnxParser(network, self.logger).parse_from_file(self.path('m.onnx')))
        network[0].name = 'another'
        self.not_obeyed(network, network[0], 'product')

    def test_nodes_that_become_several(self):
        network = self.parsed(helper.make_node('MatMul', ['x', 'w'], ['t'], name='a'),
                              helper.make_node('BiasGelu', ['t', 'b'], ['y'], domain='com.microsoft'), domain='com.microsoft')
        self.assertEqual(len(network), 3)
        for layer in list(network)[1:]:
            self.not_obeyed(network, layer, 'BiasGelu -> y')
        network[1].precision, network[2].precision = trt.float16, trt.float32
        self.assertIsNone(self.build(network=network))
        self.assertIn("another layer of the same node 'BiasGelu -> y' f16", self.logger.errors[-1])

    def test_layers_that_were_added(self):
        network, product, bend = self.made()
        self.not_obeyed(network, product, product.name)
        self.assertIn('*', bend.name)
        bend.name = 'bend'
        self.not_obeyed(network, bend, 'bend')

    def test_layers_that_become_several_nodes(self):
        network, _, bend = self.made()
        network.unmark_output(bend.get_output(0))
        scale = network.add_scale(bend.get_output(0), trt.ScaleMode.UNIFORM, *(np.full(1, v, np.float32) for v in (1, 2, 3)))
        scale.name = 'scale'
        network.mark_output(scale.get_output(0))
        scale.precision = trt.float16
        self.assertIsNotNone(self.build(PREFER, network), self.logger.errors)
        reported = ' '.join(line for _, line in self.logger.lines if 'not f16 as asked for' in line)
        for name in ("'scale'", "'scale_1'", "'scale_2'"):
            self.assertIn(name, reported)
        self.assertNotIn(f"'{bend.name}'", reported)

    def test_stars(self):
        network, product, _ = self.made('x*', 'xy')
        product.precision = trt.float32
        self.assertIsNone(self.build(network=network))
        self.assertIn("layer 'x*' has a type of its own, and the '*' in its name would give it to 'xy', too", self.logger.errors[-1])
        product.name = 'x**'
        self.assertIsNone(self.build(network=network))
        self.assertIn("layer 'x**' has a type of its own and more than one '*'", self.logger.errors[-1])

    def test_layers_of_loops(self):
        network = self.builder.create_network()
        x, loop = network.add_input('x', trt.float32, (4, 6)), network.add_loop()
        loop.add_trip_limit(network.add_constant((), np.array(3, np.int32)).get_output(0), trt.TripLimit.COUNT)
        value = loop.add_recurrence(x)
        inner = network.add_activation(value.get_output(0), trt.ActivationType.TANH)
        value.set_input(1, inner.get_output(0))
        network.mark_output(loop.add_loop_output(value.get_output(0), trt.LoopOutput.LAST_VALUE).get_output(0))
        for layer in network:
            layer.precision = trt.float32
        self.config.reset()
        self.near(self.build(PREFER, network)._engine(batch()), np.tanh(np.tanh(np.tanh(batch()))))
        self.assertTrue([line for line in self.logger.warnings if f"layer '{inner.name}'" in line and 'loop or branch' in line])
        self.assertIsNone(self.build(OBEY, network))
        self.assertIn('loop or branch', self.logger.errors[-1])


if __name__ == '__main__':
    unittest.main()
