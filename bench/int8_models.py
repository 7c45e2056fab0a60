"""Models for bench/int8_peers.py, from seeds, with numpy and onnx alone: MobileNet-v2, ResNet-50, MiniLM and BERT-base as they are built,
with random weights. Batch and sequence are dynamic; normalizations are folded into convolutions, as most exporters do."""
import os
import sys

import numpy as np
from onnx import TensorProto, helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'examples'))
from minilm_to_onnx import Encoder, GraphWriter  # noqa: E402

TRANSFORMERS = {'minilm': (384, 6, 12), 'bert': (768, 12, 12)}   # width, layers, heads
NAMES = ('mobilenet', 'resnet', *TRANSFORMERS)


def encoder(width, layers, heads):
    rng = np.random.default_rng(1)
    config = dict(hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, layer_norm_eps=1e-12)
    weights = {f'embeddings.{name}_embeddings.weight': rng.normal(0, 0.02, (rows, width)).astype(np.float32)
               for name, rows in (('word', 30522), ('position', 512), ('token_type', 2))}

    def linear(name, inputs, outputs):
        weights[name + '.weight'] = rng.normal(0, 0.02, (outputs, inputs)).astype(np.float32)
        weights[name + '.bias'] = rng.normal(0, 0.02, outputs).astype(np.float32)

    def norm(name):
        weights[name + '.weight'], weights[name + '.bias'] = np.ones(width, np.float32), np.zeros(width, np.float32)
    norm('embeddings.LayerNorm')
    for i in range(layers):
        layer = f'encoder.layer.{i}.'
        for part in ('query', 'key', 'value'):
            linear(layer + 'attention.self.' + part, width, width)
        linear(layer + 'attention.output.dense', width, width)
        linear(layer + 'intermediate.dense', width, 4 * width)
        linear(layer + 'output.dense', 4 * width, width)
        norm(layer + 'attention.output.LayerNorm'), norm(layer + 'output.LayerNorm')
    return Encoder(config, weights).build()


class Pictures:
    """A network of convolutions over image f32[batch, 3, 224, 224]."""

    def __init__(self):
        self.g, self.rng, self.made = GraphWriter(), np.random.default_rng(1), 0

    def conv(self, x, inputs, outputs, size=1, stride=1, groups=1, act=None):
        self.made += 1
        name, fan = f'conv{self.made}', inputs // groups * size * size
        values = self.rng.normal(0, (2 / fan) ** 0.5, (outputs, inputs // groups, size, size))
        w = self.g.constant(name + '.weight', values.astype(np.float32))
        b = self.g.constant(name + '.bias', self.rng.normal(0, 0.1, outputs).astype(np.float32))
        y = self.g.node('Conv', name, x, w, b, kernel_shape=[size, size], strides=[stride] * 2, pads=[size // 2] * 4, group=groups)
        if act == 'relu6':
            return self.g.node('Clip', name + '.clip', y, 'zero', 'six')
        return self.g.node('Relu', name + '.relu', y) if act else y

    def finish(self, x, width):
        pooled = self.g.node('Flatten', 'flat', self.g.node('GlobalAveragePool', 'pooled', x))
        head = self.g.constant('head', self.rng.normal(0, width ** -0.5, (1000, width)).astype(np.float32))
        self.g.node('Gemm', 'scores', pooled, head, self.g.constant('head.bias', np.zeros(1000, np.float32)), transB=1)
        image = helper.make_tensor_value_info('image', TensorProto.FLOAT, ['batch', 3, 224, 224])
        scores = helper.make_tensor_value_info('scores', TensorProto.FLOAT, ['batch', 1000])
        graph = helper.make_graph(self.g.nodes, 'pictures', [image], [scores], self.g.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)


def mobilenet():
    p = Pictures()
    p.g.constant('zero', np.float32(0)), p.g.constant('six', np.float32(6))
    x, width = p.conv('image', 3, 32, 3, 2, act='relu6'), 32
    blocks = (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)
    for expand, outputs, count, first in blocks:
        for i in range(count):
            stride, wide, y = (first if i == 0 else 1), width * expand, x
            if expand > 1:
                y = p.conv(y, width, wide, act='relu6')
            y = p.conv(p.conv(y, wide, wide, 3, stride, wide, act='relu6'), wide, outputs)
            x = p.g.node('Add', f'sum{p.made}', y, x) if stride == 1 and width == outputs else y
            width = outputs
    return p.finish(p.conv(x, width, 1280, act='relu6'), 1280)


def resnet():
    p = Pictures()
    x, width = p.conv('image', 3, 64, 7, 2, act='relu'), 64
    x = p.g.node('MaxPool', 'pool', x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for narrow, count, first in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            stride = first if i == 0 else 1
            y = p.conv(p.conv(x, width, narrow, act='relu'), narrow, narrow, 3, stride, act='relu')
            y = p.conv(y, narrow, 4 * narrow)
            if i == 0:
                x = p.conv(x, width, 4 * narrow, 1, stride)
            width = 4 * narrow
            x = p.g.node('Relu', f'out{p.made}', p.g.node('Add', f'sum{p.made}', y, x))
    return p.finish(x, width)


def build(name):
    return encoder(*TRANSFORMERS[name]) if name in TRANSFORMERS else {'mobilenet': mobilenet, 'resnet': resnet}[name]()


def inputs(name, batch, seed=0):
    rng = np.random.default_rng(seed)
    if name in TRANSFORMERS:
        return {'input_ids': rng.integers(1000, 30000, (batch, 128), dtype=np.int64), 'attention_mask': np.ones((batch, 128), np.int64)}
    return {'image': rng.standard_normal((batch, 3, 224, 224), dtype=np.float32)}
