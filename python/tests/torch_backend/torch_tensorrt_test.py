"""Torch-TensorRT's names, as the wheel tenfold-shim offers them."""
import os
import subprocess
import sys
from unittest import mock

from torch_case import MLP, Lines, TorchCase, logging, tenfold, torch, unittest, warnings

import torch_tensorrt
from tenfold.torch import _report

LOADED = '''
import sys, torch, torch_tensorrt
module = torch_tensorrt.load(sys.argv[1])
module = module.module() if hasattr(module, "module") and not isinstance(module, torch.jit.ScriptModule) else module
x, wanted = torch.load(sys.argv[2])
torch.testing.assert_close(module(x), wanted, rtol=1e-4, atol=1e-5)
'''
RANGED = dict(min_shape=[1, 8], opt_shape=[3, 8], max_shape=[6, 8])


class Names(TorchCase):
    def optimized(self, module=None, **settings):
        return torch_tensorrt.compile(module or MLP().eval(), inputs=[torch_tensorrt.Input(**RANGED)], optimization_level=0, **settings)

    def test_ranges_of_shapes(self):
        module = MLP().eval()
        ours = self.optimized(module)
        for rows in (1, 3, 6):
            x = torch.randn(rows, 8)
            self.same(ours(x), module(x).detach())
        with self.assertRaises(tenfold.InvalidArgument):
            ours(torch.randn(7, 8))

    def saved_and_loaded(self, save, name='m.pt2'):
        module = MLP().eval()
        ours = self.optimized(module)
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

    def test_settings_are_honored_or_refused(self):
        ours = self.optimized(workspace_size=1 << 20, disable_tf32=True, make_refittable=True, sparse_weights=False)
        self.assertTrue(ours.engine.refittable_weights)
        for wrong, kind in (({'no_such_setting': 1}, TypeError), ({'sparse_weights': True}, ValueError),
                            ({'enabled_precisions': {torch.float64}}, ValueError), ({'ir': 'fx'}, ValueError),
                            ({'device': 'cuda:0'}, ValueError)):
            with self.assertRaises(kind) as caught:
                self.optimized(**wrong)
            self.assertIn(next(iter(wrong)), str(caught.exception))
        with self.assertRaises(ValueError):
            torch_tensorrt.Input(min_shape=[1], opt_shape=[3], max_shape=[2])

    def one_of_three(self, name, value):
        """What becomes of a setting: "effect", "refused" or "said"."""
        from tenfold.torch_tensorrt import _settings
        _report._told.clear()
        if name in _settings.READ:
            return 'effect'                                  # each has a test of its own
        with Lines() as lines:
            try:
                made = _settings.build_fields({name: value})
            except ValueError as error:
                self.assertIn(name, str(error))
                return 'refused'
        reported = [line for line in lines if name in line and 'no effect' in line]
        self.assertEqual(len(reported), 0 if made else 1, f'{name}={value!r} does nothing and says nothing')
        return 'effect' if made else 'said'

    def test_every_setting_has_an_effect_is_refused_or_says_so(self):
        from tenfold.torch_tensorrt import _settings
        values = {'workspace_size': 1 << 20, 'optimization_level': 2, 'timing_cache_path': '/x', 'num_avg_timing_iters': 3,
                  'num_min_timing_iters': 7, 'max_aux_streams': 2, 'torch_executed_ops': ['aten.relu'], 'torch_executed_modules': ['x'],
                  'capability': 'safety', 'dla_sram_size': 5, 'dla_local_dram_size': 5, 'dla_global_dram_size': 5,
                  'use_fast_partitioner': False}
        found = {name: self.one_of_three(name, values.get(name, True)) for name in _settings.SETTINGS}
        self.assertEqual({n for n, what in found.items() if what == 'said'}, set(_settings.WITHOUT_EFFECT))
        self.assertEqual({n for n, what in found.items() if what == 'refused'}, set(_settings.FIXED))
        self.assertEqual({n for n in found if n in _settings.READ}, {'debug', 'pass_through_build_failures', 'strict'})
        for name in _settings.READ:
            with self.assertRaises(TypeError):
                _settings.build_fields({name: 'yes'})

    def test_arguments_beside_the_settings(self):
        for make in (lambda: self.optimized(calibrator=torch_tensorrt.ptq.DataLoaderCalibrator([])),
                     lambda: torch_tensorrt.Device('cpu', allow_gpu_fallback=True),
                     lambda: torch_tensorrt.compile(MLP().eval(), inputs=[torch_tensorrt.Input([3, 8], name='mine')], optimization_level=0),
                     lambda: torch_tensorrt.save(self.optimized(), self.path('m.pt2'), retrace=False)):
            _report._told.clear()
            with Lines() as lines:
                make()
            self.assertEqual(len([line for line in lines if 'no effect' in line]), 1, list(lines))

    def test_failures_that_pass_through(self):
        class Odd(torch.nn.Module):
            def forward(self, x):
                return torch.special.i0(x) + torch.fft.fft(x).real
        x = torch.ones(3, 8)
        with self.assertRaises(tenfold.Unsupported) as caught:
            self.optimized(Odd().eval(), pass_through_build_failures=True)
        self.assertIn('fft', str(caught.exception))
        for failure in (tenfold.OutOfMemory('none left'), tenfold.Internal('a fault')):
            for raises in (False, True):
                for ir in ('dynamo', 'torch_compile'):
                    torch._dynamo.reset()
                    with self.subTest(failure=str(failure), raises=raises, ir=ir), mock.patch('tenfold.build', side_effect=failure), \
                            warnings.catch_warnings():
                        warnings.simplefilter('ignore')
                        module = MLP().eval()
                        if not raises:
                            self.same(self.optimized(module, ir=ir)(x), module(x).detach())
                            continue
                        with self.assertRaises(Exception) as caught:
                            self.optimized(module, ir=ir, pass_through_build_failures=True)(x)
                        self.assertIn(str(failure), str(caught.exception))

    def test_strict(self):
        class OfItsTime(torch.nn.Module):
            def forward(self, x):
                return torch.relu(x) * (1.0 if torch.compiler.is_dynamo_compiling() else 2.0)
        x = torch.ones(3, 8)
        for strict, expected in ((True, 1.0), (False, 2.0)):
            self.same(self.optimized(OfItsTime().eval(), strict=strict)(x), x * expected)
        with self.assertRaises(ValueError):
            self.optimized(strict=True, ir='torch_compile')

    def test_debug(self):
        logger = logging.getLogger('tenfold')
        before = logger.level
        try:
            self.optimized(debug=True)
            self.assertEqual(logger.level, logging.DEBUG)
        finally:
            logger.setLevel(before)

    def test_enabled_precisions_of_torch_compile(self):
        module = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.Tanh()).eval()
        x = torch.randn(3, 64)
        for name in ('tensorrt', 'torch_tensorrt'):
            with self.subTest(name), mock.patch('tenfold.build', side_effect=tenfold.build) as build:
                torch._dynamo.reset()
                run = torch.compile(module, backend=name, options={'enabled_precisions': {torch.half}, 'optimization_level': 0,
                                                                   'min_block_size': 1, 'plan_cache': False})
                self.same(run(x), module(x).detach(), rtol=2e-2, atol=2e-3)
                self.assertTrue(build.call_args.kwargs['fp16'])
            torch._dynamo.reset()
            with self.assertRaises(Exception) as caught:
                torch.compile(module, backend=name, options={'enabled_precisions': {torch.float64}})(x)
            self.assertIn('enabled_precisions', str(caught.exception))
        torch._dynamo.reset()
        with self.assertRaises(Exception) as caught:
            torch.compile(module, backend='tenfold', options={'enabled_precisions': {torch.half}})(x)
        self.assertIn("options['enabled_precisions']", str(caught.exception))

    def test_calibration(self):
        torch.manual_seed(5)
        module = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 16)).eval()
        data = [torch.randn(4, 64) for _ in range(50)]
        calibrator = torch_tensorrt.ptq.DataLoaderCalibrator(iter(data), cache_file=self.path('c.cache'),
                                                             algo_type=torch_tensorrt.ptq.CalibrationAlgo.ENTROPY_CALIBRATION_2)
        ours = torch_tensorrt.compile(module, inputs=[torch_tensorrt.Input([4, 64])], enabled_precisions={torch.int8, torch.float},
                                      calibrator=calibrator)
        expected = module(data[0]).detach()
        error = float((ours(data[0]) - expected).norm() / expected.norm())
        self.assertLess(error, 0.05)
        self.assertTrue(os.path.getsize(self.path('c.cache')))

    def test_what_has_no_engine_is_torchs_or_refused(self):
        class Odd(torch.nn.Module):
            def forward(self, x):
                return torch.special.i0(x)
        with self.assertWarns(UserWarning) as reported:
            ours = self.optimized(Odd().eval())
        self.assertIn('aten.i0.default', str(reported.warning))
        self.same(ours(torch.ones(3, 8)), Odd()(torch.ones(3, 8)))
        with self.assertRaises(tenfold.Unsupported):
            self.optimized(Odd().eval(), require_full_compilation=True)

    def test_backends_by_name(self):
        module = MLP().eval()
        x = torch.randn(3, 8)
        for name in ('tensorrt', 'torch_tensorrt'):
            torch._dynamo.reset()
            self.same(torch.compile(module, backend=name, options={'optimization_level': 0})(x), module(x).detach())


