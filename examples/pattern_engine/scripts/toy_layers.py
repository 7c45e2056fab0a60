"""Layers that NumPy trains: each computes, gives gradients back, and is one ONNX node."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


class Layer:
    op = ''
    attributes: dict[str, Any] = {}

    def __init__(self) -> None:
        self.parameters: list[Floats] = []
        self.gradients: list[Floats] = []

    def forward(self, x: Floats) -> Floats: raise NotImplementedError
    def backward(self, gradient: Floats) -> Floats: raise NotImplementedError

    def node(self, inputs: list[str], output: str) -> onnx.NodeProto:
        return helper.make_node(self.op, inputs, [output], name=output, **self.attributes)


class Conv(Layer):
    """f32[batch, channels, time], a kernel of 3, as long behind as before."""
    op, attributes = 'Conv', {'pads': [1, 1]}

    def __init__(self, random: np.random.Generator, channels: int, out: int) -> None:
        super().__init__()
        self.parameters = [_weights(random, (out, channels, 3), channels * 3), np.zeros(out, np.float32)]

    def forward(self, x: Floats) -> Floats:
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, 3, axis=2)                 # [batch, channels, time, 3]
        self.columns = windows.transpose(0, 2, 1, 3).reshape(len(x), x.shape[2], -1)          # [batch, time, channels * 3]
        weights, bias = self.parameters
        return (self.columns @ weights.reshape(len(weights), -1).T + bias).transpose(0, 2, 1)

    def backward(self, gradient: Floats) -> Floats:
        weights, _ = self.parameters
        rows = gradient.transpose(0, 2, 1)                                                    # [batch, time, out]
        self.gradients = [np.tensordot(rows, self.columns, ([0, 1], [0, 1])).reshape(weights.shape), rows.sum((0, 1))]
        columns = (rows @ weights.reshape(len(weights), -1)).reshape(*rows.shape[:2], -1, 3)  # [batch, time, channels, 3]
        padded = np.zeros((len(rows), columns.shape[2], rows.shape[1] + 2), np.float32)
        for k in range(3):
            padded[:, :, k:k + rows.shape[1]] += columns[..., k].transpose(0, 2, 1)
        return padded[:, :, 1:-1]


class Dense(Layer):
    op, attributes = 'Gemm', {'transB': 1}

    def __init__(self, random: np.random.Generator, features: int, out: int) -> None:
        super().__init__()
        self.parameters = [_weights(random, (out, features), features), np.zeros(out, np.float32)]

    def forward(self, x: Floats) -> Floats:
        self.x = x
        return x @ self.parameters[0].T + self.parameters[1]

    def backward(self, gradient: Floats) -> Floats:
        self.gradients = [gradient.T @ self.x, gradient.sum(0)]
        back: Floats = gradient @ self.parameters[0]
        return back


class Relu(Layer):
    op = 'Relu'

    def forward(self, x: Floats) -> Floats:
        self.passed = x > 0
        return np.where(self.passed, x, np.float32(0))

    def backward(self, gradient: Floats) -> Floats:
        return np.where(self.passed, gradient, np.float32(0))


class Flatten(Layer):
    op = 'Flatten'

    def forward(self, x: Floats) -> Floats:
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, gradient: Floats) -> Floats:
        return gradient.reshape(self.shape)


def _weights(random: np.random.Generator, shape: tuple[int, ...], fan_in: int) -> Floats:
    weights: Floats = (random.standard_normal(shape) * (2 / fan_in) ** 0.5).astype(np.float32)
    return weights
