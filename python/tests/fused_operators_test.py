"""What ONNX Runtime's optimizers and bitsandbytes write: beside ONNX Runtime, or, where its CPU has no kernel, beside NumPy in f64."""
import itertools
import unittest

import numpy as np
from case import helper, numpy_helper
from microsoft_case import RANDOM, MicrosoftCase, floats, one_operator

import tenfold

FP4 = [0, 5.208333333e-3, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25]
NF4 = [-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434,
       0.5626170039176941, 0.7229568362236023, 1]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def bucket(position, buckets, distance, both_ways):
    """As T5's paper has it."""
    result = 0
    if both_ways:
        buckets //= 2
        result = buckets if position > 0 else 0
        position = abs(position)
    else:
        position = max(-position, 0)
    exact = buckets // 2
    if position < exact:
        return result + position
    part = np.log(np.float32(position) / np.float32(exact)) / np.log(np.float32(distance) / np.float32(exact))
    return result + min(exact + int(part * np.float32(buckets - exact)), buckets - 1)


class FusedOperators(MicrosoftCase):
    def expect(self, expected, op, operands, initializers=(), tolerance=1e-5, **attributes):
        found = self.ours(op, operands, 1, initializers, **attributes)[0]
        self.assertEqual(found.shape, expected.shape)
        np.testing.assert_allclose(found.astype(np.float64), expected, rtol=tolerance, atol=tolerance)

    def refuses(self, words, op, operands, initializers=(), **attributes):
        self.refused(tenfold.Error, words, tenfold.build, one_operator(op, operands, 1, initializers, **attributes), device='cpu')

    def test_softmax_with_a_bias(self):
        for shape, bias, axis, inner in (((2, 3, 4, 5), (2, 1, 1, 5), 3, 1), ((2, 3, 4, 5), (3, 4, 5), -1, 0), ((2, 3, 4, 5), (5,), 3, 0),
                                         ((2, 3, 4, 5), (2, 1, 4, 5), 2, 1), ((2, 3, 4, 5), (4, 5), 2, 0), ((2, 3, 4), (2, 3, 4), -2, 1),
                                         ((3, 6), (3, 6), 0, 1), ((2, 3, 4, 5), (1, 1, 4, 5), 3, 0)):
            for dtype, tolerance in ((np.float32, 1e-5), (np.float64, 1e-12), (np.float16, 2e-3)):
                x, b = (RANDOM.standard_normal(s).astype(dtype) for s in (shape, bias))
                rows = (x.astype(np.float64) + b.astype(np.float64)).reshape(*shape[:axis % len(shape)], -1)
                with self.subTest(shape=shape, bias=bias, dtype=dtype):
                    self.expect(softmax(rows).reshape(shape), 'BiasSoftmax', [('x', x), ('b', b)], tolerance=tolerance, axis=axis,
                                is_inner_broadcast=inner)
        self.expect(softmax(np.arange(6.0).reshape(2, 3) * 2), 'BiasSoftmax', [(n, np.arange(6.0).reshape(2, 3)) for n in 'xb'],
                    is_inner_broadcast=0)

    def test_weights_of_four_bits(self):
        for kind, (k, n), block in itertools.product((0, 1), ((64, 5), (30, 7), (15, 3)), (16, 64)):
            codes = RANDOM.integers(0, 16, k * n + k * n % 2)   # whole bytes
            packed = (codes[0::2] << 4 | codes[1::2]).astype(np.uint8)
            scales = np.abs(floats((k * n + block - 1) // block)) + 0.1
            weights = numpy_helper.from_array(packed, 'w')
            for turned in (1, 0):
                operands = [('x', floats(2, 3, k if turned else n)), ('w', True), ('s', scales)]
                attributes = dict(K=k, N=n, block_size=block, quant_type=kind, transB=turned)
                book = np.array(NF4 if kind else FP4 + [-v for v in FP4])
                b = (book[codes[:k * n]] * np.repeat(scales, block)[:k * n]).reshape(n, k)
                with self.subTest(kind=kind, k=k, n=n, block=block, turned=turned):
                    self.expect(operands[0][1].astype(np.float64) @ (b.T if turned else b), 'MatMulBnb4', operands, [weights], **attributes)
                    if turned:
                        self.compare('MatMulBnb4', operands, initializers=[weights], **attributes)

    def test_pads_that_are_data(self):
        for groups, bias, pads in itertools.product((1, 2), (False, True), ([0, 0, 0, 0], [1, 0, 2, 1], [0, 2, 1, 0])):
            operands = [('x', floats(2, 4, 5, 6)), ('w', floats(4, 3, 3, 3)), ('p', np.array(pads)),
                        ('b', floats(3 * groups) if bias else None)][:3 + bias]
            attributes = dict(strides=[2, 1], dilations=[1, 2], output_padding=[1, 0], group=groups)
            with self.subTest(groups=groups, bias=bias, pads=pads):
                self.compare('ConvTransposeWithDynamicPads', operands, **attributes)
                constant = [(n, True if n == 'p' else a) for n, a in operands]
                self.compare('ConvTransposeWithDynamicPads', constant, initializers=[numpy_helper.from_array(np.array(pads), 'p')],
                             **attributes)
        self.compare('ConvTransposeWithDynamicPads', [('x', floats(1, 2, 7)), ('w', floats(2, 3, 3)), ('p', np.array([1, 1]))], strides=[2])

    def test_images_whose_channels_are_last(self):
        x, w, b = floats(2, 7, 6, 4), floats(6, 4, 3, 3), floats(6)
        for activation, parameters in (('', None), ('Relu', None), ('Sigmoid', None), ('Tanh', None), ('LeakyRelu', [0.25]),
                                       ('HardSigmoid', [0.25, 0.5]), ('Clip', [-0.5, 0.5])):
            for residual, bias in ((None, None), (None, b), (floats(2, 7, 6, 6), b)):
                attributes = {'pads': [1, 1, 1, 1], **({'activation': activation} if activation else {}),
                              **({'activation_params': parameters} if parameters else {})}
                operands = [('x', x), ('w', w), ('b', bias), ('z', residual)]
                while operands[-1][1] is None:
                    operands.pop()
                with self.subTest(activation, residual=residual is not None, bias=bias is not None):
                    first = [(n, a.transpose(0, 3, 1, 2) if n in 'xz' and a is not None else a) for n, a in operands]
                    expected = self.theirs('FusedConv', [(n, np.ascontiguousarray(a) if a is not None else a) for n, a in first],
                                           **attributes)[0]
                    self.expect(expected.transpose(0, 2, 3, 1), 'NhwcFusedConv', operands, **attributes)
                    if not activation and residual is None:
                        self.expect(expected.transpose(0, 2, 3, 1), 'NhwcConv', operands, pads=[1, 1, 1, 1])

    def test_bias_by_position(self):
        for (buckets, distance), both_ways, heads, rows, dtype in itertools.product(
                ((32, 128), (8, 20), (4, 128)), (0, 1), (1, 3), (1, 9, 150), (np.float32, np.float16)):
            table = RANDOM.standard_normal((heads, buckets)).astype(dtype)
            numbers = np.array([[bucket(k - q, buckets, distance, both_ways) for k in range(rows)] for q in range(rows)])
            length = np.array([rows])
            with self.subTest(buckets=buckets, both_ways=both_ways, heads=heads, rows=rows, dtype=dtype):
                operands = [('t', table.reshape(buckets, heads)), ('q', length), ('k', length)]
                self.expect(table[None, :, numbers].astype(np.float64), 'RelativePositionBias', operands, max_distance=distance,
                            is_bidirectional=both_ways)
        published = np.array([1, 3, 5, 7, 2, 4, 6, 8], np.float32).reshape(4, 2)   # ONNX Runtime's own test
        self.expect(np.array([1, 7, 3, 1, 2, 8, 4, 2]).reshape(1, 2, 2, 2), 'RelativePositionBias',
                    [('t', published), ('q', np.array([2])), ('k', np.array([2]))], max_distance=128, is_bidirectional=1)

    def test_gated_bias_by_position(self):
        for batch, heads, rows, size, columns in ((2, 2, 3, 4, 8), (1, 3, 5, 2, 2)):
            q, b, p, w, c, a = (floats(*s) for s in ((batch, rows, heads * size), (heads * size,), (1, heads, rows, rows), (size, columns),
                                                     (columns,), (1, heads, 1, 1)))
            shared = [('b', b), ('p', p), ('w', w), ('c', c), ('a', a)]
            kept = np.array([t for t in range(batch * rows) if t % 3 != 1])
            places = np.concatenate([kept, np.setdiff1d(np.arange(batch * rows), kept)]).astype(np.int32).reshape(batch, rows)
            padded = np.zeros((batch * rows, heads * size), np.float32)
            padded[kept] = q.reshape(batch * rows, -1)[kept]
            for queries, operands in ((q, [('q', q), *shared]),
                                      (padded.reshape(q.shape), [('q', padded[kept]), *shared, ('o', places)])):
                x = (queries.astype(np.float64) + b).reshape(batch, rows, heads, size).transpose(0, 2, 1, 3)
                gates = sigmoid((x @ w.astype(np.float64) + c).reshape(batch, heads, rows, 2, columns // 2).sum(-1))
                expected = (gates[..., :1] * (gates[..., 1:] * a - 1.0) + 2.0) * p
                with self.subTest(batch=batch, removed=len(operands) > 6):
                    self.expect(expected, 'GatedRelativePositionBias', operands, num_heads=heads)

    def test_what_is_refused(self):
        x = floats(2, 3, 4)
        softmax_of = lambda bias, words, **a: self.refuses(words, 'BiasSoftmax', [('x', x), ('b', bias)], **a)
        softmax_of(floats(2, 1, 4), 'is_inner_broadcast')
        softmax_of(floats(2, 1, 4), 'axis 3 is out of range', axis=3, is_inner_broadcast=1)
        softmax_of(floats(1, 2, 3, 4), 'the bias has rank 4, the data 3', axis=2, is_inner_broadcast=1)
        softmax_of(floats(2, 1, 1), 'the bias has extent 1 in dim 2', axis=2, is_inner_broadcast=1)
        softmax_of(floats(2, 1, 4), 'does not repeat along the outer dims', axis=2, is_inner_broadcast=0)
        softmax_of(floats(1, 3, 4), 'does not repeat along the inner dims', axis=2, is_inner_broadcast=1)
        self.refuses('input 1 is missing', 'BiasSoftmax', [('x', x)], is_inner_broadcast=1)

        weights = numpy_helper.from_array(RANDOM.integers(0, 256, 32).astype(np.uint8), 'w')
        bnb4 = lambda words, count=4, w=weights, **a: self.refuses(
            words, 'MatMulBnb4', [('x', floats(2, 16)), ('w', True), ('s', np.ones(count, np.float32))], [w],
            **{'K': 16, 'N': 4, 'block_size': 16, 'quant_type': 1, **a})
        bnb4('quant_type is 2, 0 (FP4) or 1 (NF4) expected', quant_type=2)
        bnb4('block_size is 24, a power of two', block_size=24)
        bnb4('have 32 bytes, 40 expected', 5, N=5)
        bnb4('there are 3 scales (input 2), 4 expected', 3)
        bnb4('K is 0', K=0)
        bnb4('are i8, u8 expected', w=helper.make_tensor('w', 3, [32], bytes(32), raw=True))
        self.refuses('the weights (input 1) must be a constant', 'MatMulBnb4',
                     [('x', floats(2, 16)), ('w', np.zeros(32, np.uint8)), ('s', np.ones(4, np.float32))], K=16, N=4, block_size=16,
                     quant_type=1)

        turned = lambda pads, words, **a: self.refuses(
            words, 'ConvTransposeWithDynamicPads', [('x', floats(1, 2, 7)), ('w', floats(2, 3, 3)), ('p', pads)], **a)
        turned(np.array([1, 1, 1]), 'have shape [3], [2] expected')
        turned(np.array([[1, 1]]), 'have shape [1,2], [2] expected')
        turned(np.array([1, 1], np.int32), 'are i32, i64 expected')
        turned(np.array([1, 1]), "auto_pad is 'SAME_UPPER', NOTSET expected", auto_pad='SAME_UPPER')

        images = [('x', floats(1, 5, 5, 2)), ('w', floats(3, 2, 3, 3))]
        self.refuses("the activation 'Mish'", 'NhwcFusedConv', images, activation='Mish')
        self.refuses('0 activation_params, 2 expected', 'NhwcFusedConv', images, activation='Clip')
        self.refuses('rank 2, 3 or more expected', 'NhwcFusedConv', [('x', floats(5, 2)), images[1]])
        self.refuses('input 1 is missing', 'NhwcConv', images[:1])

        one = np.array([3])
        position = lambda words, table=floats(8, 2), q=one, **a: self.refuses(
            words, 'RelativePositionBias', [('t', table), ('q', q), ('k', one)], **{'max_distance': 16, **a})
        position('max_distance is 0', max_distance=0)
        position('max_distance is 4, more than 4 expected for 8 buckets', max_distance=4)
        position('at most 2^20', max_distance=1 << 40)
        position('the table (input 0) has rank 1', floats(8))
        position('has 2 buckets, 4 or more expected', floats(2, 2), is_bidirectional=1)
        position('the number of queries (input 1) has rank 2', q=np.array([[3]]))
        self.refuses('input 2 is missing', 'RelativePositionBias', [('t', floats(8, 2)), ('q', one)], max_distance=16)
        self.refuses('max_distance', 'RelativePositionBias', [('t', floats(8, 2)), ('q', one), ('k', one)])

        def gated(words, heads=2, **changed):
            operands = {'q': floats(1, 3, 8), 'b': floats(8), 'p': floats(1, 2, 3, 3), 'w': floats(4, 6), 'c': floats(6),
                        'a': floats(1, 2, 1, 1), **changed}
            self.refuses(words, 'GatedRelativePositionBias', list(operands.items()), num_heads=heads)

        gated('num_heads is 0', heads=0)
        gated('do not divide into 3 heads', heads=3)
        gated('rank 2, 3 expected, or 2 with the places', q=floats(3, 8))
        gated('have 5 columns, an even number expected', w=floats(4, 5))
        gated('have ranks 1 and 1', w=floats(4))
        gated('the places of tokens (input 6) have rank 1', q=floats(3, 8), o=np.arange(3, dtype=np.int32))
        for i, name in enumerate('qbpwca'):
            gated(f'input {i} is missing', **{name: None})


if __name__ == '__main__':
    unittest.main()
