"""cyto_dl.utils.tensorrt_utils beside torch: modules as engines and files, and images larger than a window beside MONAI's results."""
import inspect
import os
import sys

from torch_case import tenfold, torch, unittest, warnings

from cyto_dl_case import MONAI, PLACE, CytoCase, network

from cyto_dl.utils import tensorrt_utils
from cyto_dl.utils.tensorrt_utils import TensorRTInferenceEngine, benchmark_tensorrt, create_int8_calibrator, export_to_tensorrt

WITHOUT_TORCH = '''
import sys
sys.modules["torch"] = None          # importing it fails
import numpy as np
from cyto_dl.utils.tensorrt_utils import TensorRTInferenceEngine
np.save("y.npy", TensorRTInferenceEngine(sys.argv[1], (1, 1, 16, 16), sys.argv[2])(np.load("x.npy")))
'''
WITH_TORCH = '''
import sys, torch, tenfold.torch_tensorrt
x, wanted = torch.load("x.pt")
model = torch.jit.load(sys.argv[1])
model.eval()
with torch.no_grad():
    torch.testing.assert_close(model(x), wanted, rtol=1e-4, atol=1e-5)
'''
SHAPE = (1, 1, 16, 16)


class Base(CytoCase):
    def exported(self, dims=2, shape=SHAPE, **options):
        """The module, and what export_to_tensorrt() makes of it."""
        module = network(dims).to(PLACE)
        with warnings.catch_warnings(action='ignore'):   # torch.jit is deprecated
            return module, export_to_tensorrt(module, shape, **{'precision': 'fp32', 'device': PLACE, **options})

    def engine(self, dims=2, shape=SHAPE, **options):
        module, _ = self.exported(dims, shape, output_path=self.path('m.ts'), **options)
        return module, TensorRTInferenceEngine(self.path('m.ts'), shape, PLACE)


