"""free_weights=True: engines alone hold the weights; whoever else asks for one is told so."""
import copy
import gc
import io
import weakref

from torch_case import MLP, TorchCase, torch, unittest


class Tied(torch.nn.Module):
    """Two names of one weight, and a part that torch computes with another weight."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
        self.second.weight = self.first.weight
        self.own = torch.nn.Parameter(torch.randn(8, 8))

    def forward(self, x):
        y = torch.tanh(self.second(torch.relu(self.first(x))))
        spectrum = torch.fft.rfft(self.own).abs()                  # torch's, with complex numbers
        return torch.softmax(self.first(y) * self.own.sum(), -1), spectrum


class FreeWeights(TorchCase):
    def freed(self, module=None, **options):
        module = module or MLP().eval()
        twin = copy.deepcopy(module)
        run, reports = self.compiled(module, free_weights=True, **options)
        return module, twin, run, reports

    def test_memory_goes_and_answers_stay(self):
        for options in ({}, {'frozen': True}):
            module, twin, run, reports = self.freed(**options)
            memory = [weakref.ref(p.untyped_storage()) for p in module.parameters()]
            x = torch.randn(3, 8)
            with torch.no_grad():
                for _ in range(3):
                    self.same(run(x), twin(x))
            gc.collect()
            self.assertEqual([m() for m in memory], [None] * 4)
            self.one_engine(reports)

    def test_who_computes_with_a_freed_weight_is_told(self):
        module, _, run, _ = self.freed()
        run(torch.ones(2, 8))
        weight = module.first.weight
        self.assertIsInstance(weight, torch.nn.Parameter)
        self.assertEqual((weight.shape, weight.dtype, weight.requires_grad), (torch.Size([16, 8]), torch.float32, True))
        self.assertIn("freed weight 'weight': torch.float32 [16, 8]", repr(weight))
        other = MLP().state_dict()
        for ask in (module.state_dict, lambda: module(torch.ones(2, 8)), lambda: weight + 1, lambda: copy.deepcopy(module),
                    lambda: torch.save(module, io.BytesIO()), lambda: module.load_state_dict(other), weight.sum, module.half):
            with self.assertRaisesRegex(RuntimeError, 'free_weights=True.*assign=True'):
                ask()

    def test_weights_that_are_assigned_are_noticed_and_freed(self):
        module, _, run, reports = self.freed()
        x = torch.randn(3, 8)
        with torch.no_grad():
            run(x)
            for _ in range(2):
                other = MLP().eval()
                module.load_state_dict(other.state_dict(), assign=True)
                given = weakref.ref(module.first.weight)
                for _ in range(2):
                    self.same(run(x), other(x))
                gc.collect()
                self.assertIsNone(given())
        self.one_engine(reports)                                   # a refit, no new graph

    def test_what_torch_reads_stays(self):
        module, twin, run, reports = self.freed(Tied().eval(), min_block_size=2)
        shared, own = weakref.ref(module.first.weight), module.own
        x = torch.randn(3, 8)
        for _ in range(2):
            with torch.no_grad():
                for found, expected in zip(run(x), twin(x), strict=True):
                    self.same(found, expected)
        gc.collect()
        self.assertGreater(sum(len(r.engines) for r in reports), 0)
        self.assertIs(module.first.weight, module.second.weight)
        self.assertIsNone(shared())
        self.assertIs(module.own, own)

    def test_sizes_that_want_another_engine(self):
        module, twin, run, _ = self.freed()
        x = torch.randn(3, 8)
        torch._dynamo.mark_dynamic(x, 0)
        with torch.no_grad():
            self.same(run(x), twin(x))
            self.same(run(x[:2]), twin(x[:2]))
            with self.assertRaisesRegex(RuntimeError, 'free_weights=True.*mark_dynamic'):
                run(torch.randn(1000, 8))
            self.same(run(x), twin(x))

    def test_a_call_that_torch_traces_anew(self):
        module, twin, run, _ = self.freed()
        with torch.no_grad():
            run(torch.randn(3, 8))
            with self.assertRaisesRegex(Exception, 'free_weights=True'):
                run(torch.randn(5, 3, 8))

    def test_a_module_that_the_backend_does_not_see(self):
        module = MLP().eval()
        held = [module]
        run, _ = self.compiled(lambda x: held[0](x), free_weights=True)
        with torch.no_grad(), self.assertLogs('tenfold', 'INFO') as reported:
            self.same(run(torch.ones(2, 8)), module(torch.ones(2, 8)))
        self.assertTrue(any('no weight is dropped' in line for line in reported.output), reported.output)


if __name__ == '__main__':
    unittest.main()
