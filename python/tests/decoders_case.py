"""Random decoders as folders, and what they compute, in NumPy in f64: one sequence at a time, whole, without a cache."""
import json
import math
import os

import numpy as np

from embeddings_case import save_safetensors
from more_encoders_case import gelu_new, softmax

QUICK = dict(device='cpu', optimization_level=0, threads=1, plan_cache=False, tf32=False)
WORDS = ['<end>', 'the', 'cat', 'dog', 'sat', 'ran', 'on', 'a', 'mat', 'and', 'then', 'it', 'slept', '.', 'what', 'is', 'this', '?',
         'yes', 'no']
VOCABULARY, PLACES, LAYERS, WIDTH, WIDE = 32, 64, 3, 24, 40   # twelve ids have no word: embeddings are often padded
LLAMA3 = dict(rope_type='llama3', rope_theta=10000.0, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=16)
KINDS = {
    'gpt2': dict(model_type='gpt2', n_embd=WIDTH, n_head=4, n_layer=LAYERS, n_positions=PLACES, layer_norm_epsilon=1e-5),
    'gpt2 by layer': dict(model_type='gpt2', n_embd=WIDTH, n_head=4, n_layer=LAYERS, n_positions=PLACES, n_inner=WIDE,
                          scale_attn_by_inverse_layer_idx=True),
    'llama': dict(model_type='llama', heads=6, shared=2),
    'llama 3': dict(model_type='llama', heads=3, shared=1, head_dim=10, attention_bias=True, mlp_bias=True, rope_parameters=LLAMA3,
                    tied=True),
    'linear': dict(model_type='llama', heads=6, shared=6, rope_theta=500.0, rope_scaling={'type': 'linear', 'factor': 2.0}),
    'mistral': dict(model_type='mistral', heads=6, shared=3, sliding_window=5),
    'qwen2': dict(model_type='qwen2', heads=6, shared=2, sliding_window=5, use_sliding_window=False),
    'qwen3': dict(model_type='qwen3', heads=3, shared=3, head_dim=12),
    'phi3': dict(model_type='phi3', heads=3, shared=1, partial_rotary_factor=0.5),
}


def tokenizer():
    added = [{'id': 0, 'content': '<end>', 'special': True, 'single_word': False, 'lstrip': False, 'rstrip': False, 'normalized': False}]
    return {'version': '1.0', 'truncation': None, 'padding': None, 'added_tokens': added, 'normalizer': None,
            'pre_tokenizer': {'type': 'Whitespace'}, 'post_processor': None, 'decoder': None,
            'model': {'type': 'WordLevel', 'vocab': {word: i for i, word in enumerate(WORDS)}, 'unk_token': '?'}}


def rounded_rows(x):
    """Each row (the last axis) in steps of its largest magnitude by 127."""
    scale = np.maximum(np.abs(x).max(-1, keepdims=True) / 127, np.finfo(np.float32).tiny)
    return np.rint(x / scale) * scale


