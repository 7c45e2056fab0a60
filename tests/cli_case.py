"""What the tests of the command line share: small models, calls that must succeed, calls that must be refused and leave nothing."""

import os
import subprocess
import sys
import tempfile
import unittest

import report_skips

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print('skipped:', missing, '(script/bootstrap python installs it)')
    sys.exit(77)

TENFOLD = ''
ONCE = ['--iterations=1', '--duration=0', '--warmUp=0', '--builderOptimizationLevel=0']
FLOAT, BATCH = TensorProto.FLOAT, ['batch', 6]


def make_model(nodes, inputs, outputs, initializers=(), opset=21):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, 'g', [info(*i) for i in inputs], [info(*o) for o in outputs], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=10)


def save_model(path, *arguments, **options):
    with open(path, 'wb') as f:
        f.write(make_model(*arguments, **options).SerializeToString())
    return path


class CliCase(unittest.TestCase):
    """A folder of its own with m.onnx: y = tanh(x:0 * weights), whose batch is dynamic."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.weights = np.random.default_rng(1).standard_normal((6, 4)).astype(np.float32)
        self.model = save_model(
            self.path('m.onnx'),
            [helper.make_node('MatMul', ['x:0', 'w'], ['t']), helper.make_node('Tanh', ['t'], ['y'])],
            [('x:0', FLOAT, BATCH)],
            [('y', FLOAT, ['batch', 4])],
            [numpy_helper.from_array(self.weights, 'w')],
        )

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), 'wb') as f:
            f.write(data)
        return self.path(name)

    def tenfold(self, *arguments, code=0, program=None, **options):
        done = subprocess.run(
            [*(program or [TENFOLD]), *arguments], stderr=subprocess.PIPE, text=True, timeout=120, **{'stdout': subprocess.PIPE, **options}
        )
        self.assertEqual(done.returncode, code, f'{arguments}\n{done.stdout}\n{done.stderr}')
        return done

    def refused(self, code, expected, *arguments, **options):
        """Ends with that code and one message, which holds `expected`, and leaves the folder as it was."""
        before = sorted(os.listdir(self.folder))
        done = self.tenfold(*arguments, code=code, **options)
        messages = [line for line in done.stderr.splitlines() if line.startswith('tenfold: ')]
        self.assertEqual(len(messages), 1, f'one message is wanted\n{done.stderr}')
        self.assertIn(expected, done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 12, 'a refusal is short')
        self.assertEqual(sorted(os.listdir(self.folder)), before, 'a refusal leaves nothing behind')
        return done

    def make_plan(self, name='m.plan', model=None, *flags):
        self.tenfold(
            'exec',
            f'--onnx={model or self.model}',
            f'--saveEngine={self.path(name)}',
            '--skipInference',
            '--noBuilderCache',
            '--builderOptimizationLevel=0',
            *flags,
        )
        return self.path(name)


def main():
    global TENFOLD
    TENFOLD = os.path.abspath(sys.argv.pop(1))
    report_skips.run()
