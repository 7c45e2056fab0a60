"""Tactics in Python on a GPU: torch, Triton, CuPy and addresses, recorded once and replayed; left out where they, or a GPU, are missing."""
import unittest

import numpy as np
import plugins_case
from case import batch
from gpu_case import ON_GPU, cupy, torch
from plugins_case import build, model_of, only, snake_truth

import tenfold

try:
    import triton
    import triton.language as tl

    @triton.jit
    def snake_kernel(x, out, alpha, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n)
        s = tl.sin(alpha * v)
        tl.store(out + i, v + s * s / alpha, mask=i < n)
except ImportError:
    triton = None


@unittest.skipUnless(ON_GPU, tenfold.why_no_gpu())
class OnAGpu(plugins_case.Plugged):
    def check(self, name, calls, **options):
        """Builds with that tactic alone, runs at several sizes, saves, loads and runs again; a replay does not call Python."""
        engine = build(model_of('Snake', alpha=0.5), device='cuda:0', choose_tactic=only(name), tf32=False, **options)
        self.assertIn(f' {name} ', engine.inspect())
        self.run_at_sizes(engine, calls)
        engine.save(self.path('m.plan'))
        loaded = tenfold.load(self.path('m.plan'))
        self.run_at_sizes(loaded, calls)
        contexts = [loaded.create_context() for _ in range(2)]
        for _ in range(3):
            for seed, context in enumerate(contexts):
                context.bind('x', batch(4, seed))
                context.run()
                self.near(context.outputs()['y'], snake_truth(batch(4, seed), 0.5), 1e-4)

    def run_at_sizes(self, engine, calls):
        context = engine.create_context()
        for rows in (4, 8, 1):
            for seed in range(3):
                context.bind('x', batch(rows, seed))
                context.run()
                self.near(context.outputs()['y'], snake_truth(batch(rows, seed), 0.5), 1e-4)
                if seed == 1:
                    before = len(calls)
            self.assertEqual(len(calls), before, 'a replay called Python')

    @unittest.skipUnless(torch, 'torch is not installed')
    def test_torch(self):
        snake, calls = self.snake(), []

        @snake.tactic('cuda')
        def by_torch(out, x, alpha):
            calls.append(x.shape)
            torch.add(x, torch.sin(alpha * x) ** 2 / alpha, out=out)
        self.check('by_torch', calls)

    @unittest.skipUnless(torch and triton, 'Triton is not installed')
    def test_triton(self):
        snake, calls = self.snake(), []

        @snake.tactic('cuda', configs=lambda problem: [[128], [1024]], supports=lambda p: None if p.arch >= 75 else 'no such GPU')
        def by_triton(out, x, alpha, call):
            calls.append(x.shape)
            block = call.problem.config[0]
            snake_kernel[(triton.cdiv(x.numel(), block),)](x, out, alpha, x.numel(), BLOCK=block)
        self.check('by_triton', calls, optimization_level=2)

    @unittest.skipUnless(cupy, 'CuPy is not installed')
    def test_cupy(self):
        snake, calls = self.snake(), []
        kernel = cupy.RawKernel('extern "C" __global__ void snake(const float* x, float* y, float a, int n) { int i = blockIdx.x * 64 + '
                                'threadIdx.x; if (i < n) { float s = sinf(a * x[i]); y[i] = x[i] + s * s / a; } }', 'snake')

        @snake.tactic('cuda', arrays='cupy')
        def by_cupy(out, x, alpha):
            calls.append(x.shape)
            kernel(((x.size + 63) // 64,), (64,), (x, out, np.float32(alpha), np.int32(x.size)))
        self.check('by_cupy', calls)

    @unittest.skipUnless(cupy, 'CuPy is not installed')
    def test_cupy_with_memory_of_its_own(self):
        snake, calls = self.snake(), []

        @snake.tactic('cuda', arrays='cupy')
        def by_pool(out, x, alpha):
            calls.append(x.shape)
            cupy.add(x, cupy.sin(alpha * x) ** 2 / alpha, out=out)
        self.check('by_pool', calls)

    @unittest.skipUnless(torch, 'torch is not installed')
    def test_addresses_and_a_workspace(self):
        snake, calls = self.snake(), []

        @snake.tactic('cuda', arrays='raw', workspace=lambda problem: f'4*6*{problem.inputs[0].dims[0]}')
        def by_address(out, x, alpha, call):
            calls.append(x.shape)
            self.assertTrue(x.on_gpu and x.address and call.workspace and call.stream)
            ours, theirs = torch.as_tensor(x, device='cuda'), torch.from_dlpack(out)
            stream = torch.cuda.ExternalStream(call.stream)
            with torch.cuda.stream(stream), torch.cuda.use_mem_pool(pool):
                theirs.copy_(ours + torch.sin(ours * alpha) ** 2 / alpha)
            del ours, theirs
        pool = torch.cuda.MemPool()
        self.check('by_address', calls)

    def test_the_reference_runs_on_the_host(self):
        self.snake()
        engine = build(model_of('Snake', alpha=0.5), device='cuda:0', tf32=False)
        self.near(engine(batch()), snake_truth(batch(), 0.5), 1e-4)
        self.assertTrue(engine.info.waits_in_run)

    @unittest.skipUnless(torch, 'torch is not installed')
    def test_torch_tensors_go_through(self):
        snake = self.snake()

        @snake.tactic('cuda')
        def by_torch(out, x, alpha):
            torch.add(x, torch.sin(alpha * x) ** 2 / alpha, out=out)
        engine = build(model_of('Snake', alpha=0.5), device='cuda:0', choose_tactic=only('by_torch'), tf32=False)
        x = torch.from_numpy(batch()).cuda()
        for _ in range(3):
            x = x + 1
            self.near(engine(x).cpu(), snake_truth(x.cpu().numpy(), 0.5), 1e-4)

    @unittest.skipUnless(torch, 'torch is not installed')
    def test_what_fails_there(self):
        snake = self.snake()

        @snake.tactic('cuda')
        def kept(out, x, alpha):
            memory.append(x)

        memory = []
        engine = build(model_of('Snake', alpha=0.5), device='cuda:0', optimization_level=2, tf32=False)
        self.near(engine(batch()), snake_truth(batch(), 0.5), 1e-4)
        self.assertIn('reference', engine.inspect())

        @self.snake().tactic('cuda')
        def raises(out, x, alpha):
            raise ZeroDivisionError('alpha')
        engine = build(model_of('Snake', alpha=0.5), device='cuda:0', choose_tactic=only('raises'))
        self.refused(tenfold.Error, 'ZeroDivisionError: alpha', engine, batch())
        memory.clear()


if __name__ == '__main__':
    unittest.main()
