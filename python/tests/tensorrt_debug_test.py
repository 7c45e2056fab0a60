"""Debug tensors: values that were marked, or all that steps leave, as a listener hears them."""
import ctypes
import unittest

import numpy as np
from case import WEIGHTS, Case, batch
from layers_case import Layers
from tensorrt_case import Lines, tanh_build

import tenfold.tensorrt as trt


class Listener(trt.IDebugListener):
    def __init__(self):
        trt.IDebugListener.__init__(self)
        self.seen = []

    def process_debug_tensor(self, addr, location, type, shape, name, stream):
        assert location == trt.TensorLocation.HOST
        count = int(np.prod(shape))
        array = np.frombuffer((ctypes.c_uint8 * (count * type.itemsize)).from_address(addr), trt.nptype(type)).reshape(tuple(shape))
        self.seen.append((name, array.copy()))
        return True

    @property
    def names(self):
        return [name for name, _ in self.seen]


def run(context, x):
    y = np.empty((len(x), 4), np.float32)
    context.set_input_shape('x', x.shape)
    context.set_tensor_address('x', x.ctypes.data), context.set_tensor_address('y', y.ctypes.data)
    assert context.execute_async_v3(0)
    return y


class DebugTensors(Case):
    """y = tanh(t), t = x @ w: fusion takes t away where nobody marks it."""

    def build(self, mark):
        logger = Lines()
        builder, network, config = tanh_build(logger)
        tensor = network.get_layer(0).get_output(0)
        self.assertEqual(tensor.name, 't')
        mark(network, tensor)
        engine = builder.build_engine_with_config(network, config)
        self.assertIsNotNone(engine, logger.errors)
        self.assertEqual([network.get_output(i).name for i in range(network.num_outputs)], ['y'])
        return engine, logger

    def marked(self):
        def mark(network, tensor):
            self.assertTrue(network.mark_debug(tensor))
            self.assertTrue(network.is_debug_tensor(tensor))
        return self.build(mark)

    def test_a_marked_tensor_is_kept_and_told(self):
        engine, logger = self.marked()
        self.assertEqual(list(engine), ['x', 'y'])
        self.assertTrue(engine.is_debug_tensor('t'))
        self.assertFalse(engine.is_debug_tensor('y'))
        context, listener, x = engine.create_execution_context(), Listener(), batch(3)
        context.set_debug_listener(listener)
        run(context, x)
        self.assertEqual(listener.names, [], 'no state is set')
        self.assertTrue(context.set_tensor_debug_state('t', True))
        self.assertTrue(context.get_debug_state('t'))
        self.near(run(context, x), np.tanh(x @ WEIGHTS))
        self.assertEqual(listener.names, ['t'])
        self.near(listener.seen[0][1], x @ WEIGHTS)
        self.assertTrue(context.set_all_tensors_debug_state(False))
        run(context, x)
        self.assertEqual(listener.names, ['t'])
        self.assertFalse(context.set_tensor_debug_state('q', True))
        self.assertIn("'q' was not marked", logger.errors[-1])

    def test_the_plan_keeps_it(self):
        engine, logger = self.marked()
        loaded = trt.Runtime(logger).deserialize_cuda_engine(engine.serialize())
        context, listener = loaded.create_execution_context(), Listener()
        self.assertEqual(list(loaded), ['x', 'y'])
        context.set_debug_listener(listener)
        context.set_all_tensors_debug_state(True)
        run(context, batch(2))
        self.near(listener.seen[0][1], batch(2) @ WEIGHTS)

    def test_what_is_not_marked_is_fused_away(self):
        def mark(network, tensor):
            self.assertTrue(network.mark_debug(tensor) and network.unmark_debug(tensor))
            self.assertFalse(network.unmark_debug(tensor))
            self.assertTrue(network.mark_unfused_tensors_as_debug_tensors())
        engine, logger = self.build(mark)
        context, listener, x = engine.create_execution_context(), Listener(), batch(3)
        context.set_debug_listener(listener)
        context.unfused_tensors_debug_state = True
        self.assertTrue(context.unfused_tensors_debug_state)
        run(context, x)
        self.assertEqual(listener.names, ['y'])
        self.near(listener.seen[0][1], np.tanh(x @ WEIGHTS))

    def test_unfused_tensors_need_their_mark(self):
        engine, logger = self.marked()
        context = engine.create_execution_context()
        context.unfused_tensors_debug_state = True
        self.assertFalse(context.unfused_tensors_debug_state)
        self.assertIn('mark_unfused_tensors_as_debug_tensors', logger.errors[-1])

    def test_inputs_are_the_caller_s(self):
        logger = Lines()
        _, network, _ = tanh_build(logger)
        self.assertFalse(network.mark_debug(network.get_input(0)))
        self.assertIn("'x' is an input", logger.errors[-1])

    def test_what_a_listener_raises_comes_out(self):
        engine, _ = self.marked()
        context = engine.create_execution_context()
        context.set_debug_listener(trt.IDebugListener())
        context.set_all_tensors_debug_state(True)
        self.refused(NotImplementedError, 'process_debug_tensor()', run, context, batch(2))
        self.refused(TypeError, 'IDebugListener', context.set_debug_listener, 5)


class DebugTensorsOfLayers(Layers):
    def test_layers_are_marked_too(self):
        x = self.input(np.arange(6, dtype=np.float32).reshape(2, 3))
        negative = self.network.add_unary(x, trt.UnaryOperation.NEG)
        negative.get_output(0).name = 'n'
        last = self.network.add_activation(negative.get_output(0), trt.ActivationType.RELU)
        last.get_output(0).name = 'y'
        self.network.mark_output(last.get_output(0))
        self.assertTrue(self.network.mark_debug(negative.get_output(0)))
        engine = self.builder.build_engine_with_config(self.network, self.builder.create_builder_config())
        self.assertIsNotNone(engine, self.logger.errors)
        context, listener, given, got = engine.create_execution_context(), Listener(), self.arrays['x'], np.empty((2, 3), np.float32)
        context.set_debug_listener(listener), context.set_all_tensors_debug_state(True)
        context.set_tensor_address('x', given.ctypes.data), context.set_tensor_address('y', got.ctypes.data)
        self.assertTrue(context.execute_async_v3(0), self.logger.errors)
        self.assertEqual(listener.names, ['n'])
        self.near(listener.seen[0][1], -given)
        self.assertEqual(self.network.num_outputs, 1)


if __name__ == '__main__':
    unittest.main()
