"""The least and the greatest integers, and those that no float holds, in models and inputs: an error, or NumPy's answer to the bit."""

import unittest

import numpy as np
import onnxruntime
from case import Case, TensorProto, helper, model, numpy_helper

import tenfold
import tenfold.onnxruntime

LEAST, GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
TYPES = {'int32': TensorProto.INT32, 'int64': TensorProto.INT64, 'uint32': TensorProto.UINT32, 'uint64': TensorProto.UINT64}


def one_node(op, operands, inputs, result=TensorProto.INT64, **attributes):
    """A model of one node, of whose operands those numbered in `inputs` are given in a run; and what is given."""
    names, given, constants, feed = [], [], [], {}
    for i, operand in enumerate(operands):
        names.append('' if operand is None else f'x{i}')
        if operand is None:
            continue
        array = np.asarray(operand)
        if i in inputs:
            given.append((names[-1], helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
            feed[names[-1]] = array
        else:
            constants.append(numpy_helper.from_array(array, names[-1]))
    proto = model([helper.make_node(op, names, ['y'], **attributes)], given, [('y', result, None)], constants)
    return proto.SerializeToString(), feed


def answer(op, operands, inputs, **options):
    proto, feed = one_node(op, operands, inputs, **options)
    return tenfold.onnxruntime.InferenceSession(proto, tune='never').run(None, feed)[0]


class ExtremeIntegers(Case):
    def test_a_range_that_divides_the_least_integer_by_minus_one(self):
        for inputs in ([], [0], [1], [2], [0, 1, 2]):
            with self.subTest(inputs=inputs), self.assertRaises(tenfold.Error):
                answer('Range', [np.int64(0), LEAST, np.int64(-1)], inputs)
            expected = np.array([LEAST, -1, GREATEST - 1])
            np.testing.assert_array_equal(answer('Range', [LEAST, np.int64(GREATEST), np.int64(GREATEST)], inputs), expected)

    def test_division_in_shapes(self):
        for op in ('Div', 'Mod'):
            for inputs in ([], [0], [1], [0, 1]):
                with self.subTest(op=op, inputs=inputs):
                    expected = np.array([LEAST if op == 'Div' else 0])   # wraps, as the tensor's integers do
                    np.testing.assert_array_equal(answer(op, [np.array([LEAST]), np.array([-1])], inputs), expected)

    def test_steps_and_ends_of_slices(self):
        x = np.arange(5)
        for inputs in ([0], [0, 1, 2], [0, 4], [0, 1, 2, 4]):
            for start, end, step in ((GREATEST, LEAST, LEAST), (1, GREATEST, GREATEST), (LEAST, GREATEST, 2), (GREATEST, LEAST, -2)):
                with self.subTest(inputs=inputs, start=start, end=end, step=step):
                    found = answer('Slice', [x, np.array([start]), np.array([end]), np.array([0]), np.array([step])], inputs)
                    np.testing.assert_array_equal(found, x[start : None if end == LEAST else end : step])

    def test_products_and_extremes(self):
        for name, kind in TYPES.items():
            t = np.dtype(name).type
            big = t(2**24 + 1) if '32' in name else t(2**53 + 1)
            a, b = np.array([[big, 1], [2, np.iinfo(name).max]], name), np.array([[1, 0], [0, 1]], name)
            with self.subTest(name):
                np.testing.assert_array_equal(answer('Gemm', [a, b], [0, 1], result=kind), a)
                np.testing.assert_array_equal(answer('Gemm', [b, b, a[0]], [0, 1], result=kind), b + a[0])
                wide = np.full((2, 2), np.iinfo(name).max // 3, name)
                np.testing.assert_array_equal(answer('Gemm', [wide, wide], [0], result=kind), wide @ wide)
                found = answer('MaxPool', [a.reshape(1, 1, 2, 2)], [0], result=kind, kernel_shape=[1, 2])
                np.testing.assert_array_equal(found.ravel(), a.max(axis=1))
                np.testing.assert_array_equal(answer('ArgMax', [np.array([big - t(1), big])], [0]), [1])

    def test_the_nearest_element_of_a_resize(self):
        """Where ONNX Runtime and whole numbers agree: at ratios that no float holds."""
        for source, extent, transform, nearest, by_scales in (   # whose product with the extent is the other extent for both
            (22, 47, 'half_pixel', 'round_prefer_ceil', True),
            (14, 31, 'half_pixel', 'round_prefer_floor', False),
            (26, 7, 'align_corners', 'floor', True),
            (39, 11, 'align_corners', 'floor', True),
            (10, 24, 'asymmetric', 'round_prefer_ceil', True),
            (29, 18, 'asymmetric', 'round_prefer_floor', False),
        ):
            x = np.arange(source, dtype=np.float32).reshape(1, 1, 1, source)
            modes = dict(coordinate_transformation_mode=transform, nearest_mode=nearest, result=TensorProto.FLOAT)
            forms = [[None, None, np.array([1, 1, 1, extent])], [None, np.array([1, 1, 1, extent / source], np.float32)]]
            for last in forms[: 1 + by_scales]:
                proto, feed = one_node('Resize', [x, *last], [0], **modes)
                theirs = onnxruntime.InferenceSession(proto, providers=['CPUExecutionProvider']).run(None, feed)[0]
                with self.subTest(source=source, extent=extent, transform=transform):
                    np.testing.assert_array_equal(answer('Resize', [x, *last], [0], **modes), theirs)


if __name__ == '__main__':
    unittest.main()
