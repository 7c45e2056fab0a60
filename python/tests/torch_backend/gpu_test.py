"""The backend on a GPU: streams, torch's allocator, the user's CUDA graphs. Left out where there is none."""
from torch_case import MLP, TorchCase, torch, unittest


@unittest.skipUnless(torch.cuda.is_available(), 'no GPU')
class Gpu(TorchCase):
    def setUp(self):
        super().setUp()
        self.module = MLP().eval().cuda()
        self.run_compiled, self.reports = self.compiled(self.module)

    def test_as_eager_and_from_torchs_allocator(self):
        x = torch.randn(3, 8, device='cuda')
        with torch.no_grad():
            self.same(self.run_compiled(x), self.module(x))
            before = torch.cuda.memory_allocated()
            kept = [self.run_compiled(x) for _ in range(8)]
        self.assertGreater(torch.cuda.memory_allocated(), before)
        self.assertEqual(kept[0].device, x.device)
        self.one_engine(self.reports)

    def test_on_the_current_stream(self):
        x = torch.randn(3, 8, device='cuda')
        stream = torch.cuda.Stream()
        with torch.no_grad(), torch.cuda.stream(stream):
            self.run_compiled(x)
            torch.cuda._sleep(50_000_000)
            late = x * 2                                      # what the engine must come behind
            found = self.run_compiled(late)
        stream.synchronize()
        self.same(found, self.module(2 * x).detach())

    def test_in_the_users_graph(self):
        x = torch.randn(3, 8, device='cuda')
        with torch.no_grad():
            self.run_compiled(x), self.run_compiled(x)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                found = self.run_compiled(x)
            for _ in range(3):
                x.copy_(torch.randn(3, 8))
                graph.replay()
                torch.cuda.synchronize()
                self.same(found, self.module(x))

    def test_graphs_that_end_between_captures(self):
        x = torch.randn(3, 8, device='cuda')
        with torch.no_grad():
            self.run_compiled(x)
            for _ in range(3):
                torch.cuda.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    found = self.run_compiled(x)
                graph.replay()
                torch.cuda.synchronize()
                self.same(found, self.module(x))
                del graph, found
            self.same(self.run_compiled(x), self.module(x))      # which ends what the graphs had

    def test_weights_that_change(self):
        x = torch.randn(3, 8, device='cuda')
        with torch.no_grad():
            self.run_compiled(x)
            self.module.second.weight.mul_(-2)
            self.same(self.run_compiled(x), self.module(x))


if __name__ == '__main__':
    unittest.main()
