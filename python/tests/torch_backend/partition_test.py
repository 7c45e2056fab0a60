"""What torch computes between engines, and what explain() tells of it."""
from torch_case import MLP, QUICK, TorchCase, tenfold, torch, unittest


class Between(torch.nn.Module):
    """Two bodies with an operator between them that no engine has."""

    def __init__(self, between):
        super().__init__()
        self.first, self.second, self.between = torch.nn.Sequential(MLP(), torch.nn.Linear(4, 8)), MLP(), between

    def forward(self, x):
        return self.second(self.between(self.first(x)))


class Partitions(TorchCase):
    def test_an_operator_without_a_function(self):
        module = Between(lambda x: torch.special.i0(x)).eval()
        run, reports = self.compiled(module)
        x = torch.randn(5, 8)
        with torch.no_grad():
            self.same(run(x), module(x))
        (report,) = reports
        self.assertEqual(len(report.engines), 2, str(report))
        self.assertEqual(report.all_breaks(), [('aten.i0.default', 'no function for it')])
        for engine in report.engines:                      # weights are constants of theirs, which are looked at
            self.assertIn(', 1 inputs, ', engine)
        with torch.no_grad():
            module.second.first.weight.mul_(-3), module.first[1].bias.add_(1)
            self.same(run(x), module(x))
        self.assertEqual(len(reports), 1)

    def test_a_random_operator(self):
        module = Between(lambda x: torch.nn.functional.dropout(x, 0.5, training=True)).eval()
        run, reports = self.compiled(module)
        x = torch.randn(5, 8)
        with torch.no_grad():
            torch.manual_seed(3)
            found = run(x)
            torch.manual_seed(3)
            self.same(found, module(x))
            self.assertGreater(float((run(x) - found).abs().max()), 1e-4)      # another draw
        self.assertEqual(len(reports[0].engines), 2, str(reports[0]))
        self.assertIn('random', str(reports[0]))

    def test_training_mode_without_gradients(self):
        module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Conv2d(4, 2, 3),
                                     torch.nn.Sigmoid(), torch.nn.Conv2d(2, 2, 1), torch.nn.Tanh(), torch.nn.Softmax(1))
        eager = torch.nn.Sequential(*(type(m)(*a) if a else type(m)() for m, a in zip(module, (
            (3, 4, 3), (4,), (), (4, 2, 3), (), (2, 2, 1), (), (1,)), strict=True)))
        eager.load_state_dict(module.state_dict())
        run, reports = self.compiled(module)
        x = torch.randn(2, 3, 9, 9)
        with torch.no_grad():
            for _ in range(2):
                self.same(run(x), eager(x))
        self.same(module[1].running_mean, eager[1].running_mean)
        self.assertEqual(int(module[1].num_batches_tracked), 2)
        self.assertTrue(reports[0].engines)

    def test_small_subgraphs_stay(self):
        def small(x):
            return torch.relu(x) + 1
        run, reports = self.compiled(small)
        x = torch.randn(3)
        self.same(run(x), small(x))
        self.assertEqual(reports[0].engines, [])
        self.assertIn('fewer than 5', str(reports[0]))
        run, reports = self.compiled(small, min_block_size=2)
        self.same(run(x), small(x))
        self.one_engine(reports)

    def test_torchs_own_breaks(self):
        module = MLP().eval()

        def broken(x):
            y = module(x)
            torch._dynamo.graph_break()
            return module(y @ torch.ones(4, 8))
        reported = tenfold.torch.explain(broken, torch.randn(3, 8), options=QUICK)
        self.assertEqual(len(reported.graphs), 2)
        self.assertEqual(len(reported.engines), 2, str(reported))
        self.assertEqual([o for o, _ in reported.breaks], ['the rest of the module'])

    def test_each_reason_is_logged_once(self):
        module = Between(lambda x: torch.special.i0(x)).eval()
        with self.assertLogs('tenfold', 'INFO') as logged, torch.no_grad():
            for size in (3, 4):
                torch._dynamo.reset()
                self.compiled(module)[0](torch.randn(size, 8))
        self.assertEqual(sum('aten.i0' in line for line in logged.output), 1, logged.output)

    def test_explain(self):
        reported = tenfold.torch.explain(MLP().eval(), torch.randn(3, 8), options=QUICK)
        self.assertEqual((len(reported.graphs), len(reported.engines), reported.breaks), (1, 1, []))
        self.assertIn('1 graphs, 1 engines', str(reported))

    def test_the_name_of_the_backend(self):
        self.assertIn('tenfold', torch._dynamo.list_backends())
        module = MLP().eval()
        x = torch.randn(3, 8)
        self.same(torch.compile(module, backend='tenfold', options=QUICK)(x), module(x).detach())


if __name__ == '__main__':
    unittest.main()
