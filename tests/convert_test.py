#!/usr/bin/env python3
"""tenfold convert: files raised to newer opsets give ONNX Runtime what the old ones gave: convert_test.py TENFOLD"""

import os
import pathlib
import subprocess

import cli_case
from cli_case import FLOAT, CliCase, helper, make_model, np, numpy_helper, onnx

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get('TENFOLD_SHARED', ROOT.parent / 'shared'))
MODEL_INVALID, USAGE = 3, 2
X = np.random.default_rng(0).standard_normal((2, 3, 4, 4)).astype(np.float32)


def run(path, feed):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=['CPUExecutionProvider']).run(None, feed)


class Convert(CliCase):
    def setUp(self):
        super().setUp()
        if onnxruntime is None:
            self.skipTest('onnxruntime is not installed (script/bootstrap python installs it)')

    def raised(self, nodes, opset, to=21, outputs=1, x=X, initializers=()):
        """Both files in ONNX Runtime give the same; the new one, checked by onnx, is returned."""
        model = make_model(nodes, [('x', FLOAT, list(x.shape))], [(f'y{i}' if i else 'y', 0, None) for i in range(outputs)],
                           initializers, opset=opset)
        for output in model.graph.output:
            output.type.Clear()
        model.ir_version = 7
        old, new = self.path('old.onnx'), self.path('new.onnx')
        with open(old, 'wb') as f:
            f.write(onnx.shape_inference.infer_shapes(model).SerializeToString())
        self.tenfold('convert', old, f'--opset={to}', '-o', new)
        written = onnx.load(new)
        onnx.checker.check_model(written)
        self.assertEqual(written.opset_import[0].version, to)
        for a, b in zip(run(old, {'x': x}), run(new, {'x': x}), strict=True):
            self.assertEqual(a.dtype, b.dtype)
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)
        return written

    def test_attributes_that_became_operands(self):
        node = helper.make_node
        for opset, nodes in (
            (9, [node('Clip', ['x'], ['y'], min=-0.5, max=0.25)]),
            (7, [node('Clip', ['x'], ['y'], max=0.25)]),
            (9, [node('Slice', ['x'], ['y'], starts=[1, -3], ends=[3, 1000], axes=[1, 3])]),
            (7, [node('Slice', ['x'], ['y'], starts=[1], ends=[2])]),
            (10, [node('Pad', ['x'], ['y'], pads=[0, 0, 1, 2, 0, 0, 1, 0], value=1.5)]),
            (10, [node('Pad', ['x'], ['y'], pads=[0, 0, 1, 2, 0, 0, 1, 0], mode='reflect')]),
            (12, [node('Unsqueeze', ['x'], ['y'], axes=[0, 2])]),
            (11, [node('ReduceMean', ['x'], ['y'], axes=[1, -1], keepdims=0)]),
            (9, [node('ReduceSum', ['x'], ['y'])]),
        ):
            for to in (13, 18, 21, 26):
                self.raised(nodes, opset, to)
        ratio = self.raised([node('Dropout', ['x'], ['y'], ratio=0.25)], 10)
        self.assertEqual([a.name for a in ratio.graph.node[0].attribute], [])

    def test_outputs_of_split_and_top_k(self):
        node = helper.make_node
        for to in (13, 17, 18, 21):
            self.raised([node('Split', ['x'], ['y', 'y1'], axis=2)], 11, to, outputs=2)
            self.raised([node('Split', ['x'], ['y', 'y1'], axis=1, split=[1, 2])], 9, to, outputs=2)
        self.raised([node('TopK', ['x'], ['y', 'y1'], k=2, axis=1)], 9, outputs=2)

    def test_operators_of_another_name_or_meaning(self):
        node = helper.make_node
        for axis in (0, 1, 2, 3):
            for op in ('Softmax', 'LogSoftmax', 'Hardmax'):
                self.raised([node(op, ['x'], ['y'], axis=axis)], 11)
        self.raised([node('Softmax', ['x'], ['y'])], 9)
        for mode in ('nearest', 'linear'):
            self.raised([node('Upsample', ['x'], ['y'], mode=mode, scales=[1.0, 1.0, 2.0, 2.0])], 7)
            scales = numpy_helper.from_array(np.array([1, 1, 1.5, 2], np.float32), 's')
            self.raised([node('Upsample', ['x', 's'], ['y'], mode=mode)], 9, initializers=[scales])
            self.raised([node('Resize', ['x', 's'], ['y'], mode=mode)], 10, initializers=[scales])
        indices = numpy_helper.from_array(np.array([[[[1, 0, 2, 3]]]]), 'i')
        updates = numpy_helper.from_array(np.ones((1, 1, 1, 4), np.float32), 'u')
        self.raised([node('Scatter', ['x', 'i', 'u'], ['y'], axis=2)], 9, initializers=[indices, updates])
        four = [numpy_helper.from_array(np.array([1, 2, 3], np.float32) * k, f'p{k}') for k in (1, 2, 3, 4)]
        self.raised([node('BatchNormalization', ['x', 'p1', 'p2', 'p3', 'p4'], ['y'], epsilon=0.125)], 8, initializers=four)

        parts = [numpy_helper.from_array(np.array([1, 2], np.float32) * k, n) for n, k in (('scale', 1), ('bias', -1))]
        x = X.transpose(0, 2, 1, 3).copy()
        self.compared(make_model([node('GroupNormalization', ['x', 'scale', 'bias'], ['y'], num_groups=2)], [('x', FLOAT, x.shape)],
                                 [('y', FLOAT, x.shape)], parts, opset=18), [{'x': x}])

    def test_types_of_new_operands_are_those_of_the_data(self):
        node = helper.make_node
        model = make_model([node('Clip', ['x'], ['y'], min=-0.5)], [('x', 11, [4])], [('y', 11, [4])], opset=10)
        with open(self.path('old.onnx'), 'wb') as f:
            f.write(model.SerializeToString())
        self.tenfold('convert', self.path('old.onnx'), '--opset=13', '-o', self.path('new.onnx'))
        x = np.array([-1, 0, 1, -0.25])
        np.testing.assert_array_equal(run(self.path('new.onnx'), {'x': x})[0], [-0.5, 0, 1, -0.25])

    def compared(self, model, feeds, to=21):
        """Both files in ONNX Runtime, with each of these feeds; the new one is returned."""
        model.ir_version = min(model.ir_version, 8)
        old, new = self.path('old.onnx'), self.path('new.onnx')
        with open(old, 'wb') as f:
            f.write(model.SerializeToString())
        self.tenfold('convert', old, f'--opset={to}', '-o', new)
        written = onnx.load(new)
        onnx.checker.check_model(written)
        for feed in feeds:
            for a, b in zip(run(old, feed), run(new, feed), strict=True):
                self.assertEqual(a.dtype, b.dtype)
                np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)
        return written

    def body(self, name, nodes, inputs, outputs):
        info = lambda n: helper.make_tensor_value_info(n[0], n[1], n[2]) if isinstance(n, tuple) else onnx.ValueInfoProto(name=n)
        return helper.make_graph(nodes, name, [info(i) for i in inputs], [helper.make_tensor_value_info(n, FLOAT, None) for n in outputs])

    def test_branches(self):
        """Also of an If in an If, with values of one name and different ranks beside each other, and constants from outside."""
        node = helper.make_node
        inner = node('If', ['small'], ['b'], then_branch=self.body('deep', [node('Softmax', ['x'], ['d'], axis=1)], [], ['d']),
                     else_branch=self.body('flat', [node('Clip', ['x'], ['d'], min=-0.5, max=0.5)], [], ['d']))
        then = self.body('then', [node('Squeeze', ['x'], ['t'], axes=[0]), node('Unsqueeze', ['t'], ['u'], axes=[0]),
                                  node('Slice', ['u'], ['v'], starts=[0, 1], ends=[9, 3], axes=[0, 2]),
                                  node('Pad', ['v'], ['p'], pads=[0, 0, 1, 0, 0, 1], value=2.0), node('Add', ['p', 'one'], ['a'])],
                         [], ['a'])
        other = self.body('else', [inner, node('Split', ['b'], ['t', 'r'], axis=1, split=[1, 2]), node('Clip', ['t'], ['k'], max=0.25),
                                   node('ReduceMean', ['k'], ['m'], axes=[1]), node('Add', ['m', 'x'], ['a'])], [], ['a'])
        model = make_model([node('If', ['yes'], ['y'], then_branch=then, else_branch=other)],
                           [('x', FLOAT, [1, 3, 4]), ('yes', 9, []), ('small', 9, [])], [('y', FLOAT, ['a', 'b', 'c'])],
                           [numpy_helper.from_array(np.array(1, np.float32), 'one')], opset=9)
        feeds = [{'x': X[0, :, 0][None], 'yes': np.array(a), 'small': np.array(b)} for a in (True, False) for b in (True, False)]
        for to in (13, 18, 21):
            written = self.compared(model, feeds, to)
            self.assertEqual([n.op_type for n in written.graph.node], ['If'])

    def test_rounds(self):
        """A Loop that carries and scans, with a branch in it, and a Scan."""
        node = helper.make_node
        branch = [self.body(n, [node('Clip', ['s'], ['c'], **limit)], [], ['c'])
                  for n, limit in (('up', {'max': 0.5}), ('down', {'min': -0.5}))]
        loop = self.body('round', [node('Softmax', ['s'], ['f'], axis=1), node('Greater', ['k', 'limit'], ['late']),
                                   node('Not', ['late'], ['early']),
                                   node('If', ['early'], ['g'], then_branch=branch[0], else_branch=branch[1]),
                                   node('Add', ['f', 'g'], ['next']), node('ReduceSum', ['next'], ['row'], axes=[0], keepdims=0),
                                   node('Identity', ['go'], ['more'])],
                         [('k', 7, []), ('go', 9, []), ('s', FLOAT, [3, 4])], ['more', 'next', 'row'])
        loop.output[0].CopyFrom(helper.make_tensor_value_info('more', 9, []))
        scan = self.body('step', [node('Unsqueeze', ['e'], ['w'], axes=[0]), node('TopK', ['w'], ['best', 'where'], k=2),
                                  node('ReduceMax', ['best'], ['h'], keepdims=0), node('Add', ['h', 'sum'], ['after']),
                                  node('Squeeze', ['best'], ['out'], axes=[0])],
                         [('sum', FLOAT, []), ('e', FLOAT, [4])], ['after', 'out'])
        model = make_model([node('Loop', ['rounds', '', 'x'], ['l', 'rows'], body=loop),
                            node('Scan', ['zero', 'l'], ['sum_out', 'outs'], body=scan, num_scan_inputs=1)],
                           [('x', FLOAT, [3, 4]), ('rounds', 7, [])],
                           [('l', FLOAT, ['a', 'b']), ('rows', FLOAT, ['n', 'b']), ('sum_out', FLOAT, []), ('outs', FLOAT, ['a', 'k'])],
                           [numpy_helper.from_array(np.array(v), n) for n, v in (('limit', 2), ('zero', np.float32(0)))], opset=9)
        for to in (13, 21):
            self.compared(model, [{'x': X[0, :, 0], 'rounds': np.array(n)} for n in (1, 5)], to)

    def test_what_has_no_form_is_named_and_nothing_is_written(self):
        """A function's nodes have no place for constants."""
        function = helper.make_function('own', 'Cut', ['x'], ['y'], [helper.make_node('Clip', ['x'], ['y'], 'inner', max=1.0)],
                                        [helper.make_opsetid('', 10)])
        model = make_model([helper.make_node('Cut', ['x'], ['y'], domain='own')], [('x', FLOAT, [3])], [('y', FLOAT, [3])], opset=10)
        model.opset_import.append(helper.make_opsetid('own', 1)), model.functions.append(function)
        with open(self.path('old.onnx'), 'wb') as f:
            f.write(model.SerializeToString())
        out = self.path('new.onnx')
        self.refused(MODEL_INVALID, "node 'Cut/inner' (Clip)", 'convert', self.path('old.onnx'), '-o', out)
        self.refused(USAGE, 'opset 99', 'convert', self.path('old.onnx'), '--opset=99', '-o', out)
        self.refused(USAGE, '-o OUT', 'convert', self.path('old.onnx'))
        self.refused(USAGE, 'is the model itself', 'convert', self.model, '--opset=23', '-o', self.model)
        self.assertIn('copied', self.tenfold('convert', self.model, '--opset=13', '-o', out).stdout)
        with open(out, 'rb') as a, open(self.model, 'rb') as b:
            self.assertEqual(a.read(), b.read())

    def test_node_cases_of_the_suite(self):
        """Every twelfth case below opset 21 that ONNX Runtime runs: the same results; at most a few have no form."""
        archive = SHARED / 'conformance' / 'onnx-backend-1.22.0.tar.xz'
        if not archive.exists():
            self.skipTest(f'the conformance archive is not under {SHARED}')
        subprocess.run(['tar', '-xJf', archive, '-C', self.folder, 'node'], check=True)
        done = refused = 0
        for case in sorted(pathlib.Path(self.folder, 'node').iterdir())[::12]:
            model = onnx.load(case / 'model.onnx')
            if all(o.version >= 21 for o in model.opset_import if not o.domain):
                continue
            files = [(case / 'test_data_set_0' / f'input_{i}.pb').read_bytes() for i in range(len(model.graph.input))]
            try:
                feed = {i.name: numpy_helper.to_array(onnx.TensorProto.FromString(f)) for i, f in zip(model.graph.input, files)}
                want = run(case / 'model.onnx', feed)
            except Exception:   # of ONNX Runtime, which lacks the operator or a type; of NumPy, for sequences
                continue
            new = self.path('new.onnx')
            process = subprocess.run([cli_case.TENFOLD, 'convert', case / 'model.onnx', '-o', new], capture_output=True, text=True)
            self.assertIn(process.returncode, (0, MODEL_INVALID), process.stderr)
            refused += process.returncode != 0
            if process.returncode == 0:
                onnx.checker.check_model(onnx.load(new))
                for a, b in zip(want, run(new, feed), strict=True):
                    np.testing.assert_array_equal(a, b, err_msg=case.name)
                done += 1
        self.assertGreaterEqual(done, 60)
        self.assertLessEqual(refused, 2)

    def test_models_of_opset_6_of_the_suite(self):
        """PyTorch's cases of 2017: raised to 21, in ONNX Runtime, which does not run opset 6; the suite's outputs are the truth."""
        archive = SHARED / 'conformance' / 'onnx-backend-1.22.0.tar.xz'
        if not archive.exists():
            self.skipTest(f'the conformance archive is not under {SHARED}')
        subprocess.run(['tar', '-xJf', archive, '-C', self.folder, 'pytorch-converted', 'pytorch-operator'], check=True)
        done, refused = 0, []
        for case in sorted(pathlib.Path(self.folder).glob('pytorch-*/*')):
            new = self.path('new.onnx')
            process = subprocess.run([cli_case.TENFOLD, 'convert', case / 'model.onnx', '-o', new], capture_output=True, text=True)
            if process.returncode == MODEL_INVALID:
                refused.append(f'{case.name}: {process.stderr[-300:]}')
                continue
            self.assertEqual(process.returncode, 0, process.stderr)
            data = case / 'test_data_set_0'
            load = [numpy_helper.to_array(onnx.TensorProto.FromString(p.read_bytes())) for p in sorted(data.glob('input_*.pb'))]
            initialized = {i.name for i in onnx.load(new).graph.initializer}
            names = [i.name for i in onnx.load(new).graph.input if i.name not in initialized]
            got = run(new, dict(zip(names, load)))
            for i, value in enumerate(got):
                want = numpy_helper.to_array(onnx.TensorProto.FromString((data / f'output_{i}.pb').read_bytes()))
                np.testing.assert_allclose(value, want, rtol=1e-3, atol=1e-6, err_msg=case.name)
            done += 1
        print(f'{done} cases raised, {len(refused)} refused', *refused, sep='\n  ')
        self.assertGreaterEqual(done, 112)


if __name__ == '__main__':
    cli_case.main()
