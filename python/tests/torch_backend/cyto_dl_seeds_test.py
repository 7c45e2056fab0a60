"""Document 003's blocks that want no training, as they stand (../seeds_case.py), between what they leave open and a comparison with torch.

pip and conda are stand-ins that install nothing; a network of two blocks stands in for CytoDL's. On a machine without a GPU, cuda() of
tensors and modules leaves them where they are. Blocks of flags alone are given to the command's parser.
"""
import os
import pathlib
import re
import shlex
import sys

from torch_case import torch, unittest

from cyto_dl_case import COMPAT, HYDRA, NETWORK, PLACE, CytoCase, network

from seeds_case import block, blocks
from tenfold.export_to_tensorrt import Settings, _flags, export_module, load_plan, save_module

BEFORE = NETWORK + '''
import functools, time
import torch
import tenfold.torch_tensorrt           # the one import in front of torch.jit.load
place = "cuda" if torch.cuda.is_available() else "cpu"
if place == "cpu":
    torch.Tensor.cuda = torch.nn.Module.cuda = lambda self: self
    torch.cuda.synchronize = torch.cuda.set_device = lambda *_: None
truth = Network()
truth.load_state_dict(torch.load("weights.pt"))
truth = truth.to(place).eval()
def near(found, x, tolerance=2e-2):
    wanted = truth(x.to(place).float()).detach()
    found = found.to(place).float().reshape(wanted.shape)
    error = float((found - wanted).norm() / wanted.norm())
    assert error < tolerance, error
torch.manual_seed(3)
'''
ENGINE = '''
img1, img2, img3, img4 = (torch.randn(1, 256, 256, device=place) for _ in range(4))
input_tensor = torch.randn(1, 1, 256, 256, device=place)
large_image = torch.randn(1, 600, 500, device=place)
'''
AFTER_ENGINE = '''
assert len(outputs) == 4
for x, y in zip((img1, img2, img3, img4), outputs):
    near(y, x[None])
assert output.shape == (2, 600, 500)
inside = (slice(None), slice(8, -8), slice(8, -8))
wanted = truth(large_image[None])[0].detach()
# The network sees three pixels around each, so that but for the zeros at windows' borders the result is that of the whole image.
assert float((output - wanted).abs().median()) < 1e-2
images = [img1, img2, img3]
'''
AFTER_BATCHES = '''
for x, y in zip(images, outputs):
    near(y, x[None])
'''
# What the block about videos leaves open: its engine is given no arguments, and its loop has no end.
STREAM = '''
import sys, types
class Ended(Exception): ...
frames, shown = [torch.randn(256, 256) for _ in range(3)], []
class VideoCapture:
    def __init__(self, device): self.frames = iter(frames)
    def read(self):
        for frame in self.frames: return True, frame
        raise Ended
sys.modules["cv2"] = types.SimpleNamespace(VideoCapture=VideoCapture, imshow=lambda name, result: shown.append(result))
preprocess, postprocess = lambda frame: frame[None, None].to(place), lambda output: output[0]
made = engine
TensorRTInferenceEngine = lambda _: made
try:
'''
AFTER_STREAM = '''
except Ended:
    assert len(shown) == 3
    for x, y in zip(frames, shown): near(y, x[None, None])
'''
DIRECT = '''
input_tensor = input = torch.randn(1, 1, 256, 256, device=place)
'''
AFTER_DIRECT = '''
near(output, input_tensor)
images = [torch.randn(1, 1, 256, 256, device=place) for _ in range(3)]
'''
AFTER_PIPELINE = '''
assert len(predictions) == 3
for x, y in zip(images, predictions): near(y, x)
num_models = 2
'''
AFTER_ENSEMBLE = '''
near(final_output, input)
model, made, engine_of = truth, [], __import__("cyto_dl.utils.tensorrt_utils", fromlist=["x"]).export_to_tensorrt
num_gpus = max(1, torch.cuda.device_count())
def export_to_tensorrt(model, _, device):
    made.append(engine_of(model.to(device if place == "cuda" else "cpu"), (1, 1, 256, 256), device=device))
'''
AFTER_GPUS = '''
assert len(made) == num_gpus
for i, one in enumerate(made): near(one(input.to(f"cuda:{i}" if place == "cuda" else "cpu")), input)
model = truth.to(place)
'''
AFTER_LAYOUT = '''
near(engine_of(model, (1, 1, 256, 256), device=place)(input), input)
'''
AFTER_TIMES = '''
assert 0 < elapsed < 600
'''
# CytoDL's class as the block uses it: with the presets of the wheel, and a model that is replaced.
API = '''
import torch
from hydra import compose, initialize_config_dir
class CytoDLModel:
    def load_default_experiment(self, name, output_dir, overrides=()):
        with initialize_config_dir(version_base="1.3", config_dir=f"{__file__.rpartition('/cyto_dl/')[0]}/configs"):
            self.cfg = compose("train.yaml", overrides=[f"experiment=im2im/{name}", *overrides])
        assert self.cfg.tensorrt.precision == "fp16"
        self.model = None
    def predict(self, data):
        model = self.model.eval().to(data[0].device)
        with torch.no_grad():
            return [model(x) for x in data]
'''
PYTHON, INSTALLER = '#!/bin/sh\nexec {} "$@"\n', '#!/bin/sh\necho installer: "$@"\n'
MKDIR = '#!/bin/sh\n/bin/mkdir "$@" && cp images/* "$1"\n'   # the images that the block speaks of


