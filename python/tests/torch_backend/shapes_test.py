"""Sizes that vary, plans that are kept, and options."""
import os
import pathlib

from torch_case import MLP, QUICK, TorchCase, python, torch, unittest

CACHED = '''
import os, torch, tenfold, tenfold.torch
from torch_case import MLP
builds = []
real = tenfold.build
tenfold.build = lambda *args, **options: (builds.append(1), real(*args, **options))[1]
for seed, rows, more in eval(os.environ["VARIANTS"]):
    torch._dynamo.reset()
    torch.manual_seed(seed)
    module = MLP().eval()
    options = {"optimization_level": 0, "plan_cache": os.environ["PLANS"], **more}
    x = torch.randn(rows, 8)
    torch.testing.assert_close(torch.compile(module, backend="tenfold", options=options)(x), module(x).detach())
    print(len(builds), end=" ")
    builds.clear()
'''


class Shapes(TorchCase):
    def test_batches_up_to_64_take_two_engines(self):
        module = MLP().eval()
        run, reports = self.compiled(module, dynamic=True)
        with torch.no_grad():
            for batch in (4, 3, 64, 17, 1, 2, 33, 1):
                x = torch.randn(batch, 8)
                self.same(run(x), module(x))
        self.assertLessEqual(sum(len(r.built) for r in reports), 2)

    def test_ranges_without_a_bound_double(self):
        module = MLP().eval()
        run, reports = self.compiled(module, dynamic=True)
        with torch.no_grad():
            for batch in (4, 65, 128, 129, 1000, 5, 600):
                x = torch.randn(batch, 8)
                self.same(run(x), module(x))
        ranges = sorted(r for report in reports for subgraph in report.built for r in subgraph)
        self.assertEqual(ranges[0][1], 64)
        self.assertEqual(ranges[1:], [(65, 128), (129, 256), (513, 1024)])

    def test_many_sizes_have_smaller_ranges(self):
        def whole(x):
            return torch.relu(torch.tanh(torch.sigmoid(x) * 2) + 1).exp()
        run, reports = self.compiled(whole, dynamic=True)
        for sizes in ((2, 3, 4, 5, 6), (16, 2, 3, 7, 20)):
            x = torch.randn(*sizes)
            self.same(run(x), whole(x))
        ranges = [subgraph for r in reports for subgraph in r.built]
        self.assertEqual([[maximum for _, maximum in r] for r in ranges], [[16] * 5, [16, 16, 16, 16, 32]])

    def test_a_bound_of_torchs(self):
        module = MLP().eval()
        run, reports = self.compiled(module)
        x = torch.randn(4, 8)
        torch._dynamo.mark_dynamic(x, 0, min=2, max=200)
        with torch.no_grad():
            self.same(run(x), module(x))
            for batch in (2, 200, 64):
                self.same(run(torch.ones(batch, 8)), module(torch.ones(batch, 8)))
        self.assertEqual([subgraph for r in reports for subgraph in r.built], [[(2, 200)]])

    def test_sizes_in_results_and_in_arithmetic(self):
        def shifted(x):
            n = x.shape[0]
            y = torch.softmax(x.reshape(n * 2, -1) + n, -1).sum(-1)
            return torch.cat([y, torch.arange(n)]).relu(), n * 3
        run, reports = self.compiled(shifted, dynamic=True)
        for rows in (4, 6, 9):
            x = torch.randn(rows, 8)
            found, expected = run(x), shifted(x)
            self.same(found[0], expected[0])
            self.assertEqual(found[1], expected[1])

    def test_an_empty_batch(self):
        module = MLP().eval()
        run, _ = self.compiled(module)
        x = torch.randn(0, 8)
        with torch.no_grad():
            self.same(run(x), module(x))


class Kept(TorchCase):
    def builds(self, *variants):
        """How many engines a process builds for each (seed of the weights, rows, options)."""
        paths = os.pathsep.join(filter(None, [str(pathlib.Path(__file__).parent), os.environ.get('PYTHONPATH')]))
        done = python(CACHED, PLANS=self.path('plans'), VARIANTS=repr(variants), PYTHONPATH=paths)
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(map(int, done.stdout.split()))

    def test_plans_across_processes(self):
        self.assertEqual(self.builds((1, 3, {})), [1])
        # The same; other weights; another shape; another option; the same again.
        self.assertEqual(self.builds((1, 3, {}), (2, 3, {}), (1, 4, {}), (1, 3, {'winograd': False}), (1, 3, {})), [0, 1, 1, 1, 0])


class Options(TorchCase):
    def refused(self, words, mode=None, **options):
        with self.assertRaises(Exception) as caught:
            torch.compile(MLP().eval(), backend='tenfold', options={**QUICK, **options}, mode=mode)(torch.ones(2, 8))
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_unknown_ones_are_refused_by_name(self):
        self.refused(['torch.compile(..., backend="tenfold") has no option', "'optimisation_level'", "'optimization_level'"],
                     optimisation_level=1)
        self.refused(["did you mean 'plan_cache'"], plan_cach=False)
        self.refused(['profiles', 'dynamic shapes'], profiles={})
        self.refused(['min_block_size', 'from 1'], min_block_size=0)
        self.refused(['fp16'], fp16='yes')

    def test_fields_of_build_config_reach_the_build(self):
        module = MLP().eval()
        run, reports = self.compiled(module, bf16=True, labels={'who': 'test'})
        with torch.no_grad():
            self.same(run(torch.ones(2, 8)), module(torch.ones(2, 8)), rtol=2e-2, atol=2e-2)
        self.one_engine(reports)


if __name__ == '__main__':
    unittest.main()
