"""Calls in the user's CUDA graphs, at sizes and weights that no engine knows. Without a GPU, `is_captured` says that one captures."""
import contextlib
from unittest import mock

from torch_case import MLP, TorchCase, tenfold, torch, unittest, warnings

from tenfold.torch import _backend, _capture, _subgraph


@contextlib.contextmanager
def capture():
    """A stream is captured, says torch; who builds or refits an engine meanwhile fails, as on a GPU."""
    fails = mock.Mock(side_effect=tenfold.DeviceError('operation not permitted when stream is capturing'))
    with contextlib.ExitStack() as stack:
        for module in (_backend, _capture, _subgraph):
            stack.enter_context(mock.patch.object(module, 'is_captured', lambda device: True))
        stack.enter_context(mock.patch('tenfold.build', fails))
        stack.enter_context(mock.patch.object(tenfold.Engine, 'refit', fails))
        yield


@contextlib.contextmanager
def warned():
    found = []
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter('always')
        yield found
    found += [str(w.message) for w in reported if 'tenfold' in str(w.message)]


class SaidToBeCaptured(TorchCase):
    def test_a_size_that_no_engine_serves(self):
        module = MLP().eval()
        run, reports = self.compiled(module, dynamic=True)
        with torch.no_grad():
            self.same(run(torch.ones(3, 8)), module(torch.ones(3, 8)))
            with capture(), warned() as reported:
                for _ in range(2):
                    self.same(run(torch.ones(100, 8)), module(torch.ones(100, 8)))
                self.same(run(torch.ones(5, 8)), module(torch.ones(5, 8)))        # which has an engine
            self.assertEqual(len(reported), 1, reported)
            self.assertIn('before the capture', reported[0])
            self.same(run(torch.ones(100, 8)), module(torch.ones(100, 8)))
        self.assertEqual([subgraph for r in reports for subgraph in r.built], [[(2, 64)], [(65, 128)]])
        self.assertEqual([b for r in reports for b in r.all_breaks()], [])

    def test_a_graph_that_was_not_compiled(self):
        module = MLP().eval()
        run, reports = self.compiled(module)
        with torch.no_grad():
            with capture(), warned() as reported:
                for _ in range(2):
                    self.same(run(torch.ones(3, 8)), module(torch.ones(3, 8)))
            self.assertEqual((len(reported), sum(len(r.engines) for r in reports)), (1, 0), reported)
            with warned() as reported:
                self.same(run(torch.ones(3, 8)), module(torch.ones(3, 8)))
        self.assertEqual((reported, sum(len(r.engines) for r in reports)), ([], 1))
        self.assertEqual([b for r in reports for b in r.all_breaks()], [])

    def test_weights_that_have_changed(self):
        module = MLP().eval()
        run, reports = self.compiled(module)
        x = torch.randn(3, 8)
        with torch.no_grad():
            run(x)
            module.second.weight.mul_(-2)
            with capture(), warned() as reported:
                self.same(run(x), module(x))
            self.assertEqual(len(reported), 1, reported)
            self.assertIn('weights have changed', reported[0])
            with warned() as reported:
                self.same(run(x), module(x))
        self.assertEqual(reported, [])
        self.one_engine(reports)

    def test_what_a_living_graph_keeps_is_told(self):
        module = MLP().eval()
        run, _ = self.compiled(module)
        x = torch.randn(3, 8)
        with torch.no_grad(), mock.patch.object(tenfold.Engine, 'captured_calls', 2):
            run(x)
            module.second.weight.mul_(-2)
            with warned() as reported:
                self.same(run(x), module(x))
        self.assertEqual(len(reported), 1, reported)
        self.assertIn('2 calls that CUDA graphs captured', reported[0])


@unittest.skipUnless(torch.cuda.is_available(), 'no GPU')
class OnAGpu(TorchCase):
    def setUp(self):
        super().setUp()
        self.module = MLP().eval().cuda()
        with torch.no_grad():
            self.module(torch.ones(1, 8, device='cuda'))   # torch makes its handle of cuBLAS, which it cannot while it captures

    def captured(self, run, x):
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            found = run(x)
        return graph, found

    def replayed(self, graph, found, x):
        for _ in range(2):
            x.copy_(torch.randn(*x.shape))
            graph.replay()
            torch.cuda.synchronize()
            self.same(found, self.module(x))

    def test_sizes_that_no_engine_serves(self):
        run, reports = self.compiled(self.module, dynamic=True)
        with torch.no_grad():
            run(torch.ones(3, 8, device='cuda'))
            x = torch.randn(100, 8, device='cuda')
            with warned() as reported:
                graph, found = self.captured(run, x)
            self.assertEqual(len(reported), 1, reported)
            self.replayed(graph, found, x)
            self.same(run(x), self.module(x))
            graph, found = self.captured(run, x)
            self.replayed(graph, found, x)
        self.assertEqual([b for r in reports for b in r.all_breaks()], [])
        self.assertEqual(len([subgraph for r in reports for subgraph in r.built]), 2)

    def test_a_batch_that_torch_traces_anew(self):
        run, reports = self.compiled(self.module)
        with torch.no_grad():
            run(torch.ones(3, 8, device='cuda'))
            x = torch.randn(5, 8, device='cuda')
            graph, found = self.captured(run, x)
            self.replayed(graph, found, x)
            self.same(run(x), self.module(x))
        self.assertEqual([b for r in reports for b in r.all_breaks()], [])

    def test_weights_behind_a_capture(self):
        run, _ = self.compiled(self.module)
        x = torch.randn(3, 8, device='cuda')
        with torch.no_grad():
            run(x)
            with self.assertLogs('tenfold', 'INFO') as logged:
                graph, found = self.captured(run, x)
            self.assertTrue(any('captured anew' in line for line in logged.output), logged.output)
            self.replayed(graph, found, x)
            self.module.second.weight.mul_(-2)
            with warned() as reported:
                self.same(run(x), self.module(x))
            self.assertEqual(len(reported), 1, reported)
            del graph, found
            torch.cuda.synchronize()
            graph, found = self.captured(run, x)
            self.replayed(graph, found, x)


if __name__ == '__main__':
    unittest.main()
