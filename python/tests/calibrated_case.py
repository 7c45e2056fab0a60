"""Quantized folders read back by NumPy, what layers of a random decoder meet, and GPTQ and its aim in f64."""
import json
import os
import struct

import numpy as np
from decoders_case import WORDS, RandomDecoder

KINDS_OF_LAYERS = ('gpt2', 'llama', 'qwen2', 'phi3', 'mistral')


def load_safetensors(path):
    types = {'F32': np.float32, 'F16': np.float16, 'I32': np.int32, 'I64': np.int64}
    with open(path, 'rb') as file:
        data = file.read()
    size, = struct.unpack('<Q', data[:8])
    table = json.loads(data[8:8 + size])
    return {name: np.frombuffer(data[8 + size + one['data_offsets'][0]:8 + size + one['data_offsets'][1]],
                                types[one['dtype']]).reshape(one['shape'])
            for name, one in table.items() if name != '__metadata__'}


def unpacked(words, bits, count, axis):
    """Unsigned values of i32 words along an axis, lowest bits first."""
    words = np.moveaxis(words.view(np.uint32), axis, -1)[..., None]
    values = words >> np.arange(0, 32, bits, dtype=np.uint32) & np.uint32((1 << bits) - 1)
    return np.moveaxis(values.reshape(*values.shape[:-2], -1)[..., :count], -1, axis).astype(int)


def layers_of(folder, bits):
    """{layer: (values [out, in], scales [out, groups])} of a folder in either layout, and all other tensors."""
    stored = load_safetensors(os.path.join(folder, 'model.safetensors'))
    layers, others = {}, {}
    for full, array in stored.items():
        name, part = full.rsplit('.', 1)
        if part == 'weight_packed':
            out, into = stored[name + '.weight_shape']
            layers[name] = unpacked(array, bits, into, 1), stored[name + '.weight_scale'].astype(np.float64)
        elif part == 'qweight':
            zeros = unpacked(stored[name + '.qzeros'], bits, array.shape[1], 1)
            assert (zeros + 1 == 1 << bits - 1).all()
            into = len(array) * 32 // bits
            groups = len(zeros)
            assert (stored[name + '.g_idx'] == np.arange(into) // (into // groups)).all()
            layers[name] = unpacked(array, bits, into, 0).T, stored[name + '.scales'].astype(np.float64).T
        elif part not in ('weight_scale', 'weight_shape', 'qzeros', 'scales', 'g_idx'):
            others[full] = array
    return layers, others


def floats_of(values, scales, bits):
    """What steps stand for: [out, in]."""
    return (values - (1 << bits - 1)) * np.repeat(scales, values.shape[1] // scales.shape[1], 1)


class Watched(RandomDecoder):
    """A random decoder whose products tell what they are given; `weights` may be replaced layer by layer."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.seen = {}

    def w(self, name):
        return self.weights[name].astype(np.float64)

    def through(self, name, x):
        self.seen.setdefault(name, []).append(x)
        return super().through(name, x)

    def names(self):
        return [name.removesuffix('.weight') for name, w in self.weights.items()
                if name.endswith('.weight') and w.ndim == 2 and ('layers.' in name or '.h.' in name)]

    def matrix(self, name):
        """[out, in]"""
        return self.w(name + '.weight').T if self.type == 'gpt2' else self.w(name + '.weight')

    def set_matrix(self, name, matrix):
        self.weights[name + '.weight'] = matrix.T if self.type == 'gpt2' else matrix

    def inputs(self, ids_of_texts):
        """{layer: rows} of all texts."""
        self.seen = {}
        for ids in ids_of_texts:
            self.logits(ids)
        return {name: np.concatenate(rows) for name, rows in self.seen.items()}

    def gpt2_hidden(self, ids):
        # As RandomDecoder's, with products that are seen: it has its own function for them.
        kept = self.w

        class Seen(np.ndarray):
            pass

        def w(name):
            value = kept(name)
            layer = name.removesuffix('.weight')
            if layer == name or value.ndim != 2 or '.h.' not in name:
                return value
            seen = value.view(Seen)
            seen.layer = layer
            return seen

        def matmul(array, ufunc, method, *operands, **options):
            if ufunc is np.matmul:
                self.seen.setdefault(operands[1].layer, []).append(np.asarray(operands[0]))
            return getattr(ufunc, method)(*(np.asarray(one) for one in operands), **options)

        Seen.__array_ufunc__ = matmul
        self.w = w
        try:
            return super().gpt2_hidden(ids)
        finally:
            del self.w


def sentences(count, seed=5, most=30):
    random = np.random.default_rng(seed)
    return [' '.join(random.choice(WORDS[1:], random.integers(2, most))) for _ in range(count)]


def ids_of(text):
    return [WORDS.index(word) for word in text.split()]


# GPTQ.

def best_scales(w, importance, bits, group, dtype):
    """Of each group of rows of w [out, in]: the scale of the least squared error, each input's weighed, of those that cut up to half."""
    half, scales = 1 << bits - 1, []
    for first in range(0, w.shape[1], group):
        part, weights = w[:, first:first + group], importance[first:first + group]
        top, best, least = np.abs(part).max(1), np.ones(len(w)), np.full(len(w), np.inf)
        for share in range(50, 24, -1):
            for steps in (half - 1, half):
                scale = (top * share / 50 / steps).astype(dtype).astype(np.float64)
                with np.errstate(divide='ignore', invalid='ignore'):
                    levels = np.clip(np.rint(part / scale[:, None]), -half, half - 1)
                error = ((part - levels * scale[:, None]) ** 2 * weights).sum(1)
                better = (error < least) & (scale > 0)
                best, least = np.where(better, scale, best), np.where(better, error, least)
        scales.append(best)
    return np.stack(scales, 1)


def gptq(w, x, bits, group, dtype=np.float32, damping=0.1):
    """Values [out, in] and scales of w [out, in] by the rows of x.

    Inputs of the largest moments are rounded first. Rounding one moves the others as the inverse of the moments asks; then it leaves
    the inverse, as in optimal brain surgery, of which GPTQ is the quick form. At last single weights are bettered.
    """
    h = x.T @ x
    h[np.diag_indices_from(h)] += damping * h.trace() / len(h)
    half, count = 1 << bits - 1, len(h)
    inverse = np.linalg.inv(h)
    scales = best_scales(w, 1 / np.diag(inverse), bits, group, dtype)
    step = np.repeat(scales, group, 1)
    left, levels, open_ = w.copy(), np.zeros_like(w), np.ones(count, bool)
    for i in sorted(range(count), key=lambda i: -h[i, i]):
        levels[:, i] = np.clip(np.rint(left[:, i] / step[:, i]), -half, half - 1)
        off = left[:, i] - levels[:, i] * step[:, i]
        left[:, open_] -= np.outer(off / inverse[i, i], inverse[i, open_])
        inverse -= np.outer(inverse[:, i], inverse[i]) / inverse[i, i]
        open_[i] = False
    for _ in range(3):
        before = levels.copy()
        for i in range(count):
            pull = (levels * step - w) @ h[:, i]
            best = np.clip(np.rint(levels[:, i] - pull / (h[i, i] * step[:, i])), -half, half - 1)
            change = (best - levels[:, i]) * step[:, i]
            levels[:, i] = np.where(change * change * h[i, i] + 2 * change * pull < 0, best, levels[:, i])
        if (before == levels).all():
            break
    return (levels + half).astype(int), scales


def output_error(w, rounded, x):
    """Relative, of the products' results."""
    return np.linalg.norm(x @ (rounded - w).T) / np.linalg.norm(x @ w.T)
