"""Document 002's blocks for torch, as they stand (../seeds_case.py), between what they leave open and a comparison with eager mode.

On a machine without a GPU, cuda() of the blocks' own module leaves it where it is.
"""
import pathlib
import subprocess
import sys

from torch_case import TorchCase, unittest

from seeds_case import block

BEFORE = '''
import torch
torch.manual_seed(0)
class MyModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.body = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 7, stride=16), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3), torch.nn.ReLU(),
                                        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 5))
    def forward(self, x):
        return self.body(x)
    if not torch.cuda.is_available():
        def cuda(self):
            return self
place = "cuda" if torch.cuda.is_available() else "cpu"
def near(found, x, tolerance):
    wanted = MyModel().to(place).eval()(x.float()).detach()
    error = float((found.float() - wanted).norm() / wanted.norm())
    assert error < tolerance, error
    return error
'''
INPUT = 'input = torch.randn(4, 3, 224, 224, device=place)\n'
AFTER_COMPILE = 'near(output, input, 1e-3)\n'
AFTER_TENSORRT = '''
for rows in (1, 8, 32):
    x = torch.randn(rows, 3, 224, 224, device=place).half()
    near(optimized(x), x, 2e-2)
    near(torch.jit.load("model_trt.ts")(x), x, 2e-2)
'''
DATA = '''
model = MyModel().to(place).eval()
representative_data = [torch.randn(1, 3, 224, 224, device=place) for _ in range(25)]
'''
AFTER_CALIBRATE = '''
import os
error = near(optimized(representative_data[0]), representative_data[0], 0.1)
assert error > 1e-6, error                       # integers
assert os.path.getsize("calibration.cache") > 0
'''


class Seeds(TorchCase):
    def script(self, *parts):
        pathlib.Path(self.path('script.py')).write_text('\n'.join(parts))
        done = subprocess.run([sys.executable, 'script.py'], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_002_torch_compile(self):
        self.script(BEFORE, INPUT, block('002', 'torch.compile('), AFTER_COMPILE)

    def test_002_torch_tensorrt(self):
        self.script(BEFORE, block('002', 'model_trt.ts'), AFTER_TENSORRT)

    def test_002_calibrate(self):
        self.script(BEFORE, DATA, block('002', 'DataLoaderCalibrator'), AFTER_CALIBRATE)


if __name__ == '__main__':
    unittest.main()
