"""Bad input: an exception that names it, or eager torch with one warning; never a wrong answer."""
import threading
from unittest import mock

from torch_case import MLP, QUICK, TorchCase, tenfold, torch, unittest, warnings


class Faults(TorchCase):
    def eager_with_one_warning(self, module, word, *args, times=3):
        with warnings.catch_warnings(record=True) as told, torch.no_grad():
            warnings.simplefilter('always')
            run, reports = self.compiled(module)
            for _ in range(times):
                self.same(run(*args), module(*args))
        ours = [str(w.message) for w in told if 'tenfold' in str(w.message)]
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
        with self.assertWarns(UserWarning) as told:
            _version.check_version('2.99.0')
        self.assertIn('2.99.0', str(told.warning))

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
            with mock.patch('tenfold.build', side_effect=tenfold.OutOfMemory('no memory')), warnings.catch_warnings(record=True) as told:
                warnings.simplefilter('always')
                for _ in range(2):
                    self.same(run(torch.ones(100, 8)), module(torch.ones(100, 8)))
            self.assertEqual(sum('no memory' in str(w.message) for w in told), 1)
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
            return torch.relu(torch.tanh(torch.sigmoid(x.sum(0)))) * 2 + 1, n ** 9 * 10**6
        run, _ = self.compiled(large, dynamic=True)
        for rows in (30, 999):
            x = torch.ones(rows, 8)
            try:
                found = run(x)
            except (OverflowError, RuntimeError):        # torch's own refusal
                continue
            self.same(found[0], large(x)[0])
            self.assertEqual(found[1], large(x)[1])

    def test_tensors_of_several_devices(self):
        def two(x):
            y = torch.softmax(torch.relu(x @ x.t()) + 1, -1)
            return y.sum(-1).exp(), torch.empty(3, device='meta') + 1
        run, reports = self.compiled(two)
        x = torch.ones(2, 8)
        found, wanted = run(x), two(x)
        self.same(found[0], wanted[0])
        self.assertEqual(found[1].device.type, 'meta')

    def test_a_module_that_changes_while_it_compiles(self):
        module = MLP().eval()
        real, stop = tenfold.build, threading.Event()

        def slow(*args, **options):
            with torch.no_grad():
                module.second.weight.mul_(2)             # another thread's work, at the worst moment
            stop.set()
            return real(*args, **options)
        run, _ = self.compiled(module)
        x = torch.randn(2, 8)
        with torch.no_grad(), mock.patch('tenfold.build', slow):
            run(x)
        self.assertTrue(stop.is_set())
        with torch.no_grad():
            self.same(run(x), module(x))

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