class SeedsCase(CytoCase):
    def setUp(self):
        super().setUp()
        torch.save(network().state_dict(), self.path('weights.pt'))

    def export(self, name):
        save_module(export_module(network().to(PLACE), Settings((1, 1, 256, 256))), self.path(name))

    def python(self, *parts):
        self.write('script.py', '\n'.join(parts))
        return self.process(sys.executable, 'script.py')

    def shell(self, text, **more):
        """The block by bash, which has to succeed line by line."""
        for name, content in {'python': PYTHON.format(sys.executable), 'pip': INSTALLER, 'conda': INSTALLER, **more}.items():
            os.chmod(self.write(f'bin/{name}', content), 0o755)
        self.write('sitecustomize.py', f'import sys\nsys.path.append({str(COMPAT / "shim")!r})\nimport tenfold_shim\n')
        return self.process('bash', '-e', '-c', f'PATH={self.path("bin")}:$PATH\n{text}')


class Blocks(SeedsCase):
    def test_the_engine(self):
        self.export('models/labelfree_trt_fp16.ts')
        self.export('model_trt.ts')
        indented = '\n'.join('    ' + line for line in block('003', 'cv2.VideoCapture').splitlines())
        self.python(BEFORE, block('003', 'labelfree_trt_fp16.ts",\n    input_shape'), 'near(output, input_image)', ENGINE,
                    block('003', 'half_precision=True'), AFTER_ENGINE, block('003', 'for batch_size in [1, 2, 4, 8, 16]'), AFTER_BATCHES,
                    STREAM, indented, AFTER_STREAM)

    @unittest.skipUnless(HYDRA, 'hydra-core is not installed')
    def test_modules(self):
        for name in ('model_trt.ts', 'labelfree_trt.ts', 'model_0_trt.ts', 'model_1_trt.ts'):
            self.export(name)
        self.checkout()
        os.symlink(COMPAT / 'cyto' / 'tenfold_cyto_dl' / 'configs' / 'inference', self.path('configs/inference'))
        self.write('cyto_dl/api/__init__.py', API)
        self.python(BEFORE, DIRECT, block('003', 'torch.jit.load("model_trt.ts")'), AFTER_DIRECT, block('003', 'CytoDLModel'),
                    AFTER_PIPELINE, block('003', 'torch.jit.load(f"model_{i}_trt.ts")'), AFTER_ENSEMBLE,
                    block('003', 'torch.cuda.set_device'), AFTER_GPUS, block('003', 'torch.channels_last'), AFTER_LAYOUT,
                    block('003', '# Warmup'), AFTER_TIMES)

    def test_installing_and_verifying(self):
        """What is verified is Tenfold's module, by the wheel tenfold-shim."""
        for words, printed in (('conda-forge', r'2\.\d+'), ("print('OK')", 'OK'), ('nvidia-tensorrt==8.6.1', 'install'),
                               ('--upgrade', 'install')):
            said = self.shell(block('003', words))
            self.assertIn('installer: install', said)
            self.assertRegex(said, printed)

    def test_flags(self):
        """Each line of flags, in any block, is one that the command takes."""
        found = 0
        for text in blocks('003'):
            for line in text.replace('\\\n', ' ').splitlines():
                words = shlex.split(line, comments=True)
                if words and words[0].startswith('--'):
                    _flags.parsed(['--onnx', 'm.onnx', '--output', 'o', *words])
                    found += 1
        self.assertGreater(found, 10)

    def test_every_block_is_tested(self):
        """By the words that the tests find it by; the block that trains is left out."""
        mine = pathlib.Path(__file__).read_text()
        asked = [eval(words) for words in re.findall(r"block\('003', ('(?:[^'\\]|\\.)*')", mine)] + ['conda-forge', "print('OK')",
                                                                                                      'nvidia-tensorrt==8.6.1', '--upgrade']
        left = [text for text in blocks('003') if not any(words in text for words in asked)]
        flags = [text for text in left if re.search(r'^--', text, re.M)]
        self.assertEqual([text.partition('\n')[0] for text in left if text not in flags], ['# Train with optimizations'])


