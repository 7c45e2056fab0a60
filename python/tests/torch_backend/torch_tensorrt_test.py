"""Torch-TensorRT's names, as the wheel tenfold-shim offers them."""
import os
import subprocess
import sys

from torch_case import MLP, TorchCase, tenfold, torch, unittest

import torch_tensorrt

LOADED = '''
import sys, torch, torch_tensorrt
module = torch_tensorrt.load(sys.argv[1])
module = module.module() if hasattr(module, "module") and not isinstance(module, torch.jit.ScriptModule) else module
x, wanted = torch.load(sys.argv[2])
torch.testing.assert_close(module(x), wanted, rtol=1e-4, atol=1e-5)
'''
RANGED = dict(min_shape=[1, 8], opt_shape=[3, 8], max_shape=[6, 8])


class Names(TorchCase):
    def optimised(self, module=None, **settings):
        return torch_tensorrt.compile(module or MLP().eval(), inputs=[torch_tensorrt.Input(**RANGED)], optimization_level=0, **settings)

    def test_ranges_of_shapes(self):
        module = MLP().eval()
        ours = self.optimised(module)
        for rows in (1, 3, 6):
            x = torch.randn(rows, 8)
            self.same(ours(x), module(x).detach())
        with self.assertRaises(tenfold.InvalidArgument):
            ours(torch.randn(7, 8))

    def saved_and_loaded(self, save, name='m.pt2'):
        module = MLP().eval()
        ours = self.optimised(module)
        x = torch.randn(5, 8)
        save(ours, self.path(name))
        torch.save((x, module(x).detach()), self.path('x.pt'))
        done = subprocess.run([sys.executable, '-c', LOADED, self.path(name), self.path('x.pt')], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_torch_jit_save(self): self.saved_and_loaded(torch.jit.save, 'm.ts')

    def test_save(self): self.saved_and_loaded(torch_tensorrt.save)

    def test_torch_jit_trace(self):
        self.saved_and_loaded(lambda m, path: torch.jit.save(torch.jit.trace(m, torch.ones(3, 8), check_trace=False), path), 'm.ts')

    def test_torch_export_save(self):
        def save(module, path):
            torch.export.save(torch.export.export(module, (torch.ones(3, 8),), dynamic_shapes=(({0: torch.export.Dim.AUTO},),)), path)
        self.saved_and_loaded(save)

    def test_inputs_of_half_precision(self):
        module = MLP().eval()
        half = torch_tensorrt.Input([3, 8], dtype=torch_tensorrt.dtype.half)
        ours = torch_tensorrt.compile(module, inputs=[half], enabled_precisions={torch.float16}, optimization_level=0)
        x = torch.randn(3, 8).half()
        self.same(ours(x), module(x.float()).detach(), rtol=2e-2, atol=2e-3)

    def test_settings_are_honoured_or_refused(self):
        ours = self.optimised(workspace_size=1 << 20, disable_tf32=True, make_refittable=True, sparse_weights=False)
        self.assertTrue(ours.engine.refittable_weights)
        for wrong, kind in (({'no_such_setting': 1}, TypeError), ({'sparse_weights': True}, ValueError),
                            ({'enabled_precisions': {torch.float64}}, ValueError), ({'ir': 'fx'}, ValueError),
                            ({'device': 'cuda:0'}, ValueError)):
            with self.assertRaises(kind) as caught:
                self.optimised(**wrong)
            self.assertIn(next(iter(wrong)), str(caught.exception))
        with self.assertRaises(ValueError):
            torch_tensorrt.Input(min_shape=[1], opt_shape=[3], max_shape=[2])

    def test_calibration(self):
        torch.manual_seed(5)
        module = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 16)).eval()
        data = [torch.randn(4, 64) for _ in range(50)]
        calibrator = torch_tensorrt.ptq.DataLoaderCalibrator(iter(data), cache_file=self.path('c.cache'),
                                                             algo_type=torch_tensorrt.ptq.CalibrationAlgo.ENTROPY_CALIBRATION_2)
        ours = torch_tensorrt.compile(module, inputs=[torch_tensorrt.Input([4, 64])], enabled_precisions={torch.int8, torch.float},
                                      calibrator=calibrator)
        wanted = module(data[0]).detach()
        error = float((ours(data[0]) - wanted).norm() / wanted.norm())
        self.assertLess(error, 0.05)
        self.assertTrue(os.path.getsize(self.path('c.cache')))

    def test_what_has_no_engine_is_torchs_or_refused(self):
        class Odd(torch.nn.Module):
            def forward(self, x):
                return torch.special.i0(x)
        with self.assertWarns(UserWarning) as told:
            ours = self.optimised(Odd().eval())
        self.assertIn('aten.i0.default', str(told.warning))
        self.same(ours(torch.ones(3, 8)), Odd()(torch.ones(3, 8)))
        with self.assertRaises(tenfold.Unsupported):
            self.optimised(Odd().eval(), require_full_compilation=True)

    def test_backends_by_name(self):
        module = MLP().eval()
        x = torch.randn(3, 8)
        for name in ('tensorrt', 'torch_tensorrt'):
            torch._dynamo.reset()
            self.same(torch.compile(module, backend=name, options={'optimization_level': 0})(x), module(x).detach())


if __name__ == '__main__':
    unittest.main()
