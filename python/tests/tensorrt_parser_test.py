"""TensorRT's parsers: what is supported, in parts; models whose weights come from memory; and refits from ONNX files."""
import unittest

import numpy as np
from case import WEIGHTS, Case, batch, helper, model, numpy_helper, onnx, tanh_model, truth
from tensorrt_case import Lines, tanh_build

import tenfold.tensorrt as trt


def strange_model():
    """Tanh, Frobnicate, Frobnicate, Relu."""
    ops = (('Tanh', 'x', 'a'), ('Frobnicate', 'a', 'b'), ('Frobnicate', 'b', 'c'), ('Relu', 'c', 'y'))
    return model([helper.make_node(op, [i], [o], name=f'n_{o}') for op, i, o in ops], [('x', 1, [3])], [('y', 1, [3])])


def without_weights():
    """tanh_model() whose weight lies in a file that is not there."""
    proto = tanh_model()
    proto.graph.initializer[0].CopyFrom(onnx.TensorProto(name='w', data_type=1, dims=WEIGHTS.shape, data_location=1))
    entry = proto.graph.initializer[0].external_data.add()
    entry.key, entry.value = 'location', 'nowhere.bin'
    return proto.SerializeToString()


class Parsers(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()
        self.builder = trt.Builder(self.logger)
        self.network = self.builder.create_network()
        self.parser = trt.OnnxParser(self.network, self.logger)

    def test_a_supported_model_is_one_part(self):
        whole, parts = self.parser.supports_model(tanh_model().SerializeToString())
        self.assertTrue(whole)
        self.assertEqual(parts, [([0, 1], True)])
        self.assertIsInstance(parts, trt.SubGraphCollection)
        self.assertIsInstance(parts[0][0], trt.NodeIndices)
        self.assertEqual((self.network.num_layers, self.parser.num_errors), (0, 0), 'nothing is parsed')

    def test_parts_lie_around_what_is_not(self):
        self.assertFalse(self.parser.supports_model_v2(strange_model().SerializeToString()))
        parts = [(self.parser.get_subgraph_nodes(i), self.parser.is_subgraph_supported(i)) for i in range(self.parser.num_subgraphs)]
        self.assertEqual(parts, [([0], True), ([1, 2], False), ([3], True)])
        self.assertEqual([self.parser.get_error(i).node_operator() for i in range(self.parser.num_errors)], ['Frobnicate'] * 2)
        error = self.parser.get_error(0)
        self.assertEqual((error.local_function_stack(), error.local_function_stack_size(), error.line()), ([], 0, 0))
        self.refused(IndexError, 'found 3', self.parser.get_subgraph_nodes, 3)
        self.assertEqual(self.parser.supports_model(b'no model'), (False, []))
        self.assertEqual(self.parser.num_subgraphs, 0)

    def test_weights_come_from_memory(self):
        given = WEIGHTS.copy()
        self.assertFalse(self.parser.parse(without_weights()))
        self.assertTrue(self.parser.load_model_proto(without_weights()))
        self.assertTrue(self.parser.load_initializer('w', given.ctypes.data, given.nbytes))
        given.fill(9)   # it is copied
        self.assertTrue(self.parser.parse_model_proto(), self.logger.errors)
        self.assertIsNotNone(self.parser.get_layer_output_tensor('bend', 0))
        self.assertIsNone(self.parser.get_layer_output_tensor('bent', 0))
        config, profile = self.builder.create_builder_config(), self.builder.create_optimization_profile()
        profile.set_shape('x', (4, 6), (4, 6), (4, 6))
        config.add_optimization_profile(profile)
        engine = self.builder.build_engine_with_config(self.network, config)
        self.near(engine._engine(batch()), truth(batch()), 1e-3)

    def test_weights_that_do_not_fit(self):
        for name, size, words in (('w', 8, ["'w'", 'f32[6x4]', 'u8[96]']), ('v', 96, ["'v'", 'does not have'])):
            self.assertTrue(self.parser.load_model_proto(without_weights()))
            self.assertTrue(self.parser.load_initializer(name, WEIGHTS.ctypes.data, size))
            self.assertFalse(self.parser.parse_model_proto())
            for word in words:
                self.assertIn(word, self.parser.get_error(0).desc())
        fresh = trt.OnnxParser(self.builder.create_network(), self.logger)
        self.assertFalse(fresh.load_initializer('w', WEIGHTS.ctypes.data, 96))
        self.assertFalse(fresh.parse_model_proto())
        self.assertIn('load_model_proto()', fresh.get_error(0).desc())

    def test_the_others(self):
        self.assertTrue(self.parser.parse_with_weight_descriptors(tanh_model().SerializeToString()))
        self.assertEqual(self.network.num_layers, 2)
        self.assertEqual(self.parser.get_used_vc_plugin_libraries(), [])
        self.assertTrue(self.parser.set_builder_config(self.builder.create_builder_config()))
        self.assertEqual(trt.get_nv_onnx_parser_version(), 101600)
        self.assertIs(trt.get_builder_plugin_registry(trt.EngineCapability.STANDARD), trt.get_plugin_registry())
        self.assertIsNone(trt.get_builder_plugin_registry(trt.EngineCapability.SAFETY))


class Refits(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()
        builder, network, config = tanh_build(self.logger)
        config.set_flag(trt.BuilderFlag.REFIT)
        self.engine = builder.build_engine_with_config(network, config)
        self.refitter = trt.Refitter(self.engine, self.logger)
        self.parser = trt.OnnxParserRefitter(self.refitter, self.logger)
        self.other = tanh_model()
        self.other.graph.initializer[0].CopyFrom(numpy_helper.from_array(3 * WEIGHTS, 'w'))

    def check(self, factor):
        self.assertTrue(self.refitter.refit_cuda_engine(), self.logger.errors)
        self.near(self.engine._engine(batch()), np.tanh(batch() @ (factor * WEIGHTS)), 1e-3)

    def test_from_bytes_and_files(self):
        self.assertTrue(self.parser.refit_from_bytes(self.other.SerializeToString()), self.logger.errors)
        self.check(3)
        onnx.save(tanh_model(), self.path('model.onnx'))
        self.assertTrue(self.parser.refit_from_file(self.path('model.onnx')))
        self.check(1)

    def test_from_memory(self):
        self.assertTrue(self.parser.load_model_proto(without_weights()))
        held = 5 * WEIGHTS
        self.assertTrue(self.parser.load_initializer('w', held.ctypes.data, held.nbytes))
        self.assertTrue(self.parser.refit_model_proto(), self.logger.errors)
        self.check(5)

    def test_what_does_not_fit(self):
        self.assertFalse(self.parser.refit_from_bytes(b'nothing'))
        self.assertGreater(self.parser.num_errors, 0)
        self.other.graph.initializer[0].name = self.other.graph.node[0].input[1] = 'v'
        self.assertFalse(self.parser.refit_from_bytes(self.other.SerializeToString()))
        self.assertIn('no weights w', self.parser.get_error(0).desc())
        self.parser.clear_errors()
        self.assertEqual(self.parser.num_errors, 0)
        self.refused(TypeError, 'Refitter', trt.OnnxParserRefitter, self.engine, self.logger)

    def test_what_a_refitter_tells(self):
        prototype = self.refitter.get_weights_prototype('w')
        self.assertEqual((prototype.dtype, prototype.size), (trt.float32, WEIGHTS.size))
        self.assertEqual(self.refitter.get_weights_prototype('q').size, -1)
        self.assertEqual(self.refitter.get_weights_location('w'), trt.TensorLocation.HOST)
        self.assertEqual(self.refitter.get_tensors_with_dynamic_range(), [])
        self.refused(NotImplementedError, 'get_dynamic_range', self.refitter.get_dynamic_range, 'x')
        self.assertTrue(self.parser.refit_from_bytes(self.other.SerializeToString()) and self.refitter.refit_cuda_engine_async(0))


class Marks(Case):
    def build(self, network):
        builder = network.builder
        config = builder.create_builder_config()
        config.set_flag(trt.BuilderFlag.REFIT)
        engine = builder.build_engine_with_config(network, config)
        self.assertIsNotNone(engine, self.logger.errors)
        return engine

    def test_weights_get_names(self):
        self.logger = Lines()
        network = trt.Builder(self.logger).create_network()
        kernel = np.ones((2, 1, 3, 3), np.float32)
        conv = network.add_convolution_nd(network.add_input('x', trt.float32, (1, 1, 3, 3)), 2, (3, 3), kernel)
        conv.name = 'conv'
        self.assertTrue(network.set_weights_name(kernel, 'mine'))
        self.assertFalse(network.set_weights_name(np.ones(3, np.float32), 'nobody'))
        self.assertIn("'nobody'", self.logger.errors[-1])
        network.mark_output(conv.get_output(0))
        engine = self.build(network)
        refitter = trt.Refitter(engine, self.logger)
        self.assertEqual(refitter.get_all_weights(), ['mine'])
        self.assertTrue(refitter.set_named_weights('mine', 2 * kernel) and refitter.refit_cuda_engine(), self.logger.errors)
        self.near(engine._engine(np.ones((1, 1, 3, 3), np.float32)).ravel(), [18, 18])

    def test_many_layers_are_walked(self):
        """In time that grows with their number: all of them within seconds."""
        self.logger = Lines()
        network = trt.Builder(self.logger).create_network()
        tensor, many = network.add_input('x', trt.float32, (4,)), 20000
        for i in range(many):
            layer = network.add_activation(tensor, trt.ActivationType.RELU)
            tensor = layer.get_output(0)
            tensor.name = f't{i}'
        self.assertEqual(network.num_layers, many)
        self.assertEqual([network.get_layer(i).get_output(0).name for i in range(many)], [f't{i}' for i in range(many)])
        self.assertEqual(network.get_layer(-1).name, layer.name)
        self.refused(IndexError, str(many), network.get_layer, many)

    def test_inputs_go_and_shapes_come_out(self):
        self.logger = Lines()
        network = trt.Builder(self.logger).create_network()
        x, idle = network.add_input('x', trt.float32, (2, 3)), network.add_input('idle', trt.float32, (1,))
        network.remove_tensor(idle)
        self.assertEqual(network.num_inputs, 1)
        shape = network.add_shape(x).get_output(0)
        self.assertTrue(network.mark_output_for_shapes(shape))
        self.assertTrue(shape.is_network_output)
        self.assertTrue(network.unmark_output_for_shapes(shape))
        self.assertFalse(shape.is_network_output)
        self.assertFalse(network.are_weights_marked_refittable('w'))

    def test_layers_of_models_have_types_and_notes(self):
        _, network, _ = tanh_build(Lines())
        first, second = network
        self.assertEqual((first.type, second.type), (trt.LayerType.MATRIX_MULTIPLY, trt.LayerType.ACTIVATION))
        first.metadata = 'here'
        self.assertEqual((network.get_layer(0).metadata, second.metadata, first.num_ranks), ('here', '', 1))
        self.assertEqual(second.get_output_type(0), trt.float32)
        second.set_input(0, network.get_input(0))
        self.assertEqual(second.get_input(0).name, 'x')


if __name__ == '__main__':
    unittest.main()
