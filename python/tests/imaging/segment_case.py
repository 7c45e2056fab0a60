"""What the tests of `tenfold segment` share: a small network, images, the program as a function and as a process."""
import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from case import QUICK, Case, TensorProto, helper, model, numpy_helper, onnx  # noqa: E402

import tenfold  # noqa: E402
from tenfold.imaging import sliding_window_inference  # noqa: E402
from tenfold.imaging.segment import main  # noqa: E402

ROI = (8, 8, 6)
PROGRAM = [sys.executable, '-m', 'tenfold.imaging.segment']


def network(channels=2, roi=ROI, seed=1, classes=3, batch='n', dynamic=False):
    """A convolution that pads, and a factor for each voxel: both depend on the place in the window."""
    rank, rng = len(roi), np.random.default_rng(seed)
    factor = [1] * rank if dynamic else roi
    weights = {'w': rng.standard_normal((classes, channels, *[3] * rank)), 'mask': rng.standard_normal((classes, *factor))}
    nodes = [helper.make_node('Conv', ['x', 'w'], ['c'], pads=[1] * 2 * rank), helper.make_node('Mul', ['c', 'mask'], ['y'])]
    extents = [f'd{axis}' for axis in range(rank)] if dynamic else roi
    return model(nodes, [('x', TensorProto.FLOAT, [batch, channels, *extents])], [('y', TensorProto.FLOAT, [batch, classes, *extents])],
                 [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()])


def image(*shape, dtype='uint16', seed=0):
    values = np.random.default_rng(seed).random(shape)
    return (values * 60000).astype(dtype) if np.dtype(dtype).kind in 'ui' else values.astype(dtype)


def sha256(path):
    found = hashlib.sha256()
    files = [path] if os.path.isfile(path) else sorted(os.path.join(at, name) for at, _, names in os.walk(path) for name in names)
    for name in files:
        found.update(os.path.relpath(name, path).encode())
        with open(name, 'rb') as file:
            found.update(file.read())
    return found.hexdigest()


class SegmentCase(Case):
    def setUp(self):
        super().setUp()
        self.model = self.save_model('m.onnx', network())

    def save_model(self, name, what):
        onnx.save(what, self.path(name))
        return self.path(name)

    def save(self, name, array):
        np.save(self.path(name), array)
        return self.path(name)

    def words(self, source, out, *flags, models=None):
        quick = ('--device=cpu', '--build=--builderOptimizationLevel=0', '--threads=1', '--progress=none', '--json')
        return [*(f'--onnx={one}' for one in models or [self.model]), f'--input={source}', f'--output={self.path(out)}', *quick, *flags]

    def call(self, words):
        """(exit code, standard output, standard error) of main()."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
        return code, out.getvalue(), err.getvalue()

    def segment(self, source, out, *flags, models=None):
        code, text, errors = self.call(self.words(source, out, *flags, models=models))
        self.assertEqual((code, errors), (0, ''))
        self.assertEqual([name for name in os.listdir(self.folder) if '.partial' in name], [])
        return json.loads(text)

    def fails(self, code, patterns, words):
        """With one message, and without a file beside the old ones."""
        before = sorted(os.listdir(self.folder))
        found, text, errors = self.call(words)
        self.assertEqual((found, text), (code, ''), errors)
        self.assertEqual(errors.count('\n'), 1, errors)
        self.assertTrue(errors.startswith('tenfold: '), errors)
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            self.assertRegex(errors, pattern)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def engine(self, what=None, channels=2, roi=ROI, batch=4):
        shapes = tuple([one, channels, *roi] for one in (1, batch, batch))
        return tenfold.build(what or network(), profiles={'x': shapes}, **{**QUICK, 'threads': 1})

    def by_hand(self, array, engine=None, roi=ROI, **options):
        """The whole array by sliding_window_inference(): [class, spatial...]."""
        options = {'overlap': 0.25, 'mode': 'gaussian', **options}
        return sliding_window_inference(np.float32(array)[None], roi, 4, engine or self.engine(), **options)[0]

    def near_all(self, found, expected):
        self.assertEqual(found.shape, expected.shape)
        self.assertLess(abs(found - expected).max(), 1e-5 * abs(expected).max())

    def process(self, words, program=PROGRAM, **options):
        return subprocess.Popen([*program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


__all__ = ['ROI', 'SegmentCase', 'TensorProto', 'image', 'network', 'np', 'numpy_helper', 'sha256']
