"""Arrays of torch, CuPy and our own, on the host and on a GPU, where there are these. The truth is torch's or NumPy's."""
import asyncio
import os
import sys
import unittest

import numpy as np
import pycuda_case
from case import PROFILE, QUICK, WEIGHTS, Case, batch, tanh_engine, tanh_model, truth
from gpu_case import ON_GPU, cupy, torch

import tenfold
import tenfold.onnxruntime


def gpu_engine():
    return tenfold.build(tanh_model(), profiles=PROFILE, device='cuda:0', optimization_level=1, tf32=False)


@unittest.skipUnless(torch, 'torch is not installed')
class TorchOnTheHost(Case):
    def test_tensors_in_and_out(self):
        x = torch.from_numpy(batch())
        for given in (x, x.clone().requires_grad_(), torch.from_numpy(np.asfortranarray(batch()))):
            y = tanh_engine()(given)
            self.assertIsInstance(y, torch.Tensor)
            self.near(y, truth(batch()))
        out = torch.zeros(4, 4)
        self.assertIs(tanh_engine()(x, out=out), out)
        self.near(out, truth(batch()))

    def test_tensors_that_lie_otherwise(self):
        class Mine(torch.Tensor):
            pass
        every_other = torch.from_numpy(batch(8)).repeat(1, 2)[1:6, ::2]
        for given in (every_other, torch.from_numpy(batch()).as_subclass(Mine), torch.nn.Parameter(torch.from_numpy(batch())),
                      torch.from_numpy(batch(8))[:1]):
            self.near(tanh_engine()(given).detach(), truth(given.detach().numpy()))
        negated = torch.view_as_complex(torch.ones(4, 6, 2)).conj().imag
        self.refused(ValueError, "resolve_neg", tanh_engine(), negated)
        self.near(tanh_engine()(negated.resolve_neg()), truth(-np.ones((4, 6))))
        for kind, given in ((BufferError, torch.eye(4, 6).to_sparse()), (ValueError, torch.zeros(4, 6, device='meta')),
                            (ValueError, torch.zeros(4, 6, dtype=torch.float64)),
                            (NotImplementedError, torch.zeros(4, 6, dtype=torch.complex64))):
            with self.assertRaises(kind):
                tanh_engine()(given)

    def test_memory_outlives_the_tensor(self):
        context = tanh_engine().create_context()
        context.bind('x', torch.from_numpy(batch()).clone())
        others = [torch.ones(4, 6) for _ in range(100)]
        context.run()
        self.near(context.outputs()['y'], truth(batch()))
        self.assertEqual(len(others), 100)


