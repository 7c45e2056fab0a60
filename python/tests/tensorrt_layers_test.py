"""tenfold.tensorrt's networks made layer by layer: every kind, options that change late, and what does not fit. The truth is NumPy's, or
ONNX Runtime's where NumPy has no such operator."""
import math
import unittest

import numpy as np
import onnxruntime
from case import Case, TensorProto, helper, model, tanh_model
from tensorrt_case import Lines

import tenfold
import tenfold.tensorrt as trt

RANDOM = np.random.default_rng(3)
IMAGE = RANDOM.standard_normal((2, 4, 7, 6)).astype(np.float32)
ROWS = RANDOM.standard_normal((3, 5)).astype(np.float32)


def runtime(op, inputs, count=1, opset=21, **attributes):
    """What ONNX Runtime computes for one node."""
    names = [f'i{n}' if x is not None else '' for n, x in enumerate(inputs)]
    proto = model([helper.make_node(op, names, [f'o{n}' for n in range(count)], **attributes)],
                  [(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in zip(names, inputs) if n],
                  [(f'o{n}', TensorProto.FLOAT, None) for n in range(count)], opset=opset)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=['CPUExecutionProvider'])
    found = session.run(None, {n: x for n, x in zip(names, inputs) if n})
    return found[0] if count == 1 else found


