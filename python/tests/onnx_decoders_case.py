"""Random decoders as ONNX files, in the forms of several exporters, beside NumPy (decoders_case) and ONNX Runtime step by step."""
import json
import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from decoders_case import LAYERS, VOCABULARY, RandomDecoder

# ONNX Runtime's GroupQueryAttention takes heads of multiples of 16 elements.
GROUPED = {'llama': dict(model_type='llama', heads=6, shared=2, head_dim=16),
           'mistral': dict(model_type='mistral', heads=6, shared=3, head_dim=16, sliding_window=5)}
INT, FLOAT = TensorProto.INT64, TensorProto.FLOAT
LOWEST = float(np.finfo(np.float32).min)


def gathered_row(product):
    """The constants and the node that take the last token's row of what a product reads."""
    return [numpy_helper.from_array(np.array([-1]), 'last place')], helper.make_node(
        'Gather', [product.input[0], 'last place'], ['last row'], axis=1)


def keep_last_row(path, take=gathered_row):
    """Makes a file give the logits of the last token alone, as some exporters do."""
    model = onnx.load(path)
    by_result = {node.output[0]: node for node in model.graph.node}
    product = by_result[by_result['logits'].input[0]]
    constants, node = take(product)
    model.graph.initializer.extend(constants)
    model.graph.node.insert(list(model.graph.node).index(product), node)
    product.input[0] = 'last row'
    next(one for one in model.graph.output if one.name == 'logits').type.tensor_type.shape.dim[1].dim_param = 'rows'
    onnx.save(model, path)


class Graph:
    """Nodes one after the other; a result is the name of a value."""

    def __init__(self, half=False):
        self.half, self.float = half, TensorProto.FLOAT16 if half else FLOAT
        self.nodes, self.constants, self.inputs, self.outputs, self.known = [], [], [], [], {}

    def __call__(self, op, *operands, domain='', outputs=1, names=None, **attributes):
        results = names or [f'{op}_{len(self.nodes)}_{i}' for i in range(outputs)]
        names_of = [o if isinstance(o, str) else self.constant(o) for o in operands]
        self.nodes.append(helper.make_node(op, names_of, results, name=f'node {len(self.nodes)}', domain=domain, **attributes))
        return results[0] if len(results) == 1 else results

    def constant(self, value, name=None):
        value = np.asarray(value)
        value = value.astype(np.int64 if value.dtype.kind in 'iu' and value.dtype != np.int32 else value.dtype)
        value = value.astype(np.float16 if self.half else np.float32) if value.dtype.kind == 'f' else value
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in self.known:
            self.known[key] = name or f'constant {len(self.constants)}'
            self.constants.append(numpy_helper.from_array(value, self.known[key]))
        return self.known[key]

    def input(self, name, dims, dtype=INT):
        dtype = self.float if dtype == FLOAT else dtype
        self.inputs.append(helper.make_tensor_value_info(name, dtype, dims))
        return name

    def output(self, value, name, dims, dtype=FLOAT):
        self('Identity', value, names=[name])
        dtype = self.float if dtype == FLOAT else dtype
        self.outputs.append(helper.make_tensor_value_info(name, dtype, dims))

    def extent(self, value, axis):
        return self('Shape', value, start=axis, end=axis + 1)

    def scalar(self, one):
        return self('Squeeze', one, [0])

    def model(self, opset=18):
        graph = helper.make_graph(self.nodes, 'decoder', self.inputs, self.outputs, self.constants)
        sets = [helper.make_opsetid('', opset), helper.make_opsetid('com.microsoft', 1)]
        return helper.make_model(graph, opset_imports=sets, ir_version=10)