@unittest.skipUnless(ON_GPU, tenfold.why_no_gpu())
class OnAGpu(Case):
    def test_arrays_of_the_host(self):
        engine = gpu_engine()
        for rows in (4, 1, 8):
            self.near(engine(batch(rows)), truth(batch(rows)), 1e-4)
        context = engine.create_context()
        context.bind('x', batch())
        context.run()
        self.near(context.outputs()['y'], truth(batch()), 1e-4)

    @unittest.skipIf('TENFOLD_NVRTC_HELPER' in os.environ, 'TENFOLD_NVRTC_HELPER names another helper than the package\'s')
    def test_helpers_compile(self):
        seen = set()

        def look(*step):
            for process in filter(str.isdigit, os.listdir('/proc')):
                try:
                    with open(f'/proc/{process}/cmdline') as file:
                        seen.add(file.read().split('\0')[0])
                except OSError:
                    pass
        tenfold.build(tanh_model(), profiles=PROFILE, device='cuda:0', progress=look)
        self.assertIn(os.path.join(os.path.dirname(tenfold.__file__), 'bin', 'tenfold-nvrtc'), {os.path.normpath(s) for s in seen if s})

    @unittest.skipUnless(torch, 'torch is not installed')
    def test_tensors_of_torch_where_they_lie(self):
        engine, w = gpu_engine(), torch.from_numpy(WEIGHTS).cuda()
        for rows in (4, 8, 1, 4):
            x = torch.from_numpy(batch(rows)).cuda()
            y = engine(x)
            self.assertTrue(y.is_cuda)
            self.near(y.cpu(), torch.tanh(x @ w).cpu(), 1e-4)
        out = torch.zeros(4, 4, device='cuda')
        self.assertIs(engine(x, out=out), out)
        self.near(out.cpu(), truth(batch()), 1e-4)
        self.refused(tenfold.InvalidArgument, 'GPU', tanh_engine(), x)

    @unittest.skipUnless(torch, 'torch is not installed')
    def test_streams_keep_the_order(self):
        engine, w = gpu_engine(), torch.from_numpy(WEIGHTS).cuda()
        engine(torch.zeros(8, 6, device='cuda'))
        torch.cuda.synchronize()
        side = torch.cuda.Stream()
        for stream in (side, torch.cuda.current_stream(), side):
            with torch.cuda.stream(stream):
                x = torch.zeros(8, 6, device='cuda')
                torch.cuda._sleep(20_000_000)      # the input is written long after the call has returned
                x.fill_(0.5)
                y = engine(x)
                z = y + 1
            stream.synchronize()
            self.near(z.cpu(), (torch.tanh(x @ w) + 1).cpu(), 1e-4)
        x = torch.ones(8, 6, device='cuda')
        torch.cuda.synchronize()
        for stream in (side, tenfold.Stream(side.cuda_stream), side.cuda_stream):
            y = engine(x, stream=stream)
            side.synchronize()
            self.near(y.cpu(), torch.tanh(x @ w).cpu(), 1e-4)

    @unittest.skipUnless(cupy, 'CuPy is not installed')
    def test_arrays_of_cupy_and_of_cuda_alone(self):
        engine, x = gpu_engine(), cupy.asarray(batch())
        y = engine(x)
        self.assertIsInstance(y, cupy.ndarray)
        self.near(y.get(), truth(batch()), 1e-4)

        class Alone:
            __cuda_array_interface__ = x.__cuda_array_interface__
        cupy.cuda.Device().synchronize()
        self.near(np.asarray(engine(Alone())), truth(batch()), 1e-4)

    def test_arrays_of_ones_own(self):
        engine, x = gpu_engine(), batch()
        a, out = tenfold.DeviceArray.of(x, 'cuda:0'), tenfold.DeviceArray((4, 4), 'f32', engine.device)
        self.assertEqual((a.device, engine.device, a.__dlpack_device__()), ('cuda:0', 'cuda:0', (2, 0)))
        np.testing.assert_array_equal(a.numpy(), x)
        y = engine(a)
        self.assertEqual((type(y), y.device), (tenfold.DeviceArray, 'cuda:0'))
        self.near(y.numpy(), truth(x), 1e-4)
        self.assertIs(engine(a, out=out), out)
        self.near(out.numpy(), truth(x), 1e-4)
        context = engine.create_context()
        context.bind('x', a), context.bind('y', out)
        a.copy_from(2 * x)
        context.run()
        self.near(out.numpy(), truth(2 * x), 1e-4)
        self.near(engine.run_async(a).result(60).numpy(), truth(2 * x), 1e-4)
        self.refused(TypeError, ['cuda:0', 'numpy()'], np.asarray, a)
        self.refused(BufferError, '', memoryview, a)
        self.refused(tenfold.InvalidArgument, 'GPU', tanh_engine(), a)
        self.assertEqual(a.__cuda_array_interface__['data'], (a.address, False))
        held = tenfold.onnxruntime.OrtValue.ortvalue_from_numpy(x, 'cuda', 0)
        self.assertEqual(held.device_name(), 'cuda')
        s = tenfold.Session(tanh_model(), providers=['CUDAExecutionProvider'], tf32=False, tune='never')
        binding = s.io_binding()
        binding.bind_ortvalue_input('x', held), binding.bind_output('y', 'cuda', 0)
        s.run_with_iobinding(binding)
        self.assertEqual(binding.get_outputs()[0].device_name(), 'cuda')
        self.near(binding.copy_outputs_to_cpu()[0], truth(x), 1e-4)

    @unittest.skipUnless(torch, 'torch is not installed')
    def test_arrays_of_ones_own_and_torch_share_memory(self):
        a = tenfold.DeviceArray.of(batch(), 'cuda:0')
        t = torch.from_dlpack(a)
        self.assertEqual(t.data_ptr(), a.address)
        t += 1
        torch.cuda.synchronize()
        self.near(a.numpy(), batch() + 1)
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda._sleep(20_000_000)
            late = torch.full((4, 6), 3.0, device='cuda')
            a.copy_from(late)     # behind what torch has enqueued there
        self.near(a.numpy(), np.full((4, 6), 3))

    def test_streams_of_ones_own(self):
        engine, x = gpu_engine(), batch()
        stream, out = tenfold.Stream(), tenfold.DeviceArray((4, 4), 'f32', 'cuda:0')
        self.assertNotEqual(stream.handle, 0)
        a = tenfold.DeviceArray.of(x, 'cuda:0')
        engine(a, out=out, stream=stream)
        stream.synchronize()
        self.near(out.numpy(), truth(x), 1e-4)
        a.copy_from(2 * x)
        with stream:
            for _ in range(20):
                engine(a, out=out)
        stream.synchronize()
        self.near(out.numpy(), truth(2 * x), 1e-4)
        a.copy_from(3 * x, stream)
        with stream:
            engine(a, out=out)
        self.near(out.numpy(stream), truth(3 * x), 1e-4)

    def test_futures(self):
        engine = gpu_engine()
        futures = [engine.run_async(batch(1 + k % 8, k)) for k in range(40)]
        for k, future in enumerate(futures):
            self.near(future.result(60), truth(batch(1 + k % 8, k)), 1e-4)
        out = np.zeros((4, 4), np.float32)
        self.assertIs(engine.run_async(batch(), out=out).result(60), out)
        self.near(out, truth(batch()), 1e-4)
        self.assertIsInstance(engine.run_async(batch(9)).exception(60), tenfold.InvalidArgument)

        async def several():
            return await asyncio.gather(*(engine.run_async(k * batch()) for k in range(6)))
        for k, y in enumerate(asyncio.run(several())):
            self.near(y, truth(k * batch()), 1e-4)

    @unittest.skipUnless(torch, 'torch is not installed')
    def test_futures_of_tensors_follow_the_current_stream(self):
        engine, w = gpu_engine(), torch.from_numpy(WEIGHTS).cuda()
        engine(torch.zeros(8, 6, device='cuda'))
        with torch.cuda.stream(torch.cuda.Stream()):
            x = torch.zeros(8, 6, device='cuda')
            torch.cuda._sleep(20_000_000)
            x.fill_(0.5)
            future = engine.run_async(x)
        y = future.result(60)            # the GPU is done with it then
        self.assertTrue(y.is_cuda)
        self.near(y.cpu(), torch.tanh(x @ w).cpu(), 1e-4)

    @unittest.skipUnless(torch, 'torch is not installed')
    def test_tensors_that_get_other_memory(self):
        """What was bound for a call is read anew in the next: resize_, set_ and .data change a tensor below its object."""
        engine, w = gpu_engine(), torch.from_numpy(WEIGHTS).cuda()
        x, out = torch.zeros(4, 6, device='cuda'), torch.zeros(4, 4, device='cuda')
        others = [torch.full((rows, 6), float(rows), device='cuda') for rows in (4, 2, 8, 4)]
        for other in others:
            x.data = other
            self.near(engine(x).cpu(), torch.tanh(other @ w).cpu(), 1e-4)
        for _ in range(5):
            engine(x, out=out)
            x.add_(0.1)
        engine(x, out=out)
        self.near(out.cpu(), torch.tanh(x @ w).cpu(), 1e-4)
        negated = torch.view_as_complex(torch.ones(4, 6, 2, device='cuda')).conj().imag
        self.refused(ValueError, 'resolve_neg', engine, negated)

    @unittest.skipUnless(torch and torch.cuda.device_count() > 1 if torch else False, 'there is one GPU')
    def test_arrays_of_another_gpu_are_refused(self):
        for x in (torch.zeros(4, 6, device='cuda:1'), tenfold.DeviceArray((4, 6), 'f32', 'cuda:1')):
            self.refused(tenfold.InvalidArgument, ["'x'", 'cuda:1', 'cuda:0'], gpu_engine(), x)

    def test_many_calls_leave_memory_and_counts(self):
        engine, x = gpu_engine(), batch()
        a, out = tenfold.DeviceArray.of(x, 'cuda:0'), tenfold.DeviceArray((4, 4), 'f32', 'cuda:0')
        for call in (lambda: engine(a, out=out), lambda: engine(x), lambda: engine.run_async(a, out=out).result(60), lambda: engine(a)):
            for _ in range(50):
                call()
            before = sys.getrefcount(a), sys.getrefcount(out), sys.getrefcount(x)
            free = tenfold._native.free_memory('cuda:0')
            for _ in range(2000):
                call()
            self.assertEqual((sys.getrefcount(a), sys.getrefcount(out), sys.getrefcount(x)), before)
            self.assertLess(free - tenfold._native.free_memory('cuda:0'), 8 << 20)

    def test_a_fork_is_told_why_it_has_no_gpu(self):
        engine, x = gpu_engine(), batch()
        engine(x)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for use in (lambda: engine(x), gpu_engine):
                    try:
                        use()
                    except tenfold.DeviceError as error:
                        assert "'spawn'" in str(error), error
                    else:
                        raise AssertionError('a fork uses the GPU')
                tenfold.build(tanh_model(), profiles=PROFILE, **QUICK)(x)
                code = 0
            except BaseException as error:
                print(repr(error), flush=True)
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.near(engine(x), truth(x), 1e-4)

    def test_sessions_run_there(self):
        session = tenfold.Session(tanh_model(), providers=['CUDAExecutionProvider', 'CPUExecutionProvider'], tf32=False, **{
            k: v for k, v in QUICK.items() if k != 'device'})
        self.near(session.run(None, {'x': batch()})[0], truth(batch()), 1e-4)
        self.assertEqual(session.get_providers()[0], 'CUDAExecutionProvider')


@unittest.skipUnless(ON_GPU, tenfold.why_no_gpu())
class PyCudaOnAGpu(pycuda_case.PyCuda):
    """The stand-in's memory, copies, events and errors with a driver below them, and a script of 8.x from end to end."""

    def test_pinned_arrays_live_as_long_as_somebody_looks(self):
        from tenfold.pycuda import driver
        row = driver.pagelocked_zeros((3, 4), np.float32)[1]
        memory = driver.to_device(np.full(4, 2, np.float32))
        driver.memcpy_dtoh(row, memory)
        np.testing.assert_array_equal(row, [2] * 4)


if __name__ == '__main__':
    unittest.main()
