"""Random encoders as folders, and what they compute, in NumPy in f64: one text at a time, nothing padded."""
import json
import math
import os
import struct

import numpy as np

WIDTH, HEADS, LAYERS, WIDE, PLACES = 16, 4, 2, 32, 40
TOKENS = ['<s>', '<pad>', '</s>', '[UNK]', 'how', 'are', 'you', '?', 'fine', 'thanks', '##s', 'red', 'blue', '.']
QUICK = dict(device='cpu', model_kwargs=dict(optimization_level=0, threads=1), plan_cache=False)
TEXTS = ['how are you?', 'fine.', '', 'red blue reds how are you fine thanks. how are you? fine fine fine', 'blue']


def save_safetensors(path, tensors):
    table, body = {}, b''
    for name, array in tensors.items():
        kind = {'float32': 'F32', 'float16': 'F16', 'int64': 'I64', 'int32': 'I32', 'int8': 'I8', 'uint8': 'U8',
                'float8_e4m3fn': 'F8_E4M3'}[str(array.dtype)]
        table[name] = {'dtype': kind, 'shape': list(array.shape), 'data_offsets': [len(body), len(body) + array.nbytes]}
        body += array.tobytes()
    text = json.dumps(table).encode()
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text + body)


def names_of(kind):
    """From our names of a layer's parts to the folder's."""
    if kind == 'distilbert':
        return dict(layer='transformer.layer.{}.', q='attention.q_lin', k='attention.k_lin', v='attention.v_lin', o='attention.out_lin',
                    n1='sa_layer_norm', wide='ffn.lin1', narrow='ffn.lin2', n2='output_layer_norm')
    self = 'attention.attn.' if kind == 'mpnet' else 'attention.self.'
    q, k, v = ('q', 'k', 'v') if kind == 'mpnet' else ('query', 'key', 'value')
    return dict(layer='encoder.layer.{}.', q=self + q, k=self + k, v=self + v, n2='output.LayerNorm', wide='intermediate.dense',
                o='attention.attn.o' if kind == 'mpnet' else 'attention.output.dense', narrow='output.dense',
                n1='attention.LayerNorm' if kind == 'mpnet' else 'attention.output.LayerNorm')