class OnnxDecoder(RandomDecoder):
    """`form`: 'concat' (optimum), 'sliced' (optimum of old, GPT-2), 'grouped' (onnxruntime-genai), 'attention' and 'attention masked'
    (ai.onnx, opset 23), 'heads' (MultiHeadAttention), 'own places' (no position_ids), 'scatter' (a cache of fixed length),
    'grouped direct' (lengths are inputs), 'attention 24' (a cache of fixed length, TensorScatter, nonpad_kv_seqlen)."""

    def __init__(self, folder, kind='llama', form='concat', places=256, change=None, half=False, **sizes):
        self.form, self.change, self.half = form, change, half
        super().__init__(folder, GROUPED[kind] if form.startswith('grouped') else kind, places=places, **sizes)

    def save_weights(self):
        g = self.g = Graph(self.half)
        self.ids = g.input('input_ids', ['batch_size', 'sequence_length'])
        self.total = ['batch_size', 'past_sequence_length + sequence_length']
        self.fixed = self.form in ('scatter', 'attention 24')
        if self.form == 'scatter':
            self.places_input = g.input('cache_position', ['sequence_length'])
        elif self.form == 'grouped direct':
            self.last = g.input('seqlens_k', ['batch_size'], TensorProto.INT32)
            self.longest = g.input('total_sequence_length', [], TensorProto.INT32)
        elif self.form == 'attention 24':
            self.write_indices, self.valid = (g.input(name, ['batch_size']) for name in ('write_indices', 'nonpad_kv_seqlen'))
        else:
            self.mask_input = g.input('attention_mask', self.total)
        if not self.form.startswith('grouped') and self.form != 'own places':
            self.positions = g.input('position_ids', ['batch_size', 'sequence_length'])
        length = self.places if self.fixed else 'past_sequence_length'
        size = 'kv_cache_dim' if self.form.startswith('grouped') else self.size
        dims = ['batch_size', self.shared, length, size]
        self.pasts = [[g.input(f'past_key_values.{i}.{part}', dims, FLOAT) for part in ('key', 'value')] for i in range(LAYERS)]
        self.presents = []
        self.lengths()
        x = self.gpt2() if self.type == 'gpt2' else self.llama()
        head = next(name for name in ('lm_head.weight', 'model.embed_tokens.weight', 'transformer.wte.weight') if name in self.weights)
        g.output(g('MatMul', x, self.weights[head].T.copy()), 'logits', ['batch_size', 'sequence_length', VOCABULARY])
        for i, pair in enumerate(self.presents):
            for part, value in zip(('key', 'value'), pair):
                g.output(value, f'present.{i}.{part}', ['batch_size', self.shared, 'total_sequence_length', size])
        model = g.model(opset=24 if self.form == 'attention 24' else 23 if self.form.startswith('attention') else 18)
        if self.change:
            self.change(model)
        onnx.save(model, self.path('model.onnx'))

    # What follows from lengths.

    def lengths(self):
        g = self.g
        if self.form in ('grouped direct', 'attention 24'):
            return
        tokens, past = g.extent(self.ids, 1), g.extent(self.pasts[0][0], 2)
        all_tokens = past if self.form == 'scatter' else g('Add', past, tokens)
        count = lambda begin, end: g('Range', g.scalar(begin), g.scalar(end), np.int64(1))
        if self.form == 'grouped':
            self.last = g('Cast', g('Sub', g('ReduceSum', self.mask_input, [1], keepdims=0), [1]), to=TensorProto.INT32)
            self.longest = g('Cast', g('Gather', g('Shape', self.mask_input), np.int64(1)), to=TensorProto.INT32)
            return
        own = self.places_input if self.form == 'scatter' else count(past, all_tokens)
        if self.form == 'own places':
            self.positions = g('Unsqueeze', own, [0])
        keys = count(g.constant([0]), all_tokens)
        causal = g('LessOrEqual', g('Unsqueeze', keys, [0, 1, 2]), g('Unsqueeze', own, [0, 1, 3]))
        if self.type == 'mistral':
            first = g('Sub', g('Unsqueeze', own, [0, 1, 3]), np.int64(self.config['sliding_window']))
            causal = g('And', causal, g('Greater', g('Unsqueeze', keys, [0, 1, 2]), first))
        if self.form == 'scatter':
            self.seen = causal
            return
        padding = g('Cast', self.mask_input, to=TensorProto.BOOL)
        if self.form == 'sliced':   # a constant triangle, cut where the cache ends
            triangle = np.tril(np.ones((self.places, self.places), bool))[None, None]
            self.seen = g('Slice', g('Slice', triangle, past, all_tokens, [2]), [0], all_tokens, [3])
            kept = g('Cast', g('Unsqueeze', self.mask_input, [1, 2]), to=g.float)
            self.addend = g('Mul', g('Sub', np.float32(1), kept), np.float32(LOWEST))
            return
        self.seen = g('And', causal, g('Unsqueeze', padding, [1, 2]))

    # Attention.

    def by_head(self, x, heads):
        return self.g('Transpose', self.g('Reshape', x, [0, 0, heads, self.size]), perm=[0, 2, 1, 3])

    def together(self, x, heads):
        return self.g('Reshape', self.g('Transpose', x, perm=[0, 2, 1, 3]), [0, 0, heads * self.size])

    def repeated(self, x):
        if self.heads == self.shared:
            return x
        g, times = self.g, self.heads // self.shared
        shape = g('Concat', g.extent(x, 0), [self.shared, times], g.extent(x, 2), [self.size], axis=0)
        whole = g('Concat', g.extent(x, 0), [self.heads], g.extent(x, 2), [self.size], axis=0)
        return g('Reshape', g('Expand', g('Unsqueeze', x, [2]), shape), whole)

    def scattered(self, past, rows):
        g = self.g
        index = g('Expand', g('Unsqueeze', self.places_input, [0, 1, 3]), g('Shape', rows))
        return g('ScatterElements', past, index, rows, axis=2)

    def attend_onnx(self, i, q, k, v, scale):
        """Of [batch, tokens, heads * size] each."""
        g, past = self.g, self.pasts[i]
        if self.form.startswith('attention') or self.form == 'heads':
            return self.attend_by_node(i, q, k, v, scale)
        q, k, v = self.by_head(q, self.heads), self.by_head(k, self.shared), self.by_head(v, self.shared)
        if self.form == 'scatter':
            k, v = self.scattered(past[0], k), self.scattered(past[1], v)
        else:
            k, v = g('Concat', past[0], k, axis=-2), g('Concat', past[1], v, axis=-2)
        self.presents.append((k, v))
        scores = g('MatMul', q, g('Transpose', self.repeated(k), perm=[0, 1, 3, 2]))
        if self.form == 'sliced':
            scores = g('Add', g('Where', self.seen, g('Mul', scores, np.float32(scale)), np.float32(LOWEST)), self.addend)
        else:
            scores = g('Add', g('Mul', scores, np.float32(scale)), g('Where', self.seen, np.float32(0), np.float32(-np.inf)))
        shares = g('Softmax', scores, axis=-1)
        if self.form == 'concat':
            shares = g('Where', g('IsNaN', shares), np.float32(0), shares)
        return self.together(g('MatMul', shares, self.repeated(v)), self.heads)

    def attend_by_node(self, i, q, k, v, scale):
        g, (past_key, past_value) = self.g, self.pasts[i]
        if self.form == 'heads':   # which knows no shared keys
            mask = g('Cast', self.mask_input, to=TensorProto.INT32)
            y, key, value = g('MultiHeadAttention', q, k, v, '', mask, '', past_key, past_value, domain='com.microsoft', outputs=3,
                              num_heads=self.heads, unidirectional=1, scale=scale)
        elif self.form == 'attention 24':
            key, value = (g('TensorScatter', past, self.by_head(x, self.shared), self.write_indices, axis=-2)
                          for past, x in ((past_key, k), (past_value, v)))
            y = self.together(g('Attention', self.by_head(q, self.heads), key, value, '', '', '', self.valid, is_causal=1, scale=scale),
                              self.heads)
        else:
            masked = self.form == 'attention masked'
            if i % 2 == 1:   # heads apart
                q, k, v = self.by_head(q, self.heads), self.by_head(k, self.shared), self.by_head(v, self.shared)
            packed = {} if i % 2 == 1 else {'q_num_heads': self.heads, 'kv_num_heads': self.shared}
            y, key, value = g('Attention', q, k, v, self.seen if masked else '', past_key, past_value, outputs=3, scale=scale,
                              is_causal=0 if masked else 1, **packed)
            y = self.together(y, self.heads) if i % 2 == 1 else y
        self.presents.append((key, value))
        return y

    def attend_grouped(self, i, q, k, v, scale):
        g, tables = self.g, self.tables()
        packed = i % 2 == 1
        operands = [g('Concat', q, k, v, axis=-1), '', ''] if packed else [q, k, v]
        y, key, value = g('GroupQueryAttention', *operands, *self.pasts[i], self.last, self.longest, *tables, domain='com.microsoft',
                          outputs=3, num_heads=self.heads, kv_num_heads=self.shared, scale=scale, do_rotary=1,
                          local_window_size=self.config['sliding_window'] if self.type == 'mistral' else -1)
        self.presents.append((key, value))
        return y

    # Models.

    def affine(self, name, x):
        bias = self.weights.get(name + '.bias')
        y = self.g('MatMul', x, self.weights[name + '.weight'] if self.type == 'gpt2' else self.weights[name + '.weight'].T.copy())
        return y if bias is None else self.g('Add', y, bias)

    def gpt2(self):
        g = self.g
        norm = lambda name, x: g('LayerNormalization', x, self.weights[name + '.weight'], self.weights[name + '.bias'], axis=-1,
                                 epsilon=1e-5)
        x = g('Add', g('Gather', self.weights['transformer.wte.weight'], self.ids), g('Gather', self.weights['transformer.wpe.weight'],
                                                                                    self.positions))
        for i in range(LAYERS):
            at = f'transformer.h.{i}.'
            q, k, v = g('Split', self.affine(at + 'attn.c_attn', norm(at + 'ln_1', x)), [self.width] * 3, axis=-1, outputs=3)
            x = g('Add', x, self.affine(at + 'attn.c_proj', self.attend_onnx(i, q, k, v, 1 / math.sqrt(self.size))))
            x = g('Add', x, self.affine(at + 'mlp.c_proj', self.gelu(self.affine(at + 'mlp.c_fc', norm(at + 'ln_2', x)))))
        return norm('transformer.ln_f', x)

    def gelu(self, x):
        g = self.g
        cube = g('Mul', g('Mul', x, x), x)
        inner = g('Mul', g('Add', x, g('Mul', cube, np.float32(0.044715))), np.float32(math.sqrt(2 / math.pi)))
        return g('Mul', g('Mul', x, np.float32(0.5)), g('Add', g('Tanh', inner), np.float32(1)))

    def rms_onnx(self, name, x):
        g, weight = self.g, self.weights[name + '.weight']
        if self.form.startswith('grouped'):
            return g('SimplifiedLayerNormalization', x, weight, axis=-1, epsilon=1e-6)
        if self.form.startswith('attention'):
            return g('RMSNormalization', x, weight, axis=-1, epsilon=1e-6)
        root = g('Sqrt', g('Add', g('ReduceMean', g('Pow', x, np.float32(2)), [-1]), np.float32(1e-6)))
        return g('Mul', weight, g('Mul', x, g('Div', np.float32(1), root)))

    def tables(self):
        angle = np.arange(self.places)[:, None] * self.steps(self.size)
        return [self.g.constant(np.cos(angle), 'cos_cache'), self.g.constant(np.sin(angle), 'sin_cache')]

    def turned_onnx(self, x, heads):
        """By frequencies times positions, as exporters write it out."""
        g, half = self.g, self.size // 2
        if self.form.startswith('grouped'):
            return x
        if self.form.startswith('attention'):
            return g('RotaryEmbedding', x, *self.tables(), self.positions, num_heads=heads)
        x = self.by_head(x, heads)
        steps = g('Expand', self.steps(self.size)[None, :, None], g('Concat', g.extent(self.positions, 0), [half, 1], axis=0))
        angle = g('Transpose', g('MatMul', steps, g('Cast', g('Unsqueeze', self.positions, [1]), to=g.float)), perm=[0, 2, 1])
        angle = g('Unsqueeze', g('Concat', angle, angle, axis=-1), [1])
        first, second = g('Slice', x, [0], [half], [3]), g('Slice', x, [half], [2 * half], [3])
        x = g('Add', g('Mul', x, g('Cos', angle)), g('Mul', g('Concat', g('Neg', second), first, axis=-1), g('Sin', angle)))
        return self.together(x, heads)

    def llama(self):
        g = self.g
        x = g('Gather', self.weights['model.embed_tokens.weight'], self.ids)
        for i in range(LAYERS):
            at = f'model.layers.{i}.'
            given = self.rms_onnx(at + 'input_layernorm', x)
            q, k, v = (self.affine(f'{at}self_attn.{name}_proj', given) for name in 'qkv')
            q, k = self.turned_onnx(q, self.heads), self.turned_onnx(k, self.shared)
            mixed = (self.attend_grouped if self.form.startswith('grouped') else self.attend_onnx)(i, q, k, v, 1 / math.sqrt(self.size))
            mixed = self.affine(at + 'self_attn.o_proj', mixed)
            if self.form.startswith('grouped'):   # one node for the sum and the norm
                given, _, _, x = g('SkipSimplifiedLayerNormalization', x, mixed, self.weights[at + 'post_attention_layernorm.weight'],
                                   domain='com.microsoft', names=[f'skip {i}', '', '', f'sum {i}'], epsilon=1e-6)
            else:
                x = g('Add', x, mixed)
                given = self.rms_onnx(at + 'post_attention_layernorm', x)
            gate, up = (self.affine(f'{at}mlp.{name}_proj', given) for name in ('gate', 'up'))
            x = g('Add', x, self.affine(at + 'mlp.down_proj', g('Mul', g('Mul', gate, g('Sigmoid', gate)), up)))
        return self.rms_onnx('model.norm', x)

    def save(self, name, value):
        """The configuration as its exporter writes it."""
        if name == 'config.json' and self.form.startswith('grouped'):
            decoder = {'filename': 'model.onnx', 'head_size': self.size, 'num_hidden_layers': LAYERS, 'num_key_value_heads': self.shared}
            name, value = 'genai_config.json', {'model': {'type': self.type, 'context_length': self.places, 'eos_token_id': [0, 31],
                                                          'decoder': decoder}}
        with open(self.path(name), 'w') as file:
            json.dump(value, file)