class Layers(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()
        self.builder = trt.Builder(self.logger)
        self.network = self.builder.create_network()

    def input(self, array, name='x', shape=None):
        kinds = {np.dtype(trt.nptype(k)): k for k in (trt.float32, trt.int32, trt.int64, trt.bool, trt.int8, trt.uint8)}
        tensor = self.network.add_input(name, kinds[array.dtype], array.shape if shape is None else shape)
        self.arrays = {**getattr(self, 'arrays', {}), name: np.ascontiguousarray(array)}
        return tensor

    def results(self, *layers):
        """Of the layers' first results, or of tensors, as the built network computes them."""
        tensors = [t if isinstance(t, trt.ITensor) else t.get_output(0) for t in layers]
        for tensor in tensors:
            self.network.mark_output(tensor)
        config = self.builder.create_builder_config()
        config.builder_optimization_level = 0
        config.clear_flag(trt.BuilderFlag.TF32)
        if any(-1 in t.shape for t in (self.network.get_input(i) for i in range(self.network.num_inputs))):
            profile = self.builder.create_optimization_profile()
            for name, x in self.arrays.items():
                profile.set_shape(name, x.shape, x.shape, x.shape)
            config.add_optimization_profile(profile)
        engine = self.builder.build_engine_with_config(self.network, config)
        self.assertIsNotNone(engine, self.logger.errors)
        given = {name: x for name, x in getattr(self, 'arrays', {}).items() if name in list(engine)}
        found = engine._engine({n: x for n, x in given.items()})
        return [found[t.name] if isinstance(found, dict) else found for t in tensors]

    def check(self, layer, wanted, tolerance=1e-5):
        (found,) = self.results(layer)
        self.assertEqual(found.shape, np.shape(wanted))
        self.assertEqual(tuple(layer.get_output(0).shape) if not isinstance(layer, trt.ITensor) else found.shape, found.shape)
        self.near(found, wanted, tolerance)
        return found


class Kinds(Layers):
    def test_convolution_and_its_options(self):
        w, b = RANDOM.standard_normal((6, 2, 3, 2)).astype(np.float32), RANDOM.standard_normal(6).astype(np.float32)
        conv = self.network.add_convolution_nd(self.input(IMAGE), 6, (3, 2), w, b)
        conv.num_groups = 2
        self.assertEqual(conv.get_output(0).shape, (2, 6, 5, 5))
        conv.stride_nd, conv.padding_nd, conv.dilation_nd = (2, 1), (1, 2), (1, 2)
        self.assertEqual((conv.stride, conv.pre_padding, conv.kernel_size_nd, conv.num_output_maps), ((2, 1), (1, 2), (3, 2), 6))
        self.check(conv, runtime('Conv', [IMAGE, w, b], strides=[2, 1], pads=[1, 2, 1, 2], dilations=[1, 2], group=2), 1e-4)

    def test_same_padding_and_no_bias(self):
        w = RANDOM.standard_normal((3, 4, 3, 2)).astype(np.float32)
        conv = self.network.add_convolution(self.input(IMAGE), 3, (3, 2), w)
        conv.padding_mode, conv.stride = trt.PaddingMode.SAME_UPPER, (2, 2)
        self.check(conv, runtime('Conv', [IMAGE, w], strides=[2, 2], auto_pad='SAME_UPPER'), 1e-4)

    def test_a_kernel_that_is_a_tensor(self):
        w = RANDOM.standard_normal((3, 4, 1, 1)).astype(np.float32)
        conv = self.network.add_convolution_nd(self.input(IMAGE), 3, (1, 1), trt.Weights(trt.float32))
        conv.set_input(1, self.input(w, 'w'))
        self.check(conv, runtime('Conv', [IMAGE, w]), 1e-4)

    def test_deconvolution(self):
        w, b = RANDOM.standard_normal((4, 3, 2, 2)).astype(np.float32), RANDOM.standard_normal(3).astype(np.float32)
        up = self.network.add_deconvolution_nd(self.input(IMAGE), 3, (2, 2), w, b)
        up.stride_nd = (2, 2)
        self.check(up, runtime('ConvTranspose', [IMAGE, w, b], strides=[2, 2]), 1e-4)

    def test_poolings(self):
        x = self.input(IMAGE)
        most = self.network.add_pooling_nd(x, trt.PoolingType.MAX, (3, 2))
        mean = self.network.add_pooling(x, trt.PoolingType.AVERAGE, (3, 2))
        both = self.network.add_pooling_nd(x, trt.PoolingType.MAX_AVERAGE_BLEND, (3, 2))
        up = self.network.add_pooling_nd(x, trt.PoolingType.MAX, (3, 4))
        for pool in (most, mean, both):
            pool.stride_nd = (2, 2)
        mean.padding_nd, mean.average_count_excludes_padding, both.blend_factor = (1, 1), False, 0.25
        up.stride_nd, up.padding_mode = (3, 3), trt.PaddingMode.EXPLICIT_ROUND_UP
        self.assertEqual((mean.type, mean.window_size, mean.average_count_excludes_padding), (trt.PoolingType.AVERAGE, (3, 2), False))
        top = runtime('MaxPool', [IMAGE], kernel_shape=[3, 2], strides=[2, 2])
        average = runtime('AveragePool', [IMAGE], kernel_shape=[3, 2], strides=[2, 2])
        wanted = [top, runtime('AveragePool', [IMAGE], kernel_shape=[3, 2], strides=[2, 2], pads=[1] * 4, count_include_pad=1),
                  0.75 * top + 0.25 * average, runtime('MaxPool', [IMAGE], kernel_shape=[3, 4], strides=[3, 3], ceil_mode=1)]
        for found, truth in zip(self.results(most, mean, both, up), wanted, strict=True):
            self.near(found, truth)

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
        wanted = [high ** ROWS, ROWS / high, np.floor(ROWS / high), (ROWS > 0) & (ROWS > 0.5), (ROWS > 0) | (ROWS > 0.5),
                  (ROWS > 0) ^ (ROWS > 0.5)]
        for found, truth in zip(self.results(*layers), wanted, strict=True):
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
        wanted = n.add_concatenation([sizes.get_output(0), rest.get_output(0)])
        wanted.axis = 0
        shuffle = n.add_shuffle(x)
        shuffle.set_input(1, wanted.get_output(0))
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

    def test_scale_and_normalisations(self):
        x, n = self.input(IMAGE), self.network
        c = np.arange(1, 5, dtype=np.float32)
        squared = n.add_scale(x, trt.ScaleMode.UNIFORM, np.float32([1]), np.float32([2]), np.float32([2]))
        channel = n.add_scale(x, trt.ScaleMode.CHANNEL, c, 2 * c)
        each = n.add_scale_nd(x, trt.ScaleMode.ELEMENTWISE, scale=IMAGE[0])
        lrn = n.add_lrn(x, 3, 0.1, 0.75, 2)
        s, b = n.add_constant((1, 4, 1, 1), c).get_output(0), n.add_constant((1, 4, 1, 1), -c).get_output(0)
        norm, group = n.add_normalization(x, s, b, 0b1110), n.add_normalization(x, s, b, 0)
        norm.epsilon, group.num_groups = 1e-3, 2
        found = self.results(squared, channel, each, lrn, norm, group)
        k = c.reshape(1, 4, 1, 1)
        centred = IMAGE - IMAGE.mean((1, 2, 3), keepdims=True)
        halves = IMAGE.reshape(2, 2, -1)
        halves = ((halves - halves.mean(2, keepdims=True)) / np.sqrt(halves.var(2, keepdims=True) + 1e-5)).reshape(IMAGE.shape)
        truths = [(2 * IMAGE + 1) ** 2, 2 * k * IMAGE + k, IMAGE * IMAGE[0],
                  runtime('LRN', [IMAGE], size=3, alpha=0.1, beta=0.75, bias=2.0),
                  centred / np.sqrt(IMAGE.var((1, 2, 3), keepdims=True) + 1e-3) * k - k, halves * k - k]
        for array, truth in zip(found, truths, strict=True):
            self.near(array, truth, 1e-4)

    def test_resize(self):
        x, n = self.input(IMAGE), self.network
        layers = [n.add_resize(x) for _ in range(3)]
        layers[0].scales = [1, 1, 2, 2]
        layers[1].shape, layers[1].resize_mode = (2, 4, 9, 5), trt.InterpolationMode.LINEAR
        layers[1].coordinate_transformation = trt.ResizeCoordinateTransformation.HALF_PIXEL
        layers[2].set_input(1, n.add_constant((4,), np.array([2, 4, 3, 12], np.int32)).get_output(0))
        layers[2].resize_mode, layers[2].coordinate_transformation = trt.ResizeMode.CUBIC, trt.ResizeCoordinateTransformation.ALIGN_CORNERS
        sizes = [None, np.array([2, 4, 9, 5]), np.array([2, 4, 3, 12])]
        forms = [dict(mode='nearest', coordinate_transformation_mode='asymmetric', nearest_mode='floor'),
                 dict(mode='linear', coordinate_transformation_mode='half_pixel'),
                 dict(mode='cubic', coordinate_transformation_mode='align_corners')]
        self.near(layers[0].get_output(0).shape, (2, 4, 14, 12))
        for found, size, form in zip(self.results(*layers), sizes, forms, strict=True):
            scales = np.float32([1, 1, 2, 2]) if size is None else None
            self.near(found, runtime('Resize', [IMAGE, None, scales, size], **form), 1e-4)

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

    def test_casts_and_quantised_numbers(self):
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
        wanted = ROWS.copy()
        for column, length in enumerate([2, 3, 1, 0, 3]):
            wanted[:length, column] = wanted[:length, column][::-1]
        truths = [np.where(ROWS < 0, ROWS * slope, ROWS), 2 + 5 * np.eye(4)[[1, 3]], ROWS[:, ::-1].cumsum(1)[:, ::-1], wanted,
                  ROWS @ ROWS.T, np.array(np.nonzero(ROWS)), ROWS[None], ROWS]
        for array, truth in zip(found, truths, strict=True):
            self.near(array, truth, 1e-4)

    def test_samples_of_a_grid_and_boxes(self):
        grid = RANDOM.uniform(-1, 1, (2, 3, 3, 2)).astype(np.float32)
        n = self.network
        sampled = n.add_grid_sample(self.input(IMAGE), self.input(grid, 'g'))
        sampled.align_corners, sampled.sample_mode = True, trt.SampleMode.CLAMP
        boxes = np.float32([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]]])
        scores = np.float32([[[0.9], [0.8], [0.7]]])
        kept = n.add_nms(self.input(boxes, 'b'), self.input(scores, 's'), n.add_constant((), np.int32(5)).get_output(0))
        kept.set_input(3, n.add_constant((), np.float32(0.5)).get_output(0))
        found = self.results(sampled, kept.get_output(0), kept.get_output(1))
        self.near(found[0], runtime('GridSample', [IMAGE, grid], mode='linear', padding_mode='border', align_corners=1), 1e-4)
        np.testing.assert_array_equal(found[1], [[0, 0, 0], [0, 0, 2]])
        self.assertEqual(int(found[2]), 2)


