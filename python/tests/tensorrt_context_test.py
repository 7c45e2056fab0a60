"""tenfold.tensorrt's engines and contexts: shapes, addresses, profiles, allocators, 8.x's numbers, and what goes wrong in runs."""
import functools
import unittest

import numpy as np
from case import Case, batch, helper, model, tanh_model, truth
from tensorrt_case import Lines

import tenfold.tensorrt as trt

SHAPES = [dict(x=((1, 6), (1, 6), (1, 6))), dict(x=((2, 6), (4, 6), (8, 6)))]


@functools.cache
def plan_of(name, profiles=1):
    proto = dict(tanh=tanh_model,
                 nonzero=lambda: model([helper.make_node('NonZero', ['x'], ['y'])], [('x', 1, ['n', 6])], [('y', 7, [2, 'k'])]),
                 halves=lambda: model([helper.make_node('Cast', ['x'], ['y'], to=16)], [('x', 1, [4])], [('y', 16, [4])]))[name]()
    builder = trt.Builder(Lines())
    network, config = builder.create_network(), builder.create_builder_config()
    assert trt.OnnxParser(network, builder.logger).parse(proto.SerializeToString())
    config.builder_optimization_level = 0
    config.clear_flag(trt.BuilderFlag.TF32)
    for shapes in SHAPES[2 - profiles:] if name != 'halves' else ():
        profile = builder.create_optimization_profile()
        profile.set_shape('x', *shapes['x'])
        config.add_optimization_profile(profile)
    return builder.build_serialized_network(network, config)


class Runs(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()

    def engine(self, name='tanh', profiles=1):
        return trt.Runtime(self.logger).deserialize_cuda_engine(plan_of(name, profiles))

    def fails(self, words, result):
        self.assertIs(result, False)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, self.logger.errors[-1])


class Shapes(Runs):
    def test_they_are_known_step_by_step(self):
        context = self.engine().create_execution_context()
        self.assertEqual((context.infer_shapes(), context.all_binding_shapes_specified), (['x'], False))
        self.assertEqual((context.get_tensor_shape('x'), context.get_tensor_shape('y')), ((-1, 6), (-1, 4)))
        self.assertTrue(context.set_input_shape('x', (3, 6)))
        self.assertEqual((context.infer_shapes(), context.all_binding_shapes_specified), ([], True))
        reported = context.get_tensor_shape('y'), context.get_tensor_strides('y'), context.get_max_output_size('y')
        self.assertEqual(reported, ((3, 4), (4, 1), 48))
        for shape, words in (((9, 6), ['9x6', '8x6']), ((3, 7), "'x'"), ((3,), "'x'")):
            self.fails(words, context.set_input_shape('x', shape))
            self.assertFalse(context.all_binding_shapes_specified)
        self.fails("'z'", context.set_input_shape('z', (1, 6)))

    def test_profiles(self):
        engine = self.engine(profiles=2)
        self.assertEqual((engine.num_optimization_profiles, engine.num_io_tensors, engine.num_bindings), (2, 2, 4))
        self.assertEqual(engine.get_tensor_profile_shape('x', 1), [(2, 6), (4, 6), (8, 6)])
        self.assertEqual(list(engine), ['x', 'y', 'x [profile 1]', 'y [profile 1]'])
        self.assertEqual((engine['y [profile 1]'], engine[-1], engine.get_binding_index('z')), (3, 'y [profile 1]', -1))
        context = engine.create_execution_context()
        self.assertEqual(context.active_optimization_profile, 0)
        self.assertFalse(context.set_input_shape('x', (4, 6)))          # of the other profile
        self.assertTrue(context.set_optimization_profile_async(1, 0))
        self.assertTrue(context.set_binding_shape(2, (4, 6)))
        x, y = batch(), np.empty((4, 4), np.float32)
        self.assertTrue(context.execute_v2([0, 0, x.ctypes.data, y.ctypes.data]), self.logger.errors)
        self.near(y, truth(x))
        self.fails('profile 2', context.set_optimization_profile_async(2, 0))
        self.assertEqual(context.active_optimization_profile, 1)
        context.active_optimization_profile = 0
        self.assertFalse(context.all_binding_shapes_specified)
        self.assertTrue(context.set_input_shape('x', (1, 6)) and context.execute_v2([x.ctypes.data, y.ctypes.data]), self.logger.errors)
        context.active_optimization_profile = 1
        self.assertTrue(context.set_input_shape('x', (8, 6)))           # what is bound would be too small
        self.assertEqual((context.get_tensor_shape('x'), context.get_tensor_shape('y')), ((8, 6), (8, 4)))
        self.refused(RuntimeError, '7', setattr, context, 'active_optimization_profile', 7)


