"""Folders of decoders whose linear layers have 4 or 8 bits, written in the layout of each maker, and the floats that they stand for."""
import re

import numpy as np
from case import Case
from decoders_case import VOCABULARY, RandomDecoder
from embeddings_case import save_safetensors

AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]   # of the outputs in a word, from the lowest bits on


PROMPT = [1, 2, 4, 6, 7, 8]


class NarrowCase(Case):
    """What tests of decoders with narrow linear layers share."""

    def check(self, truth, decoder, bound=1e-5, tokens=30):
        """Logits of pieces of 40 tokens, and greedy tokens."""
        ids = np.random.default_rng(1).integers(0, VOCABULARY, 40).tolist()
        expected, session = truth.logits(ids), decoder.start()
        for first, last in ((0, 20), (20, 21), (21, 22), (22, 25), (25, 40)):
            got = session.append([ids[first:last]])[0]
            self.assertLess(np.abs(got - expected[last - 1]).max() / np.abs(expected[last - 1]).max(), bound, (first, last))
        if tokens:
            self.assertEqual(decoder.generate(PROMPT, max_tokens=tokens, ignore_end=True).ids, truth.greedy(PROMPT, tokens))

    def check_narrow(self, truth, decoder, others=()):
        """Every layer keeps its weights as they are in both programs of the plan, and none else but `others`. Queries, keys and values of
        a layer may be one product."""
        found = re.findall(r"MatMulBlockScaled.*?constant \d+ '([^']*)' packed", decoder.engine.inspect(), re.S)
        alone = [re.sub(r'\.weight(_\d+)?$', '', name) for name in found if not name.startswith('Concat')]
        inside = [name for name in truth.layers if name not in alone]
        expected = 2 * [name for name in truth.layers if name in alone]
        self.assertEqual(sorted(name for name in alone if name not in others), sorted(expected))
        for name in inside:
            self.assertRegex(name, r'\.[qkv]_proj$')
        self.assertEqual(len(found) - len(alone), 2 * len({name.rpartition('.')[0] for name in inside}))


def packed(values, bits, axis, order=None):
    """Unsigned values as i32 words along an axis, lowest bits first; the last word is filled with zeros."""
    many = 32 // bits
    values = np.moveaxis(values.astype(np.uint32), axis, -1)
    values = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, -values.shape[-1] % many)])
    values = values.reshape(*values.shape[:-1], -1, many)[..., order or slice(None)]
    words = (values << (np.arange(many, dtype=np.uint32) * bits)).sum(-1, dtype=np.uint32)
    return np.ascontiguousarray(np.moveaxis(words, -1, axis)).view(np.int32)


def nearest(w, bits, group):
    """w of [.., in]: each group's value that is farthest from 0 becomes the lowest of 2^bits steps."""
    half, rows = np.float32(1 << bits - 1), []
    for first in range(0, w.shape[1], group or w.shape[1]):
        part = w[:, first:first + (group or w.shape[1])]
        scale = np.take_along_axis(part, np.abs(part).argmax(1, keepdims=True), 1) / -half
        rows.append(np.clip(np.rint(part / scale), -half, half - 1).astype(np.float64) * scale)
    return np.concatenate(rows, 1)


class Rounded:
    """w of [out, in] as unsigned steps, with scales and zero points of [out, groups], and each input's group."""

    def __init__(self, w, bits, group, symmetric, groups=None):
        out, into = w.shape
        group = group if group > 0 else into
        self.groups = np.arange(into) // group if groups is None else groups
        count, top, half = int(self.groups.max()) + 1, (1 << bits) - 1, 1 << bits - 1
        low, high = (np.stack([reduced(w[:, self.groups == g], axis=1) for g in range(count)], 1) for reduced in (np.min, np.max))
        if symmetric:
            self.scale = (np.maximum(-low, high) / (half - 1)).astype(np.float16)
            self.zero = np.full((out, count), half)
        else:
            self.scale = ((high - low) / top).astype(np.float16)
            self.zero = np.clip(np.rint(-low / self.scale), 0, top).astype(int)
            self.zero[0], self.zero[1] = 0, top
        scale, zero = (a[:, self.groups] for a in (self.scale.astype(np.float64), self.zero))
        self.q = np.clip(np.rint(w / scale) + zero, 0, top).astype(int)
        self.floats = (self.q - zero) * scale


