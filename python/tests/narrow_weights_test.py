"""Weights of 4 and 8 bits in blocks: products beside ONNX Runtime and NumPy, plans that stay narrow, and files that are wrong."""
import os
import unittest

import numpy as np
import onnx
import onnxruntime
from case import Case, TensorProto, helper, model, numpy_helper

import tenfold

RANDOM = np.random.default_rng(4)
INTEGERS = {'i4': TensorProto.INT4, 'u4': TensorProto.UINT4, 'i8': TensorProto.INT8, 'u8': TensorProto.UINT8}


def nbits(k, n, bits=4, block=32, zeros=False, bias=False, dtype=np.float32, rows='m', **wrong):
    """A model of one MatMulNBits; `wrong`: initializers or attributes to replace."""
    blocks = -(-k // block)
    arrays = {'b': RANDOM.integers(0, 256, (n, blocks, block * bits // 8), np.uint8),
              's': (RANDOM.random((n, blocks)) * 0.02 + 0.005).astype(dtype)}
    names = ['x', 'b', 's']
    if zeros:
        arrays['z'] = RANDOM.integers(0, 256, (n, -(-blocks * bits // 8)), np.uint8)
        names.append('z')
    if bias:
        arrays['bias'] = RANDOM.standard_normal(n).astype(dtype)
        names += [''] * (5 - len(names)) + ['bias']
    arrays.update({name: array for name, array in wrong.items() if name in arrays})
    attributes = {'K': k, 'N': n, 'bits': bits, 'block_size': block, **{a: v for a, v in wrong.items() if a not in arrays}}
    node = helper.make_node('MatMulNBits', names, ['y'], name='narrow', domain='com.microsoft', **attributes)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    made = model([node], [('x', kind, [rows, k])], [('y', kind, [rows, n])],
                 [numpy_helper.from_array(array, name) for name, array in arrays.items()])
    made.opset_import.append(helper.make_opsetid('com.microsoft', 1))
    return made.SerializeToString()


def dequantized(kind, k, n, block=0, axis=0, zeros=False, transposed=False, scale=None, zero=None):
    """x @ DequantizeLinear(w), or its transpose, and w as NumPy dequantizes it; block 0: a scale for each column."""
    bits = int(kind[1])
    low, high = (-(1 << bits - 1), 1 << bits - 1) if kind[0] == 'i' else (0, 1 << bits)
    shape = (n, k) if transposed else (k, n)
    along = 1 if transposed else 0
    many = (n,) if block == 0 else tuple(-(-d // block) if i == along else d for i, d in enumerate(shape))
    w, z = RANDOM.integers(low, high, shape), RANDOM.integers(low, high, many) if zeros else None
    s = (RANDOM.random(many) * 0.02 + 0.005).astype(np.float32)

    def spread(values):
        if block == 0:
            return values[:, None] if transposed else values[None, :]
        return np.repeat(values, block, along)[tuple(slice(d) for d in shape)]

    truth = (w - (spread(z) if zeros else 0)) * spread(s)
    arrays = [helper.make_tensor('w', INTEGERS[kind], shape, w.ravel()), numpy_helper.from_array(s if scale is None else scale, 's')]
    if zeros:
        arrays.append(helper.make_tensor('z', INTEGERS[kind], many if zero is None else zero, z.ravel()[:np.prod(zero or many)]))
    attributes = {'axis': 1 - along, **({'axis': along, 'block_size': block} if block else {})}
    nodes = [helper.make_node('DequantizeLinear', ['w', 's'] + ['z'] * zeros, ['d'], name='wide', **attributes),
             helper.make_node('Gemm', ['x', 'd'], ['y'], transB=int(transposed))]
    return model(nodes, [('x', TensorProto.FLOAT, ['m', k])], [('y', TensorProto.FLOAT, ['m', n])],
                 arrays).SerializeToString(), truth.T if transposed else truth


def built(data, k, **options):
    profiles = {'x': ([1, k], [options.pop('likely', 1), k], [200, k])}
    return tenfold.build(data, device='cpu', optimization_level=0, profiles=profiles, **options)


class NarrowWeights(Case):
    def check(self, y, truth, bound):
        self.assertEqual(y.shape, truth.shape)
        self.assertLess(np.abs(y - truth).max() / np.abs(truth).max(), bound)

    def test_matmul_nbits_beside_onnxruntime(self):
        cases = [(bits, block, zeros) for bits in (4, 8) for block in (16, 32, 64, 128, 256) for zeros in (False, True)]
        for i, (bits, block, zeros) in enumerate(cases):
            k, n = ((96, 40), (block * 3, 33), (71, 17))[i % 3]
            with self.subTest(bits=bits, block=block, zeros=zeros, k=k, n=n):
                data = nbits(k, n, bits, block, zeros, bias=i % 2 == 1)
                session = onnxruntime.InferenceSession(data, providers=['CPUExecutionProvider'])
                for tf32, bound in ((False, 5e-6), (True, 6e-5)):
                    engine = built(data, k, tf32=tf32)
                    for rows in (1, 3, 130):
                        x = RANDOM.standard_normal((rows, k)).astype(np.float32)
                        self.check(engine(x), session.run(None, {'x': x})[0], bound)

    def test_models_of_half_precision(self):
        data = nbits(64, 24, dtype=np.float16)
        session = onnxruntime.InferenceSession(data, providers=['CPUExecutionProvider'])
        x = RANDOM.standard_normal((2, 64)).astype(np.float16)
        self.check(built(data, 64)(x).astype(np.float32), session.run(None, {'x': x})[0].astype(np.float32), 4e-3)

    def test_dequantize_linear_beside_numpy(self):
        for kind in INTEGERS:
            for block in (0, 16, 64):
                for zeros in (False, True):
                    for transposed in (False, True):
                        with self.subTest(kind=kind, block=block, zeros=zeros, transposed=transposed):
                            data, w = dequantized(kind, 80, 21, block, zeros=zeros, transposed=transposed)
                            engine = built(data, 80, tf32=False)
                            for rows in (1, 40):
                                x = RANDOM.standard_normal((rows, 80)).astype(np.float32)
                                self.check(engine(x), x @ w, 5e-6)

    def test_plans_stay_narrow(self):
        k, n = 1024, 512
        for bits, bound in ((4, 0.6), (8, 1.1)):
            engine = built(nbits(k, n, bits), k, tf32=True)
            path = self.path('narrow.plan')
            engine.save(path)
            self.assertLess(os.path.getsize(path), bound * k * n + 20000)
            exact = built(nbits(k, n, bits), k, tf32=False)
            exact.save(path)
            self.assertLess(os.path.getsize(path), (bound + 0.04) * k * n + 20000)

    def test_refitted_plans_are_those_of_new_builds(self):
        for transposed in (False, True):
            data, _ = dequantized('i4', 80, 21, 16, zeros=True, transposed=transposed)
            changed = onnx.load_from_string(data)
            (scales,) = [i for i in changed.graph.initializer if i.name == 's']
            new = numpy_helper.to_array(scales) * np.float32(1.7)
            scales.CopyFrom(numpy_helper.from_array(new, 's'))
            x = RANDOM.standard_normal((3, 80)).astype(np.float32)
            engine, other = built(data, 80, refittable=True), built(changed.SerializeToString(), 80)
            np.testing.assert_array_equal(engine.refit({'s': new})(x), other(x))
            self.assertGreater(np.abs(engine(x) - other(x)).max(), 0.1)

    def test_what_is_wrong_is_named(self):
        x4 = np.zeros((8, 3), np.uint8)
        for data, words in ((nbits(64, 8, zeros=True, z=x4), ['narrow', 'zero points', '24 bytes', '8 expected']),
                            (nbits(64, 8, block_size=0), ['narrow', 'block_size is 0', '16']),
                            (nbits(64, 8, block_size=24), ['narrow', 'block_size is 24', 'power of two']),
                            (nbits(64, 8, b=np.zeros((8, 2, 15), np.uint8)), ['narrow', 'weights', '240 bytes', '256 expected']),
                            (nbits(64, 8, s=np.zeros((8, 3), np.float32)), ['narrow', '24 scales', '16 expected']),
                            (dequantized('i4', 64, 8, 32, scale=np.zeros((3, 8), np.float32))[0], ['wide', 'scale', '3', 'expected 2']),
                            (dequantized('u4', 64, 8, 32, zeros=True, zero=(1, 4))[0], ['wide', 'zero point', '4', '8'])):
            with self.assertRaises(tenfold.Error) as caught:
                built(data, 64)
            for word in words:
                self.assertIn(word, str(caught.exception))


if __name__ == '__main__':
    unittest.main()
