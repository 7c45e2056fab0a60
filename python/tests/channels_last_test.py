"""Operators of com.microsoft that ONNX Runtime's optimizer writes into models, beside it: channels that are last, and Unique."""
import unittest

import numpy as np
import onnxruntime
from case import Case, helper
from onnx import ValueInfoProto

import tenfold.onnxruntime

RANDOM = np.random.default_rng(0)


class ChannelsLast(Case):
    def run_by(self, engine, op, operands, outputs, attributes, **options):
        names = [f'x{i}' if a is not None else '' for i, a in enumerate(operands)]
        out = [f'y{i}' for i in range(outputs)]
        value = lambda n, a: helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        graph = helper.make_graph([helper.make_node(op, names, out, domain='com.microsoft', **attributes)], 'g',
                                  [value(n, a) for n, a in zip(names, operands) if n], [ValueInfoProto(name=n) for n in out])
        opsets = [helper.make_opsetid('', 20), helper.make_opsetid('com.microsoft', 1)]
        proto = helper.make_model(graph, ir_version=10, opset_imports=opsets)
        session = engine.InferenceSession(proto.SerializeToString(), providers=['CPUExecutionProvider'], **options)
        return session.run(None, {n: a for n, a in zip(names, operands) if n})

    def compare(self, op, operands, outputs=1, step=0, **attributes):
        theirs = self.run_by(onnxruntime, op, operands, outputs, attributes)
        ours = self.run_by(tenfold.onnxruntime, op, operands, outputs, attributes, tune='never', tf32=False)
        for a, b in zip(ours, theirs):
            self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
            np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-5, atol=step + 1e-6)

    def test_convolutions_of_integers(self):
        for kind, last in ((np.uint8, 1), (np.int8, 1), (np.uint8, 0)):
            x = RANDOM.integers(0, 100, (2, 6, 7, 4)).astype(kind)
            w = RANDOM.integers(-50, 50, (5, 4, 3, 3)).astype(np.int8)
            scale = lambda v: np.array(v, np.float32)
            operands = [x if last else x.transpose(0, 3, 1, 2).copy(), scale(0.05), np.array(7, kind), w,
                        (RANDOM.random(5) / 50 + 0.01).astype(np.float32), np.zeros(5, np.int8), scale(0.4), np.array(9, kind),
                        RANDOM.integers(-200, 200, 5).astype(np.int32)]
            with self.subTest(kind.__name__, last=last):   # a value in the middle may be rounded either way
                self.compare('QLinearConv', operands, step=1, channels_last=last, pads=[1, 1, 1, 1], strides=[2, 1])

    def test_max_pool(self):
        x = RANDOM.integers(-100, 100, (2, 8, 7, 3)).astype(np.int8)
        self.compare('NhwcMaxPool', [x], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 0])
        self.compare('NhwcMaxPool', [x.astype(np.uint8)], kernel_shape=[2, 2])

    def test_unique(self):
        self.compare('Unique', [np.array([3, 1, 3, 2, 1, 9], np.float32)], 3)

    def test_group_norm(self):
        """Which ONNX Runtime's CPU has no kernel for."""
        x, gamma, beta = (RANDOM.standard_normal(s).astype(np.float32) for s in ((2, 5, 4, 6), 6, 6))
        groups = x.reshape(2, 20, 3, 2).transpose(0, 2, 1, 3).reshape(2, 3, 40)
        normal = (groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 1e-3)
        expected = normal.reshape(2, 3, 20, 2).transpose(0, 2, 1, 3).reshape(x.shape) * gamma + beta
        for activation in (0, 1):
            found = self.run_by(tenfold.onnxruntime, 'GroupNorm', [x, gamma, beta], 1, dict(groups=3, epsilon=1e-3, activation=activation),
                                tune='never')[0]
            y = expected / (1 + np.exp(-expected)) if activation else expected
            np.testing.assert_allclose(found, y, rtol=1e-4, atol=1e-5)


if __name__ == '__main__':
    unittest.main()
