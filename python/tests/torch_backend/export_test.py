"""export(): an engine that needs no torch; load(): the plan as a module."""
import numpy as np
from torch_case import MLP, TorchCase, python, tenfold, torch, unittest

QUICK = {'optimization_level': 0}


class Outputs(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = MLP()

    def forward(self, x, scale=None, *, shift):
        y = self.body(x)
        return {'y': y if scale is None else y * scale, 'none': None, 'both': (y + shift, x - shift)}


class Writing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('calls', torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return x + self.calls


class Export(TorchCase):
    def test_an_engine_without_torch(self):
        module = MLP().eval()
        x = torch.randn(3, 8)
        engine = tenfold.torch.export(module, (x,), dynamic_shapes=({0: torch.export.Dim('batch', max=9)},), **QUICK)
        self.assertEqual([b.name for b in engine.bindings], ['x', 'y0'])
        engine.save(self.path('m.plan'))
        np.save(self.path('x.npy'), x.numpy()), np.save(self.path('y.npy'), module(x).detach().numpy())
        done = python('import sys, numpy as np, tenfold\n'
                      f'y = tenfold.load({self.path("m.plan")!r})(np.load({self.path("x.npy")!r}))\n'
                      f'np.testing.assert_allclose(y, np.load({self.path("y.npy")!r}), rtol=1e-4, atol=1e-5)\n'
                      'assert "torch" not in sys.modules')
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_module_from_a_plan(self):
        module = MLP().eval()
        engine = tenfold.torch.export(module, (torch.randn(3, 8),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},), **QUICK)
        engine.save(self.path('m.plan'))
        loaded = tenfold.torch.load(self.path('m.plan'))
        for rows in (2, 64):
            x = torch.randn(rows, 8)
            self.same(loaded(x), module(x).detach())
        with self.assertRaises(tenfold.InvalidArgument):
            loaded(torch.randn(65, 8))
        with self.assertRaises(tenfold.InvalidArgument):
            loaded(torch.randn(3, 8), torch.randn(3))

    def test_structures_of_arguments_and_results(self):
        module = Outputs().eval()
        x = torch.randn(3, 8)
        args, keywords = (x, torch.tensor(2.0)), {'shift': torch.tensor(0.5)}
        loaded = tenfold.torch.load(tenfold.torch.export(module, args, keywords, **QUICK))
        found, expected = loaded(*args, **keywords), module(*args, **keywords)
        self.assertIsNone(found['none'])
        self.same(found['y'], expected['y'].detach())
        self.same(found['both'][0], expected['both'][0].detach())
        self.same(found['both'][1], expected['both'][1])

    def test_what_an_engine_cannot_do_is_refused_by_name(self):
        x = torch.randn(3, 8)
        with self.assertRaises(tenfold.Unsupported) as caught:
            tenfold.torch.export(torch.nn.Sequential(MLP(), Between()).eval(), (x,), **QUICK)
        self.assertIn('aten.i0.default', str(caught.exception))
        with self.assertRaises(tenfold.Unsupported) as caught:
            tenfold.torch.export(Writing(), (x,), **QUICK)
        self.assertIn('calls', str(caught.exception))
        with self.assertRaises(TypeError):
            tenfold.torch.export(MLP(), (x,), optimisation_level=0)

    def test_a_plan_of_another_maker(self):
        from case import tanh_engine
        with self.assertRaises(tenfold.InvalidArgument) as caught:
            tenfold.torch.load(tanh_engine())
        self.assertIn('export', str(caught.exception))

    def test_a_module_that_torch_cannot_export(self):
        def by_data(x):
            return x + 1 if float(x.sum()) > 0 else x.numpy()

        class ByData(torch.nn.Module):
            def forward(self, x):
                return by_data(x)
        with self.assertRaises(Exception) as caught:
            tenfold.torch.export(ByData(), (torch.ones(3),), **QUICK)
        self.assertTrue(str(caught.exception))


class Between(torch.nn.Module):
    def forward(self, x):
        return torch.special.i0(x)


if __name__ == '__main__':
    unittest.main()