class RandomDecoder:
    int8_cache = False   # whether keys and values are rounded as a cache of int8 rounds them

    def __init__(self, folder, kind, seed=3, places=PLACES, width=WIDTH, wide=WIDE):
        """`kind`: a name in KINDS, or what such a row holds."""
        given = dict(KINDS[kind] if isinstance(kind, str) else kind)
        self.width, self.wide = width, wide
        self.folder, self.type, self.random, self.weights = str(folder), given['model_type'], np.random.default_rng(seed), {}
        self.places = places
        if self.type == 'gpt2':
            self.config = {**given, 'n_positions': places, 'n_embd': width, 'vocab_size': VOCABULARY, 'eos_token_id': 0}
            self.heads = self.shared = given['n_head']
            self.size = width // self.heads
            self.fill_gpt2(given.get('n_inner') or 4 * width)
        else:
            self.heads, self.shared, tied = given.pop('heads'), given.pop('shared'), given.pop('tied', False)
            self.size = given.get('head_dim') or width // self.heads
            self.config = {**given, 'hidden_size': width, 'intermediate_size': wide, 'num_hidden_layers': LAYERS,
                           'num_attention_heads': self.heads, 'num_key_value_heads': self.shared,
                           'max_position_embeddings': given.pop('places', places), 'rms_norm_eps': 1e-6,
                           'vocab_size': VOCABULARY, 'eos_token_id': [0, 31], 'tie_word_embeddings': tied}
            self.fill_llama(tied)
        os.makedirs(self.folder, exist_ok=True)
        self.save_weights()
        self.save('config.json', self.config)
        self.save('tokenizer.json', tokenizer())

    def save_weights(self):
        save_safetensors(self.path('model.safetensors'), self.weights)

    def path(self, name):
        return os.path.join(self.folder, name)

    def save(self, name, value):
        with open(self.path(name), 'w') as file:
            json.dump(value, file)

    def add(self, name, *shape, scale=1.0, mean=0.0):
        self.weights[name] = (self.random.standard_normal(shape) * scale + mean).astype(np.float32)

    def w(self, name):
        return self.weights[name].astype(np.float64)

    def fill_gpt2(self, wide):
        self.add('transformer.wte.weight', VOCABULARY, self.width)
        self.add('transformer.wpe.weight', self.places, self.width, scale=0.5)
        for i in range(LAYERS):
            at = f'transformer.h.{i}.'
            for name, into, out in (('attn.c_attn', self.width, 3 * self.width), ('attn.c_proj', self.width, self.width),
                                    ('mlp.c_fc', self.width, wide), ('mlp.c_proj', wide, self.width)):
                self.add(f'{at}{name}.weight', into, out, scale=1.5 / math.sqrt(into))
                self.add(f'{at}{name}.bias', out, scale=0.2)
            self.norms(at + 'ln_1', at + 'ln_2')
        self.norms('transformer.ln_f')

    def norms(self, *names, bias=True, width=None):
        for name in names:
            self.add(name + '.weight', width or self.width, scale=0.2, mean=1.0)
            if bias:
                self.add(name + '.bias', width or self.width, scale=0.2)

    def product(self, name, into, out, bias):
        self.add(name + '.weight', out, into, scale=1.5 / math.sqrt(into))
        if bias:
            self.add(name + '.bias', out, scale=0.2)

    def fill_llama(self, tied):
        bias, queries, keys = bool(self.config.get('attention_bias')), self.heads * self.size, self.shared * self.size
        self.add('model.embed_tokens.weight', VOCABULARY, self.width)
        if not tied:
            self.product('lm_head', self.width, VOCABULARY, False)
        for i in range(LAYERS):
            at = f'model.layers.{i}.'
            if self.type == 'phi3':
                self.product(at + 'self_attn.qkv_proj', self.width, queries + 2 * keys, False)
                self.product(at + 'mlp.gate_up_proj', self.width, 2 * self.wide, False)
            else:
                for name, out in (('q', queries), ('k', keys), ('v', keys)):
                    self.product(f'{at}self_attn.{name}_proj', self.width, out, bias or self.type == 'qwen2')
                for name in ('gate', 'up'):
                    self.product(f'{at}mlp.{name}_proj', self.width, self.wide, bool(self.config.get('mlp_bias')))
            self.product(at + 'self_attn.o_proj', queries, self.width, bias)
            self.product(at + 'mlp.down_proj', self.wide, self.width, bool(self.config.get('mlp_bias')))
            if self.type == 'qwen3':
                self.norms(at + 'self_attn.q_norm', at + 'self_attn.k_norm', bias=False, width=self.size)
            self.norms(at + 'input_layernorm', at + 'post_attention_layernorm', bias=False)
        self.norms('model.norm', bias=False)

    # What it computes.

    def through(self, name, x):
        bias = self.weights.get(name + '.bias')
        return x @ self.w(name + '.weight').T + (0 if bias is None else bias.astype(np.float64))

    def rms(self, name, x):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * self.w(name + '.weight')

    def attend(self, q, k, v, scale):
        """Of [tokens, heads * size] each."""
        tokens = len(q)
        heads = [x.reshape(tokens, -1, self.size).transpose(1, 0, 2) for x in (q, k, v)]
        if self.int8_cache:
            heads[1:] = [rounded_rows(x) for x in heads[1:]]
        k, v = (np.repeat(x, self.heads // self.shared, axis=0) for x in heads[1:])
        behind = np.arange(tokens)[:, None] - np.arange(tokens)[None]
        hidden = (behind < 0) | (behind >= (self.config['sliding_window'] if self.type == 'mistral' else tokens))
        scores = np.where(hidden, -np.inf, heads[0] @ k.transpose(0, 2, 1) * scale)
        return (softmax(scores) @ v).transpose(1, 0, 2).reshape(tokens, -1)

    def turned(self, x, norm):
        """x of [tokens, heads * size] by its positions."""
        tokens, turned = len(x), int(self.size * self.config.get('partial_rotary_factor', 1.0))
        x = x.reshape(tokens, -1, self.size)
        if self.type == 'qwen3':
            x = self.rms(norm, x)
        angle = np.arange(tokens)[:, None, None] * self.steps(turned)
        first, second, rest = x[..., :turned // 2], x[..., turned // 2:turned], x[..., turned:]
        c, s = np.cos(angle), np.sin(angle)
        return np.concatenate([first * c - second * s, second * c + first * s, rest], -1).reshape(tokens, -1)

    def steps(self, turned):
        rope = self.config.get('rope_parameters') or self.config.get('rope_scaling') or {}
        theta = rope.get('rope_theta', self.config.get('rope_theta', 10000.0))
        steps = theta ** (-np.arange(0, turned, 2) / turned)
        if rope.get('type') == 'linear':
            return steps / rope['factor']
        if rope.get('rope_type') != 'llama3':
            return steps
        names = ('original_max_position_embeddings', 'low_freq_factor', 'high_freq_factor', 'factor')
        places, low, high, factor = (rope[name] for name in names)
        waves = 2 * np.pi / steps
        share = np.clip((places / waves - low) / (high - low), 0, 1)   # 0: long waves, which are stretched
        return (1 - share) * steps / factor + share * steps

    def gpt2_hidden(self, ids):
        def norm(name, x):
            x = x - x.mean(-1, keepdims=True)
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * self.w(name + '.weight') + self.w(name + '.bias')

        def product(name, x):
            return x @ self.w(name + '.weight') + self.w(name + '.bias')

        x = self.w('transformer.wte.weight')[ids] + self.w('transformer.wpe.weight')[:len(ids)]
        for i in range(LAYERS):
            at = f'transformer.h.{i}.'
            q, k, v = np.split(product(at + 'attn.c_attn', norm(at + 'ln_1', x)), 3, -1)
            by_layer = i + 1 if self.config.get('scale_attn_by_inverse_layer_idx') else 1
            x = x + product(at + 'attn.c_proj', self.attend(q, k, v, 1 / math.sqrt(self.size) / by_layer))
            x = x + product(at + 'mlp.c_proj', gelu_new(product(at + 'mlp.c_fc', norm(at + 'ln_2', x))))
        return norm('transformer.ln_f', x)

    def llama_hidden(self, ids):
        x, queries, keys = self.w('model.embed_tokens.weight')[ids], self.heads * self.size, self.shared * self.size
        for i in range(LAYERS):
            at = f'model.layers.{i}.'
            given = self.rms(at + 'input_layernorm', x)
            if self.type == 'phi3':
                q, k, v = np.split(self.through(at + 'self_attn.qkv_proj', given), [queries, queries + keys], -1)
            else:
                q, k, v = (self.through(f'{at}self_attn.{name}_proj', given) for name in 'qkv')
            q, k = self.turned(q, at + 'self_attn.q_norm'), self.turned(k, at + 'self_attn.k_norm')
            x = x + self.through(at + 'self_attn.o_proj', self.attend(q, k, v, 1 / math.sqrt(self.size)))
            given = self.rms(at + 'post_attention_layernorm', x)
            if self.type == 'phi3':
                gate, up = np.split(self.through(at + 'mlp.gate_up_proj', given), 2, -1)
            else:
                gate, up = (self.through(f'{at}mlp.{name}_proj', given) for name in ('gate', 'up'))
            x = x + self.through(at + 'mlp.down_proj', gate / (1 + np.exp(-gate)) * up)
        return self.rms('model.norm', x)

    def logits(self, ids):
        """Of every token: f64[tokens, vocabulary]."""
        x = (self.gpt2_hidden if self.type == 'gpt2' else self.llama_hidden)(np.asarray(ids))
        head = next(name for name in ('lm_head.weight', 'model.embed_tokens.weight', 'transformer.wte.weight') if name in self.weights)
        return x @ self.w(head).T

    def greedy(self, ids, count):
        ids = list(ids)
        for _ in range(count):
            ids.append(int(self.logits(ids)[-1].argmax()))
        return ids[-count:]
