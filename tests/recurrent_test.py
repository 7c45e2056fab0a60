#!/usr/bin/env python3
"""LSTM, GRU and RNN in every form of weights: recurrent_test.py TENFOLD. NumPy in f64 is the truth."""

import cli_case
from cli_case import CliCase, FLOAT, helper, make_model, np, onnx
import ml_dtypes  # onnx brings it

STEPS, SAMPLES, FEATURES, UNITS = 23, 2, 72, 150
GATES = {'LSTM': 4, 'GRU': 3, 'RNN': 1}


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def run_layer(op, x, w, r, b):
    """All steps of one layer, and its last state, in f64."""
    units = r.shape[-1]
    h, c, rows = np.zeros((x.shape[1], units)), np.zeros((x.shape[1], units)), []
    for row in x:
        of_x, of_h = row @ w.T + b[:len(w)], h @ r.T + b[len(w):]
        if op == 'LSTM':
            i, o, f, n = np.split(of_x + of_h, 4, -1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(n)
            h = sigmoid(o) * np.tanh(c)
        elif op == 'GRU':
            (z, q, n), (hz, hq, hn) = np.split(of_x, 3, -1), np.split(of_h, 3, -1)
            z = sigmoid(z + hz)
            h = (1 - z) * np.tanh(n + sigmoid(q + hq) * hn) + z * h
        else:
            h = np.maximum(of_x + of_h, 0)
        rows.append(h)
    return np.stack(rows), h


class Recurrent(CliCase):
    def model_of(self, op, kind, layers=3):
        """Layers with weights of a kind, the path of their model, and its weights as f64."""
        random = np.random.default_rng(6)
        dtype = {'f16': np.float16, 'bf16': ml_dtypes.bfloat16}.get(kind, np.float32)
        onnx_type = {'f16': onnx.TensorProto.FLOAT16, 'bf16': onnx.TensorProto.BFLOAT16}.get(kind, FLOAT)
        nodes, constants, weights, x, width = [], [], [], 'x', FEATURES

        def constant(name, values, data_type=None):
            kinds = {np.dtype(np.int8): onnx.TensorProto.INT8, np.dtype(np.int64): onnx.TensorProto.INT64}
            constants.append(onnx.TensorProto(name=name, dims=values.shape, raw_data=values.tobytes(),
                                              data_type=data_type or kinds.get(values.dtype, FLOAT)))
            return name

        def weight(name, rows, columns):
            values = random.standard_normal((1, rows, columns)) / np.sqrt(columns) * 0.7
            if kind != 'int8':
                values = values.astype(dtype)
                return constant(name, values, onnx_type), values[0].astype(np.float64)
            scales = (np.abs(values).max((0, 2)) / 127).astype(np.float32)
            integers = np.clip(np.rint(values / scales[None, :, None]), -127, 127).astype(np.int8)
            quantized = [constant(name + '_q', integers), constant(name + '_s', scales)]
            nodes.append(helper.make_node('DequantizeLinear', quantized, [name], axis=1))
            return name, integers[0] * scales[:, None].astype(np.float64)

        constant('one', np.array([1]))
        for layer in range(layers):
            rows = GATES[op] * UNITS
            (w, w64), (r, r64) = weight(f'w{layer}', rows, width), weight(f'r{layer}', rows, UNITS)
            bias = (random.standard_normal((1, 2 * rows)) * 0.1).astype(np.float32 if kind == 'int8' else dtype)
            more = {'linear_before_reset': 1} if op == 'GRU' else {'activations': ['Relu']} if op == 'RNN' else {}
            nodes.append(helper.make_node(op, [x, w, r, constant(f'b{layer}', bias, onnx_type)], [f'y{layer}', f'h{layer}'],
                                          hidden_size=UNITS, **more))
            x, width = f's{layer}', UNITS
            nodes.append(helper.make_node('Squeeze', [f'y{layer}', 'one'], [x]))
            weights.append((w64, r64, bias[0].astype(np.float64)))
        nodes.append(helper.make_node('Identity', [f'h{layers - 1}'], ['last']))
        path = self.path(f'{op}_{kind}.onnx')
        results = [(x, onnx_type, [STEPS, SAMPLES, UNITS]), ('last', onnx_type, [1, SAMPLES, UNITS])]
        onnx.save(make_model(nodes, [('x', onnx_type, [STEPS, SAMPLES, FEATURES])], results, constants, opset=22), path)
        return path, weights, x

    def check(self, op, kind, tolerance, *flags, kernel=None, layers=3):
        path, weights, output = self.model_of(op, kind, layers)
        stored = {'f16': np.float16, 'bf16': ml_dtypes.bfloat16}.get(kind, np.float32)
        x = np.random.default_rng(7).standard_normal((STEPS, SAMPLES, FEATURES)).astype(stored)
        self.write('x.bin', x.tobytes())
        plan = self.path('m.plan')
        self.tenfold('exec', f'--onnx={path}', f'--saveEngine={plan}', '--buildOnly', *flags)
        if kernel:
            self.assertIn(kernel, self.tenfold('inspect', plan).stdout)
        self.assertNotIn('  reference', self.tenfold('inspect', plan).stdout)
        self.tenfold('exec', f'--loadEngine={plan}', f"--loadInputs=x:{self.path('x.bin')}", '--iterations=1', '--duration=0', '--warmUp=0',
                     f"--exportOutput={self.path('out.npz')}", *(f for f in flags if f.startswith('--threads')))
        rows = x.astype(np.float64)
        for w, r, b in weights:
            rows, last = run_layer(op, rows, w, r, b)
        with np.load(self.path('out.npz'), allow_pickle=False) as found:
            for name, expected in ((output, rows), ('last', last[None])):
                got = found[name]
                got = (got.view(ml_dtypes.bfloat16) if kind == 'bf16' else got).astype(np.float64)
                self.assertLess(np.abs(got - expected).max(), tolerance * max(1, np.abs(expected).max()), msg=f'{op} {kind} {flags} {name}')

    def test_floats(self):
        for op in GATES:
            for threads in (1, 2):
                self.check(op, 'f32', 5e-4, f'--threads={threads}')
                self.check(op, 'f32', 1e-5, f'--threads={threads}', '--noTF32')

    def test_one_layer_more_than_a_stack_takes(self):
        self.check('GRU', 'f32', 5e-4, '--threads=2', layers=9)

    def test_bytes(self):
        with open('/proc/cpuinfo', encoding='utf-8') as f:
            vnni = 'avx512_vnni' in f.read()
        for op in GATES:
            kernel = 'recurrent_s8' if vnni and op != 'RNN' else None   # an RNN has too few weights to be worth it
            for threads in (1, 2):
                self.check(op, 'int8', 5e-4, f'--threads={threads}', kernel=kernel)
            self.check(op, 'int8', 1e-5, '--threads=1', '--noTF32')
            self.check(op, 'int8', 1e-5, '--threads=1', '--cpuFeatures=avx2')

    def test_halves(self):
        for op in GATES:
            self.check(op, 'f16', 1e-3, '--threads=1')
            self.check(op, 'bf16', 8e-3, '--threads=2')


if __name__ == '__main__':
    cli_case.main()
