#!/usr/bin/env python3
"""Files in the forms that NVIDIA's ModelOpt 0.47 writes: modelopt_files_test.py TENFOLD. ONNX Runtime is the truth, without its optimizer.

bench/quantized_files.py tries files that ModelOpt itself has written.
"""
import cli_case
from cli_case import CliCase, FLOAT, helper, make_model, np, numpy_helper, onnx

import accuracy_test

node = helper.make_node
INT4 = onnx.TensorProto.INT4


class ModelOpt(CliCase):
    def compare(self, model, shape):
        path, x = self.path('m.onnx'), np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        onnx.save(model, path), np.save(self.path('x.npy'), x)
        expected = accuracy_test.onnxruntime(path, optimized=False)({'x': x})['y']
        self.tenfold('exec', f'--onnx={path}', f"--loadInputs=x:{self.path('x.npy')}", f"--exportOutput={self.path('y.npz')}",
                     '--iterations=1', '--duration=0', '--warmUp=0', '--builderOptimizationLevel=0', '--noBuilderCache')
        with np.load(self.path('y.npz')) as arrays:
            got = arrays['y']
        # A rounding may fall to the other side where sums have another order.
        self.assertLess(np.linalg.norm(got - expected) / np.linalg.norm(expected), 5e-3)
        return expected

    def test_floats_behind_q_dq(self):
        """Weights stay floats: QuantizeLinear and DequantizeLinear with a scale for each channel stand behind them."""
        random = np.random.default_rng(2)
        for dtype, largest in ((onnx.TensorProto.INT8, 127), (onnx.TensorProto.FLOAT8E4M3FN, 448)):
            values = {'w': random.standard_normal((16, 8, 3, 3)) / 8, 'v': random.standard_normal((16, 16, 1, 1)) / 4,
                      'b': random.standard_normal(16), 'xs': 4 / largest, 'rs': 6 / largest}
            for w in ('w', 'v'):
                values[w + 's'] = np.abs(values[w]).max(axis=(1, 2, 3)) / largest
            scales = [(s, ()) for s in ('xs', 'rs')] + [(s, (16,)) for s in ('ws', 'vs')]
            constants = [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in values.items()]
            constants += [helper.make_tensor(s[0] + 'z', dtype, shape, [0] * int(np.prod(shape))) for s, shape in scales]

            def rounded(value, of, **axis):
                return [node('QuantizeLinear', [value, of + 's', of + 'z'], [value + '_q'], **axis),
                        node('DequantizeLinear', [value + '_q', of + 's', of + 'z'], [value + '_d'], **axis)]
            nodes = [*rounded('x', 'x'), *rounded('w', 'w', axis=0), *rounded('v', 'v', axis=0),
                     node('Conv', ['x_d', 'w_d', 'b'], ['a'], pads=[1, 1, 1, 1]), node('Relu', ['a'], ['r']), *rounded('r', 'r'),
                     node('Conv', ['r_d', 'v_d'], ['c']), node('Add', ['c', 'r_d'], ['y'])]
            model = make_model(nodes, [('x', FLOAT, [2, 8, 12, 12])], [('y', FLOAT, [2, 16, 12, 12])], constants, opset=19)
            model.ir_version = 10
            self.compare(model, (2, 8, 12, 12))

    def test_weights_of_4_bits_in_blocks(self):
        """awq_lite: i4 in blocks of 128 rows without zero points, and a multiplication in front of each product."""
        random = np.random.default_rng(3)
        levels = random.integers(-8, 8, (256, 24))
        constants = [helper.make_tensor('w_i4', INT4, levels.shape, levels.reshape(-1)),
                     numpy_helper.from_array(random.uniform(0.01, 0.02, (2, 24)).astype(np.float32), 'w_scale'),
                     numpy_helper.from_array(random.uniform(0.5, 2, 256).astype(np.float32), 'pre_quant_scale')]
        nodes = [node('Mul', ['x', 'pre_quant_scale'], ['scaled']),
                 node('DequantizeLinear', ['w_i4', 'w_scale'], ['w'], axis=0, block_size=128), node('MatMul', ['scaled', 'w'], ['y'])]
        model = make_model(nodes, [('x', FLOAT, [5, 256])], [('y', FLOAT, [5, 24])], constants, opset=21)
        model.ir_version = 10
        self.compare(model, (5, 256))


if __name__ == '__main__':
    cli_case.main()