class RandomEncoder:
    """bert, distilbert, roberta or mpnet, with a head of so many labels if there are any."""

    def __init__(self, folder, kind, labels=0, places=PLACES):
        self.folder, self.kind, self.labels, self.places = folder, kind, labels, places
        self.first = 2 if kind in ('roberta', 'mpnet') else 0
        self.random, self.weights, self.names = np.random.default_rng(5), {}, names_of(kind)
        self.prefix = kind + '.' if labels else ''
        self.fill()
        os.makedirs(folder, exist_ok=True)
        save_safetensors(os.path.join(folder, 'model.safetensors'), self.weights)
        self.save('config.json', self.config())
        self.save('tokenizer.json', self.tokenizer())

    def save(self, name, value):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as file:
            json.dump(value, file)

    def add(self, name, *shape):
        self.weights[name] = self.random.standard_normal(shape).astype(np.float32) * 0.4

    def linear(self, name, out, into):
        self.add(name + '.weight', out, into), self.add(name + '.bias', out)

    def fill(self):
        p, n = self.prefix, self.names
        self.add(p + 'embeddings.word_embeddings.weight', len(TOKENS), WIDTH)
        self.add(p + 'embeddings.position_embeddings.weight', self.places, WIDTH)
        if self.kind in ('bert', 'roberta'):
            self.add(p + 'embeddings.token_type_embeddings.weight', 2 if self.kind == 'bert' else 1, WIDTH)
        if self.kind == 'mpnet':
            self.add(p + 'encoder.relative_attention_bias.weight', 32, HEADS)
        norms = [p + 'embeddings.LayerNorm']
        for i in range(LAYERS):
            layer = p + n['layer'].format(i)
            for part in 'qkvo':
                self.linear(layer + n[part], WIDTH, WIDTH)
            self.linear(layer + n['wide'], WIDE, WIDTH), self.linear(layer + n['narrow'], WIDTH, WIDE)
            norms += [layer + n['n1'], layer + n['n2']]
        for norm in norms:
            self.add(norm + '.weight', WIDTH), self.add(norm + '.bias', WIDTH)
        if self.labels:
            self.linear(self.head()[0], WIDTH, WIDTH), self.linear(self.head()[1], self.labels, WIDTH)

    def head(self):
        return {'bert': ('bert.pooler.dense', 'classifier'), 'distilbert': ('pre_classifier', 'classifier')}.get(
            self.kind, ('classifier.dense', 'classifier.out_proj'))

    def config(self):
        base = {'model_type': self.kind, 'vocab_size': len(TOKENS), 'max_position_embeddings': self.places,
                'architectures': ['AnyForSequenceClassification' if self.labels else 'AnyModel']}
        if self.kind == 'distilbert':
            return base | dict(dim=WIDTH, n_heads=HEADS, n_layers=LAYERS, hidden_dim=WIDE, activation='gelu')
        return base | dict(hidden_size=WIDTH, num_attention_heads=HEADS, num_hidden_layers=LAYERS, intermediate_size=WIDE,
                           hidden_act='gelu', type_vocab_size=2 if self.kind == 'bert' else 1, layer_norm_eps=1e-5, pad_token_id=1)

    @staticmethod
    def tokenizer():
        ids = {token: i for i, token in enumerate(TOKENS)}
        piece = lambda kind, type_id: {kind: {'id': 'A' if type_id == 0 else 'B', 'type_id': type_id}}
        special = lambda token, type_id=0: {'SpecialToken': {'id': token, 'type_id': type_id}}
        return {'model': {'type': 'WordPiece', 'unk_token': '[UNK]', 'continuing_subword_prefix': '##', 'max_input_chars_per_word': 100,
                          'vocab': ids},
                'normalizer': {'type': 'BertNormalizer', 'clean_text': True, 'handle_chinese_chars': True, 'lowercase': True},
                'pre_tokenizer': {'type': 'BertPreTokenizer'},
                'post_processor': {'type': 'TemplateProcessing', 'single': [special('<s>'), piece('Sequence', 0), special('</s>')],
                                   'pair': [special('<s>'), piece('Sequence', 0), special('</s>'), piece('Sequence', 1),
                                            special('</s>', 1)],
                                   'special_tokens': {t: {'id': t, 'ids': [ids[t]], 'tokens': [t]} for t in ('<s>', '</s>')}}}

    # What it computes.
    def w(self, name):
        return self.weights[name].astype(np.float64)

    def apply(self, name, x):
        return x @ self.w(name + '.weight').T + self.w(name + '.bias')

    def norm(self, name, x):
        epsilon = 1e-12 if self.kind == 'distilbert' else 1e-5
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * self.w(name + '.weight') + self.w(name + '.bias')

    def bias(self, count):
        """MPNet's bias of distances, by T5's buckets of both directions."""
        out = np.zeros((HEADS, count, count))
        for i in range(count):
            for j in range(count):
                away, bucket = i - j, 0
                if away < 0:
                    bucket, away = 16, -away
                far = 8 + int(math.log(away / 8) / math.log(128 / 8) * 8) if away >= 8 else away
                out[:, i, j] = self.w(self.prefix + 'encoder.relative_attention_bias.weight')[bucket + min(far, 15)]
        return out

    def tokens(self, ids, types):
        p, n, count = self.prefix, self.names, len(ids)
        x = self.w(p + 'embeddings.word_embeddings.weight')[ids]
        x = x + self.w(p + 'embeddings.position_embeddings.weight')[self.first:self.first + count]
        if self.kind in ('bert', 'roberta'):
            x = x + self.w(p + 'embeddings.token_type_embeddings.weight')[types if self.kind == 'bert' else 0]
        x = self.norm(p + 'embeddings.LayerNorm', x)
        erf = np.vectorize(math.erf)
        for i in range(LAYERS):
            layer = p + n['layer'].format(i)
            q, k, v = (self.apply(layer + n[part], x).reshape(count, HEADS, -1).transpose(1, 0, 2) for part in 'qkv')
            scores = q @ k.transpose(0, 2, 1) / math.sqrt(WIDTH // HEADS) + (self.bias(count) if self.kind == 'mpnet' else 0)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = (weights / weights.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(count, WIDTH)
            middle = self.norm(layer + n['n1'], self.apply(layer + n['o'], mixed) + x)
            wide = self.apply(layer + n['wide'], middle)
            wide = wide / 2 * (1 + erf(wide / math.sqrt(2)))
            x = self.norm(layer + n['n2'], self.apply(layer + n['narrow'], wide) + middle)
        return x

    def scores(self, ids, types):
        dense, out = self.head()
        first = self.apply(dense, self.tokens(ids, types)[0])
        return self.apply(out, np.maximum(first, 0) if self.kind == 'distilbert' else np.tanh(first))


def ids_of(text):
    """By the words of the tests' vocabulary."""
    words = text.replace('?', ' ?').replace('.', ' .').replace('reds', 'red ##s').split()
    return [0, *(TOKENS.index(word) for word in words), 2]
