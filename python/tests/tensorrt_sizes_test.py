"""Sizes that follow from elements of inputs, which scripts set before they ask for shapes; and bounds of sizes that data decides."""
import unittest

import numpy as np
from case import Case, helper, model, numpy_helper
from tensorrt_case import Lines, parsed

import tenfold.tensorrt as trt

NODE = helper.make_node
RESHAPE = model([NODE('Reshape', ['x', 's'], ['y'])], [('x', 1, ['n', 6]), ('s', 7, [2])], [('y', 1, ['a', 'b'])])
RESIZE = model([NODE('Slice', ['s', 'two', 'four'], ['t']), NODE('Concat', ['head', 't'], ['u'], axis=0),
                NODE('Resize', ['x', '', '', 'u'], ['y'], mode='nearest')],
               [('x', 1, [1, 1, 2, 2]), ('s', 7, [4])], [('y', 1, ['a', 'b', 'c', 'd'])],
               [numpy_helper.from_array(np.array(v), n) for n, v in (('two', [2]), ('four', [4]), ('head', [1, 1]))])
NON_ZERO = model([NODE('NonZero', ['x'], ['y'])], [('x', 1, ['n', 6])], [('y', 7, [2, 'k'])])


class Sizes(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()

    def engine(self, proto, shapes=(), values=()):
        network = parsed(self.logger, proto)
        config, profile = network.builder.create_builder_config(), network.builder.create_optimization_profile()
        config.builder_optimization_level = 0
        for i in range(network.num_inputs):
            tensor = network.get_input(i)
            if tensor.is_shape_tensor:
                profile.set_shape_input(tensor.name, *dict(values)[tensor.name])
            elif -1 in tensor.shape:
                profile.set_shape(tensor.name, *dict(shapes)[tensor.name])
        config.add_optimization_profile(profile)
        plan = network.builder.build_serialized_network(network, config)
        self.assertIsNotNone(plan, self.logger.errors)
        return trt.Runtime(self.logger).deserialize_cuda_engine(plan)

    def reshape(self):
        return self.engine(RESHAPE, [('x', [(1, 6), (2, 6), (8, 6)])], [('s', [(1, 1), (3, 4), (60, 60)])])

    def test_shapes_are_known_once_the_values_are(self):
        engine = self.reshape()
        self.assertEqual([engine.is_shape_inference_io(n) for n in 'xsy'], [False, True, False])
        self.assertEqual([engine.get_tensor_location(n) for n in 'xs'], [trt.TensorLocation.DEVICE, trt.TensorLocation.HOST])
        self.assertEqual(engine.get_tensor_profile_values('s', 0), [[1, 1], [3, 4], [60, 60]])
        context = engine.create_execution_context()
        self.assertEqual(context.infer_shapes(), ['x', 's'])
        x, s = np.arange(12, dtype=np.float32).reshape(2, 6), np.array([3, 4])
        self.assertTrue(context.set_input_shape('x', x.shape))
        self.assertEqual((context.infer_shapes(), context.get_tensor_shape('y'), context.get_max_output_size('y')), (['s'], (-1, -1), -1))
        context.set_tensor_address('s', s.ctypes.data)
        self.assertEqual((context.infer_shapes(), context.get_tensor_shape('y'), context.get_max_output_size('y')), ([], (3, 4), 48))
        y = np.zeros((3, 4), np.float32)
        context.set_tensor_address('x', x.ctypes.data), context.set_tensor_address('y', y.ctypes.data)
        self.assertTrue(context.execute_async_v3(0), self.logger.errors)
        np.testing.assert_array_equal(y, x.reshape(3, 4))
        s[:] = 2, -1   # the memory is read again
        self.assertEqual(context.get_tensor_shape('y'), (2, 6))
        s[:] = 5, 7
        self.assertEqual(context.get_tensor_shape('y'), (-1, -1))
        self.assertIn('5', self.logger.errors[-1])

    def test_as_8_writes_it(self):
        engine = self.reshape()
        context = engine.create_execution_context()
        x, s, y = engine['x'], engine['s'], engine['y']
        self.assertTrue(engine.is_shape_binding(s) and engine.get_profile_shape_input(0, 's')[2] == [60, 60])
        self.assertTrue(context.set_binding_shape(x, (2, 6)) and context.all_binding_shapes_specified)
        self.assertFalse(context.all_shape_inputs_specified)
        self.assertFalse(context.set_shape_input(s, [3, 61]))
        self.assertIn('profile 0', self.logger.errors[-1])
        self.assertFalse(context.set_shape_input(s, [3]) or context.set_shape_input(x, [3, 4]))
        self.assertTrue(context.set_shape_input(s, [4, 3]))
        self.assertTrue(context.all_shape_inputs_specified)
        self.assertEqual((context.get_shape(s), context.get_binding_shape(y), context.get_strides(y)), ([4, 3], (4, 3), (3, 1)))
        a, b = np.arange(12, dtype=np.float32), np.zeros((4, 3), np.float32)
        self.assertTrue(context.execute_v2([a.ctypes.data, context.get_tensor_address('s'), b.ctypes.data]), self.logger.errors)
        np.testing.assert_array_equal(b.ravel(), a)

    def test_by_way_of_other_operators(self):
        engine = self.engine(RESIZE, values=[('s', [(1, 1, 1, 1), (1, 1, 4, 4), (1, 1, 8, 8)])])
        context = engine.create_execution_context()
        s = np.array([9, 9, 6, 4])
        context.set_tensor_address('s', s.ctypes.data)
        self.assertEqual(context.get_tensor_shape('y'), (1, 1, 6, 4))

    def test_what_data_decides_stays_open_and_has_a_bound(self):
        engine = self.engine(NON_ZERO, [('x', [(1, 6), (2, 6), (8, 6)])])
        context = engine.create_execution_context()
        self.assertEqual(context.get_max_output_size('y'), -1)
        x = np.eye(3, 6, dtype=np.float32)
        context.set_input_shape('x', x.shape)
        maximum = 2 * 18 * 8
        self.assertEqual((context.get_tensor_shape('y'), context.get_max_output_size('y'), context.get_max_output_size('x')),
                         ((2, -1), maximum, -1))
        y = np.zeros(maximum // 8, np.int64)
        context.set_tensor_address('x', x.ctypes.data), context.set_tensor_address('y', y.ctypes.data)
        self.assertTrue(context.execute_async_v3(0), self.logger.errors)
        self.assertEqual((context.get_tensor_shape('y'), context.get_max_output_size('y')), ((2, -1), maximum))
        np.testing.assert_array_equal(y[:6].reshape(2, 3), np.nonzero(x))

    def test_ranges_of_one_value(self):
        proto = model([NODE('Range', ['zero', 'n', 'one'], ['y'])], [('n', 7, [])], [('y', 7, ['k'])],
                      [numpy_helper.from_array(np.array(v), n) for n, v in (('zero', 0), ('one', 1))])
        context = self.engine(proto, values=[('n', [(1,), (3,), (9,)])]).create_execution_context()
        self.assertTrue(context.set_shape_input(0, [7]))
        self.assertEqual(context.get_tensor_shape('y'), (7,))

    def test_integers_that_are_data_are_no_sizes(self):
        gather = model([NODE('Gather', ['x', 'i'], ['y'])], [('x', 1, [4, 2]), ('i', 7, [3])], [('y', 1, [3, 2])])
        network = parsed(self.logger, gather)
        self.assertEqual([network.get_input(i).is_shape_tensor for i in range(2)], [False, False])


if __name__ == '__main__':
    unittest.main()
