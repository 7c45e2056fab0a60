"""Bad input: an exception that names it, or eager torch with one warning; never a wrong answer."""
import os
from unittest import mock

from torch_case import MLP, QUICK, TorchCase, python, tenfold, torch, unittest, warnings

HERE = os.path.dirname(os.path.abspath(__file__))
SCARCE = '''
import resource, warnings
from torch_case import MLP, QUICK, torch
torch.compile(MLP().eval(), backend="tenfold", options=QUICK)(torch.ones(2, 8))        # loads what is loaded at the first use
module = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(8)]).eval()  # 512 MiB
x = torch.randn(2, 4096)
wanted = module(x).detach()
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (256 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from tenfold.torch import _backend, _options
reports, chosen = [], _options.read_options(QUICK, None)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    run = torch.compile(module, backend=lambda graph, inputs: _backend.compiled(graph, inputs, chosen, reports))
    for _ in range(2):
        torch.testing.assert_close(run(x), wanted, rtol=1e-4, atol=1e-5)
assert sum("emory" in str(w.message) for w in told) == 1, [str(w.message) for w in told]
print(sum(len(r.engines) for r in reports), "engines")
'''


class Faults(TorchCase):
    def eager_with_one_warning(self, module, word, *args, times=3):
        with warnings.catch_warnings(record=True) as reported, torch.no_grad():
            warnings.simplefilter('always')
            run, reports = self.compiled(module)
            for _ in range(times):
                self.same(run(*args), module(*args))
        ours = [str(w.message) for w in reported if 'tenfold' in str(w.message)]
        self.assertEqual(len(ours), 1, ours)
        self.assertIn(word, ours[0])
        self.assertFalse(any(r.engines for r in reports))

    def test_versions(self):
        from tenfold.torch import _version
        for text in ('2.10.1', '1.13.0', '3.0.0', 'unknown'):
            with self.assertRaises(ImportError) as caught:
                _version.check_version(text)
            self.assertIn(text, str(caught.exception))
        _version.check_version('2.11.0+cu130')
        with self.assertWarns(UserWarning) as reported:
            _version.check_version('2.99.0')
        self.assertIn('2.99.0', str(reported.warning))

    def test_out_of_memory_in_the_middle(self):
        with mock.patch('tenfold.build', side_effect=tenfold.OutOfMemory('no memory for weights')):
            self.eager_with_one_warning(MLP().eval(), 'no memory', torch.ones(2, 8))

    def test_a_build_that_fails(self):
        with mock.patch('tenfold.build', side_effect=tenfold.Internal('a bug')):
            self.eager_with_one_warning(MLP().eval(), 'a bug', torch.ones(2, 8))

    def test_out_of_memory_for_a_later_range(self):
        module = MLP().eval()
        run, _ = self.compiled(module, dynamic=True)
        with torch.no_grad():
            run(torch.ones(3, 8))
            with mock.patch('tenfold.build', side_effect=tenfold.OutOfMemory('no memory')), \
                    warnings.catch_warnings(record=True) as reported:
                warnings.simplefilter('always')
                for _ in range(2):
                    self.same(run(torch.ones(100, 8)), module(torch.ones(100, 8)))
            self.assertEqual(sum('no memory' in str(w.message) for w in reported), 1)
            self.same(run(torch.ones(4, 8)), module(torch.ones(4, 8)))

    def test_results_that_are_no_tensors(self):
        module = MLP().eval()

        def odd(x):
            return {'y': module(x), 'shape': x.shape, 'type': x.dtype, 'text': 'a'}
        run, _ = self.compiled(odd)
        found = run(torch.ones(2, 8))
        self.same(found['y'], module(torch.ones(2, 8)).detach())
        self.assertEqual((tuple(found['shape']), found['type'], found['text']), ((2, 8), torch.float32, 'a'))

    def test_sizes_beyond_64_bits(self):
        def large(x):
            n = x.shape[0]
            y = torch.relu(torch.tanh(torch.sigmoid(x.sum(0)))) * 2
            return y + (n ** 8 + 1) // n ** 7, n ** 9 * 10**6            # n, where nothing on the way is cut to 64 bits
        run, reports = self.compiled(large, dynamic=True)
        for rows, word in ((30, ''), (999, '2**60'), (40, '')):
            x = torch.ones(rows, 8)
            with warnings.catch_warnings(record=True) as reported:
                warnings.simplefilter('always')
                found, expected = run(x), large(x)
            self.same(found[0], expected[0])
            self.assertEqual(found[1], expected[1])
            self.assertEqual([word in str(w.message) for w in reported if 'tenfold' in str(w.message)], [True] * bool(word))
        self.assertEqual(sum(len(r.engines) for r in reports), 1)

    def test_sizes_below_zero(self):
        def less(x):
            n = x.shape[0]
            return torch.relu(torch.tanh(x) * 2).sum(0) + (n - 10) // 3 + (n - 10) % 4
        run, reports = self.compiled(less, dynamic=True)
        for rows in (5, 3, 9, 10, 21):
            self.same(run(torch.ones(rows, 8)), less(torch.ones(rows, 8)))
        self.one_engine(reports)

    def test_results_of_several_devices(self):
        def two(x):
            y = torch.softmax(torch.relu(x @ x.t()) + 1, -1)
            return y.sum(-1).exp(), torch.empty(3, device='meta') + 1
        run, reports = self.compiled(two)
        x = torch.ones(2, 8)
        found, expected = run(x), two(x)
        self.same(found[0], expected[0])
        self.assertEqual(found[1].device.type, 'meta')

    def test_weights_of_several_devices(self):
        module = MLP().eval()
        module.register_buffer('far', torch.empty(4, device='meta'))

        def both(x):
            return module(x) * 2, module.far * 2
        run, reports = self.compiled(both)
        with torch.no_grad():
            found = run(torch.ones(2, 8))
            self.same(found[0], module(torch.ones(2, 8)) * 2)
        self.assertEqual(found[1].device.type, 'meta')
        self.assertIn('meta', str(reports[0]))
        self.assertEqual(len(reports[0].engines), 1)
        module.second.to('meta')
        with self.assertRaises(Exception) as caught, torch.no_grad():
            run(torch.ones(2, 8))
        self.assertIn('meta', str(caught.exception))

    def changed_in_the_middle(self, module, change):
        """The first result is that of the module before or after the change, later ones are those after it."""
        real, times = tenfold.build, []

        def slow(*args, **options):
            if not times:
                change()                                 # another thread's work, at the worst moment
            times.append(1)
            return real(*args, **options)
        run, _ = self.compiled(module)
        x = torch.randn(2, 8)
        with torch.no_grad(), mock.patch('tenfold.build', slow):
            before, found, after = module(x), run(x), module(x)
            self.assertTrue(times)
            self.assertGreater(float((before - after).abs().max()), 1e-3)
            self.assertTrue(any(torch.allclose(found, expected, rtol=1e-4, atol=1e-5) for expected in (before, after)))
            self.same(run(x), after)

    def test_a_weight_that_changes_while_it_compiles(self):
        module = MLP().eval()
        self.changed_in_the_middle(module, lambda: module.second.weight.mul_(2))

    def test_a_module_that_changes_while_it_compiles(self):
        module = MLP().eval()
        self.changed_in_the_middle(module, lambda: setattr(module, 'second', torch.nn.Linear(16, 4)))

    def test_a_run_without_memory(self):
        module = MLP().eval()
        run, reports = self.compiled(module)
        x = torch.ones(2, 8)
        with torch.no_grad(), warnings.catch_warnings(record=True) as reported:
            warnings.simplefilter('always')
            run(x)
            with mock.patch.object(tenfold.Engine, '__call__', side_effect=tenfold.OutOfMemory('no memory for a run')):
                self.same(run(x), module(x))
                self.same(run(x), module(x))
            self.same(run(x), module(x))
        self.assertEqual(sum('no memory for a run' in str(w.message) for w in reported), 1)

    def test_memory_that_is_scarce(self):
        done = python(SCARCE, PYTHONPATH=os.pathsep.join(filter(None, [HERE, os.environ.get('PYTHONPATH')])))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), ['0', 'engines'], done.stdout)

    def test_indices_outside(self):
        table = torch.nn.Embedding(9, 8)
        module = torch.nn.Sequential(table, MLP()).eval()
        run, reports = self.compiled(module)
        with torch.no_grad():
            self.same(run(torch.tensor([0, 8])), module(torch.tensor([0, 8])))
            with self.assertRaises(IndexError):
                run(torch.tensor([0, 9]))
        self.one_engine(reports)

    def test_integers_that_no_engine_has(self):
        def unsigned(x):
            return (x.to(torch.uint16).to(torch.float32) + 1).exp().relu().sum(-1).sqrt().tanh()
        run, reports = self.compiled(unsigned)
        x = torch.tensor([[1.0, 2.0], [3.0, 65535.0]]) / 100
        self.same(run(x), unsigned(x))
        self.assertIn('uint16', str(reports[0]))

    def test_options_that_are_none(self):
        with self.assertRaises(Exception) as caught:
            torch.compile(MLP().eval(), backend='tenfold', options=QUICK, mode='fastest')(torch.ones(2, 8))
        self.assertTrue(str(caught.exception))


if __name__ == '__main__':
    unittest.main()
