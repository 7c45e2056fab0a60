"""tenfold compare --to=onnxruntime: which nodes are compared, how often they count, and what is said of differences and errors."""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np
import onnx
from case import WEIGHTS, model, one_node, tanh_model
from onnx import TensorProto, helper, numpy_helper

from tenfold.beside_onnxruntime import _nodes, main

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
QUICK = ['--seconds=0.01', '--threads=1', '--builderOptimizationLevel=0', '--noTF32']


class BesideOnnxRuntime(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def saved(self, made, name='m.onnx'):
        path = os.path.join(self.folder, name)
        onnx.save(made, path)
        return path

    def compared(self, *words, code=0):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.assertEqual(main([*words, *QUICK]), code, err.getvalue())
        return json.loads(out.getvalue()) if '--json' in words else out.getvalue() + err.getvalue()

    def nodes(self, made, *words):
        report = self.compared(self.saved(made), '--per-node', '--json', *words)['models'][0]
        return {row['operator']: row for row in report['nodes']}, report

    def test_alike_nodes_are_one_row(self):
        layers = [helper.make_node('MatMul', ['x', 'w'], ['a']), helper.make_node('MatMul', ['a', 'v'], ['b']),
                  helper.make_node('Relu', ['b'], ['c']), helper.make_node('Transpose', ['w'], ['t'], perm=[1, 0]),
                  helper.make_node('MatMul', ['c', 't'], ['d']), helper.make_node('Reshape', ['d', 'flat'], ['y'])]
        weights = [numpy_helper.from_array(np.eye(6, dtype=np.float32) * n, name) for n, name in ((2, 'w'), (3, 'v'))]
        made = model(layers, [('x', F32, ['n', 6])], [('y', F32, None)], [*weights, numpy_helper.from_array(np.array([-1]), 'flat')])
        rows, report = self.nodes(made, '--shapes=x:5x6')
        self.assertEqual({op: row['count'] for op, row in rows.items()}, {'MatMul': 3, 'Relu': 1, 'Reshape': 1})
        self.assertEqual(rows['MatMul']['inputs'], '5x6 6x6')
        self.assertEqual([left['operator'] for left in report['notCompared']], ['Transpose'])
        for times in [report['whole'], *rows.values()]:
            self.assertLess(times['difference'], 1e-6)
            self.assertGreater(min(times['us'], times['onnxruntimeUs']), 0)

    def test_a_body_reads_values_from_around_it(self):
        then, other = (helper.make_graph([helper.make_node(op, ['x', 'w'], ['r'])], op, [], [helper.make_tensor_value_info('r', F32, None)])
                       for op in ('Add', 'Sub'))
        nodes = [helper.make_node('Relu', ['z'], ['x']), helper.make_node('If', ['c'], ['y'], then_branch=then, else_branch=other)]
        made = model(nodes,
                     [('z', F32, [2, 3]), ('c', BOOL, [])], [('y', F32, None)], [numpy_helper.from_array(np.float32([1, 2, 3]), 'w')])
        rows, _ = self.nodes(made)
        self.assertEqual(set(rows), {'Relu', 'If'})
        self.assertEqual(rows['If']['difference'], 0)

    def test_constants_that_choose_the_work_make_rows_of_their_own(self):
        made = model([helper.make_node('ReduceSum', ['x', axis], [out], keepdims=0) for axis, out in (('a', 'p'), ('b', 'q'))],
                     [('x', F32, [4, 4])], [('p', F32, None), ('q', F32, None)],
                     [numpy_helper.from_array(np.array([axis]), name) for axis, name in enumerate('ab')])
        report = self.compared(self.saved(made), '--per-node', '--json')['models'][0]
        self.assertEqual([row['count'] for row in report['nodes']], [1, 1])

    def test_inner_values_are_the_models_own(self):
        """The index of the Gather is in range because the model computes it so; random numbers would not be."""
        table = numpy_helper.from_array(np.arange(10, dtype=np.float32).reshape(5, 2), 'table')
        made = model([helper.make_node('ArgMax', ['x'], ['i'], axis=1, keepdims=0), helper.make_node('Gather', ['table', 'i'], ['y'])],
                     [('x', F32, [3, 5])], [('y', F32, None)], [table])
        rows, _ = self.nodes(made)
        self.assertEqual(rows['Gather']['difference'], 0)

    def test_many_values_come_in_runs_of_their_own(self):
        nodes = [helper.make_node('Add', [f'v{i}', f'w{i}'], [f'v{i + 1}']) for i in range(9)]
        weights = [numpy_helper.from_array(np.full(20, i, np.float32), f'w{i}') for i in range(9)]
        made = model(nodes, [('v0', F32, [2, 20])], [('v9', F32, None)], weights)
        with unittest.mock.patch.object(_nodes, 'VALUES_AT_FIRST', 1), unittest.mock.patch.object(_nodes, 'BYTES_AT_ONCE', 200):
            rows, _ = self.nodes(made)
        self.assertEqual((rows['Add']['count'], rows['Add']['difference']), (9, 0))

    def test_a_folder_and_its_bad_files(self):
        self.saved(tanh_model(), 'a.onnx')
        with open(os.path.join(self.folder, 'b.onnx'), 'wb') as file:
            file.write(b'no model')
        said = self.compared(self.folder, '--per-node', code=1)
        self.assertRegex(said, r'a\.onnx\n  whole: [\d.]+ ms, ONNX Runtime [\d.]+ ms: [\d.]+ times as fast')
        self.assertRegex(said, r'MatMul, product, 1x6 6x4: \w+')
        self.assertRegex(said, r'b\.onnx\n  .*no ONNX model')

    def test_a_tolerance_decides(self):
        path = self.saved(tanh_model())
        self.compared(path, '--tolerance=1e-3')
        rounded = model([helper.make_node('Cast', ['x'], ['h'], to=I64), helper.make_node('Cast', ['h'], ['y'], to=F32)],
                        [('x', F32, [9])], [('y', F32, [9])])
        self.compared(self.saved(rounded, 'r.onnx'), '--tolerance=0')
        self.compared(self.saved(one_node('Exp', F32, [999]), 'e.onnx'), '--tolerance=1e-30', code=5)

    def test_errors_say_what_to_do(self):
        path = self.saved(tanh_model())
        for words, said, code in (
            (['nowhere.onnx'], 'nowhere.onnx: No such file', 1),
            ([path, '--shapes=z:1x2'], "no input 'z'; there are x", 2),
            ([path, '--shapes=x:1'], 'has 2 dimensions, not 1', 2),
            ([path, '--shapes=x:axb'], 'expected NAME:1x3', 2),
            ([path, '--threads=0'], '--threads=0: expected a number of at least 1', 2),
            ([path, '--best'], '--best is not taken beside --to=onnxruntime', 2),
            ([path, path], 'one model or folder', 2),
            ([], 'a model, or a folder of models, is missing', 2),
            ([self.folder + '/none'], 'No such file', 1),
        ):
            self.assertIn(said, self.compared(*words, code=code), words)
        os.mkdir(self.folder + '/empty')
        self.assertIn('no .onnx file', self.compared(self.folder + '/empty', code=1))

    def test_the_program_hands_its_flags_over(self):
        path = self.saved(tanh_model())
        line = [sys.executable, '-m', 'tenfold', 'compare', path,
                '--to', 'onnxruntime', '--per-node', '--json', '--seconds=0.01', '--shapes=x:2x6']
        ran = subprocess.run(line, capture_output=True, text=True, env={**os.environ, 'TENFOLD_PYTHON': sys.executable})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        rows = json.loads(ran.stdout)['models'][0]['nodes']
        self.assertEqual({row['inputs'] for row in rows}, {f'2x6 6x{WEIGHTS.shape[1]}', '2x4'})
        line[5:] = ['--per-node']
        ran = subprocess.run(line, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 2)
        self.assertIn('--per-node and --seconds are for --to=onnxruntime', ran.stderr)


if __name__ == '__main__':
    unittest.main()
