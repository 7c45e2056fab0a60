"""Random ELECTRA, ALBERT, ModernBERT and T5 as folders, and what they compute, in NumPy in f64: one text at a time, nothing padded."""
import math

import numpy as np

from embeddings_case import HEADS, PLACES, TOKENS, WIDE, WIDTH, RandomEncoder

NARROW, LAYERS = 8, 4
ERF = np.vectorize(math.erf)


def gelu(x):
    return x / 2 * (1 + ERF(x / math.sqrt(2)))


def gelu_new(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def by_head(x, heads=HEADS):
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)


def attend(q, k, v, bias=0.0, scale=None):
    """Of [heads, tokens, size]: [tokens, heads * size]."""
    scores = q @ k.transpose(0, 2, 1) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale) + bias
    return (softmax(scores) @ v).transpose(1, 0, 2).reshape(q.shape[1], -1)


class Encoder(RandomEncoder):
    """What these have in common beside RandomEncoder's files: products without biases."""

    def product(self, name, out, into, bias=True):
        self.add(name + '.weight', out, into)
        if bias:
            self.add(name + '.bias', out)

    def through(self, name, x):
        bias = self.weights.get(name + '.bias')
        return x @ self.w(name + '.weight').T + (0 if bias is None else bias.astype(np.float64))

    def scale(self, *names, bias=True, width=WIDTH):
        for name in names:
            self.add(name + '.weight', width)
            if bias:
                self.add(name + '.bias', width)

    def scaled(self, name, x, epsilon):
        """A norm; its bias may be missing."""
        x = x - x.mean(-1, keepdims=True)
        bias = self.weights.get(name + '.bias')
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * self.w(name + '.weight') + (0 if bias is None else bias)


class Narrow(Encoder):
    """ELECTRA and ALBERT: BERT's embeddings, of fewer dimensions than the layers."""
    EPSILON = 1e-5

    def embed(self, ids, types):
        e = self.prefix + 'embeddings.'
        x = self.w(e + 'word_embeddings.weight')[ids] + self.w(e + 'position_embeddings.weight')[:len(ids)]
        return self.scaled(e + 'LayerNorm', x + self.w(e + 'token_type_embeddings.weight')[types], self.EPSILON)

    def fill_embeddings(self):
        e = self.prefix + 'embeddings.'
        self.add(e + 'word_embeddings.weight', len(TOKENS), NARROW), self.add(e + 'position_embeddings.weight', self.places, NARROW)
        self.add(e + 'token_type_embeddings.weight', 2, NARROW), self.scale(e + 'LayerNorm', width=NARROW)

    def layer(self, x, q, k, v, o, norm, wide, narrow, last, function):
        heads = [by_head(self.through(part, x)) for part in (q, k, v)]
        middle = self.scaled(norm, self.through(o, attend(*heads)) + x, self.EPSILON)
        return self.scaled(last, self.through(narrow, function(self.through(wide, middle))) + middle, self.EPSILON)

    def config(self):
        return {'model_type': self.kind, 'vocab_size': len(TOKENS), 'max_position_embeddings': self.places, 'hidden_size': WIDTH,
                'embedding_size': NARROW, 'num_attention_heads': HEADS, 'num_hidden_layers': LAYERS, 'intermediate_size': WIDE,
                'type_vocab_size': 2, 'layer_norm_eps': self.EPSILON, 'pad_token_id': 1,
                'architectures': ['AnyForSequenceClassification' if self.labels else 'AnyModel']}


class Electra(Narrow):
    def __init__(self, folder, labels=0, places=PLACES):
        super().__init__(folder, 'electra', labels, places)

    def parts(self, i):
        layer = f'{self.prefix}encoder.layer.{i}.'
        return [layer + part for part in ('attention.self.query', 'attention.self.key', 'attention.self.value', 'attention.output.dense',
                                          'attention.output.LayerNorm', 'intermediate.dense', 'output.dense', 'output.LayerNorm')]

    def fill(self):
        self.fill_embeddings(), self.product(self.prefix + 'embeddings_project', WIDTH, NARROW)
        for i in range(LAYERS):
            *square, norm, wide, narrow, last = self.parts(i)
            for part in square:
                self.product(part, WIDTH, WIDTH)
            self.product(wide, WIDE, WIDTH), self.product(narrow, WIDTH, WIDE), self.scale(norm, last)
        if self.labels:
            self.product('classifier.dense', WIDTH, WIDTH), self.product('classifier.out_proj', self.labels, WIDTH)

    def config(self):
        return super().config() | {'hidden_act': 'gelu'}

    def tokens(self, ids, types):
        x = self.through(self.prefix + 'embeddings_project', self.embed(ids, types))
        for i in range(LAYERS):
            x = self.layer(x, *self.parts(i), gelu)
        return x

    def scores(self, ids, types):
        return self.through('classifier.out_proj', gelu(self.through('classifier.dense', self.tokens(ids, types)[0])))


