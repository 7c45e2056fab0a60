"""Arrays of torch and CuPy, on the host and on a GPU; left out where they, or a GPU, are missing. The truth is torch's or NumPy's."""
import os
import unittest

import numpy as np
import pycuda_case
from case import PROFILE, QUICK, WEIGHTS, Case, batch, tanh_engine, tanh_model, truth
from gpu_case import ON_GPU, cupy, torch

import tenfold


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
