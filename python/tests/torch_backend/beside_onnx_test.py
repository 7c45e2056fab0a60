"""What the backend makes of a module moves no more than what its own ONNX export becomes: plans are compared by their steps, on the CPU.

Small forms of three kinds of attention; where TENFOLD_TORCH_SHORT is not set, all of architectures_case, too.
"""
import importlib.util
import os

import architectures_case as beside
from torch_case import QUICK, TorchCase, tenfold, torch, unittest

EXACT = {'tf32': False}
KNOWN = {'bert': 1}     # steps more that are known: of token types that the exporter folds, and the backend's graph reads from a buffer


def vision(dtype):
    """Packed queries, keys and values, behind a transpose."""
    import torchvision
    torch.manual_seed(0)
    module = torchvision.models.VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=32, mlp_dim=64)
    torch.nn.init.normal_(module.heads.head.weight, std=0.02)
    return module.eval().to(dtype), (torch.randn(4, 3, 32, 32).to(dtype),), {}


CASES = {'vision': vision, 'bert': lambda dtype: beside.made('bert', dtype), 'llama': lambda dtype: beside.made('llama', dtype)}


@unittest.skipUnless(importlib.util.find_spec('onnxscript'), 'onnxscript is not installed')
class BesideOnnx(TorchCase):
    def beside(self, name, module, args, keywords, exported=True):
        model = beside.onnx_of(module, args, keywords)
        expected = beside.steps(beside.onnx_engine(model, device='cpu', optimization_level=0, **EXACT))
        engine, _ = beside.compiled_engine(module, args, keywords, frozen=True, **{**QUICK, **EXACT})
        found = {'compiled': beside.steps(engine)}
        if exported:
            found['exported'] = beside.steps(tenfold.torch.export(module, args, keywords, optimization_level=0, **EXACT))
        for way, steps in found.items():
            more, most = sum(beside.moving(steps).values()), sum(beside.moving(expected).values()) + KNOWN.get(name, 0)
            self.assertLessEqual(more, most, f'{way}: {beside.reported(steps)}; its ONNX export: {beside.reported(expected)}')

    def test_small_ones(self):
        for name, make in CASES.items():
            for dtype in (torch.float32, torch.float16):
                with self.subTest(name, dtype=dtype):
                    self.beside(name, *make(dtype), exported=name == 'vision')

    @unittest.skipIf(os.environ.get('TENFOLD_TORCH_SHORT'), 'the short form')
    def test_architectures(self):
        for name in beside.ARCHITECTURES:
            with self.subTest(name):
                self.beside(name, *beside.made(name), exported=False)


if __name__ == '__main__':
    unittest.main()
