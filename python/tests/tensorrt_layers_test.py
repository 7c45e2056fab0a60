"""tenfold.tensorrt's layers one by one: arithmetic, shapes, places, types. The truth is NumPy's. Those of images:
tensorrt_image_layers_test.py."""
import math
import unittest

import numpy as np
from layers_case import IMAGE, RANDOM, ROWS, Layers

import tenfold.tensorrt as trt


class Kinds(Layers):
    def test_activations(self):
        x, t = self.input(ROWS), trt.ActivationType
        erf = np.vectorize(math.erf)
        truths = {t.RELU: np.maximum(ROWS, 0), t.SIGMOID: 1 / (1 + np.exp(-ROWS)), t.TANH: np.tanh(ROWS),
                  t.LEAKY_RELU: np.where(ROWS > 0, ROWS, 0.3 * ROWS), t.ELU: np.where(ROWS > 0, ROWS, 0.3 * np.expm1(ROWS)),
                  t.SELU: 2 * np.where(ROWS > 0, ROWS, 0.3 * np.exp(ROWS) - 0.3), t.SOFTSIGN: ROWS / (1 + abs(ROWS)),
                  t.SOFTPLUS: 0.3 * np.log1p(np.exp(2 * ROWS)), t.CLIP: np.clip(ROWS, 0.3, 2), t.SCALED_TANH: 0.3 * np.tanh(2 * ROWS),
                  t.HARD_SIGMOID: np.clip(0.3 * ROWS + 2, 0, 1), t.THRESHOLDED_RELU: np.where(ROWS > 0.3, ROWS, 0),
                  t.GELU_ERF: ROWS / 2 * (1 + erf(ROWS / 2 ** 0.5)),
                  t.GELU_TANH: ROWS / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (ROWS + 0.044715 * ROWS ** 3)))}
        self.assertEqual(set(truths), set(t))
        layers = []
        for kind in truths:
            layers.append(self.network.add_activation(x, kind))
            layers[-1].alpha, layers[-1].beta = 0.3, 2
        self.assertEqual((layers[3].type, layers[3].alpha), (t.LEAKY_RELU, np.float32(0.3)))
        for kind, found in zip(truths, self.results(*layers), strict=True):
            with self.subTest(kind):
                self.near(found, truths[kind])

    def test_elementwise(self):
        a, b, t = np.array([[7, -7, 5]], np.int32), np.array([[2, 2, -3]], np.int32), trt.ElementWiseOperation
        x, y = self.input(a), self.input(b, 'y')
        numbers = {t.SUM: a + b, t.PROD: a * b, t.MAX: np.maximum(a, b), t.MIN: np.minimum(a, b), t.SUB: a - b, t.FLOOR_DIV: a // b,
                   t.EQUAL: a == b, t.GREATER: a > b, t.LESS: a < b}
        for (kind, truth), found in zip(numbers.items(), self.results(*(self.network.add_elementwise(x, y, k) for k in numbers))):
            with self.subTest(kind):
                np.testing.assert_array_equal(found, truth)

    def test_elementwise_of_floats_and_booleans(self):
        t, high = trt.ElementWiseOperation, np.abs(ROWS) + 1
        x, y = self.input(ROWS), self.input(high, 'y')
        p, q = self.input(ROWS > 0, 'p'), self.input(ROWS > 0.5, 'q')
        layers = [self.network.add_elementwise(y, x, t.POW), self.network.add_elementwise(x, y, t.DIV),
                  self.network.add_elementwise(x, y, t.FLOOR_DIV)]
        layers += [self.network.add_elementwise(p, q, k) for k in (t.AND, t.OR, t.XOR)]
        expected = [high ** ROWS, ROWS / high, np.floor(ROWS / high), (ROWS > 0) & (ROWS > 0.5), (ROWS > 0) | (ROWS > 0.5),
                  (ROWS > 0) ^ (ROWS > 0.5)]
        for found, truth in zip(self.results(*layers), expected, strict=True):
            self.near(found, truth, 1e-4)

    def test_unary(self):
        t, small = trt.UnaryOperation, np.array([0.1, 0.5, 0.9], np.float32)
        x = self.input(small)
        truths = {t.EXP: np.exp, t.LOG: np.log, t.SQRT: np.sqrt, t.RECIP: np.reciprocal, t.ABS: np.abs, t.NEG: np.negative, t.SIN: np.sin,
                  t.COS: np.cos, t.TAN: np.tan, t.SINH: np.sinh, t.COSH: np.cosh, t.ASIN: np.arcsin, t.ACOS: np.arccos, t.ATAN: np.arctan,
                  t.ASINH: np.arcsinh, t.ATANH: np.arctanh, t.CEIL: np.ceil, t.FLOOR: np.floor, t.ERF: np.vectorize(math.erf),
                  t.SIGN: np.sign, t.ROUND: np.round, t.ISINF: np.isinf, t.ISNAN: np.isnan}
        for kind, found in zip(truths, self.results(*(self.network.add_unary(x, k) for k in truths)), strict=True):
            with self.subTest(kind):
                self.near(found, truths[kind](small))
        self.assertEqual(set(t) - set(truths), {t.ACOSH, t.NOT})

    def test_acosh_and_not(self):
        found = self.results(self.network.add_unary(self.input(ROWS ** 2 + 1), trt.UnaryOperation.ACOSH),
                             self.network.add_unary(self.input(ROWS > 0, 'p'), trt.UnaryOperation.NOT))
        self.near(found[0], np.arccosh(ROWS ** 2 + 1), 1e-4)
        np.testing.assert_array_equal(found[1], ~(ROWS > 0))

    def test_products(self):
        m, v = trt.MatrixOperation, RANDOM.standard_normal(5).astype(np.float32)
        other = RANDOM.standard_normal((3, 4)).astype(np.float32)
        x, w, y = self.input(ROWS), self.input(v, 'v'), self.input(other, 'y')
        add = self.network.add_matrix_multiply
        found = self.results(add(x, m.TRANSPOSE, y, m.NONE), add(x, m.NONE, w, m.VECTOR), add(w, m.VECTOR, x, m.TRANSPOSE),
                             add(w, m.VECTOR, w, m.VECTOR))
        for array, truth in zip(found, (ROWS.T @ other, ROWS @ v, v @ ROWS.T, v @ v), strict=True):
            self.assertEqual(array.shape, truth.shape)
            self.near(array, truth, 1e-4)

    def test_fully_connected(self):
        w, b = RANDOM.standard_normal((3, 4 * 7 * 6)).astype(np.float32), np.arange(3, dtype=np.float32)
        layer = self.network.add_fully_connected(self.input(IMAGE), 3, w, b)
        self.check(layer, (IMAGE.reshape(2, -1) @ w.T + b).reshape(2, 3, 1, 1), 1e-4)

    def test_softmax_reduce_topk(self):
        x, r = self.input(ROWS), trt.ReduceOperation
        soft = self.network.add_softmax(x)
        soft.axes = 1 << 1
        reduced = {r.SUM: np.sum, r.PROD: np.prod, r.MAX: np.max, r.MIN: np.min, r.AVG: np.mean}
        layers = [self.network.add_reduce(x, op, 2, True) for op in reduced]
        best = self.network.add_topk(x, trt.TopKOperation.MIN, 2, 2)
        found = self.results(soft, *layers, best.get_output(0), best.get_output(1))
        e = np.exp(ROWS - ROWS.max(1, keepdims=True))
        self.near(found[0], e / e.sum(1, keepdims=True))
        for array, truth in zip(found[1:], reduced.values()):
            self.near(array, truth(ROWS, axis=1, keepdims=True), 1e-4)
        self.near(found[-2], np.sort(ROWS, 1)[:, :2])
        np.testing.assert_array_equal(found[-1], np.argsort(ROWS, 1)[:, :2])
        self.assertEqual(found[-1].dtype, np.int32)

    def test_shapes_and_places(self):
        x = self.input(IMAGE)
        shuffle = self.network.add_shuffle(x)
        shuffle.first_transpose, shuffle.reshape_dims, shuffle.second_transpose = (0, 2, 3, 1), (0, -1, 4), (2, 0, 1)
        self.assertEqual(shuffle.get_output(0).shape, (4, 2, 42))
        part = self.network.add_slice(x, (0, 3, 1, 5), (2, 2, 3, 3), (1, -2, 2, -2))
        around = {}
        for mode, name in ((trt.SampleMode.FILL, 'constant'), (trt.SampleMode.CLAMP, 'edge'), (trt.SampleMode.REFLECT, 'reflect'),
                           (trt.SampleMode.WRAP, 'wrap')):
            around[name] = self.network.add_slice(x, (0, 0, -2, 1), (2, 4, 10, 6), (1, 1, 1, 1))
            around[name].mode = mode
        joined = self.network.add_concatenation([x, x])
        joined.axis = 3
        padded = self.network.add_padding_nd(x, (1, 0), (2, -1))
        shape = self.network.add_shape(x)
        found = self.results(shuffle, part, joined, padded, shape, *around.values())
        self.near(found[0], IMAGE.transpose(0, 2, 3, 1).reshape(2, 42, 4).transpose(2, 0, 1))
        self.near(found[1], IMAGE[:, 3::-2, 1::2, 5::-2])
        self.near(found[2], np.concatenate([IMAGE, IMAGE], 3))
        self.near(found[3], np.pad(IMAGE[..., :-1], ((0, 0), (0, 0), (1, 2), (0, 0))))
        np.testing.assert_array_equal(found[4], IMAGE.shape)
        for array, mode in zip(found[5:], around, strict=True):
            self.near(array, np.pad(IMAGE, ((0, 0), (0, 0), (2, 1), (0, 1)), mode)[..., 1:])

    def test_sizes_from_tensors(self):
        x = self.input(IMAGE, shape=(-1, 4, 7, 6))
        n = self.network
        sizes = n.add_slice(n.add_shape(x).get_output(0), (0,), (2,), (1,))
        rest = n.add_constant((1,), np.array([42], np.int64))
        expected = n.add_concatenation([sizes.get_output(0), rest.get_output(0)])
        expected.axis = 0
        shuffle = n.add_shuffle(x)
        shuffle.set_input(1, expected.get_output(0))
        part = n.add_slice(x, (0, 0, 0, 0), (0, 0, 0, 0), (1, 1, 1, 2))
        part.set_input(1, n.add_constant((4,), np.array([0, 1, 0, 0], np.int32)).get_output(0))
        part.set_input(2, n.add_constant((4,), np.array([1, 2, 7, 3], np.int32)).get_output(0))
        found = self.results(shuffle, part)
        self.near(found[0], IMAGE.reshape(2, 4, 42))
        self.near(found[1], IMAGE[:1, 1:3, :, ::2])

    def test_gather_scatter_select(self):
        g, rows, index = trt.GatherMode, self.input(ROWS), np.array([[1, 0], [2, 2], [0, 1]], np.int64)
        i, n = self.input(index, 'i'), self.network
        element = n.add_gather_v2(rows, i, g.ELEMENT)
        element.axis = 1
        nd = n.add_gather_v2(rows, i, g.ND)
        shared = n.add_gather(rows, i, 1)
        shared.num_elementwise_dims = 1
        update = self.input(np.ones((3, 2), np.float32), 'u')
        put = n.add_scatter(rows, i, update, trt.ScatterMode.ELEMENT)
        put.axis = 1
        put_nd = n.add_scatter(rows, i, self.input(np.full(3, 9, np.float32), 'v'), trt.ScatterMode.ND)
        chosen = n.add_select(n.add_elementwise(rows, rows, trt.ElementWiseOperation.EQUAL).get_output(0), rows, rows)
        found = self.results(n.add_gather(rows, i, 0), element, nd, shared, put, put_nd, chosen)
        scattered, scattered_nd = ROWS.copy(), ROWS.copy()
        np.put_along_axis(scattered, index, 1, 1)
        scattered_nd[tuple(index.T)] = 9
        truths = [ROWS[index], np.take_along_axis(ROWS, index, 1), ROWS[tuple(index.T)], np.take_along_axis(ROWS, index, 1), scattered,
                  scattered_nd, ROWS]
        for array, truth in zip(found, truths, strict=True):
            self.near(array, truth)

    def test_numbers_from_nothing(self):
        n = self.network
        line = n.add_fill((5,), trt.FillOperation.LINSPACE)
        line.alpha, line.beta = 1, 0.5
        places = n.add_fill((4,), trt.FillOperation.LINSPACE, trt.int32)
        uniform, normal = n.add_fill((1000,), trt.FillOperation.RANDOM_UNIFORM), n.add_fill((1000,), trt.FillOperation.RANDOM_NORMAL)
        uniform.alpha, uniform.beta, normal.alpha = 2, 3, 10
        found = self.results(line, places, uniform, normal, n.add_constant((2, 3), np.arange(6, dtype=np.float32)))
        self.near(found[0], [1, 1.5, 2, 2.5, 3])
        np.testing.assert_array_equal(found[1], np.arange(4, dtype=np.int32))
        self.assertTrue(2 <= found[2].min() < 2.1 < 2.9 < found[2].max() <= 3)
        self.assertTrue(9.8 < found[3].mean() < 10.2 and 0.9 < found[3].std() < 1.1)
        self.near(found[4], np.arange(6).reshape(2, 3))

    def test_casts_and_quantized_numbers(self):
        x, n = self.input(ROWS), self.network
        scale = n.add_constant((), np.float32(0.1)).get_output(0)
        q = n.add_quantize(x, scale)
        back = n.add_dequantize(q.get_output(0), scale)
        whole, same = n.add_cast(x, trt.int32), n.add_identity(x)
        same.set_output_type(0, trt.bool)
        found = self.results(back, whole, same)
        self.near(found[0], np.clip(np.round(ROWS / np.float32(0.1)), -128, 127) * 0.1)
        np.testing.assert_array_equal(found[1], ROWS.astype(np.int32))
        np.testing.assert_array_equal(found[2], ROWS.astype(bool))
        self.assertEqual(q.get_output(0).dtype, trt.int8)

    def test_the_others(self):
        x, n = self.input(ROWS), self.network

        def constant(array, *shape):
            return n.add_constant(shape or np.shape(array), np.asarray(array)).get_output(0)
        slope = np.float32([[0.1, 0.2, 0.3, 0.4, 0.5]])
        hot = n.add_one_hot(constant(np.array([1, 3])), constant(np.float32([2, 7])), constant(np.array(4)), -1)
        sums = n.add_cumulative(x, constant(np.array(1)), trt.CumulativeOperation.SUM, False, True)
        turned = n.add_reverse_sequence(x, constant(np.array([2, 3, 1, 0, 3], np.int32) + 0))
        square = n.add_einsum([x, x], 'ij,kj->ik')
        places = n.add_non_zero(x)
        grown = n.add_unsqueeze(x, constant(np.array([0])))
        back = n.add_squeeze(grown.get_output(0), constant(np.array([0])))
        found = self.results(n.add_parametric_relu(x, constant(slope)), hot, sums, turned, square, places, grown, back)
        expected = ROWS.copy()
        for column, length in enumerate([2, 3, 1, 0, 3]):
            expected[:length, column] = expected[:length, column][::-1]
        truths = [np.where(ROWS < 0, ROWS * slope, ROWS), 2 + 5 * np.eye(4)[[1, 3]], ROWS[:, ::-1].cumsum(1)[:, ::-1], expected,
                  ROWS @ ROWS.T, np.array(np.nonzero(ROWS)), ROWS[None], ROWS]
        for array, truth in zip(found, truths, strict=True):
            self.near(array, truth, 1e-4)


if __name__ == '__main__':
    unittest.main()