class Stepwise:
    """ONNX Runtime over copied caches, one token after the other."""

    def __init__(self, truth):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(truth.path('model.onnx'), options, providers=['CPUExecutionProvider'])
        self.inputs = [one.name for one in self.session.get_inputs()]
        self.outputs = [one.name for one in self.session.get_outputs()]
        self.heads, self.size, self.fixed = truth.shared, truth.size, truth.places if truth.fixed else 0

    def greedy(self, prompt, count):
        """New tokens, and the logits that chose each."""
        cache = {name: np.zeros((1, self.heads, self.fixed, self.size), np.float32) for name in self.inputs if name.startswith('past')}
        ids, fresh, rows = list(prompt), list(prompt), []
        for _ in range(count):
            places = np.arange(len(ids) - len(fresh), len(ids))
            feeds = {'input_ids': np.array([fresh]), 'attention_mask': np.ones((1, len(ids)), np.int64), 'position_ids': places[None],
                     'cache_position': places, 'write_indices': places[:1], 'nonpad_kv_seqlen': places[-1:] + 1,
                     'seqlens_k': np.array([len(ids) - 1], np.int32), 'total_sequence_length': np.array(len(ids), np.int32)}
            results = dict(zip(self.outputs, self.session.run(None, {**cache, **{n: feeds[n] for n in self.inputs if n in feeds}})))
            cache = {name: results[name.replace('past_key_values', 'present')] for name in cache}
            rows.append(results['logits'][0, -1])
            fresh = [int(rows[-1].argmax())]
            ids += fresh
        return ids[len(prompt):], np.array(rows)
