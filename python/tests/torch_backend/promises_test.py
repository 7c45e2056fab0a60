"""What torch promises of a compiled module, kept: mutations, views, strides, autocast, threads, gradients, precision."""
import threading

from torch_case import MLP, TorchCase, torch, unittest, warnings


class Counting(torch.nn.Module):
    """Writes to a buffer and to its input."""

    def __init__(self):
        super().__init__()
        self.body = MLP()
        self.register_buffer('calls', torch.zeros(4))

    def forward(self, x):
        self.calls += 1
        x.mul_(2)
        return self.body(x) + self.calls


class Cache(torch.nn.Module):
    """A step of attention over a cache of keys and values, which it writes in place, as transformers' StaticCache does."""

    def __init__(self, layers=3):
        super().__init__()
        self.products = torch.nn.ModuleList(torch.nn.Linear(8, 24) for _ in range(layers))
        self.register_buffer('seen', torch.zeros(1, dtype=torch.int64))
        for i in range(layers):
            self.register_buffer(f'keys{i}', torch.zeros(2, 2, 16, 4))
            self.register_buffer(f'values{i}', torch.zeros(2, 2, 16, 4))

    def forward(self, x):
        places = torch.arange(x.shape[1]) + self.seen
        mask = torch.arange(16)[None] <= places[:, None]
        for i, product in enumerate(self.products):
            query, key, value = product(x).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4).unbind(0)
            keys, values = getattr(self, f'keys{i}'), getattr(self, f'values{i}')
            keys.index_copy_(2, places, key), values.index_copy_(2, places, value)
            found = torch.nn.functional.scaled_dot_product_attention(query, keys, values, mask[None, None])
            x = x + found.transpose(1, 2).flatten(2)
        self.seen.add_(x.shape[1])
        return x


