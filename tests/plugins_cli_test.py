#!/usr/bin/env python3
"""Plug-in libraries on the command line: plugins_cli_test.py TENFOLD. NumPy is the truth; TENFOLD_PLUGIN_SNAKE names the C example."""

import json
import os
import pathlib
import sys

import cli_case
from cli_case import FLOAT, ONCE, CliCase, helper, make_model, np

LIBRARY = os.environ.get('TENFOLD_PLUGIN_SNAKE', '')
SNAKE = pathlib.Path(__file__).parent.parent / 'examples' / 'snake.onnx'
RUN_FAILED, MODEL_INVALID, PLAN_REFUSED = 1, 3, 4


def snake(x, alpha):
    return x + np.sin(alpha * x) ** 2 / alpha


def library_without_plugins():
    """Some library of the system, which exports no plug-ins."""
    with open('/proc/self/maps') as maps:
        return next(line.split()[-1] for line in maps if '/libc.so' in line or '/libm.so' in line)


class PluginLibraries(CliCase):
    def setUp(self):
        super().setUp()
        self.x = np.random.default_rng(3).standard_normal((2, 4)).astype(np.float32)
        np.save(self.path('x.npy'), self.x)
        self.inputs = [f'--loadInputs=x:{self.path("x.npy")}', f'--exportOutput={self.path("y.npz")}', *ONCE]

    def answer(self):
        return np.load(self.path('y.npz'))['y']

    def test_built_saved_and_loaded(self):
        plan = self.path('snake.plan')
        self.tenfold('exec', f'--onnx={SNAKE}', f'--plugins={LIBRARY}', '--shapes=x:2x4', f'--saveEngine={plan}', *self.inputs)
        np.testing.assert_allclose(self.answer(), snake(self.x, 0.5), rtol=1e-6, atol=1e-6)
        os.remove(self.path('y.npz'))
        self.tenfold('exec', f'--loadEngine={plan}', f'--plugins={LIBRARY}', *self.inputs)
        np.testing.assert_allclose(self.answer(), snake(self.x, 0.5), rtol=1e-6, atol=1e-6)
        self.assertIn('com.example.Snake', self.tenfold('inspect', plan, f'--plugins={LIBRARY}').stdout)
        self.tenfold('compare', str(SNAKE), '--reference', '--shapes=x:2x4', f'--plugins={LIBRARY}')
        self.tenfold('compare', str(SNAKE), plan, '--shapes=x:2x4', f'--plugins={LIBRARY}')

    def test_a_plan_names_what_it_lacks_and_never_a_file(self):
        plan = self.path('snake.plan')
        self.tenfold('exec', f'--onnx={SNAKE}', f'--plugins={LIBRARY}', '--shapes=x:2x4', f'--saveEngine={plan}', *self.inputs)
        self.assertNotIn(os.path.basename(LIBRARY).encode(), pathlib.Path(plan).read_bytes())
        self.refused(PLAN_REFUSED, 'com.example.Snake', 'exec', f'--loadEngine={plan}', *self.inputs)

    def test_a_plan_is_shown_without_its_plugin(self):
        plan = self.path('snake.plan')
        self.tenfold('exec', f'--onnx={SNAKE}', f'--plugins={LIBRARY}', '--shapes=x:2x4', f'--saveEngine={plan}', *self.inputs)
        reported = self.tenfold('inspect', plan).stdout
        self.assertIn("needs a plug-in that gives the operator Snake of the domain 'com.example'", reported)
        self.assertRegex(reported, r'0  \S+  com\.example\.Snake')   # its step
        reported = json.loads(self.tenfold('inspect', plan, '--json').stdout)
        self.assertEqual(reported['PluginOperators'], ['com.example.Snake'])
        self.assertIn('com.example.Snake', reported['NotLoaded'])
        self.assertEqual(reported['Layers'][0]['LayerType'], 'com.example.Snake')
        self.assertIn("tensor 'x'", self.tenfold('inspect', plan, '--find=x').stdout)
        whole = pathlib.Path(plan).read_bytes()
        pathlib.Path(plan).write_bytes(whole[:-1])
        self.refused(PLAN_REFUSED, 'damaged', 'inspect', plan)

    def test_a_graph_of_known_operators(self):
        nodes = [helper.make_node('Squash', ['x'], ['y'], domain='com.example', scale=2.0)]
        proto = make_model(nodes, [('x', FLOAT, [2, 4])], [('y', FLOAT, [2, 4])])
        proto.opset_import.append(helper.make_opsetid('com.example', 1))
        model = self.write('squash.onnx', proto.SerializeToString())
        plan = self.path('squash.plan')
        self.tenfold('exec', f'--onnx={model}', f'--plugins={LIBRARY}', f'--saveEngine={plan}', *self.inputs)
        np.testing.assert_allclose(self.answer(), 2 * self.x / (1 + np.abs(self.x)), rtol=1e-6)
        self.tenfold('exec', f'--loadEngine={plan}', *self.inputs)  # nothing of the plug-in is in it

    def test_libraries_that_are_none(self):
        text = self.write('text.so', b'hello\n')
        for code, part, library in (
            (RUN_FAILED, "there is no plug-in library '/no/such.so'", '/no/such.so'),
            (RUN_FAILED, 'cannot be opened', text),
            (RUN_FAILED, "there is no plug-in library 'libm.so.6'", 'libm.so.6'),
            (RUN_FAILED, "does not export 'tenfold_plugins'", library_without_plugins()),
        ):
            self.refused(code, part, 'exec', f'--onnx={SNAKE}', f'--plugins={library}', '--shapes=x:2x4', *ONCE)
        twice = [f'--plugins={LIBRARY}', f'--plugins={LIBRARY}']
        self.refused(RUN_FAILED, "'com.example.Snake' is already registered", 'exec', f'--onnx={SNAKE}', *twice, '--shapes=x:2x4', *ONCE)
        self.refused(MODEL_INVALID, 'a plug-in can add it', 'exec', f'--onnx={SNAKE}', '--shapes=x:2x4', *ONCE)


if __name__ == '__main__':
    if not LIBRARY:
        print('skipped: TENFOLD_PLUGIN_SNAKE names no library')
        sys.exit(77)
    cli_case.main()
