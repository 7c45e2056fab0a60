#!/usr/bin/env python3
"""What tenfold quantize writes beside int8, and the rules of its files: quantize_types_test.py TENFOLD. ONNX Runtime is the truth."""

import os
import re
import resource
import subprocess
import time

import cli_case
from cli_case import CliCase, FLOAT, helper, make_model, np, numpy_helper, onnx

import accuracy_test
import tensorrt_rules

ort = accuracy_test.ort
node = helper.make_node


def relative(got, want):
    return np.linalg.norm(got - want) / np.linalg.norm(want)


def runs(model, x):
    options = ort.SessionOptions()
    options.log_severity_level, options.graph_optimization_level = 3, ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model, options, providers=['CPUExecutionProvider']).run(None, {'x': x})[0]


class Types(CliCase):
    """x[n,64] through a MatMul, a Gemm with transB, a residual, a norm and a last MatMul."""

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(3)

        def w(*shape):
            return (random.standard_normal(shape) / np.sqrt(max(shape))).astype(np.float32)
        self.weights = w
        mixing = random.standard_normal((64, 64)) * np.exp(random.standard_normal(64))   # data of uneven, correlated columns
        self.samples = (random.standard_normal((100, 4, 64)) @ mixing / 8).astype(np.float32)
        values = {'w1': w(64, 96), 'w2': w(64, 96), 'b2': w(64), 'w3': w(64, 40), 's': np.ones(64, np.float32), 'odd': w(40, 7)}
        nodes = [node('MatMul', ['x', 'w1'], ['a'], 'first'), node('Relu', ['a'], ['r'], 'relu'),
                 node('Gemm', ['r', 'w2', 'b2'], ['g'], 'second', transB=1), node('Add', ['g', 'x'], ['sum'], 'sum'),
                 node('LayerNormalization', ['sum', 's'], ['n'], 'norm'), node('MatMul', ['n', 'w3'], ['t'], 'third'),
                 node('Tanh', ['t'], ['u'], 'tanh'), node('MatMul', ['u', 'odd'], ['y'], 'odd')]
        self.plain = make_model(nodes, [('x', FLOAT, ['n', 64])], [('y', FLOAT, ['n', 7])],
                                [numpy_helper.from_array(v, k) for k, v in values.items()], opset=17)
        self.plain.ir_version = 8
        self.model = self.path('p.onnx')
        onnx.save(self.plain, self.model)
        np.savez(self.path('data.npz'), x=self.samples)
        self.want = runs(self.model, self.samples[1::2].reshape(-1, 64))

    def quantize(self, *flags, data=True):
        given = [f"--data={self.path('data.npz')}"] if data else []
        self.said = self.tenfold('quantize', self.model, '-o', self.path('q.onnx'), *given, *flags).stdout
        model = onnx.load(self.path('q.onnx'))
        if 'com.microsoft' not in {o.domain for o in model.opset_import}:
            onnx.checker.check_model(model, full_check=True)
        return model

    def error(self, reported=True):
        """Of the written file in ONNX Runtime, which is what was told."""
        found = relative(runs(self.path('q.onnx'), self.samples[1::2].reshape(-1, 64)), self.want)
        if reported:
            said = float(re.search(r"error of 'y', on 50 other samples: ([\d.e-]+)", self.said)[1])
            self.assertAlmostEqual(said, found, delta=0.02 * found)
        return found

    def test_fp8(self):
        model = self.quantize('--type=fp8')
        self.assertEqual((model.opset_import[0].version, model.ir_version), (19, 9))
        self.assertLess(self.error(), 0.1)
        kinds = {i.data_type for i in model.graph.initializer if len(i.dims) == 2}
        self.assertEqual(kinds, {onnx.TensorProto.FLOAT8E4M3FN})
        self.assertEqual(tensorrt_rules.broken_rules(model), [])

    def test_operators_that_changed_between_opsets_17_and_21(self):
        """All of ai.onnx's that models of opset 17 may have and whose schema changed up to 21, in forms that mean the same: as they are
        where types came alone (onnx.defs), written anew where Split, GridSample and reductions changed. ONNX Runtime judges."""
        ints, grid = np.array([4, 60], np.int64), np.random.default_rng(1).uniform(-1, 1, (1, 3, 4, 2)).astype(np.float32)
        values = {'w': self.weights(64, 64), 'sizes': ints, 'axes0': np.array([0], np.int64), 'shape': np.array([1, 1, -1, 8], np.int64),
                  'grid': grid, 'zero': np.float32(0), 'pads': np.array([0, 1, 0, 1], np.int64), 'one': np.array([1, 64], np.int64)}
        nodes = [
            node('MatMul', ['x', 'w'], ['m'], 'product'), node('Equal', ['m', 'zero'], ['e'], 'equal'),
            node('Where', ['e', 'zero', 'm'], ['where'], 'where'), node('Split', ['where', 'sizes'], ['s1', 's2'], 'split', axis=1),
            node('Split', ['where'], ['h1', 'h2'], 'halves', axis=1), node('Concat', ['s1', 's2'], ['c'], 'joined', axis=1),
            node('Add', ['h1', 'h2'], ['h'], 'sum'), node('ReduceMean', ['c'], ['mean'], 'mean', axes=[1]),
            node('ReduceMax', ['c'], ['most'], 'most'), node('IsNaN', ['c'], ['nan'], 'nan'), node('IsInf', ['c'], ['inf'], 'inf'),
            node('Or', ['nan', 'inf'], ['odd'], 'odd'), node('Cast', ['odd'], ['oddf'], 'cast', to=FLOAT),
            node('Flatten', ['c'], ['f'], 'flat'),
            node('Identity', ['f'], ['i'], 'same'), node('Transpose', ['i'], ['t'], 'turned', perm=[1, 0]),
            node('Shape', ['t'], ['sh'], 'shape_of'), node('Size', ['t'], ['size'], 'size'),
            node('Cast', ['size'], ['sizef'], 'sizef', to=FLOAT),
            node('ConstantOfShape', ['sh'], ['zeros'], 'zeros'), node('Add', ['t', 'zeros'], ['tz'], 'plus'),
            node('Transpose', ['tz'], ['back'], 'back', perm=[1, 0]), node('Pad', ['back', 'pads'], ['p'], 'pad'),
            node('Unsqueeze', ['p', 'axes0'], ['u'], 'unsqueeze'), node('Squeeze', ['u', 'axes0'], ['q'], 'squeeze'),
            node('Reshape', ['where', 'shape'], ['picture'], 'picture'),
            node('GridSample', ['picture', 'grid'], ['g'], 'grid', mode='bilinear', align_corners=1),
            node('GridSample', ['picture', 'grid'], ['gn'], 'nearest', mode='nearest'),
            node('Clip', ['h', 'zero'], ['clip'], 'clip'), node('Softmax', ['clip'], ['soft'], 'soft'),
            node('Mul', ['q', 'sizef'], ['scaled'], 'scaled')]
        results = {'where': [4, 64], 'c': [4, 64], 'mean': [4, 1], 'most': [1, 1], 'oddf': [4, 64], 'scaled': [4, 66], 'g': [1, 1, 3, 4],
                   'gn': [1, 1, 3, 4], 'soft': [4, 32]}
        info = helper.make_tensor_value_info
        graph = helper.make_graph(nodes, 'g', [info('x', FLOAT, [4, 64])], [info(r, FLOAT, shape) for r, shape in results.items()],
                                  [numpy_helper.from_array(v, k) for k, v in values.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        self.model, x = self.path('many.onnx'), self.samples[1]
        onnx.save(model, self.model)

        def everything(path):
            options = ort.SessionOptions()   # its optimizer makes products of e4m3, which its CPU kernels refuse
            options.log_severity_level, options.graph_optimization_level = 3, ort.GraphOptimizationLevel.ORT_DISABLE_ALL
            return ort.InferenceSession(path, options, providers=['CPUExecutionProvider']).run(list(results), {'x': x})
        want = everything(self.model)
        for kind, opset, bound in (('int8', 17, 0.1), ('fp8', 19, 0.2), ('int4', 21, 0.3)):
            made = self.quantize(f'--type={kind}')
            self.assertEqual(made.opset_import[0].version, opset)
            for name, got, expected in zip(results, everything(self.path('q.onnx')), want, strict=True):
                self.assertEqual(got.shape, expected.shape, (kind, name))
                self.assertLess(np.abs(got - expected).max(), bound * np.abs(expected).max() + 1e-6, (kind, name))

    def test_weights_of_4_bits_in_blocks(self):
        errors = {}
        for reader, kind in (('any', onnx.TensorProto.INT4), ('ort', onnx.TensorProto.UINT4)):
            model = self.quantize('--type=int4', '--group=16', f'--for={reader}')
            self.assertEqual((model.opset_import[0].version, model.ir_version), (21, 10))
            self.assertEqual([i.data_type for i in model.graph.initializer if i.name.endswith('_quantized')], [kind] * 3)
            self.assertIn('groups of 16 do not divide columns of 40: odd', self.said)
            errors[reader] = self.error()
            if reader == 'any':
                self.assertEqual(tensorrt_rules.broken_rules(model), [])
        self.assertLess(errors['ort'], errors['any'])
        self.assertLess(errors['any'], 0.15)

    def test_gptq_is_better_than_the_nearest_and_both_are_what_they_say(self):
        self.quantize('--type=int4', '--group=32')
        reported = re.search(r'correction gptq: relative l2 error ([\d.e-]+), without it ([\d.e-]+): kept', self.said)
        after, before = float(reported[1]), float(reported[2])
        self.assertLess(after, 0.8 * before)
        gptq = self.error()
        self.quantize('--type=int4', '--group=32', data=False)
        self.assertIn('by nearest', self.said)
        self.assertLess(gptq, 0.8 * self.error(reported=False))

    def test_awq_divides_data_in_front_of_products(self):
        model = self.quantize('--nbits=4', '--group=32')
        self.assertIn('by awq', self.said)
        reported = re.search(r'correction awq: relative l2 error ([\d.e-]+), without it ([\d.e-]+): kept', self.said)
        self.assertLess(float(reported[1]), 0.95 * float(reported[2]))
        made = [n for n in model.graph.node if n.op_type == 'Mul']
        self.assertEqual([list(n.input) for n in made], [['x', 'x_factors'], ['n', 'n_factors']])
        self.assertLess(self.error(), 0.06)

    def test_nbits(self):
        errors = {}
        for bits in (4, 8):
            model = self.quantize(f'--nbits={bits}', '--group=16')
            self.assertEqual(model.opset_import[0].version, 17)
            made = [n for n in model.graph.node if n.op_type == 'MatMulNBits']
            self.assertEqual([n.name for n in made], ['first', 'third'])
            self.assertIn('MatMulNBits stands for MatMul alone: second', self.said)
            self.assertFalse({'w1', 'w3'} & {i.name for i in model.graph.initializer})
            errors[bits] = self.error()
        self.assertLess(errors[8], 0.1 * errors[4])
        self.assertLess(errors[4], 0.12)

    def test_reduce_range(self):
        model = self.quantize('--for=ort', '--reduceRange')
        for i in model.graph.initializer:
            if i.data_type == onnx.TensorProto.INT8 and len(i.dims) == 2:
                values = numpy_helper.to_array(i)
                self.assertTrue(-64 <= values.min() <= -40 and 40 <= values.max() <= 63, (values.min(), values.max()))
        self.assertLess(self.error(), 0.06)

    def test_rules_of_tensorrt(self):
        self.assertEqual(tensorrt_rules.broken_rules(self.quantize()), [])
        broken = tensorrt_rules.broken_rules(self.quantize('--for=ort'))   # so that the checker is no stub
        for words in ('a zero point is not 0', 'UINT8', 'biases stay in floats'):
            self.assertTrue(any(words in b for b in broken), words)

    def test_mixed_within_a_bound(self):
        self.quantize()
        whole = self.error()
        bound = whole * 0.7
        model = self.quantize('--type=mixed', f'--max-error={bound:.6f}')
        self.assertLessEqual(self.error(), bound * 1.0001)
        wide = int(re.search(r'(\d) in floats, because they cost most of the error', self.said)[1])
        self.assertTrue(0 < wide < 4, self.said)
        self.assertEqual(tensorrt_rules.broken_rules(model), [])
        self.assertIn(f'* {wide} of 4 layers in floats', self.said)
        self.quantize(f'--max-error={whole * 1.01:.6f}')
        self.assertIn('4 of 4 layers are in int8', self.said)
        self.refused(3, 'no GEMM or convolution that can be quantized within an error of 1e-09', 'quantize', self.model, '-o',
                     self.path('n.onnx'), f"--data={self.path('data.npz')}", '--max-error=1e-9')

    def test_our_plans_of_the_files(self):
        np.save(self.path('x.npy'), self.samples[1])
        for flags in (['--type=fp8'], ['--type=int4'], ['--nbits=4', '--group=16']):
            self.quantize(*flags)
            self.tenfold('exec', f"--onnx={self.path('q.onnx')}", f"--loadInputs=x:{self.path('x.npy')}",
                         f"--exportOutput={self.path('o.npz')}", '--shapes=x:4x64', *cli_case.ONCE)
            self.assertLess(relative(np.load(self.path('o.npz'))['y'], runs(self.path('q.onnx'), self.samples[1])), 1e-3, flags)

    def test_bad_input(self):
        data, out = f"--data={self.path('data.npz')}", ['-o', self.path('n.onnx')]
        for code, words, flags in (
            (2, '--type is int8, fp8, int4 or mixed', [data, '--type=int3']),
            (2, '--nbits is 4 or 8', [data, '--nbits=3']),
            (2, 'two ways', [data, '--nbits=4', '--type=int4']),
            (2, '--group is for weights alone', [data, '--group=16']),
            (2, 'powers of two from 16 on', [data, '--nbits=4', '--group=24']),
            (2, 'at least 2', [data, '--type=int4', '--group=1']),
            (3, '2 stay in floats, because groups of 100 do not divide columns of 64', [data, '--type=int4', '--group=100']),
            (2, '--type=mixed needs --max-error', [data, '--type=mixed']),
            (2, 'max-error', [data, '--max-error=0']),
            (2, 'max-error', [data, '--max-error=nan']),
            (2, '--max-error needs --data', ['--nbits=4', '--max-error=0.1']),
            (2, "the model has no output 'z'", [data, '--max-error=z:0.1']),
            (2, '--reduceRange is for --type=int8', [data, '--reduceRange', '--type=fp8']),
            (2, '--calibrator and --calib', [data, '--nbits=4', '--calibrator=mse']),
        ):
            self.refused(code, words, 'quantize', self.model, *out, *flags)

    def test_forged_sizes_of_matmul_nbits(self):
        self.quantize('--nbits=4', '--group=16')
        good = onnx.load(self.path('q.onnx'))
        for attribute, value, words in (('K', 80, 'expected'), ('N', 97, 'expected'), ('K', 1 << 40, 'at most 2^28'),
                                        ('K', -64, 'more than 0'), ('block_size', 24, 'power of two'), ('block_size', 32, 'expected'),
                                        ('bits', 3, '4 or 8')):
            forged = onnx.ModelProto.FromString(good.SerializeToString())
            next(a for n in forged.graph.node if n.name == 'first' for a in n.attribute if a.name == attribute).i = value
            onnx.save(forged, self.path('forged.onnx'))
            said = self.refused(3, words, 'exec', f"--onnx={self.path('forged.onnx')}", '--buildOnly').stderr
            self.assertIn("'first'", said)

    def test_no_part_of_a_file_is_left(self):
        """Where the disk is full (a limit on files' sizes stands for it), and where the process is killed."""
        arguments = [cli_case.TENFOLD, 'quantize', self.model, '-o', self.path('n.onnx'), f"--data={self.path('data.npz')}"]
        before = sorted(os.listdir(self.folder))
        done = subprocess.run(arguments, capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assertEqual(done.returncode, 1)
        self.assertIn('cannot write', done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        whole = self.quantize('--calibrator=minmax').SerializeToString()
        begun = time.monotonic()
        self.quantize('--calibrator=minmax')
        took = time.monotonic() - begun
        os.remove(self.path('q.onnx'))
        for part in (0.5, 0.7, 0.8, 0.9, 0.95, 1):
            running = subprocess.Popen([*arguments, '--calibrator=minmax'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(took * part)
            running.kill(), running.wait()
            new = sorted(set(os.listdir(self.folder)) - set(before))
            self.assertIn(new, ([], ['n.onnx']))
            if new:
                self.assertEqual(onnx.load(self.path('n.onnx')).SerializeToString(), whole)
                os.remove(self.path('n.onnx'))


if __name__ == '__main__':
    cli_case.main()
