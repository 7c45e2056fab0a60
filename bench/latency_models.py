#!/usr/bin/env python3
"""Write the small models of low latency that docs/reference/latency-rows.md times, as ONNX files.

    python bench/latency_models.py FOLDER [NAME ...]

The sizes of lstm_a, lstm_b and lstm_c are those that are public for STAC-ML Markets (Inference); figures of them are no
STAC results. *_int8 has weights of 8 bits. *_step has the same weights, one row as its input, and its state as inputs and outputs.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LSTMS = {'lstm_a': (50, 100, 2, 100), 'lstm_b': (100, 250, 3, 200), 'lstm_c': (100, 500, 4, 1000)}  # rows, features, layers, units


class Graph:
    """A graph under construction, whose weights come from a fixed seed."""

    def __init__(self, name):
        self.name, self.nodes, self.weights, self.inputs, self.outputs = name, [], [], [], []
        self.random = np.random.default_rng(7)

    def add(self, op, inputs, outputs=1, **attributes):
        names = [f'v{len(self.nodes)}_{i}' for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, values):
        values = np.asarray(values)
        self.weights.append(numpy_helper.from_array(values, f'w{len(self.weights)}'))
        return self.weights[-1].name

    def weight(self, *shape, fan=None):
        return self.constant((self.random.standard_normal(shape) / np.sqrt(fan or shape[-1])).astype(np.float32))

    def input(self, name, *shape):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def output(self, value, name, *shape):
        self.nodes.append(helper.make_node('Identity', [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
        onnx.checker.check_model(model)
        return model


def dense(g, x, inputs, outputs):
    return g.add('Gemm', [x, g.weight(outputs, inputs), g.weight(outputs)], transB=1)


def recurrent(op, gates):
    def window(name, rows, features, layers, units):
        g = Graph(name)
        x = g.add('Transpose', [g.input('x', 1, rows, features)], perm=[1, 0, 2])
        for layer in range(layers):
            width = features if layer == 0 else units
            y, last, *_ = g.add(op, [x, g.weight(1, gates * units, width), g.weight(1, gates * units, units),
                                     g.weight(1, 2 * gates * units, fan=100)], 3 if op == 'LSTM' else 2, hidden_size=units)
            x = g.add('Squeeze', [y, g.constant(np.array([1]))])
        g.output(dense(g, g.add('Squeeze', [last, g.constant(np.array([0]))]), units, 1), 'y', 1, 1)
        return g.model()
    return window


def in_bytes(model):
    """The model with W and R of its LSTMs as i8, a scale for each row, behind a DequantizeLinear."""
    graph, quantized = model.graph, []
    weights = {w.name: w for w in graph.initializer}
    for node in graph.node:
        for place in (1, 2) if node.op_type == 'LSTM' else ():
            name = node.input[place]
            values = numpy_helper.to_array(weights[name])
            scales = (np.abs(values).max((0, 2)) / 127).astype(np.float32)
            integers = np.clip(np.rint(values / scales[None, :, None]), -127, 127).astype(np.int8)
            graph.initializer.remove(weights[name])
            graph.initializer.extend([numpy_helper.from_array(integers, name + '_q'), numpy_helper.from_array(scales, name + '_s')])
            quantized.append(helper.make_node('DequantizeLinear', [name + '_q', name + '_s'], [name], axis=1))
    for node in reversed(quantized):
        graph.node.insert(0, node)
    onnx.checker.check_model(model)
    return model


def lstm_step(name, rows, features, layers, units):
    """The layers of a window, one row at a time."""
    g = Graph(name)
    x = g.add('Unsqueeze', [g.input('x', 1, features), g.constant(np.array([0]))])
    states = []
    for layer in range(layers):
        width = features if layer == 0 else units
        weights = [g.weight(1, 4 * units, width), g.weight(1, 4 * units, units), g.weight(1, 8 * units, fan=100)]
        h, c = g.input(f'h{layer}', 1, 1, units), g.input(f'c{layer}', 1, 1, units)
        _, last, cell = g.add('LSTM', [x, *weights, '', h, c], 3, hidden_size=units)
        states += [(last, f'h{layer}_out'), (cell, f'c{layer}_out')]
        x = last
    g.output(dense(g, g.add('Squeeze', [x, g.constant(np.array([0]))]), units, 1), 'y', 1, 1)
    for value, out in states:
        g.output(value, out, 1, 1, units)
    return g.model()


def tcn(name, layers=6, channels=64, rows=128):
    """Causal convolutions of 3 taps with dilations 1, 2, 4, ... and residuals; the last column is the answer."""
    g = Graph(name)
    x = g.input('x', 1, channels, rows)
    for layer in range(layers):
        d = 2 ** layer
        c = g.add('Conv', [x, g.weight(channels, channels, 3, fan=3 * channels), g.weight(channels)],
                  kernel_shape=[3], dilations=[d], pads=[2 * d, 0])
        x = g.add('Add', [g.add('Relu', [c]), x])
    last = [g.constant(np.array([v])) for v in (-1, np.iinfo(np.int64).max, 2)]
    g.output(g.add('Slice', [x, *last]), 'y', 1, channels, 1)
    return g.model()


def toy_cnn(name):
    g = Graph(name)
    x = g.input('x', 1, 1, 32)
    for inputs, outputs in ((1, 8), (8, 16)):
        x = g.add('Relu', [g.add('Conv', [x, g.weight(outputs, inputs, 3, fan=3 * inputs), g.weight(outputs)], pads=[1, 1])])
    x = g.add('Flatten', [g.add('GlobalAveragePool', [x])])
    g.output(dense(g, x, 16, 2), 'y', 1, 2)
    return g.model()


def leaky(g, x):
    return g.add('LeakyRelu', [x], alpha=0.01)


def deeplob(name):
    """DeepLOB (Zhang, Zohren and Roberts, 2019): three blocks of convolutions, an inception block, an LSTM of 64."""
    g = Graph(name)
    x, channels = g.input('x', 1, 1, 100, 40), 1
    for kernel, strides in (((1, 2), (1, 2)), ((1, 2), (1, 2)), ((1, 10), (1, 1))):
        for k, s in ((kernel, strides), ((4, 1), (1, 1)), ((4, 1), (1, 1))):
            pads = [0, 0, 0, 0] if k == kernel else [1, 0, 2, 0]
            x = leaky(g, g.add('Conv', [x, g.weight(32, channels, *k, fan=channels * k[0] * k[1]), g.weight(32)], strides=s, pads=pads))
            channels = 32
    branches = []
    for taps in (3, 5, 1):
        if taps == 1:
            b = g.add('MaxPool', [x], kernel_shape=[3, 1], pads=[1, 0, 1, 0])
        else:
            b = leaky(g, g.add('Conv', [x, g.weight(64, 32, 1, 1, fan=32), g.weight(64)]))
        into, pad = (32, 0) if taps == 1 else (64, taps // 2)
        branches.append(leaky(g, g.add('Conv', [b, g.weight(64, into, taps, 1, fan=into * taps), g.weight(64)], pads=[pad, 0, pad, 0])))
    x = g.add('Squeeze', [g.add('Concat', branches, axis=1), g.constant(np.array([3]))])
    x = g.add('Transpose', [x], perm=[2, 0, 1])
    _, last, _ = g.add('LSTM', [x, g.weight(1, 256, 192), g.weight(1, 256, 64), g.weight(1, 512, fan=100)], 3, hidden_size=64)
    g.output(g.add('Softmax', [dense(g, g.add('Squeeze', [last, g.constant(np.array([0]))]), 64, 3)], axis=-1), 'y', 1, 3)
    return g.model()


def transformer(name, rows=64, width=32, heads=4, layers=2):
    """Encoder layers with the norm in front, the mean over rows, dense 1."""
    g = Graph(name)
    x = g.input('x', 1, rows, width)
    shape, flat = g.constant(np.array([1, rows, heads, width // heads])), g.constant(np.array([1, rows, width]))

    def norm(v):
        return g.add('LayerNormalization', [v, g.constant(np.ones(width, np.float32)), g.constant(np.zeros(width, np.float32))])

    def product(v, inputs, outputs):
        return g.add('Add', [g.add('MatMul', [v, g.weight(inputs, outputs, fan=inputs)]), g.weight(outputs)])

    for _ in range(layers):
        n = norm(x)
        q, k, v = (g.add('Reshape', [product(n, width, width), shape]) for _ in range(3))
        scores = g.add('MatMul', [g.add('Transpose', [q], perm=[0, 2, 1, 3]), g.add('Transpose', [k], perm=[0, 2, 3, 1])])
        scores = g.add('Softmax', [g.add('Mul', [scores, g.constant(np.float32((width // heads) ** -0.5))])], axis=-1)
        mixed = g.add('MatMul', [scores, g.add('Transpose', [v], perm=[0, 2, 1, 3])])
        mixed = g.add('Reshape', [g.add('Transpose', [mixed], perm=[0, 2, 1, 3]), flat])
        x = g.add('Add', [x, product(mixed, width, width)])
        x = g.add('Add', [x, product(g.add('Relu', [product(norm(x), width, 4 * width)]), 4 * width, width)])
    g.output(dense(g, g.add('ReduceMean', [x], axes=[1], keepdims=0), width, 1), 'y', 1, 1)
    return g.model()


MODELS = {'toy_cnn': toy_cnn, 'tcn': tcn, 'deeplob': deeplob, 'transformer': transformer,
          'gru': lambda name: recurrent('GRU', 3)(name, 50, 100, 2, 100)}
for _name, _sizes in LSTMS.items():
    MODELS[_name] = lambda name, sizes=_sizes: recurrent('LSTM', 4)(name, *sizes)
    MODELS[_name + '_int8'] = lambda name, sizes=_sizes: in_bytes(recurrent('LSTM', 4)(name, *sizes))
    MODELS[_name + '_step'] = lambda name, sizes=_sizes: lstm_step(name, *sizes)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or MODELS:
        if name not in MODELS:
            sys.exit(f'{name} is no model: {", ".join(MODELS)}')
        onnx.save(MODELS[name](name), folder / f'{name}.onnx')


if __name__ == '__main__':
    main()
