"""The models of this example: two that NumPy trains to tell windows with a spike, a larger CNN, and LSTMs of known sizes.

Weights of the last two kinds are random: they are for timing. Only the LSTMs' sizes are those that are public for STAC-ML Markets
(Inference); nothing here is a STAC result.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from toy_layers import Conv, Dense, Flatten, Layer, Relu

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WINDOW = 32
LSTMS = {'lstm_a': (50, 100, 2, 100), 'lstm_b': (100, 250, 3, 200), 'lstm_c': (100, 500, 4, 1000)}   # rows, features, layers, units
TRAINED = ('toy_cnn', 'toy_mlp')
MODELS = (*TRAINED, 'large_cnn', *LSTMS)


def spikes(random: np.random.Generator, count: int) -> tuple[Floats, NDArray[np.int64]]:
    """Windows f32[count, 1, 32] about 1.0. The first quarter has a spike, 3 values that are 2.0 higher, and the label 1."""
    windows = (1 + 0.1 * random.standard_normal((count, 1, WINDOW))).astype(np.float32)
    labels = (np.arange(count) < count // 4).astype(np.int64)
    for index, at in enumerate(random.integers(0, WINDOW, count // 4)):
        windows[index, 0, at:at + 3] += 2
    return windows, labels


def train(layers: list[Layer], random: np.random.Generator, quiet: bool, steps: int = 80) -> float:
    """Adam on the cross-entropy; gives the part of new windows that is told rightly."""
    moments: list[list[tuple[Any, Any]]] = [[(np.zeros_like(p), np.zeros_like(p)) for p in layer.parameters] for layer in layers]
    for step in range(1, steps + 1):
        windows, labels = spikes(random, 256)
        scores = forward(layers, windows)
        likely = np.exp(scores - scores.max(1, keepdims=True))
        likely /= likely.sum(1, keepdims=True)
        if step % 20 == 0 and not quiet:
            print(f'step {step} loss={-np.log(likely[np.arange(len(labels)), labels]).mean():.4f}')
        gradient = ((likely - np.eye(2, dtype=np.float32)[labels]) / len(labels)).astype(np.float32)
        for layer in reversed(layers):
            gradient = layer.backward(gradient)
        for layer, kept in zip(layers, moments):
            for i, (parameter, slope) in enumerate(zip(layer.parameters, layer.gradients)):
                mean, square = kept[i] = (0.9 * kept[i][0] + 0.1 * slope, 0.999 * kept[i][1] + 0.001 * slope ** 2)
                parameter -= 3e-3 * (mean / (1 - 0.9 ** step)) / (np.sqrt(square / (1 - 0.999 ** step)) + 1e-8)
    windows, labels = spikes(random, 2048)
    return float((forward(layers, windows).argmax(1) == labels).mean())


def forward(layers: list[Layer], x: Floats) -> Floats:
    for layer in layers:
        x = layer.forward(x)
    return x


def layers_of(name: str, random: np.random.Generator) -> list[Layer]:
    if name == 'toy_mlp':
        return [Flatten(), Dense(random, WINDOW, 64), Relu(), Dense(random, 64, 2)]
    if name == 'toy_cnn':
        return [Conv(random, 1, 8), Relu(), Conv(random, 8, 16), Relu(), Flatten(), Dense(random, 16 * WINDOW, 2)]
    layers: list[Layer] = []
    for channels, out in ((1, 64), (64, 64), (64, 128), (128, 128)):
        layers += [Conv(random, channels, out), Relu()]
    return [*layers, Flatten(), Dense(random, 128 * WINDOW, 2)]


def make_model(name: str, quiet: bool = False) -> onnx.ModelProto:
    """Weights are the same each time. A model that training did not teach is a RuntimeError."""
    random = np.random.default_rng(0)
    if name in LSTMS:
        return lstm(name, random)
    layers = layers_of(name, random)
    if name in TRAINED:
        right = train(layers, random, quiet)
        if not quiet:
            print(f'{right:.1%} of 2048 new windows are told rightly')
        if right < 0.95:
            raise RuntimeError(f'{name} did not learn to tell spikes: only {right:.1%} of new windows are told rightly')
    nodes, weights, x = [], [], 'input'
    for i, layer in enumerate(layers):
        names = [f'{layer.op.lower()}{i}_{part}' for part, _ in zip(('weight', 'bias'), layer.parameters)]
        weights += [numpy_helper.from_array(array, key) for array, key in zip(layer.parameters, names)]
        nodes.append(layer.node([x, *names], x := 'output' if layer is layers[-1] else f'{layer.op.lower()}{i}'))
    return model(name, nodes, [1, 1, WINDOW], 2, weights)


def lstm(name: str, random: np.random.Generator) -> onnx.ModelProto:
    """f32[1, rows, features] to f32[1, 1]: layers of LSTM, and a product with what the last row gives."""
    rows, width, layers, units = LSTMS[name]
    weights: list[onnx.TensorProto] = []

    def weight(label: str, *shape: int) -> str:
        bound = units ** -0.5
        weights.append(numpy_helper.from_array(random.uniform(-bound, bound, shape).astype(np.float32), label))
        return label

    nodes, x = [helper.make_node('Transpose', ['input'], ['rows'], perm=[1, 0, 2])], 'rows'
    weights.append(numpy_helper.from_array(np.array([1]), 'directions'))
    for i in range(layers):
        names = [weight(f'w{i}', 1, 4 * units, width), weight(f'r{i}', 1, 4 * units, units), weight(f'b{i}', 1, 8 * units)]
        nodes += [helper.make_node('LSTM', [x, *names], [f'all{i}'], name=f'lstm{i}', hidden_size=units),
                  helper.make_node('Squeeze', [f'all{i}', 'directions'], [f'h{i}'])]
        x, width = f'h{i}', units
    weights.append(numpy_helper.from_array(np.array(rows - 1), 'last'))
    nodes += [helper.make_node('Gather', [x, 'last'], ['h'], axis=0),
              helper.make_node('Gemm', ['h', weight('w', 1, units), weight('b', 1)], ['output'], transB=1)]
    return model(name, nodes, [1, *LSTMS[name][:2]], 1, weights)


def model(name: str, nodes: list[onnx.NodeProto], shape: list[int], outputs: int, weights: list[onnx.TensorProto]) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info('input', TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info('output', TensorProto.FLOAT, [1, outputs])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