class Addresses(Runs):
    def test_memory_is_read_and_written_where_it_lies(self):
        context = self.engine().create_execution_context()
        memory = np.zeros((2, 8, 6), np.float32)
        for rows, place in ((4, 0), (4, 1), (2, 1), (8, 0)):
            x, y = memory[place], np.full((9, 4), 7, np.float32)
            x[:rows] = batch(rows, seed=rows + place)
            self.assertTrue(context.set_input_shape('x', (rows, 6)) and context.set_tensor_address('x', x.ctypes.data))
            self.assertTrue(context.set_tensor_address('y', y.ctypes.data) and context.execute_async_v3(stream_handle=12345))
            self.near(y[:rows], truth(x[:rows]))
            self.assertTrue((y[rows:] == 7).all())
            x[:rows] *= -1
            self.assertTrue(context.execute_async_v3(0))
            self.near(y[:rows], truth(x[:rows]))
            self.assertEqual(context.get_tensor_address('y'), y.ctypes.data)

    def test_types_that_numpy_lacks(self):
        engine = self.engine('halves')
        x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.uint16)
        self.assertEqual(engine.get_tensor_dtype('y'), trt.bfloat16)
        self.assertTrue(engine.create_execution_context().execute_v2([x.ctypes.data, y.ctypes.data]), self.logger.errors)
        self.assertEqual(y.tolist(), [0, 0x3F80, 0x4000, 0x4040])

    def test_what_is_no_address(self):
        context = self.engine().create_execution_context()
        self.assertTrue(context.set_input_shape('x', (4, 6)))
        for given in (batch(), b'bytes', None, 1.5j):
            self.refused(TypeError, "'x'", context.set_tensor_address, 'x', given)
        self.refused(ValueError, '-1', context.set_tensor_address, 'x', -1)
        self.fails("'z'", context.set_tensor_address('z', 1))
        self.fails("'x' has no address", context.execute_async_v3(0))
        self.fails('2 inputs and outputs', context.execute_v2([1]))
        self.refused(TypeError, "'x'", context.execute_v2, [batch(), batch()])
        self.fails('batch_size=2', context.execute(2, [0, 0]))

    def test_a_run_without_shapes(self):
        context = self.engine().create_execution_context()
        x = batch()
        self.fails(['without a shape', 'x'], context.execute_v2([x.ctypes.data, x.ctypes.data]))