class Albert(Narrow):
    """Four layers of two groups, each of which has two sets of weights."""

    def __init__(self, folder, labels=0, places=PLACES):
        super().__init__(folder, 'albert', labels, places)

    def parts(self, group, inner):
        layer = f'{self.prefix}encoder.albert_layer_groups.{group}.albert_layers.{inner}.'
        return [layer + part for part in ('attention.query', 'attention.key', 'attention.value', 'attention.dense', 'attention.LayerNorm',
                                          'ffn', 'ffn_output', 'full_layer_layer_norm')]

    def fill(self):
        self.fill_embeddings(), self.product(self.prefix + 'encoder.embedding_hidden_mapping_in', WIDTH, NARROW)
        for group, inner in np.ndindex(2, 2):
            *square, norm, wide, narrow, last = self.parts(group, inner)
            for part in square:
                self.product(part, WIDTH, WIDTH)
            self.product(wide, WIDE, WIDTH), self.product(narrow, WIDTH, WIDE), self.scale(norm, last)
        if self.labels:
            self.product('albert.pooler', WIDTH, WIDTH), self.product('classifier', self.labels, WIDTH)

    def config(self):
        return super().config() | {'hidden_act': 'gelu_new', 'num_hidden_groups': 2, 'inner_group_num': 2}

    def tokens(self, ids, types):
        x = self.through(self.prefix + 'encoder.embedding_hidden_mapping_in', self.embed(ids, types))
        for i in range(LAYERS):
            for inner in range(2):
                x = self.layer(x, *self.parts(i // 2, inner), gelu_new)
        return x

    def scores(self, ids, types):
        return self.through('classifier', np.tanh(self.through('albert.pooler', self.tokens(ids, types)[0])))


class ModernBert(Encoder):
    LOCAL, THETA = 6, {True: 1000.0, False: 50.0}   # of global layers, and of local ones

    def __init__(self, folder, labels=0, places=PLACES, old=False):
        self.old = old   # config.json as transformers 4 writes it
        super().__init__(folder, 'modernbert', labels, places)

    def fill(self):
        self.prefix = p = 'model.' if self.labels else ''
        self.add(p + 'embeddings.tok_embeddings.weight', len(TOKENS), WIDTH)
        for i in range(LAYERS):
            layer = f'{p}layers.{i}.'
            self.product(layer + 'attn.Wqkv', 3 * WIDTH, WIDTH, False), self.product(layer + 'attn.Wo', WIDTH, WIDTH, False)
            self.product(layer + 'mlp.Wi', 2 * WIDE, WIDTH, False), self.product(layer + 'mlp.Wo', WIDTH, WIDE, False)
            self.scale(*([layer + 'attn_norm'] if i else []), layer + 'mlp_norm', bias=False)
        self.scale(p + 'embeddings.norm', p + 'final_norm', bias=False)
        if self.labels:
            self.product('head.dense', WIDTH, WIDTH, False), self.scale('head.norm', bias=False)
            self.product('classifier', self.labels, WIDTH)

    def config(self):
        base = {'model_type': 'modernbert', 'vocab_size': len(TOKENS), 'max_position_embeddings': self.places, 'hidden_size': WIDTH,
                'num_attention_heads': HEADS, 'num_hidden_layers': LAYERS, 'intermediate_size': WIDE, 'hidden_activation': 'gelu',
                'norm_eps': 1e-5, 'local_attention': self.LOCAL, 'classifier_pooling': 'mean', 'pad_token_id': 1,
                'architectures': ['AnyForSequenceClassification' if self.labels else 'AnyModel']}
        if self.old:
            return base | {'global_attn_every_n_layers': 3, 'global_rope_theta': self.THETA[True], 'local_rope_theta': self.THETA[False]}
        names = {True: 'full_attention', False: 'sliding_attention'}
        return base | {'layer_types': [names[i % 3 == 0] for i in range(LAYERS)],
                       'rope_parameters': {names[g]: {'rope_type': 'default', 'rope_theta': self.THETA[g]} for g in names}}

    def turned(self, x, base):
        half = x.shape[-1] // 2
        angles = np.arange(x.shape[1])[:, None] / base ** (np.arange(half) / half)
        a, b, c, s = x[..., :half], x[..., half:], np.cos(angles), np.sin(angles)
        return np.concatenate([a * c - b * s, b * c + a * s], -1)

    def tokens(self, ids, types=None):
        p, places = self.prefix, np.arange(len(ids))
        far = np.abs(places[:, None] - places) > self.LOCAL // 2
        x = self.scaled(p + 'embeddings.norm', self.w(p + 'embeddings.tok_embeddings.weight')[ids], 1e-5)
        for i in range(LAYERS):
            layer, is_global = f'{p}layers.{i}.', i % 3 == 0
            given = self.scaled(layer + 'attn_norm', x, 1e-5) if i else x
            q, k, v = (by_head(part) for part in np.split(self.through(layer + 'attn.Wqkv', given), 3, -1))
            q, k = (self.turned(part, self.THETA[is_global]) for part in (q, k))
            x = x + self.through(layer + 'attn.Wo', attend(q, k, v, 0.0 if is_global else np.where(far, -np.inf, 0.0)))
            active, gate = np.split(self.through(layer + 'mlp.Wi', self.scaled(layer + 'mlp_norm', x, 1e-5)), 2, -1)
            x = x + self.through(layer + 'mlp.Wo', gelu(active) * gate)
        return self.scaled(p + 'final_norm', x, 1e-5)

    def scores(self, ids, types):
        dense = gelu(self.through('head.dense', self.tokens(ids).mean(0)))
        return self.through('classifier', self.scaled('head.norm', dense, 1e-5))


class T5(Encoder):
    """The encoder of T5 (relu), or of T5 1.1 (gated); heads are wider together than the model."""
    INNER, BUCKETS, FARTHEST = 24, 8, 12

    def __init__(self, folder, gated=False, table='shared.weight'):
        self.gated, self.table = gated, table
        super().__init__(folder, 't5')

    def fill(self):
        self.add(self.table, len(TOKENS), WIDTH)
        for i in range(LAYERS):
            first, second = f'encoder.block.{i}.layer.0.', f'encoder.block.{i}.layer.1.'
            for part in 'qkv':
                self.product(f'{first}SelfAttention.{part}', self.INNER, WIDTH, False)
            self.product(first + 'SelfAttention.o', WIDTH, self.INNER, False)
            for name in ('wi_0', 'wi_1') if self.gated else ('wi',):
                self.product(f'{second}DenseReluDense.{name}', WIDE, WIDTH, False)
            self.product(second + 'DenseReluDense.wo', WIDTH, WIDE, False)
            self.scale(first + 'layer_norm', second + 'layer_norm', bias=False)
        self.scale('encoder.final_layer_norm', bias=False)
        self.add('encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight', self.BUCKETS, HEADS)

    def config(self):
        return {'model_type': 't5', 'vocab_size': len(TOKENS), 'd_model': WIDTH, 'd_kv': self.INNER // HEADS, 'd_ff': WIDE,
                'num_heads': HEADS, 'num_layers': LAYERS, 'relative_attention_num_buckets': self.BUCKETS,
                'relative_attention_max_distance': self.FARTHEST, 'layer_norm_epsilon': 1e-6, 'pad_token_id': 1,
                'feed_forward_proj': 'gated-gelu' if self.gated else 'relu', 'architectures': ['T5EncoderModel']}

    def rms(self, name, x):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * self.w(name + '.weight')

    def bucket(self, distance):
        half, size = self.BUCKETS // 2, abs(distance)
        exact = half // 2
        far = size if size < exact else exact + int(math.log(size / exact) / math.log(self.FARTHEST / exact) * (half - exact))
        return (half if distance > 0 else 0) + min(far, half - 1)

    def tokens(self, ids, types=None):
        x, count = self.w(self.table)[ids], len(ids)
        biases = self.w('encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight')
        bias = np.array([[biases[self.bucket(to - at)] for to in range(count)] for at in range(count)]).transpose(2, 0, 1)
        for i in range(LAYERS):
            first, second = f'encoder.block.{i}.layer.0.', f'encoder.block.{i}.layer.1.'
            given = self.rms(first + 'layer_norm', x)
            heads = [by_head(self.through(f'{first}SelfAttention.{part}', given)) for part in 'qkv']
            x = x + self.through(first + 'SelfAttention.o', attend(*heads, bias, 1.0))
            given, dense = self.rms(second + 'layer_norm', x), second + 'DenseReluDense.'
            wide = (gelu_new(self.through(dense + 'wi_0', given)) * self.through(dense + 'wi_1', given) if self.gated
                    else np.maximum(self.through(dense + 'wi', given), 0))
            x = x + self.through(dense + 'wo', wide)
        return self.rms('encoder.final_layer_norm', x)
