"""TensorRT's allocators and debug tensors on a GPU. Skips where there is none. Layers: TENFOLD_DEVICE=cuda:0 tensorrt_*layers_test.py."""
import ctypes
import gc
import unittest

import numpy as np
from case import WEIGHTS, Case, batch, truth
from gpu_case import ON_GPU, torch
from tensorrt_case import Lines, tanh_build

import tenfold.tensorrt as trt
from tenfold.pycuda import driver


class OnGpu(trt.IGpuAsyncAllocator):
    def __init__(self):
        trt.IGpuAsyncAllocator.__init__(self)
        self.live, self.given = {}, 0

    def allocate_async(self, size, alignment, flags, stream):
        memory = driver.mem_alloc(size)   # of the driver, which aligns to 256
        self.live[int(memory)] = memory
        self.given += 1
        return int(memory)

    def deallocate_async(self, memory, stream):
        self.live.pop(memory).free()
        return True


@unittest.skipUnless(ON_GPU and torch is not None, 'no GPU, or no torch')
class Memory(Case):
    def run_on(self, context, x):
        x = torch.as_tensor(x, device='cuda')
        y = torch.empty((len(x), 4), device='cuda')
        self.assertTrue(context.set_input_shape('x', tuple(x.shape)))
        context.set_tensor_address('x', x.data_ptr()), context.set_tensor_address('y', y.data_ptr())
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        self.assertTrue(context.execute_async_v3(stream.cuda_stream), self.logger.errors)
        stream.synchronize()
        return y.cpu().numpy()

    def setUp(self):
        super().setUp()
        self.logger = Lines()
        self.builder, self.network, self.config = tanh_build(self.logger, level=1)
        self.config.clear_flag(trt.BuilderFlag.TF32)

    def test_all_device_memory_is_the_allocator_s(self):
        built, loaded = OnGpu(), OnGpu()
        self.builder.gpu_allocator = built
        engine = self.builder.build_engine_with_config(self.network, self.config)
        self.assertGreater(built.given, 1)
        plan = engine.serialize()
        runtime = trt.Runtime(self.logger)
        runtime.gpu_allocator = loaded
        again = runtime.deserialize_cuda_engine(plan)
        weights = len(loaded.live)
        self.assertGreater(weights, 0)
        context = again.create_execution_context()
        self.assertGreater(len(loaded.live), weights)
        for rows in (3, 8, 3):
            self.near(self.run_on(context, batch(rows)), truth(batch(rows)), 1e-3)
        del context, again, runtime, engine, self.builder
        gc.collect()
        self.assertEqual((built.live, loaded.live), ({}, {}))

    def test_a_host_address_is_refused(self):
        class Wrong(trt.IGpuAllocator):
            kept = []

            def allocate(self, size, alignment, flags):
                self.kept.append(np.empty(size + alignment, np.uint8))
                return -(-self.kept[-1].ctypes.data // alignment) * alignment

            def deallocate(self, memory):
                return True
        plan = self.builder.build_serialized_network(self.network, self.config)
        runtime = trt.Runtime(self.logger)
        runtime.gpu_allocator = Wrong()
        self.assertIsNone(runtime.deserialize_cuda_engine(plan))
        self.assertIn('the allocator gave memory that is not cuda:', self.logger.errors[-1])

    def test_temporary_memory(self):
        network, allocator = self.builder.create_network(), OnGpu()
        y = network.add_input('x', trt.float32, (3, 64))
        square = np.random.default_rng(1).standard_normal((64, 64), np.float32) / 8
        for _ in range(2):   # what lies between two products is an activation
            weights = network.add_constant((64, 64), square).get_output(0)
            y = network.add_matrix_multiply(y, trt.MatrixOperation.NONE, weights, trt.MatrixOperation.NONE).get_output(0)
            y = network.add_activation(y, trt.ActivationType.TANH).get_output(0)
        y.name = 'y'
        network.mark_output(y)
        engine = self.builder.build_engine_with_config(network, self.builder.create_builder_config())
        self.assertGreater(engine.device_memory_size, 0)
        context = engine.create_execution_context()
        context.temporary_allocator = allocator
        self.assertEqual(len(allocator.live), 1)
        x, got = torch.rand(3, 64, device='cuda'), torch.empty(3, 64, device='cuda')
        context.set_tensor_address('x', x.data_ptr()), context.set_tensor_address('y', got.data_ptr())
        self.assertTrue(context.execute_async_v3(torch.cuda.current_stream().cuda_stream), self.logger.errors)
        torch.cuda.synchronize()
        expected = np.tanh(np.tanh(x.cpu().numpy() @ square) @ square)
        self.near(got.cpu().numpy(), expected, 1e-2)   # tf32
        del context
        gc.collect()
        self.assertEqual(allocator.live, {})

    def test_a_cache_is_updated_where_it_lies(self):
        network = self.builder.create_network()
        tensors = [network.add_input(name, kind, shape) for name, kind, shape in
                   (('c', trt.float32, (2, 3, 8, 4)), ('u', trt.float32, (2, 3, 2, 4)), ('at', trt.int32, (2,)))]
        result = network.add_kv_cache_update(*tensors, trt.KVCacheMode.LINEAR).get_output(0)
        result.name = 'next'
        network.mark_output(result)
        engine = self.builder.build_engine_with_config(network, self.builder.create_builder_config())
        cache, update = torch.rand(2, 3, 8, 4, device='cuda'), torch.rand(2, 3, 2, 4, device='cuda')
        at = torch.tensor([1, 5], dtype=torch.int32, device='cuda')
        expected = cache.clone()
        for b, place in enumerate((1, 5)):
            expected[b, :, place:place + 2] = update[b]
        context = engine.create_execution_context()
        for name, tensor in (('c', cache), ('u', update), ('at', at), ('next', cache)):
            context.set_tensor_address(name, tensor.data_ptr())
        torch.cuda.synchronize()
        self.assertTrue(context.execute_v2([t.data_ptr() for t in (cache, update, at, cache)]), self.logger.errors)
        np.testing.assert_array_equal(cache.cpu().numpy(), expected.cpu().numpy())

    def test_debug_tensors(self):
        class Listener(trt.IDebugListener):
            def process_debug_tensor(self, addr, location, type, shape, name, stream):
                assert location == trt.TensorLocation.HOST
                values = (ctypes.c_float * int(np.prod(shape))).from_address(addr)
                self.seen = name, np.array(values).reshape(tuple(shape))
                return True
        self.network.mark_debug(self.network.get_layer(0).get_output(0))
        engine = self.builder.build_engine_with_config(self.network, self.config)
        context, listener, x = engine.create_execution_context(), Listener(), batch(3)
        self.near(self.run_on(context, x), truth(x), 1e-3)
        context.set_debug_listener(listener), context.set_all_tensors_debug_state(True)
        self.near(self.run_on(context, x), truth(x), 1e-3)
        self.assertEqual(listener.seen[0], 't')
        self.near(listener.seen[1], x @ WEIGHTS, 1e-3)


if __name__ == '__main__':
    unittest.main()