class Exports(Base):
    def test_the_guides_arguments(self):
        found = {name: [p.name if p.default is p.empty else (p.name, p.default) for p in inspect.signature(of).parameters.values()]
                 for name, of in vars(tensorrt_utils).items() if name in tensorrt_utils.__all__ and callable(of)}
        self.assertEqual(found, {
            'export_to_tensorrt': ['model', 'input_shape', ('precision', 'fp16'), ('workspace_size', 4), ('min_batch_size', 1),
                                   ('max_batch_size', 16), ('opt_batch_size', 4), ('output_path', None), ('enable_dynamic_shapes', False),
                                   ('device', 'cuda'), ('calibrator', None)],
            'TensorRTInferenceEngine': ['model_path', 'input_shape', ('device', 'cuda'), ('half_precision', True)],
            'benchmark_tensorrt': ['pytorch_model', 'tensorrt_model', 'input_shape', ('num_iterations', 100), ('warmup_iterations', 10),
                                   ('device', 'cuda')],
            'create_int8_calibrator': ['calibration_data', ('cache_file', 'calibration.cache')]})
        sliding = inspect.signature(TensorRTInferenceEngine.sliding_window_inference).parameters
        self.assertEqual([(p.name, p.default) for p in sliding.values()][2:],
                         [('roi_size', inspect.Parameter.empty), ('overlap', 0.25), ('batch_size', 4), ('mode', 'gaussian')])
        self.assertEqual(inspect.signature(TensorRTInferenceEngine.batch_inference).parameters['batch_size'].default, 4)

    def test_dynamic_batches(self):
        for usual in (1, 4):
            module, made = self.exported(enable_dynamic_shapes=True, opt_batch_size=usual)
            for rows in (1, 4, 16):
                x = torch.randn(rows, *SHAPE[1:], device=PLACE)
                self.same(made(x), module(x).detach(), rtol=1e-4, atol=1e-5)
            self.refused(tenfold.InvalidArgument, '17', made, torch.randn(17, *SHAPE[1:], device=PLACE))

    def test_all_heads_of_a_network_of_several_tasks(self):
        """As CytoDL's MultiTaskIm2Im is called."""
        class Tasks(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.task_heads = torch.nn.ModuleDict({'cells': torch.nn.Conv2d(1, 2, 3, padding=1), 'dna': torch.nn.Conv2d(1, 1, 1)})

            def forward(self, x, run_heads):
                return {head: self.task_heads[head](x) for head in run_heads}
        module = Tasks().to(PLACE).eval()
        x = torch.randn(SHAPE, device=PLACE)
        expected = module(x, ['cells', 'dna'])
        with warnings.catch_warnings(action='ignore'):
            found = export_to_tensorrt(module, SHAPE, 'fp32', output_path=self.path('m.ts'), device=PLACE)(x)
        self.assertEqual(list(found), ['cells', 'dna'])
        for one, other in zip(TensorRTInferenceEngine(self.path('m.ts'), SHAPE, PLACE)(x), found.values()):
            self.same(one, other)
        for head in expected:
            self.near(found[head].cpu(), expected[head].detach().cpu(), 1e-4)

    def test_torchscript(self):
        """One import in front of torch.jit.load; and without torch."""
        import numpy as np
        module, _ = self.exported(output_path=self.path('o/m.ts'))
        x = torch.randn(SHAPE, device=PLACE)
        torch.save((x, module(x).detach()), self.path('x.pt'))
        np.save(self.path('x.npy'), x.cpu().numpy())
        self.process(sys.executable, '-c', WITH_TORCH, 'o/m.ts')
        self.process(sys.executable, '-c', WITHOUT_TORCH, 'o/m.ts', PLACE)
        self.near(np.load(self.path('y.npy')), module(x).detach().cpu(), 1e-4)
        self.assertEqual(os.listdir(self.path('o')), ['m.ts'])

    def test_plans(self):
        module, _ = self.exported(output_path=self.path('m.plan'))
        x = torch.randn(SHAPE)
        self.near(tenfold.load(self.path('m.plan'))(x.numpy()), module.cpu()(x).detach(), 1e-4)

    def test_channels_last(self):
        module = network().to(PLACE, memory_format=torch.channels_last)
        x = torch.randn(SHAPE, device=PLACE)
        self.near(export_to_tensorrt(module, SHAPE, 'fp32', device=PLACE)(x).cpu(), module(x).detach().cpu(), 1e-4)

    def test_int8(self):
        module = network().to(PLACE)
        samples = [torch.randn(SHAPE, generator=torch.Generator().manual_seed(i)) for i in range(60)]
        calibrator = create_int8_calibrator(samples, self.path('c.cache'))
        _, made = self.exported(precision='int8', calibrator=calibrator)
        x = samples[3].to(PLACE)
        error = float((made(x) - module(x).detach()).norm() / module(x).norm())
        self.assertTrue(1e-5 < error < 0.1, error)
        self.assertTrue(os.path.getsize(self.path('c.cache')))
        self.exported(precision='int8', calibrator=create_int8_calibrator([], self.path('c.cache')))
        self.refused(tenfold.InvalidArgument, 'none.cache', create_int8_calibrator, [], self.path('none.cache'))
        self.refused(tenfold.InvalidArgument, 'calibration', self.exported, precision='int8')

    def test_what_cannot_be_exported_is_no_module_in_silence(self):
        class Odd(torch.nn.Module):
            def forward(self, x):
                return torch.fft.fft(x).real
        self.refused(tenfold.Unsupported, 'fft', export_to_tensorrt, Odd(), SHAPE, device='cpu')
        for wrong, words in (({'precision': 'fp8'}, 'fp8'), ({'shape': (1, 1)}, '[1, 1]'), ({'workspace_size': -1}, '-1'),
                             ({'enable_dynamic_shapes': True, 'min_batch_size': 9}, '9, 4, 16')):
            self.refused(tenfold.InvalidArgument, words, self.exported, **wrong)

    def test_benchmark(self):
        module, made = self.exported()
        found = benchmark_tensorrt(module, made, SHAPE, num_iterations=12, warmup_iterations=1, device=PLACE)
        self.assertEqual(sorted(found), ['latency_speedup', 'pytorch_latency_ms', 'pytorch_throughput_fps', 'tensorrt_latency_ms',
                                         'tensorrt_throughput_fps', 'throughput_gain'])
        self.assertAlmostEqual(found['latency_speedup'], found['pytorch_latency_ms'] / found['tensorrt_latency_ms'])
        self.assertAlmostEqual(found['pytorch_throughput_fps'] * found['pytorch_latency_ms'], 1000, 3)


class Engines(Base):
    def test_tensors(self):
        module, engine = self.engine()
        x = torch.randn(SHAPE, device=PLACE)
        for given in (x, x.double(), x.half(), x.bfloat16(), x.cpu(), x.clone().requires_grad_(), x.mT.contiguous().mT):
            found = engine(given)
            tolerance = 3e-2 if given.dtype.itemsize == 2 else 1e-4
            self.assertEqual((found.dtype, found.device.type, found.requires_grad), (given.dtype, given.device.type, False))
            self.near(found.float().cpu(), module(given.to(PLACE, torch.float32)).detach().cpu(), tolerance)
        self.assertEqual(engine((x * 50).to(torch.uint8)).dtype, torch.float32)

    def test_lists(self):
        module, engine = self.engine(enable_dynamic_shapes=True, max_batch_size=3, opt_batch_size=2)
        for count in (0, 1, 4, 5, 9):
            inputs = [torch.randn(1, 16, 16, device=PLACE) for _ in range(count)]
            found = engine.batch_inference(inputs=inputs, batch_size=4)
            self.assertEqual(len(found), count)
            for x, y in zip(inputs, found):
                self.same(y, module(x[None])[0].detach(), rtol=1e-4, atol=1e-5)

    def test_as_a_part_of_a_module(self):
        module, engine = self.engine()
        x = torch.randn(SHAPE, device=PLACE)

        class Host(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = engine.as_module()
        self.near(Host().eval().model(x).cpu(), module(x).detach().cpu(), 1e-4)
        self.near(engine.eval().to(PLACE)(x).cpu(), module(x).detach().cpu(), 1e-4)


@unittest.skipUnless(MONAI, 'monai is not installed')
class Windows(Base):
    def beside_monai(self, dims, roi, image, **options):
        """The engine's result, and MONAI's with the module of torch."""
        from monai.inferers import sliding_window_inference
        module, engine = self.engine(dims, (1, 1, *roi), **options)
        batched = image[(None,) * (dims + 2 - image.ndim)].float()
        for mode in ('constant', 'gaussian'):
            with torch.no_grad():
                expected = sliding_window_inference(batched, roi, 4, module, overlap=0.25, mode=mode)
            found = engine.sliding_window_inference(image=image, roi_size=roi, overlap=0.25, batch_size=4, mode=mode)
            expected = expected if image.ndim == dims + 2 else expected[0]
            self.assertEqual((found.shape, found.dtype), (expected.shape, image.dtype))
            self.near(found.float().cpu(), expected.cpu(), 5e-3 if image.dtype == torch.half else 2e-5)

    def test_images(self):
        for shape in ((50, 39), (1, 50, 39), (2, 1, 50, 39), (9, 7)):   # the last is smaller than a window
            self.beside_monai(2, (16, 16), torch.randn(shape, device=PLACE))
        self.beside_monai(2, (16, 16), torch.randn(50, 39, device=PLACE), enable_dynamic_shapes=True)
        self.beside_monai(2, (16, 16), torch.randn(50, 39, device=PLACE).half(), enable_dynamic_shapes=True)

    def test_volumes(self):
        for shape in ((19, 17, 22), (1, 1, 19, 17, 22)):
            self.beside_monai(3, (16, 16, 16), torch.randn(shape, device=PLACE), enable_dynamic_shapes=True)

    def test_meta_tensors(self):
        from monai.data import MetaTensor
        _, engine = self.engine()
        image = MetaTensor(torch.randn(1, 1, 40, 33), affine=torch.diag(torch.tensor([2., 3., 1., 1.])))
        found = engine.sliding_window_inference(image, (16, 16))
        self.assertIsInstance(found, MetaTensor)
        self.assertEqual(found.affine.tolist(), image.affine.tolist())


if __name__ == '__main__':
    unittest.main()
