"""tenfold.tensorrt's parser and networks: what a parse tells, also of what is wrong, and what may be changed before a build."""
import os
import unittest

import numpy as np
from case import WEIGHTS, Case, TensorProto, batch, helper, model, onnx, tanh_model, truth
from tensorrt_case import Lines

import tenfold
import tenfold.tensorrt as trt


class Networks(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()
        self.builder = trt.Builder(self.logger)
        self.network = self.builder.create_network()
        self.parser = trt.OnnxParser(self.network, self.logger)

    def parse(self, proto):
        self.assertTrue(self.parser.parse(proto.SerializeToString()), self.logger.errors)

    def engine(self, **profiles):
        config = self.builder.create_builder_config()
        config.builder_optimization_level = 0
        if profiles:
            profile = self.builder.create_optimization_profile()
            for name, shapes in profiles.items():
                profile.set_shape(name, *shapes)
            config.add_optimization_profile(profile)
        return self.builder.build_engine_with_config(self.network, config)

    def run_on(self, engine, x):
        context = engine.create_execution_context()
        self.assertTrue(context.set_input_shape(engine[0], x.shape), self.logger.errors)
        results = {name: np.empty(context.get_tensor_shape(name), trt.nptype(engine.get_tensor_dtype(name))) for name in list(engine)[1:]}
        addresses = [x.ctypes.data, *(array.ctypes.data for array in results.values())]
        self.assertTrue(context.execute_v2(addresses), self.logger.errors)
        return results


class Parsing(Networks):
    def test_a_network_tells_its_tensors_and_layers(self):
        self.parse(tanh_model())
        (x,), (y,) = ([get(i) for i in range(n)] for get, n in ((self.network.get_input, self.network.num_inputs),
                                                                (self.network.get_output, self.network.num_outputs)))
        self.assertEqual((x.name, x.shape, x.dtype, x.is_network_input, x.is_network_output), ('x', (-1, 6), trt.float32, True, False))
        self.assertEqual((y.name, y.shape, y.is_network_output, y.get_dimension_name(0)), ('y', (-1, 4), True, 'batch'))
        layers = [(layer.name, layer.op, layer.get_input(0).name, layer.get_output(0).name) for layer in self.network]
        self.assertEqual(layers, [('product', 'MatMul', 'x', 't'), ('bend', 'Tanh', 't', 'y')])
        self.assertEqual((len(self.network), self.network.num_layers, self.network[1].get_output(0)), (2, 2, y))
        self.assertIsNone(self.network[1].get_input(3))
        self.refused(IndexError, 'input 1', self.network.get_input, 1)
        self.assertFalse(self.network.has_implicit_batch_dimension)

    def test_all_that_is_wrong_is_told_by_node(self):
        broken = tanh_model()
        broken.graph.node[0].op_type, broken.graph.node[1].op_type = 'MatNul', 'Tan5'
        onnx.save(broken, self.path('m.onnx'))
        for parse, given in ((self.parser.parse, broken.SerializeToString()), (self.parser.parse_from_file, self.path('m.onnx'))):
            self.assertFalse(parse(given))
            errors = [self.parser.get_error(i) for i in range(self.parser.num_errors)]
            self.assertEqual([(e.node(), e.node_name(), e.node_operator(), e.code()) for e in errors],
                             [(0, 'product', 'MatNul', trt.ErrorCode.UNSUPPORTED_NODE),
                              (1, 'bend', 'Tan5', trt.ErrorCode.UNSUPPORTED_NODE)])
            self.assertIn("'MatNul'", errors[0].desc())
            self.assertEqual(self.logger.errors[-2:], [str(e) for e in errors])
        self.refused(IndexError, 'error 2', self.parser.get_error, 2)
        self.parser.clear_errors()
        self.assertEqual(self.parser.num_errors, 0)
        self.assertIsNone(self.engine())
        self.assertIn('no outputs', self.logger.errors[-1])

    def test_what_is_no_model(self):
        for parse, given, code, word in ((self.parser.parse, b'junk', 'INVALID_GRAPH', 'ONNX'),
                                         (self.parser.parse_from_file, '/no/such.onnx', 'MODEL_DESERIALIZE_FAILED', '/no/such.onnx')):
            self.assertFalse(parse(given))
            self.assertEqual(self.parser.get_error(0).code(), trt.ErrorCode[code])
            self.assertIn(word, self.parser.get_error(0).desc())
        self.refused(TypeError, 'parse_from_file', self.parser.parse, 'm.onnx')
        self.refused(TypeError, 'int', self.parser.parse, 3)
        self.refused(TypeError, 'create_network', trt.OnnxParser, None, self.logger)

    def test_a_second_model_is_refused(self):
        self.parse(tanh_model())
        self.assertFalse(self.parser.parse(tanh_model().SerializeToString()))
        self.assertIn('holds a model already', self.parser.get_error(0).desc())

    def test_weights_beside_the_file(self):
        os.mkdir(self.path('there'))
        onnx.save(tanh_model(), self.path('there/m.onnx'), save_as_external_data=True, location='weights', size_threshold=0)
        with open(self.path('there/m.onnx'), 'rb') as file:
            data = file.read()
        self.assertNotIn(WEIGHTS.tobytes(), data)
        self.assertTrue(self.parser.parse(data, path=self.path('there/m.onnx')), self.logger.errors)
        self.near(self.run_on(self.engine(x=([1, 6], [4, 6], [8, 6])), batch())['y'], truth(batch()), 1e-3)
        other = trt.OnnxParser(self.builder.create_network(), self.logger)
        self.assertTrue(other.parse_from_file(self.path('there/m.onnx')), self.logger.errors)

    def test_operators(self):
        self.assertEqual([self.parser.supports_operator(name) for name in ('Conv', 'MatNul')], [True, False])
        self.assertTrue(self.parser.get_flag(trt.OnnxParserFlag.NATIVE_INSTANCENORM))
        self.refused(tenfold.Unsupported, 'ADJUST_FOR_DLA', self.parser.set_flag, trt.OnnxParserFlag.ADJUST_FOR_DLA)


class Editing(Networks):
    def test_open_extents_are_given(self):
        self.parse(tanh_model())
        x = self.network.get_input(0)
        self.refused(tenfold.Unsupported, ["'x'", '(3, 7)'], setattr, x, 'shape', (3, 7))
        self.refused(tenfold.Unsupported, "'y'", setattr, self.network.get_output(0), 'shape', (3, 4))
        x.shape = (3, 6)
        self.assertEqual(x.shape, (3, 6))
        engine = self.engine()
        self.assertEqual((engine.get_tensor_shape('x'), engine.get_tensor_shape('y')), ((3, 6), (3, 4)))
        self.near(self.run_on(engine, batch(3))['y'], truth(batch(3)), 1e-3)
        self.assertIsNone(self.engine(x=([1, 6], [4, 6], [8, 6])))
        self.assertIn('whose shape is (3, 6)', self.logger.errors[-1])

    def test_outputs_are_marked_and_unmarked(self):
        self.parse(tanh_model())
        inner = self.network.get_layer(0).get_output(0)
        self.refused(ValueError, "'t'", self.network.unmark_output, inner)
        self.network.mark_output(inner)
        self.network.mark_output(inner)
        results = self.run_on(self.engine(x=([1, 6], [4, 6], [8, 6])), batch())
        self.assertEqual(list(results), ['y', 't'])
        self.near(results['t'], batch() @ WEIGHTS, 1e-3)
        self.network.unmark_output(self.network.get_output(0))
        self.assertEqual(list(self.run_on(self.engine(x=([1, 6], [4, 6], [8, 6])), batch())), ['t'])

    def test_names(self):
        self.parse(tanh_model())
        self.network.get_input(0).name, self.network.name = 'pixels', 'net'
        engine = self.engine(pixels=([1, 6], [4, 6], [8, 6]))
        self.assertEqual((engine[0], engine.name), ('pixels', 'net'))
        self.assertIsNone(self.engine(x=([1, 6], [4, 6], [8, 6])))
        self.assertIn("'pixels'", self.logger.errors[-1])

    def test_types_without_a_name_in_tensorrt(self):
        self.parse(model([helper.make_node('Neg', ['x'], ['y'])], [('x', TensorProto.DOUBLE, [4])], [('y', TensorProto.DOUBLE, [4])]))
        x, y = self.network.get_input(0), self.network.get_output(0)
        self.refused(tenfold.Unsupported, ["'x'", 'f64'], lambda: x.dtype)
        x.dtype = y.dtype = trt.float32
        ones = np.ones(4, np.float32)
        np.testing.assert_array_equal(self.run_on(self.engine(), ones)['y'], -ones)


if __name__ == '__main__':
    unittest.main()