class Networks(Layers):
    def test_a_perceptron_as_the_samples_write_it(self):
        w, b = RANDOM.standard_normal((4, 5)).astype(np.float32), RANDOM.standard_normal(4).astype(np.float32)
        n = self.network
        x = self.input(ROWS, shape=(-1, 5))
        kernel = n.add_constant(shape=w.shape, weights=trt.Weights(w.copy()))
        product = n.add_matrix_multiply(x, trt.MatrixOperation.NONE, kernel.get_output(0), trt.MatrixOperation.TRANSPOSE)
        bias = n.add_constant((1, 4), b.copy())
        added = n.add_elementwise(product.get_output(0), bias.get_output(0), trt.ElementWiseOperation.SUM)
        relu = n.add_activation(added.get_output(0), type=trt.ActivationType.RELU)
        relu.name, relu.get_output(0).name = 'relu', 'prob'
        self.assertEqual((n.num_layers, n[4].name, n.get_layer(1).type, kernel.get_output(0).shape, relu.get_output(0).shape),
                         (5, 'relu', trt.LayerType.MATRIX_MULTIPLY, (4, 5), (-1, 4)))
        self.assertEqual(n.get_layer(1).get_input(0), x)
        self.assertEqual(product.name, '(Unnamed Layer* 1) [MatrixMultiply]')
        self.near(self.results(relu)[0], np.maximum(ROWS @ w.T + b, 0), 1e-4)
        self.assertEqual(n.get_output(0).name, 'prob')

    def test_options_may_change_after_layers_behind_them(self):
        w = RANDOM.standard_normal((4, 4, 3, 3)).astype(np.float32)
        n, x = self.network, self.input(IMAGE)
        left, right = (n.add_convolution_nd(x, 4, (3, 3), w) for _ in range(2))
        both = n.add_elementwise(left.get_output(0), right.get_output(0), trt.ElementWiseOperation.SUM)
        n.mark_output(left.get_output(0))
        n.mark_output(both.get_output(0))
        self.assertEqual(both.get_output(0).shape, (2, 4, 5, 4))
        left.get_output(0).name, both.get_output(0).name = 'left', 'both'
        left.padding_nd = (1, 1)   # nothing fits until the other follows
        right.padding_nd = (1, 1)
        self.assertEqual(both.get_output(0).shape, (2, 4, 7, 6))
        self.assertEqual([n.get_output(i).name for i in range(n.num_outputs)], ['left', 'both'])
        truth = runtime('Conv', [IMAGE, w], pads=[1] * 4)
        found = self.results()
        self.assertEqual(found, [])
        for array, wanted in zip(self.results(left, both), (truth, 2 * truth), strict=True):
            self.near(array, wanted, 1e-4)
        n.unmark_output(n.get_output(0))
        self.assertEqual([n.get_output(i).name for i in range(n.num_outputs)], ['both'])

    def test_weights_outlive_the_script_s_arrays(self):
        layer = self.network.add_constant((1000,), np.arange(1000, dtype=np.float32) + 1)
        [np.zeros(1000, np.float32) for _ in range(50)]
        self.near(self.results(layer)[0], np.arange(1, 1001))
        self.assertEqual((layer.weights.numpy()[0], len(layer.weights), layer.weights.dtype, layer.shape), (1, 1000, trt.float32, (1000,)))

    def test_layers_behind_a_model(self):
        parser = trt.OnnxParser(self.network, self.logger)
        self.assertTrue(parser.parse(tanh_model().SerializeToString()))
        y = self.network.get_output(0)
        doubled = self.network.add_elementwise(y, y, trt.ElementWiseOperation.SUM)
        doubled.get_output(0).name = 'doubled'
        self.network.unmark_output(y)
        self.arrays = {'x': RANDOM.standard_normal((4, 6)).astype(np.float32)}
        from case import truth
        self.near(self.results(doubled)[0], 2 * truth(self.arrays['x']), 1e-4)
        self.assertEqual([layer.name for layer in self.network][:2], ['product', 'bend'])
        self.assertFalse(parser.parse(tanh_model().SerializeToString()))

    def test_what_does_not_fit(self):
        n, x = self.network, self.input(IMAGE)
        conv = n.add_convolution_nd(x, 4, (3, 3), np.zeros(7, np.float32))
        conv.name = 'conv1'
        self.refused(tenfold.InvalidArgument, ["'conv1'", 'kernel has 7 elements, 144'], lambda: conv.get_output(0).shape)
        kept = n.add_identity(x)
        n.mark_output(kept.get_output(0))
        self.assertIsNone(self.builder.build_serialized_network(n, self.builder.create_builder_config()))
        self.assertIn("'conv1'", self.logger.errors[-1])
        conv.kernel = np.zeros((4, 4, 3, 3), np.float32)
        self.assertEqual(conv.get_output(0).shape, (2, 4, 5, 4))
        self.refused(AttributeError, 'strides', setattr, conv, 'strides', (1, 1))
        self.refused(TypeError, 'get_output(0)', n.add_activation, conv, trt.ActivationType.RELU)
        self.refused(tenfold.Unsupported, 'add_loop()', lambda: n.add_loop)
        self.refused(AttributeError, 'add_nonsense', lambda: n.add_nonsense)
        self.refused(tenfold.InvalidArgument, '(concatenation)', lambda: n.add_concatenation([x, None]).get_output(0).shape)
        late = n.add_identity(conv.get_output(0))
        conv.set_input(0, late.get_output(0))
        self.refused(tenfold.InvalidArgument, 'its own result', lambda: conv.get_output(0).shape)
        conv.set_input(0, x)
        wrong = n.add_reduce(x, trt.ReduceOperation.SUM, 1 << 5, True)
        self.refused(tenfold.InvalidArgument, 'beyond the 4', lambda: wrong.get_output(0).shape)


if __name__ == '__main__':
    unittest.main()