class Views(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = MLP()

    def forward(self, x):
        y = self.body(x)
        return y, y[:, 1:3], x.t(), y.t(), x


class Promises(TorchCase):
    def test_mutated_inputs_and_buffers(self):
        eager, ours = Counting().eval(), Counting().eval()
        ours.load_state_dict(eager.state_dict())
        run, reports = self.compiled(ours)
        for _ in range(3):
            x = torch.randn(3, 8)
            mine = x.clone()
            with torch.no_grad():
                self.same(run(mine), eager(x))
            self.same(mine, x)
            self.same(ours.calls, eager.calls)
        self.one_engine(reports)

    def test_caches_that_are_written_in_place(self):
        eager, ours = Cache().eval(), Cache().eval()
        ours.load_state_dict(eager.state_dict())
        run, reports = self.compiled(ours, dynamic=False)
        for length in (3, 1, 1, 2, 1):
            x = torch.randn(2, length, 8)
            with torch.no_grad():
                self.same(run(x), eager(x))
            for (name, found), expected in zip(ours.named_buffers(), eager.buffers(), strict=True):
                with self.subTest(name):
                    self.same(found, expected)
        self.assertEqual([b for r in reports for b in r.all_breaks()], [])

    def test_inputs_that_change_places(self):
        def swapped(x, y):
            kept = x.clone()
            x.copy_(y), y.copy_(kept)
            return torch.tanh(torch.relu(x + 1) * y).exp()
        run, _ = self.compiled(swapped)
        mine, theirs = ([torch.arange(6.).reshape(2, 3), torch.ones(2, 3)] for _ in range(2))
        self.same(run(*mine), swapped(*theirs))
        self.same(mine, theirs)

    def test_views_of_inputs_and_of_results(self):
        module = Views().eval()
        run, reports = self.compiled(module)
        x = torch.randn(3, 8)
        with torch.no_grad():
            found, expected = run(x), module(x)
        for ours, theirs in zip(found, expected, strict=True):
            self.same(ours, theirs)
        self.assertIs(found[4], x)
        self.assertEqual(found[2].data_ptr(), x.data_ptr())
        found[0].fill_(7)
        self.assertTrue(bool((found[1] == 7).all() and (found[3] == 7).all()))   # they share memory, as in eager mode
        self.assertEqual(sum(len(r.engines) for r in reports), 1)

    def test_strides_and_channels_last(self):
        module = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
                                     torch.nn.Conv2d(8, 6, 3), torch.nn.Sigmoid()).eval().to(memory_format=torch.channels_last)
        run, reports = self.compiled(module)
        x = torch.randn(2, 3, 9, 7).contiguous(memory_format=torch.channels_last)
        with torch.no_grad():
            found, expected = run(x), module(x)
        self.assertTrue(expected.is_contiguous(memory_format=torch.channels_last))
        self.same(found, expected)
        self.one_engine(reports)

    def test_strided_inputs(self):
        module = MLP().eval()
        run, reports = self.compiled(module)
        with torch.no_grad():
            for x in (torch.randn(3, 16)[:, ::2], torch.randn(8, 3).t(), torch.randn(1, 8).expand(3, 8)):
                self.same(run(x), module(x))

    def test_autocast(self):
        module = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.LayerNorm(32), torch.nn.Linear(32, 5)).eval()
        run, reports = self.compiled(module)
        x = torch.randn(4, 8)
        with torch.no_grad(), torch.autocast('cpu', torch.bfloat16):
            found, expected = run(x), module(x)
        self.assertEqual(found.dtype, torch.bfloat16)
        self.same(found, expected, rtol=2e-2, atol=2e-2)
        self.one_engine(reports)

    def test_threads(self):
        module = MLP(64).eval()
        run, _ = self.compiled(module, dynamic=True)
        inputs = [torch.randn(2 + i % 5, 8) for i in range(40)]
        with torch.no_grad():
            run(inputs[0]), run(inputs[1])
            expected = [module(x) for x in inputs]
        found = [None] * len(inputs)

        def some(begin):
            with torch.no_grad():
                for i in range(begin, len(inputs), 4):
                    found[i] = run(inputs[i])
        threads = [threading.Thread(target=some, args=(i,)) for i in range(4)]
        [t.start() for t in threads], [t.join() for t in threads]
        for ours, theirs in zip(found, expected, strict=True):
            self.same(ours, theirs)

    def test_eval_gives_results_without_a_gradient(self):
        module = MLP().eval()
        run, reports = self.compiled(module)
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            found = run(torch.ones(2, 8))
        self.assertFalse(found.requires_grad)
        self.same(found, module(torch.ones(2, 8)).detach())
        self.one_engine(reports)

    def test_who_asks_for_gradients_gets_torch_and_one_warning(self):
        module = MLP()                                        # in training mode
        run, reports = self.compiled(module)
        with warnings.catch_warnings(record=True) as reported:
            warnings.simplefilter('always')
            run(torch.ones(2, 8)).sum().backward()
            run(torch.ones(3, 8)).sum().backward()
            self.assertIsNotNone(module.first.weight.grad)
            x = torch.ones(2, 8, requires_grad=True)
            module.eval()
            run(x)[0, 0].backward()
            run(torch.ones(4, 8, requires_grad=True))[0, 0].backward()
        self.assertIsNotNone(x.grad)
        ours = [str(w.message) for w in reported if 'tenfold' in str(w.message)]
        self.assertEqual(len(ours), 2, ours)                  # one for each reason
        self.assertIn('training mode', ours[0])
        self.assertFalse(any(r.engines for r in reports))

    def test_a_module_of_a_closure_keeps_its_gradients(self):
        module = MLP()                                        # in training mode, which the compiled function does not show
        run, reports = self.compiled(lambda x: module(x).sum())
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            run(torch.ones(2, 8)).backward()
        self.assertIsNotNone(module.first.weight.grad)
        self.assertFalse(any(r.engines for r in reports))

    def test_a_part_in_training_mode_keeps_its_gradients(self):
        module = MLP().eval()
        module.first.train()
        run, _ = self.compiled(module)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            run(torch.ones(2, 8)).sum().backward()
        self.assertIsNotNone(module.first.weight.grad)

    def test_inference_mode(self):
        module = MLP().eval()
        run, reports = self.compiled(module)
        with torch.inference_mode():
            self.same(run(torch.ones(2, 8)), module(torch.ones(2, 8)))
        self.one_engine(reports)

    def test_rounding_follows_torchs_switches(self):
        from tenfold.torch import _options
        self.addCleanup(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
        parts = torch.backends.mkldnn.conv, torch.backends.mkldnn.matmul
        for part in parts:
            self.addCleanup(setattr, part, 'fp32_precision', 'none')

        def may(device='cpu', **options):
            build = _options.for_build(_options.Options(options), torch.device(device))
            return tuple(build.get(name) for name in ('tf32', 'tf32_convolutions', 'tf32_matmul'))
        self.assertEqual(may(), (False, False, False))
        self.assertEqual(may('cuda'), (True, True, False))       # as torch is at first: cuDNN may, cuBLAS may not
        torch.set_float32_matmul_precision('medium')
        self.assertEqual(may(), (True, False, True))
        torch.set_float32_matmul_precision('highest')
        self.assertEqual(may(), (False, False, False))
        self.assertEqual(may(tf32=True), (True, None, None))     # who says it himself
        torch.backends.mkldnn.conv.fp32_precision = 'tf32'
        self.assertEqual(may(), (True, True, False))

    def test_complex_numbers_and_strings_of_results(self):
        def both(x):
            y = torch.relu(x @ x.t()).exp().sum(-1).sqrt()
            return y * 1j, 'word', {'y': y, 'n': x.shape[0], 'none': None}
        run, _ = self.compiled(both)
        x = torch.randn(4, 8)
        found, expected = run(x), both(x)
        self.same(found[0], expected[0])
        self.same(found[2]['y'], expected[2]['y'])
        self.assertEqual((found[1], found[2]['n'], found[2]['none']), ('word', 4, None))


if __name__ == '__main__':
    unittest.main()
