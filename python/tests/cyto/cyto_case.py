"""What tests of tenfold-cyto-dl share: small networks of pictures and volumes as ONNX files, and their results by NumPy."""
import logging
import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from case import Case, Lines, helper, model, numpy_helper, onnx  # noqa: E402

logging.getLogger('tenfold').addHandler(logging.NullHandler())   # what is told is asserted, and not shown
TREE = pathlib.Path(__file__).resolve().parent.parent.parent.parent
DEVICE = os.environ['TENFOLD_DEVICE']   # case.py has set it where nobody did
HEADS = (np.array([1.5, -0.5], np.float32), np.array([0.25], np.float32))


def kernel(rank):
    """3x3 or 3x3x3, which differs in all its taps."""
    return (np.random.default_rng(rank).standard_normal((1, 1, *[3] * rank)) / 3).astype(np.float32)


def network(rank, batch='n', extent=None, outputs=1):
    """relu(conv(x)) times the numbers of HEADS: y0 f32[batch, 2, ...], and y1 f32[batch, 1, ...]."""
    spatial = [extent or f's{axis}' for axis in range(rank)]
    nodes = [helper.make_node('Conv', ['x', 'k'], ['c'], pads=[1] * 2 * rank), helper.make_node('Relu', ['c'], ['r'])]
    weights = [numpy_helper.from_array(kernel(rank), 'k')]
    for i, head in enumerate(HEADS[:outputs]):
        nodes.append(helper.make_node('Mul', ['r', f'h{i}'], [f'y{i}']))
        weights.append(numpy_helper.from_array(head.reshape(1, -1, *[1] * rank), f'h{i}'))
    return model(nodes, [('x', 1, [batch, 1, *spatial])], [(f'y{i}', 1, [batch, len(HEADS[i]), *spatial]) for i in range(outputs)], weights)


def truth(x, output=0):
    rank = x.ndim - 2
    padded = np.pad(x[:, 0].astype(np.float64), [(0, 0), *[(1, 1)] * rank])
    windows = np.lib.stride_tricks.sliding_window_view(padded, [3] * rank, tuple(range(1, rank + 1)))
    found = np.maximum((windows * kernel(rank)[0, 0]).sum(tuple(range(-rank, 0))), 0)
    return found[:, None] * HEADS[output].reshape(1, -1, *[1] * rank)


def pictures(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


class CytoCase(Case):
    def onnx(self, name='m.onnx', rank=2, **options):
        onnx.save(network(rank, **options), self.path(name))
        return self.path(name)

    def export(self, *flags, code=0, module='tenfold.export_to_tensorrt', **environment):
        """The command: what it says, on stdout and stderr."""
        done = subprocess.run([sys.executable, '-m', module, *map(str, flags)], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, **environment}, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn('Traceback', done.stderr)
        return done.stdout + done.stderr
