"""Products with weights of e2m1 in blocks, as ONNX files have them: beside NumPy in f64 and ml_dtypes, in plans that stay narrow."""
import unittest

import ml_dtypes
import numpy as np
from case import Case, TensorProto, helper, model, numpy_helper

import tenfold

RANDOM = np.random.default_rng(4)


def raw(name, kind, array):
    """An initializer of a type that NumPy has from ml_dtypes; values of 4 bits are packed two in a byte."""
    codes = array.view(np.uint8)
    if kind == TensorProto.FLOAT4E2M1:
        codes = np.pad(codes.ravel() & 15, (0, codes.size % 2))
        codes = codes[::2] | codes[1::2] << 4
    return TensorProto(name=name, data_type=kind, dims=array.shape, raw_data=codes.tobytes())


def product(k, n, block, scales='f32', transposed=True):
    """x @ dequantized, and the weights' floats [k, n]."""
    shape = (n, k) if transposed else (k, n)
    axis = 1 if transposed else 0
    w = (RANDOM.standard_normal(shape) * 3).astype(ml_dtypes.float4_e2m1fn)
    many = tuple(-(-d // block) if i == axis else d for i, d in enumerate(shape))
    s = (RANDOM.random(many) * 0.02 + 0.005).astype(np.float32)
    arrays, nodes = [raw('w', TensorProto.FLOAT4E2M1, w)], []
    if scales == 'f32':
        arrays.append(numpy_helper.from_array(s, 's'))
        wide = s.astype(np.float64)
    elif scales == 'e8m0':
        s = s.astype(ml_dtypes.float8_e8m0fnu)
        arrays.append(raw('s', TensorProto.FLOAT8E8M0, s))
        wide = s.astype(np.float64)
    else:   # e4m3 by a float
        globe = np.float32(0.01)
        q = (s / globe).astype(ml_dtypes.float8_e4m3fn)
        arrays += [raw('q', TensorProto.FLOAT8E4M3FN, q), numpy_helper.from_array(globe, 'g')]
        nodes.append(helper.make_node('DequantizeLinear', ['q', 'g'], ['s']))
        wide = q.astype(np.float64) * np.float64(globe)
    truth = w.astype(np.float64) * np.repeat(wide, block, axis)[tuple(slice(d) for d in shape)]
    more = {'output_dtype': TensorProto.FLOAT} if scales == 'e8m0' else {}
    nodes += [helper.make_node('DequantizeLinear', ['w', 's'], ['d'], axis=axis, block_size=block, **more),
              helper.make_node('Gemm', ['x', 'd'], ['y'], transB=int(transposed))]
    made = model(nodes, [('x', TensorProto.FLOAT, ['m', k])], [('y', TensorProto.FLOAT, ['m', n])], arrays)
    made.opset_import[0].version = 24 if scales == 'e8m0' else 23
    return made.SerializeToString(), truth.T if transposed else truth


class Fp4Products(Case):
    def test_blocked_dequantize_linear(self):
        for i, (k, n, block) in enumerate(((96, 40, 16), (640, 70, 32), (71, 17, 16), (48, 33, 48), (1024, 130, 64))):
            for scales in ('f32', 'e8m0', 'e4m3'):
                transposed = (i + len(scales)) % 2 == 0
                with self.subTest(k=k, n=n, block=block, scales=scales, transposed=transposed):
                    data, w = product(k, n, block, scales, transposed)
                    for tf32, bound in ((False, 5e-6), (True, 6e-5)):
                        engine = tenfold.build(data, device='cpu', optimization_level=0, tf32=tf32,
                                               profiles={'x': ([1, k], [1, k], [200, k])})
                        self.assertIn('MatMulBlockScaled', engine.inspect())
                        for rows in (1, 3, 9, 130):
                            x = RANDOM.standard_normal((rows, k)).astype(np.float32)
                            truth = x.astype(np.float64) @ w
                            self.assertLess(np.abs(engine(x) - truth).max() / np.abs(truth).max(), bound, (tf32, rows))

    def test_every_code(self):
        """All 16, exactly: x selects a row."""
        codes = ((np.arange(16)[:, None] + np.arange(16)) % 16).astype(np.uint8)
        w = codes.view(ml_dtypes.float4_e2m1fn)
        arrays = [raw('w', TensorProto.FLOAT4E2M1, w), numpy_helper.from_array(np.full((1, 16), 0.25, np.float32), 's')]
        nodes = [helper.make_node('DequantizeLinear', ['w', 's'], ['d'], axis=0, block_size=16),
                 helper.make_node('MatMul', ['x', 'd'], ['y'])]
        made = model(nodes, [('x', TensorProto.FLOAT, ['m', 16])], [('y', TensorProto.FLOAT, ['m', 16])], arrays)
        made.opset_import[0].version = 23
        engine = tenfold.build(made.SerializeToString(), device='cpu', optimization_level=0, profiles={'x': ([1, 16], [1, 16], [16, 16])})
        expected = w.astype(np.float32) * np.float32(0.25)
        for rows in (1, 3, 16):
            np.testing.assert_array_equal(engine(np.eye(16, dtype=np.float32)[:rows]), expected[:rows])


if __name__ == '__main__':
    unittest.main()
