"""What the tests of photographs share: pictures, what Pillow makes of them, and models that take them."""

import os
import re
import struct
import sys
import unittest
import zlib

import cli_case
from cli_case import FLOAT, CliCase, TensorProto, helper, np, numpy_helper, save_model

try:
    import onnxruntime as ort
    from PIL import Image
except ImportError as missing:
    print('skipped:', missing, '(script/bootstrap python installs it)')
    sys.exit(77)

SHARED = os.environ.get('TENFOLD_SHARED', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'shared'))
PHOTOGRAPHS = os.path.join(SHARED, 'data', 'imagenet-200')
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
IMAGENET = 'mean:0.485/0.456/0.406,std:0.229/0.224/0.225'


def picture(width, height, seed=0):
    """Patches of colors with noise on them: edges, areas, and detail that a resize averages away."""
    random = np.random.default_rng(seed)
    patches = random.integers(0, 256, (height // 7 + 1, width // 9 + 1, 3)).repeat(7, 0).repeat(9, 1)[:height, :width]
    return Image.fromarray(np.clip(patches + random.normal(0, 20, patches.shape), 0, 255).astype(np.uint8))


def resized(image, resize):
    """An int: the shorter side, as torchvision does it."""
    if isinstance(resize, int):
        long = int(resize * max(image.size) / min(image.size))
        resize = (long, resize) if image.width <= image.height else (resize, long)
    return image.resize((resize[1], resize[0]), Image.BILINEAR)


def cropped(image, height, width):
    left, top = round((image.width - width) / 2), round((image.height - height) / 2)
    return image.crop((left, top, left + width, top + height))


def levels(path, resize, crop, mode='RGB'):
    """[C,H,W] of 0 to 255."""
    array = np.asarray(cropped(resized(Image.open(path).convert(mode), resize), *crop), np.float32)
    return array.transpose(2, 0, 1) if array.ndim == 3 else array[None]


class ImageCase(CliCase):
    def save(self, name, image, **options):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        image.save(self.path(name), **options)
        return self.path(name)

    def identity(self, shape, type=FLOAT):
        return save_model(self.path('same.onnx'), [helper.make_node('Identity', ['x'], ['y'])], [('x', type, shape)], [('y', type, shape)])

    def build(self, data, *flags, model, code=0, **options):
        return self.tenfold(
            'exec', f'--onnx={model}', '--int8', f'--data={self.path(data)}', *flags, '--buildOnly', '--builderOptimizationLevel=0',
            code=code, **options,
        ).stderr  # fmt: skip

    def given(self, data, spec='', shape=(1, 3, 24, 24), type=FLOAT, flags=()):
        """What the model is given, and what is said about it."""
        out = self.path('given.npz')
        image = [f'--image={spec}'] if spec else []
        output = self.build(data, *image, f'--dumpSamples={out}', *flags, model=self.identity(shape, type))
        return np.load(out)['x'], output

    def net(self, side=32, batch='n'):
        """Two convolutions and a product: [n,3,side,side] to 10 classes."""
        random = np.random.default_rng(3)
        weights = {
            'w1': random.normal(0, 0.3, (16, 3, 3, 3)), 'w2': random.normal(0, 0.1, (16, 16, 3, 3)), 'w3': random.normal(0, 0.5, (16, 10)),
        }  # fmt: skip
        node = helper.make_node
        return save_model(
            self.path('net.onnx'),
            [
                node('Conv', ['x', 'w1'], ['a'], strides=[2, 2]),
                node('Relu', ['a'], ['b']),
                node('Conv', ['b', 'w2'], ['c']),
                node('Relu', ['c'], ['d']),
                node('GlobalAveragePool', ['d'], ['e']),
                node('Flatten', ['e'], ['f']),
                node('MatMul', ['f', 'w3'], ['y']),
            ],
            [('x', FLOAT, [batch, 3, side, side])],
            [('y', FLOAT, [batch, 10])],
            [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()],
        )
