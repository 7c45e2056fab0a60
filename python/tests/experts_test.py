"""MoE and QMoE of com.microsoft beside ONNX Runtime, and what its CPU kernels lack beside NumPy; names that are refused."""
import itertools
import unittest

import numpy as np
import onnxruntime
from case import Case, TensorProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as errors

import tenfold.onnxruntime

RANDOM = np.random.default_rng(0)
TOKENS, HIDDEN, INNER, EXPERTS = 6, 32, 64, 4


def floats(*shape):
    return (RANDOM.standard_normal(shape) * 0.5).astype(np.float32)


def packed(q, bits):
    """Rows of small integers as bytes, the first in the lowest bits."""
    each = 8 // bits
    q = np.pad(q, [(0, 0)] * (q.ndim - 1) + [(0, -q.shape[-1] % each)]).reshape(*q.shape[:-1], -1, each).astype(np.uint32)
    return (q << (bits * np.arange(each))).sum(-1).astype(np.uint8)


def dequantized(rows, scales, zero, bits):
    def numbers(values, size):
        each = 8 // bits
        parts = values[..., None] >> (bits * np.arange(each)) & ((1 << bits) - 1)
        return parts.reshape(*values.shape[:-1], -1)[..., :size].astype(np.float32)

    zero = np.float32(1 << (bits - 1)) if zero is None else numbers(zero, scales.shape[-1])
    scales, zero = (v[..., None] if np.ndim(v) == 2 else v for v in (scales, zero))
    q = numbers(rows, rows.shape[-1] * 8 // bits)
    spread = lambda v: np.repeat(v, q.shape[-1] // scales.shape[-1], -1) if np.ndim(v) else v
    return ((q - spread(zero)) * spread(scales)).astype(np.float32)


class Experts(Case):
    def model(self, op, operands, initializers, attributes):
        names = [f'x{i}' if a is not None else '' for i, a in enumerate(operands)]
        value = lambda n, a: helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        graph = helper.make_graph([helper.make_node(op, names, ['y'], domain='com.microsoft', **attributes)], 'g',
                                  [value(n, a) for i, (n, a) in enumerate(zip(names, operands)) if n and i not in initializers],
                                  [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)],
                                  [helper.make_tensor(f'x{i}', helper.np_dtype_to_tensor_dtype(operands[i].dtype), operands[i].shape,
                                                      operands[i].tobytes(), raw=True) for i in initializers])
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 20),
                                                                      helper.make_opsetid('com.microsoft', 1)]).SerializeToString()

    def run_all(self, engine, op, operands, initializers, attributes, **options):
        session = engine.InferenceSession(self.model(op, operands, initializers, attributes), providers=['CPUExecutionProvider'], **options)
        return session.run(None, {f'x{i}': a for i, a in enumerate(operands) if a is not None and i not in initializers})[0]

    def compare(self, op, operands, initializers=(), tolerance=1e-4, **attributes):
        try:
            theirs = self.run_all(onnxruntime, op, operands, initializers, attributes)
        except (errors.NotImplemented, errors.InvalidArgument) as e:   # not every version has every form of QMoE
            if op != 'QMoE':
                raise
            self.skipTest(f'ONNX Runtime {onnxruntime.__version__} refuses it: {e}')
        ours = self.run_all(tenfold.onnxruntime, op, operands, initializers, attributes, tune='never', tf32=False)
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)

    def test_mixtures(self):
        for kind, k, normalized, bias in itertools.product(('relu', 'gelu', 'silu', 'identity', 'swiglu'), (1, 2), (0, 1), (False, True)):
            wide = INNER * (2 if kind == 'swiglu' else 1)
            more = dict(swiglu_fusion=1, activation_alpha=1.7, activation_beta=0.5, swiglu_limit=1.5) if kind == 'swiglu' else {}
            operands = [floats(TOKENS, HIDDEN), floats(TOKENS, EXPERTS) * 3, floats(EXPERTS, wide, HIDDEN),
                        floats(EXPERTS, wide) if bias else None, floats(EXPERTS, HIDDEN, INNER), floats(EXPERTS, HIDDEN) if bias else None]
            with self.subTest(kind, k=k, normalized=normalized, bias=bias):
                self.compare('MoE', operands, activation_type=kind, k=k, normalize_routing_weights=normalized, **more)
        operands = [floats(2, 3, HIDDEN), floats(6, EXPERTS), floats(EXPERTS, INNER, HIDDEN), None, floats(EXPERTS, HIDDEN, INNER)]
        self.compare('MoE', operands, k=2)

    def test_gates_apart_and_halves(self):
        """Which ONNX Runtime's CPU kernel does not compute."""
        x, router, second = floats(TOKENS, HIDDEN), floats(TOKENS, EXPERTS), floats(EXPERTS, HIDDEN, INNER)
        first, gate = floats(EXPERTS, INNER, HIDDEN), floats(EXPERTS, INNER, HIDDEN)
        chances = np.exp(router) / np.exp(router).sum(1, keepdims=True)
        expected = np.zeros_like(x)
        for t in range(TOKENS):
            for e in np.argsort(-chances[t])[:2]:
                g, linear = first[e] @ x[t], gate[e] @ x[t]
                expected[t] += chances[t, e] * (second[e] @ (g / (1 + np.exp(-g)) * linear))
        attributes = dict(activation_type='swiglu', k=2)
        for operands, fusion in (([x, router, first, None, second, None, gate], 0),
                                 ([x, router, np.concatenate([first, gate], 1), None, second], 2)):
            attributes['swiglu_fusion'] = fusion
            found = self.run_all(tenfold.onnxruntime, 'MoE', operands, (), attributes, tune='never', tf32=False)
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)

    def quantized(self, bits, block, zeros, rows, columns):
        q = RANDOM.integers(0, 1 << bits, (EXPERTS, rows, columns))
        shape = (EXPERTS, rows, columns // block) if block else (EXPERTS, rows)
        scales = (RANDOM.random(shape) / 8 / (1 << bits) + 0.01).astype(np.float32)
        zero = RANDOM.integers(0, 1 << bits, shape)
        return packed(q, bits), scales, packed(zero, bits) if zeros else None

    def test_quantized_mixtures(self):
        for bits, block, zeros in itertools.product((4, 8), (0, 32), (False, True)):
            w1, s1, z1 = self.quantized(bits, block, zeros, 2 * INNER, HIDDEN)
            w2, s2, z2 = self.quantized(bits, block, zeros, HIDDEN, INNER)
            operands = [floats(TOKENS, HIDDEN), floats(TOKENS, EXPERTS) * 2, w1, s1, floats(EXPERTS, 2 * INNER), w2, s2,
                        floats(EXPERTS, HIDDEN)]
            if zeros:
                operands += [None, None, None, z1, z2]
            more = {'block_size': block} if block else {}
            attributes = dict(expert_weight_bits=bits, k=2, activation_type='swiglu', swiglu_fusion=1, normalize_routing_weights=1, **more)
            constants = [i for i in (2, 3, 5, 6, 11, 12) if i < len(operands)]
            with self.subTest(bits=bits, block=block, zeros=zeros):
                plain = [*operands[:2], dequantized(w1, s1, z1, bits), operands[4], dequantized(w2, s2, z2, bits), operands[7]]
                unpacked = {k: v for k, v in attributes.items() if k not in ('expert_weight_bits', 'block_size')}
                expected = self.run_all(onnxruntime, 'MoE', plain, (), unpacked)
                found = self.run_all(tenfold.onnxruntime, 'QMoE', operands, constants, attributes, tune='never', tf32=False)
                np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
                if bits < 8 or not block:   # else ONNX Runtime rounds activations to int8
                    self.compare('QMoE', operands, constants, 2e-3, **attributes)

    def test_what_is_refused(self):
        x = floats(2, 4)
        for op, why in (('PagedAttention', 'pages that a server hands out between runs'), ('BeamSearch', 'a whole loop that generates'),
                        ('EPContext', 'another runtime has compiled'), ('QOrderedMatMul', 'an order that one kind of GPU has')):
            with self.subTest(op), self.assertRaisesRegex(Exception, why):
                self.run_all(tenfold.onnxruntime, op, [x], (), {}, tune='never')
        with self.assertRaisesRegex(Exception, 'use_sparse_mixer'):
            operands = [floats(2, 4), floats(2, 3), floats(3, 8, 4), None, floats(3, 4, 8)]
            self.run_all(tenfold.onnxruntime, 'MoE', operands, (), {'use_sparse_mixer': 1}, tune='never')


if __name__ == '__main__':
    unittest.main()