class Submodules(TorchCase):
    def test_dynamo(self):
        module = MLP().eval()
        program = torch_tensorrt.dynamo.trace(module, [torch_tensorrt.Input(**RANGED)])
        ours = torch_tensorrt.dynamo.compile(program, inputs=[torch_tensorrt.Input(**RANGED)], optimization_level=0)
        plan = torch_tensorrt.dynamo.convert_exported_program_to_serialized_trt_engine(program, [torch_tensorrt.Input(**RANGED)],
                                                                                     optimization_level=0)
        for rows in (1, 6):
            x = torch.randn(rows, 8)
            self.same(ours(x), module(x).detach())
            self.same(tenfold.load(plan)(x), module(x).detach())

    def test_logging(self):
        from torch_tensorrt import logging as theirs
        before = theirs.get_reportable_log_level()
        with theirs.debug():
            self.assertEqual(theirs.get_reportable_log_level(), theirs.Level.Debug)
            with theirs.errors():
                self.assertEqual(theirs.get_reportable_log_level(), theirs.Level.Error)
        self.assertEqual(theirs.get_reportable_log_level(), before)
        with Lines() as lines:
            theirs.log(theirs.Level.Error, 'a line')
        self.assertIn('a line', lines)

    def test_runtime(self):
        ours = torch_tensorrt.compile(MLP().eval(), inputs=[torch_tensorrt.Input([3, 8])], optimization_level=0)
        self.assertIsInstance(ours, torch_tensorrt.runtime.TorchTensorRTModule)
        _report._told.clear()
        theirs = torch_tensorrt.runtime
        with Lines() as lines, theirs.enable_cudagraphs(ours) as run, theirs.set_multi_device_safe_mode(True):
            run(torch.ones(3, 8))
        self.assertEqual(len(lines), 1, lines)

    def test_other_names_are_refused(self):
        for module in (torch_tensorrt.dynamo, torch_tensorrt.runtime, torch_tensorrt.logging):
            with self.assertRaises(AttributeError) as caught:
                module.no_such_name
            self.assertIn('no_such_name', str(caught.exception))


if __name__ == '__main__':
    unittest.main()