class Keeper(trt.IOutputAllocator):
    def __init__(self):
        trt.IOutputAllocator.__init__(self)
        self.arrays, self.shapes = {}, {}

    def reallocate_output(self, tensor_name, memory, size, alignment):
        self.arrays[tensor_name] = np.zeros(size // 8 + 1, np.int64)
        return self.arrays[tensor_name].ctypes.data

    def notify_shape(self, tensor_name, shape):
        self.shapes[tensor_name] = tuple(shape)


class Allocators(Runs):
    def test_sizes_that_only_the_run_knows(self):
        context = self.engine('nonzero').create_execution_context()
        keeper = Keeper()
        self.assertTrue(context.set_output_allocator('y', keeper))
        self.assertIs(context.get_output_allocator('y'), keeper)
        for rows in (3, 5):
            x = np.eye(rows, 6, dtype=np.float32)
            self.assertTrue(context.set_input_shape('x', x.shape) and context.set_tensor_address('x', x.ctypes.data))
            self.assertEqual((context.get_tensor_shape('y'), context.get_max_output_size('y')), ((2, -1), 2 * rows * 6 * 8))
            for _ in range(2):
                keeper.shapes.clear()
                self.assertTrue(context.execute_async_v3(0), self.logger.errors)
                self.assertEqual(keeper.shapes, {'y': (2, rows)})
                np.testing.assert_array_equal(keeper.arrays['y'][:2 * rows].reshape(2, rows), np.nonzero(x))
        self.assertTrue(context.set_output_allocator('y', None))
        y = np.zeros((2, 5), np.int64)                                  # large enough, as the caller knows
        self.assertTrue(context.set_tensor_address('y', y.ctypes.data) and context.execute_async_v3(0))
        np.testing.assert_array_equal(y, np.nonzero(x))
        self.fails("'x'", context.set_output_allocator('x', keeper))

    def test_sizes_that_are_known(self):
        context, keeper, x, y = self.engine().create_execution_context(), Keeper(), batch(3), np.zeros((3, 4), np.float32)
        self.assertTrue(context.set_input_shape('x', x.shape) and context.execute_v2([x.ctypes.data, y.ctypes.data]))
        self.near(y, truth(x))
        y.fill(0)
        context.set_output_allocator('y', keeper)
        self.assertTrue(context.execute_async_v3(0), self.logger.errors)
        self.assertFalse(y.any())
        self.assertEqual(keeper.shapes['y'], (3, 4))
        self.near(keeper.arrays['y'].view(np.float32)[:12].reshape(3, 4), truth(x))

    def test_one_that_gives_nothing_and_one_that_raises(self):
        context, x = self.engine().create_execution_context(), batch(3)
        self.assertTrue(context.set_input_shape('x', x.shape) and context.set_tensor_address('x', x.ctypes.data))
        keeper = Keeper()
        keeper.reallocate_output = lambda *_: 0
        context.set_output_allocator('y', keeper)
        self.fails("'y' gave no memory", context.execute_async_v3(0))
        context.set_output_allocator('y', trt.IOutputAllocator())
        self.refused(NotImplementedError, 'reallocate_output', context.execute_async_v3, 0)


class Engines(Runs):
    def test_they_tell_of_tensors_by_name_and_by_number(self):
        engine = self.engine()
        self.assertEqual([engine.get_tensor_name(i) for i in range(engine.num_io_tensors)], ['x', 'y'])
        modes = [engine.get_tensor_mode(name) for name in ('x', 'y', 'z')]
        self.assertEqual(modes, [trt.TensorIOMode.INPUT, trt.TensorIOMode.OUTPUT, trt.TensorIOMode.NONE])
        self.assertEqual((engine.get_tensor_shape('y'), engine.get_tensor_dtype('y'), engine.get_tensor_format('y')),
                         ((-1, 4), trt.float32, trt.TensorFormat.LINEAR))
        self.assertEqual((engine.get_tensor_location('x'), engine.is_shape_inference_io('x')), (trt.TensorLocation.DEVICE, False))
        for binding in (1, 'y'):
            self.assertEqual((engine.get_binding_shape(binding), engine.get_binding_dtype(binding), engine.binding_is_input(binding)),
                             ((-1, 4), trt.float32, False))
        self.assertEqual(engine.get_profile_shape(0, 'x'), [(2, 6), (4, 6), (8, 6)])
        self.refused(ValueError, ["'z'", 'x, y'], engine.get_tensor_shape, 'z')
        self.refused(IndexError, '2', engine.get_tensor_name, 2)
        self.refused(IndexError, '4', engine.get_binding_shape, 4)

    def test_plans_are_bytes(self):
        plan = plan_of('tanh')
        self.assertEqual((len(plan), bytes(memoryview(plan))), (plan.nbytes, bytes(plan)))
        self.assertEqual(bytes(self.engine().serialize()), bytes(plan))
        runtime = trt.Runtime(self.logger)
        self.assertIsNotNone(runtime.deserialize_cuda_engine(memoryview(b'{"a": 1}' + plan)[8:]))
        for cut in (b'', plan[:100], b'not a plan'):
            self.assertIsNone(runtime.deserialize_cuda_engine(cut))
        self.assertIn('plan', self.logger.errors[-1])
        self.refused(TypeError, 'str', runtime.deserialize_cuda_engine, 'model.engine')

    def test_profilers_hear_every_step(self):
        class Times(trt.IProfiler):
            def __init__(self):
                trt.IProfiler.__init__(self)
                self.layers = []

            def report_layer_time(self, layer_name, ms):
                self.layers.append((layer_name, ms))

        engine, x, y = self.engine(), batch(), np.empty((4, 4), np.float32)
        context = engine.create_execution_context()
        context.profiler = times = Times()
        self.assertTrue(context.set_input_shape('x', x.shape) and context.execute_v2([x.ctypes.data, y.ctypes.data]))
        self.near(y, truth(x))
        self.assertEqual(len(times.layers), engine.num_layers)
        self.assertTrue(all(ms >= 0 for _, ms in times.layers))


if __name__ == '__main__':
    unittest.main()
