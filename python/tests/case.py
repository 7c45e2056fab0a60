"""What the tests share: a small model with a dynamic batch, its truth in NumPy, and engines that are built once."""
import contextlib
import functools
import importlib.metadata
import logging
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import tenfold
from tenfold import _log

os.environ.setdefault('TENFOLD_DEVICE', 'cpu')   # addresses and arrays here are the host's; gpu_test means a GPU

PROFILE = {'x': ([1, 6], [4, 6], [8, 6])}
WEIGHTS = np.random.default_rng(1).standard_normal((6, 4)).astype(np.float32)
QUICK = dict(device='cpu', optimization_level=0)


def model(nodes, inputs, outputs, initializers=(), opset=21):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, 'g', [info(*i) for i in inputs], [info(*o) for o in outputs], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=10)


def tanh_model():
    """y = tanh(x @ w), x f32[batch, 6]."""
    return model([helper.make_node('MatMul', ['x', 'w'], ['t'], name='product'), helper.make_node('Tanh', ['t'], ['y'], name='bend')],
                 [('x', TensorProto.FLOAT, ['batch', 6])], [('y', TensorProto.FLOAT, ['batch', 4])],
                 [numpy_helper.from_array(WEIGHTS, 'w')])


def one_node(op, dtype, shape, **attributes):
    return model([helper.make_node(op, ['x'], ['y'], **attributes)], [('x', dtype, shape)], [('y', dtype, shape)])


@functools.cache
def tanh_engine():
    return tenfold.build(tanh_model(), profiles=PROFILE, **QUICK)


def truth(x):
    return np.tanh(x @ WEIGHTS)


def batch(rows=4, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, 6)).astype(np.float32)


def needs(package, version):
    """Skips tests whose judge is a package of which another place has an older version, with other rules."""
    try:
        found = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return unittest.skip(f'{package} is not installed')
    older = [int(n) for n in found.split('.')[:2]] < [int(n) for n in version.split('.')[:2]]
    return unittest.skipIf(older, f'{package} is {found}, the rules are those of {version}')


def python(code, **environment):
    """A process of its own, which finds the tests' modules."""
    here = os.path.dirname(os.path.abspath(__file__))
    return subprocess.run([sys.executable, '-c', f'import sys; sys.path.insert(0, {here!r})\n' + code], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=120)


class Lines(logging.Handler):
    """The lines that are logged meanwhile; a context, and a list. What is logged once in a process may come again."""

    def __enter__(self):
        _log._said.clear()
        self.lines = []
        logging.getLogger('tenfold').addHandler(self)
        return self.lines

    def __exit__(self, *_):
        logging.getLogger('tenfold').removeHandler(self)

    def emit(self, record):
        self.lines.append(record.getMessage())


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def near(self, found, expected, tolerance=1e-5):
        np.testing.assert_allclose(np.asarray(found, np.float64), np.asarray(expected, np.float64), rtol=tolerance, atol=tolerance)

    @contextlib.contextmanager
    def with_system_libraries(self):
        """Skips where the engine says that a library of the system, which it opens when it needs it, is not installed."""
        try:
            yield
        except Exception as e:
            if 'which cannot be opened (Debian\'s package is' not in str(e):
                raise
            self.skipTest(str(e))

    def refused(self, kinds, words, function, *arguments, **keywords):
        """It raises what is of all these classes, and says each of these words."""
        with self.assertRaises(kinds[0] if isinstance(kinds, tuple) else kinds) as caught:
            function(*arguments, **keywords)
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            self.assertIsInstance(caught.exception, kind)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, str(caught.exception))
        return caught.exception


__all__ = ['Case', 'Lines', 'PROFILE', 'QUICK', 'TensorProto', 'WEIGHTS', 'batch', 'helper', 'model', 'numpy_helper', 'one_node', 'onnx',
           'python', 'tanh_engine', 'tanh_model', 'truth']
