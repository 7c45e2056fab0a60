"""TensorRT's allocators: device memory of builds, engines and contexts comes from the caller's functions and goes back there."""
import gc
import unittest

import numpy as np
from case import Case, batch, truth
from tensorrt_case import Lines, tanh_build

import tenfold.tensorrt as trt


class Counting(trt.IGpuAllocator):
    def __init__(self):
        trt.IGpuAllocator.__init__(self)
        self.live, self.given, self.flags, self.limit, self.error = {}, 0, set(), 1 << 40, None

    def allocate(self, size, alignment, flags):
        if self.error:
            raise self.error
        if sum(a.nbytes for a, _ in self.live.values()) + size > self.limit:
            return 0
        array = np.empty(size + alignment, np.uint8)
        address = -(-array.ctypes.data // alignment) * alignment
        self.live[address] = array, size
        self.given, self.flags = self.given + 1, self.flags | {flags}
        return address

    def deallocate(self, memory):
        del self.live[memory]
        return True

    def holds(self, address):
        return any(first <= address < first + size for first, (_, size) in self.live.items())


class CountingAsync(trt.IGpuAsyncAllocator):
    def __init__(self):
        trt.IGpuAsyncAllocator.__init__(self)
        self.inner, self.streams = Counting(), set()

    def allocate_async(self, size, alignment, flags, stream):
        self.streams.add(stream)
        return self.inner.allocate(size, alignment, flags)

    def deallocate_async(self, memory, stream):
        return self.inner.deallocate(memory)


class Allocators(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()

    def plan(self):
        builder, network, config = tanh_build(self.logger)
        return builder.build_serialized_network(network, config)

    def check(self, context, x=None):
        x = batch(3) if x is None else x
        y = np.empty((len(x), 4), np.float32)
        self.assertTrue(context.set_input_shape('x', x.shape), self.logger.errors)
        context.set_tensor_address('x', x.ctypes.data), context.set_tensor_address('y', y.ctypes.data)
        self.assertTrue(context.execute_async_v3(0), self.logger.errors)
        self.near(y, truth(x))

    def test_a_runtime_s_engines_and_contexts_have_its_memory(self):
        runtime, allocator = trt.Runtime(self.logger), Counting()
        self.assertIsNone(runtime.gpu_allocator)
        runtime.gpu_allocator = allocator
        self.assertIs(runtime.gpu_allocator, allocator)
        engine = runtime.deserialize_cuda_engine(self.plan())
        weights = len(allocator.live)
        self.assertGreater(weights, 0)
        contexts = [engine.create_execution_context() for _ in range(2)]
        self.assertGreater(len(allocator.live), weights)
        for context in contexts:
            self.check(context)
        self.assertEqual(allocator.flags, {0})
        del context, contexts
        gc.collect()
        self.assertEqual(len(allocator.live), weights)
        del engine, runtime
        gc.collect()
        self.assertEqual(allocator.live, {})

    def test_a_builder_s_builds_have_its_memory(self):
        builder, network, config = tanh_build(self.logger, level=1)
        allocator = builder.gpu_allocator = CountingAsync()
        engine = builder.build_engine_with_config(network, config)
        self.assertGreater(allocator.inner.given, 1, 'kernels were timed in it, too')
        self.check(engine.create_execution_context())
        self.assertEqual(allocator.streams, {0})
        builder.reset()
        self.assertIsNone(builder.gpu_allocator)
        del engine, builder
        gc.collect()
        self.assertEqual(allocator.inner.live, {})

    def test_no_memory_is_a_failure_in_tensorrt_s_form(self):
        runtime = trt.Runtime(self.logger)
        allocator = runtime.gpu_allocator = Counting()
        plan = self.plan()
        allocator.limit = 1
        self.assertIsNone(runtime.deserialize_cuda_engine(plan))
        self.assertIn('the allocator gave no memory', self.logger.errors[-1])
        allocator.limit = 1 << 40
        engine = runtime.deserialize_cuda_engine(plan)
        allocator.limit = 1
        self.assertIsNone(engine.create_execution_context())
        self.assertIn('the allocator gave no memory', self.logger.errors[-1])

    def test_what_an_allocator_raises_comes_out(self):
        runtime = trt.Runtime(self.logger)
        allocator = runtime.gpu_allocator = Counting()
        allocator.error = KeyError('mine')
        plan = self.plan()
        with self.assertRaises(KeyError) as caught:
            runtime.deserialize_cuda_engine(plan)
        self.assertIs(caught.exception, allocator.error)
        allocator.error = None
        engine = runtime.deserialize_cuda_engine(plan)
        allocator.error = ZeroDivisionError()
        self.assertRaises(ZeroDivisionError, engine.create_execution_context)
        runtime.gpu_allocator = type('Nothing', (trt.IGpuAllocator,), {})()
        self.refused(NotImplementedError, 'allocate()', runtime.deserialize_cuda_engine, plan)

    def test_only_allocators_are_taken(self):
        self.refused(TypeError, ['IGpuAllocator', 'int'], setattr, trt.Runtime(self.logger), 'gpu_allocator', 5)
        self.refused(TypeError, ['IGpuAllocator', 'object'], setattr, trt.Builder(self.logger), 'gpu_allocator', object())

    def test_a_context_s_temporary_allocator_gives_its_activations(self):
        engine = trt.Runtime(self.logger).deserialize_cuda_engine(self.plan())
        context, allocator = engine.create_execution_context(), Counting()
        context.temporary_allocator = allocator
        self.assertIs(context.temporary_allocator, allocator)
        self.assertEqual([size for _, size in allocator.live.values()], [engine.device_memory_size])
        self.assertTrue(allocator.holds(context.device_memory))
        self.check(context)
        context.temporary_allocator = None
        self.assertEqual(allocator.live, {})
        self.check(context)
        context.temporary_allocator = allocator
        del context
        gc.collect()
        self.assertEqual(allocator.live, {})
        context, allocator.limit = engine.create_execution_context(), 1
        context.temporary_allocator = allocator
        self.assertIn('the allocator gave no memory', self.logger.errors[-1])
        self.check(context)


if __name__ == '__main__':
    unittest.main()
