"""tenfold.tensorrt's layers of transformers, and those that quantize in blocks. The truth is NumPy's, with ml_dtypes' small floats."""
import unittest

import ml_dtypes
import numpy as np
from layers_case import RANDOM, Layers

import tenfold
import tenfold.tensorrt as trt

OP = trt.AttentionNormalizationOp


def random(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


QUERY, KEY, VALUE = random(2, 4, 5, 8), random(2, 4, 7, 8), random(2, 4, 7, 8)


class Attention(Layers):
    def attention(self, query=QUERY, key=KEY, value=VALUE, op=OP.SOFTMAX, causal=False):
        return self.network.add_attention(self.input(query, 'q'), self.input(key, 'k'), self.input(value, 'v'), op, causal)

    def test_products_are_not_scaled(self):
        made = self.attention()
        self.assertEqual((made.norm_op, made.causal, made.num_inputs, made.num_outputs), (OP.SOFTMAX, False, 3, 1))
        self.check(made, softmax(QUERY @ KEY.swapaxes(2, 3)) @ VALUE)

    def test_causal(self):
        made = self.attention()
        made.causal = made.decomposable = True
        self.assertTrue(made.causal and made.decomposable)
        scores = np.where(np.arange(7) <= np.arange(5)[:, None], QUERY @ KEY.swapaxes(2, 3), -np.inf)
        self.check(made, softmax(scores) @ VALUE)

    def test_masks(self):
        keep, add = RANDOM.random((2, 1, 5, 7)) > 0.3, random(1, 4, 5, 7)
        keep[..., 0] = True
        for mask, scores in ((keep, np.where(keep, QUERY @ KEY.swapaxes(2, 3), -np.inf)), (add, QUERY @ KEY.swapaxes(2, 3) + add)):
            with self.subTest(mask.dtype):
                self.setUp()
                made = self.attention()
                made.mask = self.input(mask, 'm')
                self.assertEqual((made.mask.name, made.num_inputs), ('m', 4))
                self.check(made, softmax(scores) @ VALUE)

    def test_heads_share_keys(self):
        key, value = KEY[:, :2], VALUE[:, :2]
        scores = QUERY @ np.repeat(key, 2, 1).swapaxes(2, 3)
        self.check(self.attention(key=key, value=value), softmax(scores) @ np.repeat(value, 2, 1))

    def test_without_normalization(self):
        self.check(self.attention(op=OP.NONE), QUERY @ KEY.swapaxes(2, 3) @ VALUE, 1e-4)

    def test_weights_are_quantized(self):
        """As the layer says; a build leaves the rounding out, because it computes products of activations in floats."""
        made = self.attention()
        made.normalization_quantize_scale = self.network.add_constant((1,), np.array([1 / 127], np.float32)).get_output(0)
        made.normalization_quantize_to_type = trt.int8
        self.assertEqual(made.normalization_quantize_to_type, trt.int8)
        exact = softmax(QUERY @ KEY.swapaxes(2, 3))
        self.check(made, exact @ VALUE)
        rounded = tenfold.build(self.network._graph, device='cpu', optimization_level=0, tf32=False, disabled_passes=['remove_qdq'])
        self.near(rounded(self.arrays), np.clip(np.round(exact * 127), -128, 127) / 127 @ VALUE, 1e-4)

    def test_what_does_not_fit(self):
        made = self.attention(causal=True)
        made.mask = self.input(np.zeros((1, 1, 5, 7), np.float32), 'm')
        self.refused(tenfold.InvalidArgument, 'causal and a mask exclude each other', lambda: made.get_output(0).shape)
        self.refused(tenfold.Unsupported, 'collectives', setattr, made, 'num_ranks', 2)

    def test_it_is_one_layer(self):
        made = self.attention()
        made.name, made.metadata = 'mine', 'noted'
        layer = self.network.get_layer(0)
        self.assertEqual((self.network.num_layers, layer.name, layer.metadata), (1, 'mine', 'noted'))
        self.assertEqual(layer.type, trt.LayerType.ATTENTION_OUTPUT)
        layer.__class__ = trt.IAttentionOutputLayer
        self.assertEqual(layer.attention.norm_op, OP.SOFTMAX)


class Transformers(Layers):
    def test_rotary_embedding(self):
        x = random(2, 3, 4, 8)
        for interleaved, dim, looked_up in ((False, 0, False), (True, 0, True), (False, 4, False)):
            with self.subTest(interleaved=interleaved, dim=dim):
                self.setUp()
                half = (dim or 8) // 2
                table = random(9, half), random(9, half)
                places = RANDOM.integers(0, 9, (2, 4))
                cos, sin = (t[places] for t in table)
                given = table if looked_up else (cos, sin)
                c, s = self.input(given[0], 'c'), self.input(given[1], 's')
                layer = self.network.add_rotary_embedding(self.input(x), c, s, interleaved, dim)
                if looked_up:
                    layer.set_input(3, self.input(places.astype(np.int64), 'p'))
                turned, rest = x[..., :2 * half], x[..., 2 * half:]
                a, b = (turned[..., 0::2], turned[..., 1::2]) if interleaved else (turned[..., :half], turned[..., half:])
                c, s = cos[:, None], sin[:, None]
                first, second = a * c - b * s, a * s + b * c
                both = np.stack([first, second], -1).reshape(turned.shape) if interleaved else np.concatenate([first, second], -1)
                self.assertEqual((layer.interleaved, layer.rotary_embedding_dim), (interleaved, dim))
                self.check(layer, np.concatenate([both, rest], -1))

    def test_kv_cache_update(self):
        cache, update, at = random(2, 3, 8, 4), random(2, 3, 2, 4), np.array([1, 5], np.int32)
        tensors = self.input(cache, 'c'), self.input(update, 'u'), self.input(at, 'at')
        layer = self.network.add_kv_cache_update(*tensors, trt.KVCacheMode.LINEAR)
        expected = cache.copy()
        for b in range(2):
            expected[b, :, at[b]:at[b] + 2] = update[b]
        self.assertEqual(layer.cache_mode, trt.KVCacheMode.LINEAR)
        self.check(layer, expected)

    def test_a_cache_is_updated_where_it_lies(self):
        n = self.network
        cache, update, at = random(2, 3, 8, 4), random(2, 3, 2, 4), np.array([1, 5], np.int32)
        tensors = self.input(cache, 'c'), self.input(update, 'u'), self.input(at, 'at')
        result = n.add_kv_cache_update(*tensors, trt.KVCacheMode.LINEAR).get_output(0)
        result.name = 'next'
        n.mark_output(result)
        engine = self.builder.build_engine_with_config(n, self.builder.create_builder_config())
        self.assertEqual((engine.get_aliased_input_tensor('next'), engine.get_aliased_input_tensor('u')), ('c', ''))
        if engine._on_gpu:
            self.skipTest('addresses here are the host\'s: tensorrt_memory_gpu_test has a GPU\'s')
        context, held, expected = engine.create_execution_context(), cache.copy(), cache.copy()
        for name, array in (('c', held), ('u', update), ('at', at), ('next', held)):   # as TensorRT wants it: one address for both
            context.set_tensor_address(name, array.ctypes.data)
        for places in ((1, 5), (3, 6)):
            at[:] = places
            for b in range(2):
                expected[b, :, places[b]:places[b] + 2] = update[b]
            self.assertTrue(context.execute_async_v3(0), self.logger.errors)
            np.testing.assert_array_equal(held, expected)
        at[1] = 7
        self.assertFalse(context.execute_async_v3(0), 'two places do not fit behind 7 of 8')
        np.testing.assert_array_equal(held, expected, 'nothing is written then')

    def test_ragged_softmax(self):
        x, bounds = random(2, 3, 5), np.array([[[5], [3], [1]], [[2], [0], [4]]], np.int32)
        inside = np.arange(5) < bounds
        e = np.where(inside, np.exp(x), 0)
        self.check(self.network.add_ragged_softmax(self.input(x), self.input(bounds, 'b')), e / np.maximum(e.sum(-1, keepdims=True), 1e-30))


class Blocks(Layers):
    def dequantized(self, layer, block, double=None):
        """Both results as the next layers use them."""
        scale = self.network.add_cast(layer.get_output(1), trt.float32).get_output(0)
        if double is not None:
            scale = self.network.add_elementwise(scale, double, trt.ElementWiseOperation.PROD).get_output(0)
        back = self.network.add_dequantize(layer.get_output(0), scale, trt.float32)
        back.block_shape = block
        return self.results(back, scale)

    def test_dynamic_quantize_to_fp4(self):
        x = random(3, 32)
        x[0, :16] = 0   # a block of zeros
        twice = np.float32(0.01)
        double = self.network.add_constant((1,), np.array([twice], np.float32)).get_output(0)
        layer = self.network.add_dynamic_quantize(self.input(x), 1, 16, trt.fp4, trt.fp8)
        layer.set_input(1, double)
        self.assertEqual((layer.axis, layer.block_size, layer.to_type, layer.scale_type), (1, 16, trt.fp4, trt.fp8))
        blocks = x.reshape(3, 2, 16)
        scale = (np.abs(blocks).max(-1) / np.float32(6) / twice).astype(ml_dtypes.float8_e4m3fn).astype(np.float32) * twice
        safe = np.where(scale == 0, 1, scale)[..., None]
        expected = (blocks / safe).astype(ml_dtypes.float4_e2m1fn).astype(np.float32) * scale[..., None]
        found, scales = self.dequantized(layer, (1, 16), double)
        self.near(scales, scale)
        self.near(found, expected.reshape(3, 32))

    def test_dynamic_quantize_to_fp8(self):
        x = random(64, 3)
        layer = self.network.add_dynamic_quantize_v2(self.input(x), (32, 1), trt.fp8, trt.e8m0)
        self.assertEqual(layer.block_shape, (32, 1))
        upper = np.abs(x.reshape(2, 32, 3)).max(1)
        scale = 2.0 ** np.ceil(np.log2(upper / 448))
        small = (x.reshape(2, 32, 3) / scale[:, None]).astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
        expected = small.astype(np.float32) * scale[:, None]
        found, scales = self.dequantized(layer, (32, 1))
        self.near(scales, scale)
        self.near(found, expected.reshape(64, 3))

    def test_quantize_in_blocks(self):
        x, scale = random(4, 6), RANDOM.uniform(0.01, 0.05, (4, 2)).astype(np.float32)
        each = np.repeat(scale, 3, 1)
        expected = np.clip(np.round(x / each), -128, 127) * each
        for reported in (True, False):   # by block_shape, or by the scale's shape
            with self.subTest(reported):
                self.setUp()
                s = self.input(scale, 's')
                there = self.network.add_quantize(self.input(x), s, trt.int8)
                back = self.network.add_dequantize(there.get_output(0), s, trt.float32)
                if reported:
                    there.block_shape = back.block_shape = (1, 3)
                    self.assertEqual(back.block_shape, (1, 3))
                self.check(back, expected)

    def test_what_does_not_fit(self):
        x = self.input(random(3, 32))
        layer = self.network.add_dynamic_quantize(x, 1, 16, trt.fp4, trt.fp8)
        self.refused(tenfold.InvalidArgument, 'needs the scale of the scales', lambda: layer.get_output(1).shape)
        layer.block_size = 5
        self.refused(tenfold.InvalidArgument, 'do not divide the extent 32', lambda: layer.get_output(1).shape)
        layer.block_shape = (3, 16)
        self.refused(tenfold.Unsupported, 'along one axis', lambda: layer.get_output(1).shape)


if __name__ == '__main__':
    unittest.main()
