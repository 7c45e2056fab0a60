#!/usr/bin/env python3
"""Files that `tenfold quantize` reads and writes: quantize_files_test.py TENFOLD: opsets, external data, caches, faults."""

import os

import cli_case
from cli_case import FLOAT, helper, make_model, np, numpy_helper, onnx

from quantize_case import QuantizeCase, everything, node, relative, runs, weights


class Files(QuantizeCase):
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
        reference = runs(path, self.feed(self.samples[:20]))[0]
        before = open(self.path('n.bin'), 'rb').read()
        for flags in ([], ['--externalData']):
            self.quantize(path, *flags)
            self.assertLess(relative(runs(self.path('q.onnx'), self.feed(self.samples[:20]), optimized=False)[0], reference), 0.06)
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
        reference = runs(path, feed)
        os.mkdir(self.path('other'))
        for flags in ([], ['--externalData']):
            self.tenfold('quantize', path, f"--data={self.path('data.npz')}", '-o', self.path('other/q.onnx'), *flags)
            os.rename(self.path('n.bin'), self.path('away'))
            found = runs(self.path('other/q.onnx'), feed, optimized=False)
            os.rename(self.path('away'), self.path('n.bin'))
            self.assertLess(relative(found[0], reference[0]), 0.06)
            for got, expected in zip(found[1:], reference[1:], strict=True):
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


if __name__ == '__main__':
    cli_case.main()
