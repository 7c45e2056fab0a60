#!/usr/bin/env python3
"""Files with Q/DQ from plain ones: quantize_test.py TENFOLD. ONNX Runtime and onnx's checker judge them, and nothing else may have changed.

MobileNet-v2 is tried where ../shared (or TENFOLD_SHARED) has it.
"""

import os
import re
import unittest

import cli_case
from cli_case import CliCase, FLOAT, ONCE, helper, make_model, np, numpy_helper, onnx

import accuracy_test
from float_form import float_form

ort = accuracy_test.ort
node = helper.make_node
READERS = ('any', 'ort', 'openvino')
PLACED = ('QuantizeLinear', 'DequantizeLinear')
with open('/proc/cpuinfo') as cpus:
    EXACT = '_vnni' in cpus.read()   # else ONNX Runtime's integer products saturate on x86, by much in small ones


def weights(*shape, seed, like=1):
    return (np.random.default_rng(seed).standard_normal(shape) / np.sqrt(np.prod(shape[like:]))).astype(np.float32)


def relative(got, want):
    return np.linalg.norm(got - want) / np.linalg.norm(want)


def runs(model, feed, optimized=True):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    if not optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model, options, providers=['CPUExecutionProvider']).run(None, feed)


def branch(name, op):
    return helper.make_graph([node(op, ['s'], [name]), node('MatMul', [name, 'wb'], [name + '_y'])], name,
                             [], [helper.make_tensor_value_info(name + '_y', FLOAT, None)])


def everything(opset=17):
    """Every kind of product, of weights and of what must stay."""
    constants = {
        'w1': weights(16, 8, 3, 3, seed=1), 'b1': weights(16, seed=2, like=0), 'w2': weights(16, 4, 3, 3, seed=3),
        'w3': weights(16, 16, 1, 1, seed=4), 'wg': weights(12, 16, seed=5), 'bg': weights(12, seed=6, like=0),
        'wm': weights(12, 12, seed=7), 'wb': weights(12, 12, seed=8), 'wt': weights(10, 12, seed=9),
        'scale': np.abs(weights(16, seed=10, like=0)) + 0.5, 'shift': weights(16, seed=11, like=0),
        'mean': weights(16, seed=12, like=0), 'variance': np.abs(weights(16, seed=13, like=0)) + 0.5,
        'yes': np.array(True),
    }
    nodes = [
        node('Conv', ['x', 'w1', 'b1'], ['c1'], 'first', pads=[1, 1, 1, 1]),
        node('Relu', ['c1'], ['r1'], 'relu'),
        node('Conv', ['r1', 'w2'], ['c2'], 'grouped', pads=[1, 1, 1, 1], group=4),
        node('BatchNormalization', ['c2', 'scale', 'shift', 'mean', 'variance'], ['n2'], 'norm'),
        node('Conv', ['n2', 'w3'], ['c3'], 'pointwise'),
        node('Add', ['c3', 'r1'], ['s3'], 'residual'),
        node('Conv', ['s3', 'w3'], ['c4'], 'shared'),
        node('MaxPool', ['c4'], ['m4'], 'pool', kernel_shape=[2, 2], strides=[2, 2]),
        node('Concat', ['m4', 'm4'], ['cc'], 'concat', axis=2),
        node('GlobalAveragePool', ['cc'], ['p'], 'mean'),
        node('Flatten', ['p'], ['f'], 'flat'),
        node('Gemm', ['f', 'wg', 'bg'], ['g'], 'gemm', transB=1),
        node('MatMul', ['g', 'wm'], ['s'], 'matmul'),
        node('If', ['cond'], ['i'], 'if', then_branch=branch('then', 'Relu'), else_branch=branch('otherwise', 'Neg')),
        node('Transpose', ['wt'], ['wt_t'], 'turn', perm=[1, 0]),
        node('MatMul', ['i', 'wt_t'], ['t'], 'turned'),
        node('Constant', [], ['wc'], 'constant', value=numpy_helper.from_array(weights(10, 9, seed=14), 'wc')),
        node('MatMul', ['t', 'wc'], ['c'], 'of_constant'),
        node('Twice', ['c'], ['y'], 'call', domain='own'),
        node('Identity', ['wb'], ['wb_out'], 'kept'),
    ]
    function = helper.make_function('own', 'Twice', ['a'], ['b'], [node('Add', ['a', 'a'], ['b'])], [helper.make_opsetid('', opset)])
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, 'whole', [info('x', FLOAT, ['batch', 8, 12, 12]), info('cond', onnx.TensorProto.BOOL, [])],
        [info('y', FLOAT, ['batch', 9]), info('wm', FLOAT, [12, 12]), info('wb_out', FLOAT, [12, 12])],
        [numpy_helper.from_array(v, k) for k, v in constants.items() if k != 'yes'],
        doc_string='of the graph', value_info=[info('r1', FLOAT, ['batch', 16, 12, 12])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset), helper.make_opsetid('own', 1)], ir_version=8,
                              functions=[function], producer_name='test', doc_string='of the model')
    helper.set_model_props(model, {'labels': 'a,b,c', 'license': 'free'})
    model.graph.node[0].doc_string = 'of a node'
    return model