@unittest.skipUnless(HYDRA, 'hydra-core is not installed')
class Exports(SeedsCase):
    """The guide's commands in a checkout, where `python -m tenfold_cyto_dl .` has put their script."""

    def setUp(self):
        super().setUp()
        self.checkout()
        self.process(sys.executable, '-m', 'tenfold_cyto_dl', '.')

    def check(self, name, *shape):
        x = torch.rand(shape) * 2 - 1   # as calibration images are
        wanted = network(len(shape) - 2)(x).detach()
        error = float((torch.from_numpy(load_plan(self.path(name))(x.numpy())) - wanted).norm() / wanted.norm())
        self.assertLess(error, 0.1 if 'int8' in name else 2e-2)
        self.assertGreater(error, 1e-4 if 'int8' in name else 0)

    def test_pictures_in_fp16(self):
        self.checkpoint('logs/train/runs/.../checkpoints/best.ckpt')
        said = self.shell(block('003', 'best.ckpt'))
        self.assertIn('Slower than expected?', said)
        self.check('models/labelfree_trt_fp16.ts', 1, 1, 256, 256)
        self.assertTrue(os.path.exists(self.path('models/labelfree_trt_fp16.benchmark.json')))

    def test_volumes_in_fp16(self):
        self.checkpoint('path/to/checkpoint.ckpt', 3)
        self.shell(block('003', 'segmentation.yaml'))
        self.check('segmentation_trt.ts', 1, 1, 64, 64, 64)

    def test_int8(self):
        import numpy as np
        for i in range(60):
            self.write(f'images/{i:02}.npy', '')
            np.save(self.path(f'images/{i:02}.npy'), np.random.default_rng(i).random((256, 256), np.float32))
        self.checkpoint('path/to/checkpoint.ckpt')
        self.assertIn('60 images', self.shell(block('003', 'mkdir calibration_data'), mkdir=MKDIR))
        self.check('labelfree_trt_int8.ts', 1, 1, 256, 256)
        self.assertTrue(os.path.exists(self.path('labelfree_trt_int8.cache')))

    def test_batches(self):
        self.checkpoint('path/to/checkpoint.ckpt', 3)
        self.shell(block('003', 'mae.yaml'))
        for rows in (1, 4, 5):
            self.check('mae_trt_dynamic.ts', rows, 1, 64, 64, 64)

    def test_a_benchmark_with_the_configurations_own_shape(self):
        self.write('your_config.yaml', '_target_: cyto_dl_network.Network\nraw_im_channels: 1\ndata: {_aux: {patch_shape: [32, 32]}}\n')
        self.checkpoint('your_checkpoint.ckpt')
        self.assertRegex(self.shell(block('003', 'your_config.yaml')), r'\| Tenfold FP16 +\|')
        self.check('model_trt.ts', 1, 1, 32, 32)


if __name__ == '__main__':
    unittest.main()