def gptq(name, r, bits, version=1, **_):
    """AutoGPTQ: words along the inputs, zero points less one (version 1) in words along the outputs, each input's group."""
    zero = (r.zero.T - (version == 1)) & (1 << bits) - 1
    return {name + '.qweight': packed(r.q.T, bits, 0), name + '.qzeros': packed(zero, bits, 1),
            name + '.scales': np.ascontiguousarray(r.scale.T), name + '.g_idx': r.groups.astype(np.int32)}


def awq(name, r, bits, **_):
    """AutoAWQ for products of matrices: words along the outputs, in an order of their own."""
    return {name + '.qweight': packed(r.q.T, bits, 1, AWQ_ORDER), name + '.qzeros': packed(r.zero.T, bits, 1, AWQ_ORDER),
            name + '.scales': np.ascontiguousarray(r.scale.T)}


def compressed(name, r, bits, symmetric=True, ordered=False, bytes_of_zeros=False, **_):
    """llm-compressor's pack-quantized: words along the inputs, zero points in words along the outputs."""
    made = {name + '.weight_packed': packed(r.q, bits, 1), name + '.weight_scale': r.scale,
            name + '.weight_shape': np.array(r.q.shape, np.int64)}
    if not symmetric:
        made[name + '.weight_zero_point'] = (r.zero - (1 << bits - 1)).astype(np.int8) if bytes_of_zeros else packed(r.zero, bits, 0)
    if ordered:
        made[name + '.weight_g_idx'] = r.groups.astype(np.int32)
    return made


def int_quantized(name, r, bits, symmetric=True, **_):
    """llm-compressor's int-quantized: signed bytes."""
    made = {name + '.weight': (r.q - 128).astype(np.int8), name + '.weight_scale': r.scale}
    if not symmetric:
        made[name + '.weight_zero_point'] = (r.zero - 128).astype(np.int8)
    return made


def config_of(layout, bits, group, symmetric, version):
    if layout is gptq:
        return {'quant_method': 'gptq', 'bits': bits, 'group_size': group, 'sym': symmetric,
                **({} if version == 1 else {'checkpoint_format': 'gptq_v2'})}
    if layout is awq:
        return {'quant_method': 'awq', 'bits': bits, 'group_size': group, 'zero_point': True, 'version': 'gemm'}
    weights = {'num_bits': bits, 'type': 'int', 'symmetric': symmetric, 'strategy': 'group' if group > 0 else 'channel',
               'group_size': group if group > 0 else None, 'dynamic': False, 'actorder': None}
    return {'quant_method': 'compressed-tensors', 'format': 'int-quantized' if layout is int_quantized else 'pack-quantized',
            'config_groups': {'group_0': {'targets': ['Linear'], 'weights': weights, 'input_activations': None}},
            'ignore': ['lm_head'], 'quantization_status': 'compressed'}


LINEAR = re.compile(r'.*(_proj|c_attn|c_fc|mlp\.c_proj)$')


class NarrowDecoder(RandomDecoder):
    """A random decoder whose folder is quantized; `weights` are the floats that its integers stand for."""

    def __init__(self, folder, kind, layout, bits=4, group=16, symmetric=True, ordered=False, head=False, version=1, **more):
        super().__init__(folder, kind, width=48, wide=96)
        self.layers, stored = [], {}
        for full, w in list(self.weights.items()):
            name, part = full.rsplit('.', 1)
            if part != 'weight' or not (LINEAR.match(name) or (head and name == 'lm_head')):
                stored[full] = w
                continue
            by_input = self.type == 'gpt2'
            into = w.shape[0 if by_input else 1]
            groups = self.random.permutation(into) // group if ordered else None
            r = Rounded(w.T if by_input else w, bits, group, symmetric, groups)
            stored.update(layout(name, r, bits, symmetric=symmetric, ordered=ordered, version=version, **more))
            self.weights[full] = r.floats.T if by_input else r.floats
            self.layers.append(name)
        self.config['quantization_config'] = config_of(layout, bits, group, symmetric, version)
        self.stored = stored
        save_safetensors(self.path('model.safetensors'), stored)
        self.save('config.json', self.config)