def without_placed(model, plain):
    """The quantized model with all that was added taken out, and all that was left out put back in its place."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    graph, source = model.graph, {}
    names = {i.name for i in plain.graph.initializer}
    old = {n.name for n in plain.graph.node}
    for n in graph.node:
        if n.name in old:
            continue
        assert n.op_type in PLACED and not n.domain, n
        stem = n.output[0].rsplit('_dequantized', 1)[0]
        source[n.output[0]] = source.get(n.input[0], n.input[0] if n.op_type == 'QuantizeLinear' else stem)
    kept = [n for n in graph.node if n.name in old]
    for n in kept:
        n.input[:] = [source.get(i, i) for i in n.input]
    have = {n.name: n for n in kept}
    del graph.node[:]
    graph.node.extend(have.get(n.name, n) for n in plain.graph.node)
    kept = {i.name: i for i in graph.initializer if i.name in names}
    del graph.initializer[:]
    graph.initializer.extend(kept.get(i.name, i) for i in plain.graph.initializer)
    return model


class Quantize(CliCase):
    def setUp(self):
        super().setUp()
        self.samples = np.random.default_rng(5).standard_normal((60, 8, 12, 12)).astype(np.float32)
        np.savez(self.path('data.npz'), x=self.samples, cond=np.ones(60, bool))

    def save(self, model, name='n.onnx', **options):
        onnx.save(model, self.path(name), **options)
        return self.path(name)

    def quantize(self, model, *flags, out='q.onnx', data='data.npz'):
        done = self.tenfold('quantize', model, f'--data={self.path(data)}', '-o', self.path(out), *flags)
        onnx.checker.check_model(self.path(out), full_check=True)
        self.said = done.stdout
        return onnx.load(self.path(out))

    def feed(self, x):
        return {'x': x, 'cond': np.array(True)}

    def test_files_run_in_onnx_runtime_near_the_floats(self):
        for opset in (13, 17):
            plain = everything(opset)
            path = self.save(plain)
            want = runs(path, self.feed(self.samples[:20]))[0]
            for reader in READERS:
                self.quantize(path, f'--for={reader}', '--calibrator=minmax')
                for optimized in (False, True):
                    got = runs(self.path('q.onnx'), self.feed(self.samples[:20]), optimized)
                    if not optimized or EXACT:
                        self.assertLess(relative(got[0], want), 0.06, (reader, optimized))
                    self.assertGreater(relative(got[0], want), 1e-4, 'these are no 8 bits')
                    np.testing.assert_array_equal(got[1], weights(12, 12, seed=7))
                reported = float(re.search(r"error of 'y', on 30 other samples: ([\d.e-]+)", self.said)[1])
                real = relative(np.concatenate([runs(self.path('q.onnx'), self.feed(x[None]), False)[0] for x in self.samples[1::2]]),
                                np.concatenate([runs(path, self.feed(x[None]))[0] for x in self.samples[1::2]]))
                self.assertAlmostEqual(reported, real, delta=0.05 * real)

    def test_what_is_not_quantized_stays_as_it_is(self):
        plain = everything()
        path = self.save(plain)
        for reader in READERS:
            model = self.quantize(path, f'--for={reader}', '--corrections=none')
            self.assertEqual(without_placed(model, plain), plain)
            self.assertIn('8 of 10 layers', self.said)
            self.assertIn('in bodies of If, Loop or Scan', self.said)
            names = {i.name for i in model.graph.initializer}
            self.assertTrue({'wm', 'wb'} <= names, 'an output, and what a body reads')
            self.assertFalse({'w1', 'w2', 'w3', 'wg', 'wt'} & names, 'nobody reads these any more')
            self.assertEqual(sum(i.data_type == onnx.TensorProto.INT8 and len(i.dims) > 1 for i in model.graph.initializer), 7)

    def test_the_rules_of_each_reader(self):
        path = self.save(everything())
        for reader in READERS:
            model = self.quantize(path, f'--for={reader}')
            values = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
            made = {o: n for n in model.graph.node for o in n.output}
            zeros = [values[n.input[2]] for n in model.graph.node if n.op_type == 'QuantizeLinear']
            types = {z.dtype.name for z in zeros}
            self.assertEqual(types, {'any': {'int8'}, 'ort': {'uint8'}, 'openvino': {'int8', 'uint8'}}[reader])
            if reader != 'ort':
                self.assertEqual({int(z) for z in zeros}, {0})
            for name in ('first', 'gemm'):
                bias = next(n for n in model.graph.node if n.name == name).input[2]
                if reader != 'ort':
                    self.assertIn(bias, values)
                    continue
                b, s = (values[i] for i in made[bias].input[:2])
                x, w = (made[i].input[1] for i in next(n for n in model.graph.node if n.name == name).input[:2])
                self.assertEqual(b.dtype, np.int32)
                np.testing.assert_allclose(s, values[x] * values[w], rtol=1e-6)

    def answers(self, plan, x):
        np.save(self.path('x.npy'), x)
        np.save(self.path('c.npy'), np.array(True))
        out = self.path('out.npz')
        self.tenfold('exec', f'--loadEngine={plan}', f"--loadInputs=x:{self.path('x.npy')},cond:{self.path('c.npy')}",
                     f'--exportOutput={out}', *ONCE)
        return np.load(out)['y']

    def plan(self, model, *flags):
        plan = self.path('n.plan')
        shapes = [f'--{which}Shapes=x:{n}x8x12x12' for which, n in (('min', 1), ('opt', 1), ('max', 30))]
        self.tenfold('exec', f'--onnx={model}', f'--saveEngine={plan}', '--buildOnly', '--builderOptimizationLevel=0', *shapes, *flags)
        return plan

    def test_our_plan_of_the_file_is_that_of_the_plain_one(self):
        data = f"--data={self.path('data.npz')}"
        without_bias = everything()
        for n in without_bias.graph.node:
            if n.op_type in ('Conv', 'Gemm'):
                del n.input[2:]
        # i32 biases of the file are no f32 ones: what they move a little is then rounded to another step, layer by layer.
        for model, calibrator, most in ((without_bias, 'minmax', 1e-3), (without_bias, 'percentile', 1e-3), (everything(), 'minmax', 1e-2)):
            path = self.save(model)
            want = self.answers(self.plan(path, '--int8', data, f'--calibrator={calibrator}', '--corrections=none'), self.samples[:20])
            self.quantize(path, '--for=ort', f'--calibrator={calibrator}', '--corrections=none')
            plan = self.plan(self.path('q.onnx'))
            self.assertLess(relative(self.answers(plan, self.samples[:20]), want), most)
            steps = self.tenfold('inspect', plan).stdout
            self.assertGreaterEqual(steps.count('ConvInteger'), 4, steps)

    def test_our_plans_of_all_files_compute_what_they_say(self):
        path = self.save(everything())
        for reader in READERS:
            self.quantize(path, f'--for={reader}')
            want = runs(self.path('q.onnx'), self.feed(self.samples[:20]), optimized=False)[0]
            self.assertLess(relative(self.answers(self.plan(self.path('q.onnx')), self.samples[:20]), want), 1e-3, reader)

    def small(self, *extra, opset=11, op='Relu', shape=('batch', 4, 10, 10), **options):
        nodes = [node('Conv', ['x', 'w'], ['c'], 'conv'), node(op, ['c'], ['y'], 'last', **options), *extra]
        return make_model(nodes, [('x', FLOAT, ['batch', 8, 12, 12])], [('y', FLOAT, shape)],
                          [numpy_helper.from_array(weights(4, 8, 3, 3, seed=1), 'w')], opset=opset)

    def test_the_opset_is_raised_where_that_changes_nothing(self):
        np.save(self.path('x.npy'), self.samples)
        for opset in (9, 11, 12, 13, 21):
            model = self.small(opset=opset)
            model.ir_version = 8
            path = self.save(model)
            quantized = self.quantize(path, data='x.npy')
            self.assertEqual(quantized.opset_import[0].version, max(opset, 13))
            self.assertIn(f'opset: 13, was {opset}' if opset < 13 else 'bytes', self.said)
            feed = {'x': self.samples[:4]}
            self.assertLess(relative(runs(self.path('q.onnx'), feed)[0], runs(path, feed)[0]), 0.05)

    def test_a_node_that_another_opset_changes_is_named(self):
        np.save(self.path('x.npy'), self.samples)
        path = self.save(self.small(op='Softmax'))
        self.refused(3, "node 'last' (Softmax)", 'quantize', path, f"--data={self.path('x.npy')}", '-o', self.path('q.onnx'))

    def test_axes_become_operands_where_the_opset_is_raised(self):
        np.save(self.path('x.npy'), self.samples)
        for op, options, shape in (('ReduceSum', {'axes': [1], 'keepdims': 0}, ('batch', 10, 10)),
                                   ('Unsqueeze', {'axes': [0]}, (1, 'batch', 4, 10, 10)),
                                   ('ReduceL2', {'axes': [-1]}, ('batch', 4, 10, 1)), ('ReduceMax', {}, (1, 1, 1, 1))):
            path = self.save(self.small(op=op, shape=shape, **options))
            feed = {'x': self.samples[:4]}
            for flags in ([], ['--type=fp8']):
                self.quantize(path, *flags, data='x.npy')
                self.assertLess(relative(runs(self.path('q.onnx'), feed)[0], runs(path, feed)[0]), 0.06, (op, flags))

    def test_old_files_whose_initializers_are_inputs(self):
        np.save(self.path('x.npy'), self.samples)
        model = self.small(opset=8)
        model.ir_version = 3
        model.graph.input.append(helper.make_tensor_value_info('w', FLOAT, [4, 8, 3, 3]))
        path = self.save(model)
        quantized = self.quantize(path, data='x.npy')
        self.assertEqual({i.name for i in quantized.graph.input}, {'x'} | {i.name for i in quantized.graph.initializer})
        feed = {'x': self.samples[:4]}
        self.assertLess(relative(runs(self.path('q.onnx'), feed)[0], runs(path, feed)[0]), 0.05)

    def test_external_data(self):
        plain = everything()
        path = self.save(plain, save_as_external_data=True, location='n.bin', size_threshold=64)
        want = runs(path, self.feed(self.samples[:20]))[0]
        before = open(self.path('n.bin'), 'rb').read()
        for flags in ([], ['--externalData']):
            self.quantize(path, *flags)
            self.assertLess(relative(runs(self.path('q.onnx'), self.feed(self.samples[:20]), optimized=False)[0], want), 0.06)
            self.assertEqual(os.path.exists(self.path('q.onnx.data')), bool(flags))
            raw = onnx.load(self.path('q.onnx'), load_external_data=False)
            where = {e.value for i in raw.graph.initializer for e in i.external_data if e.key == 'location'}
            self.assertEqual(where, {'q.onnx.data'} if flags else set())
            self.assertEqual(before, open(self.path('n.bin'), 'rb').read())
        self.refused(2, "keeps weights in 'n.bin'", 'quantize', path, f"--data={self.path('data.npz')}", '-o', self.path('n.bin'))

    def test_the_result_goes_to_another_folder_without_the_old_data(self):
        """Tensors of bodies, attributes and functions, too, which lie in the same file of data."""
        plain = everything()
        inner_y = helper.make_tensor_value_info('inner_y', FLOAT, [40])
        inner = helper.make_graph([node('Identity', ['far'], ['inner_y'])], 'b', [], [inner_y],
                                  [numpy_helper.from_array(np.arange(40, dtype=np.float32), 'far')])
        plain.graph.initializer.append(numpy_helper.from_array(np.array(True), 'always'))
        plain.graph.node.append(node('If', ['always'], ['branch'], 'branch', then_branch=inner, else_branch=inner))
        plain.graph.node.append(node('Constant', [], ['held'], 'held', value=numpy_helper.from_array(np.ones(300, np.float32), 'held')))
        plain.graph.output.append(helper.make_tensor_value_info('branch', FLOAT, [40]))
        plain.graph.output.append(helper.make_tensor_value_info('held', FLOAT, [300]))
        path = self.save(plain, save_as_external_data=True, location='n.bin', size_threshold=64, convert_attribute=True)
        feed = self.feed(self.samples[:20])
        want = runs(path, feed)
        os.mkdir(self.path('other'))
        for flags in ([], ['--externalData']):
            self.tenfold('quantize', path, f"--data={self.path('data.npz')}", '-o', self.path('other/q.onnx'), *flags)
            os.rename(self.path('n.bin'), self.path('away'))
            found = runs(self.path('other/q.onnx'), feed, optimized=False)
            os.rename(self.path('away'), self.path('n.bin'))
            self.assertLess(relative(found[0], want[0]), 0.06)
            for got, expected in zip(found[1:], want[1:], strict=True):
                np.testing.assert_allclose(got, expected, atol=0.06 * np.abs(expected).max() + 1e-6)
            self.assertEqual(os.path.exists(self.path('other/q.onnx.data')), bool(flags))

    def test_products_are_excluded_by_name(self):
        path = self.save(everything())
        self.quantize(path, '--exclude=fir*', '--exclude=gemm')
        self.assertIn('2 in floats, because they are excluded: first, gemm', self.said)
        for pattern, words in (('frist', "did you mean 'first'"), ('conv*', 'no Conv, Gemm or MatMul'), ('a*b*', "more than one '*'"),
                               ('relu', 'no Conv')):
            self.refused(2, words, 'quantize', path, f"--data={self.path('data.npz')}", '-o', self.path('other.onnx'),
                         f'--exclude={pattern}')

    def test_quantized_files_are_left_as_they_are(self):
        path = self.save(everything())
        self.quantize(path)
        said = self.refused(3, 'their weights are quantized already', 'quantize', self.path('q.onnx'), f"--data={self.path('data.npz')}",
                            '-o', self.path('again.onnx')).stderr
        self.assertIn('no GEMM or convolution that can be quantized', said)
        self.quantize(path, '--exclude=gemm', out='part.onnx')
        model = self.quantize(self.path('part.onnx'), out='rest.onnx')
        self.assertIn('1 of 10 layers', self.said)
        whole = onnx.load(self.path('q.onnx'))
        count = [sum(n.op_type == 'DequantizeLinear' for n in m.graph.node) for m in (model, whole)]
        self.assertEqual(*count)

    def test_a_cache_gives_the_ranges(self):
        path = self.save(everything())
        first = self.quantize(path, f"--calib={self.path('n.cache')}")
        self.tenfold('quantize', path, f"--calib={self.path('n.cache')}", '-o', self.path('r.onnx'))   # without data

        def scales(model):
            return {i.name: numpy_helper.to_array(i) for i in model.graph.initializer if i.name.endswith('_scale')}
        again = scales(onnx.load(self.path('r.onnx')))
        for name, scale in scales(first).items():
            np.testing.assert_allclose(scale, again[name], rtol=0.01, err_msg=name)

    def test_bad_input(self):
        path = self.save(everything())
        np.savez(self.path('other.npz'), z=self.samples)
        np.savez(self.path('wide.npz'), x=self.samples[:, :7], cond=np.ones(60, bool))
        np.savez(self.path('words.npz'), x=self.samples.astype(str), cond=np.ones(60, bool))
        np.save(self.path('x0.npy'), np.ones((60, 6), np.float32))
        os.mkdir(self.path('empty'))
        self.write('cut.onnx', open(path, 'rb').read()[:3000])
        self.save(make_model([node('Relu', ['x:0'], ['y'])], [('x:0', FLOAT, [1, 6])], [('y', FLOAT, [1, 6])]), 'none.onnx')
        self.make_plan()
        data, out = f"--data={self.path('data.npz')}", ['-o', self.path('q.onnx')]
        for code, words, arguments in (
            (1, 'no .npz or .npy', [path, f"--data={self.path('empty')}", *out]),
            (1, "no array 'x'", [path, f"--data={self.path('other.npz')}", *out]),
            (1, '[60,7,12,12]', [path, f"--data={self.path('wide.npz')}", *out]),
            (1, 'words.npz', [path, f"--data={self.path('words.npz')}", *out]),
            (1, 'cannot write', [path, data, '-o', self.path('absent/q.onnx')]),
            (2, 'is the model itself', [path, data, '-o', path]),
            (2, 'say where to write', [path, data]),
            (2, '--data=PATH is missing', [path, *out]),
            (2, 'takes one model', [data, *out]),
            (2, 'is a plan', [self.path('m.plan'), data, *out]),
            (2, 'entropy, minmax, mse, percentile', [path, data, *out, '--calibrator=median']),
            (2, '--for is any, ort or openvino', [path, data, *out, '--for=tensorrt']),
            (3, 'cut off or damaged', [self.path('cut.onnx'), data, *out]),
            (3, 'it has no Conv, Gemm or MatMul at all', [self.path('none.onnx'), f"--data={self.path('x0.npy')}", *out]),
        ):
            self.refused(code, words, 'quantize', *arguments)


class MobileNet(CliCase):
    def test_photographs(self):
        pictures, _ = accuracy_test.Accuracy().photographs()
        onnx.save(float_form(onnx.load(accuracy_test.shared('models', 'mobilenet_v2_int8_qdq.onnx'))), self.path('f.onnx'))
        even, judged = pictures[0::2], pictures[1::2]
        np.save(self.path('data.npy'), np.repeat(even, 2, axis=0))   # so that all of them give ranges

        def answers(name, optimized=True):
            options = ort.SessionOptions()
            options.log_severity_level = 3
            if not optimized:
                options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
            session = ort.InferenceSession(self.path(name), options, providers=['CPUExecutionProvider'])
            return np.concatenate([session.run(None, {'image': x[None]})[0] for x in judged])
        want = answers('f.onnx')
        for reader, most, name in (('any', 0.19, 'percentile'), ('ort', 0.12, 'percentile')):
            self.tenfold('quantize', self.path('f.onnx'), f"--data={self.path('data.npy')}", '--samples=200', '-o', self.path('q.onnx'),
                         f'--for={reader}', f'--calibrator={name}')
            onnx.checker.check_model(self.path('q.onnx'), full_check=True)
            for optimized in (False, True):   # as the file is defined; by ONNX Runtime's kernels for integers
                got = answers('q.onnx', optimized)
                error, same = relative(got, want), (got.argmax(1) == want.argmax(1)).mean()
                print(f'MobileNet-v2, --for={reader}, {name}, optimized {optimized}: relative l2 {error:.4f}, same first class {same:.0%}',
                      flush=True)
                if not optimized or EXACT:
                    self.assertLess(error, most)
                    self.assertGreaterEqual(same, 0.92)   # one photograph is one point


if __name__ == '__main__':
    cli_case.main()
