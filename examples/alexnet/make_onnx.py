"""Writes AlexNet as an ONNX file, with random weights: make_onnx.py FILE [--width 1.0]. The layers are torchvision's."""
from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CONVOLUTIONS = [  # channels, kernel, stride, padding, pooled after
    (64, 11, 4, 2, True), (192, 5, 1, 2, True), (384, 3, 1, 1, False), (256, 3, 1, 1, False), (256, 3, 1, 1, True)]


def alexnet(width: float, classes: int = 1000) -> onnx.ModelProto:
    random = np.random.default_rng(0)
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []

    def layer(op: str, inputs: list[str], **attributes: Any) -> str:
        name = f'{op.lower()}{len(nodes)}'
        nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def weight(*shape: int) -> str:
        scale = (2 / np.prod(shape[1:])) ** 0.5 if len(shape) > 1 else 0.01
        weights.append(numpy_helper.from_array((random.standard_normal(shape) * scale).astype(np.float32), f'weight{len(weights)}'))
        return weights[-1].name

    x, channels = 'images', 3
    for out, kernel, stride, pad, pooled in CONVOLUTIONS:
        out = max(1, int(out * width))
        x = layer('Conv', [x, weight(out, channels, kernel, kernel), weight(out)], strides=[stride] * 2, pads=[pad] * 4)
        x = layer('Relu', [x])
        if pooled:
            x = layer('MaxPool', [x], kernel_shape=[3, 3], strides=[2, 2])
        channels = out
    x, features = layer('Flatten', [x]), channels * 6 * 6
    for out in (max(1, int(4096 * width)), max(1, int(4096 * width)), classes):
        if nodes[-1].op_type == 'Gemm':
            x = layer('Relu', [x])
        x, features = layer('Gemm', [x, weight(out, features), weight(out)], transB=1), out
    nodes.append(helper.make_node('Identity', [x], ['scores']))
    graph = helper.make_graph(nodes, 'alexnet', [helper.make_tensor_value_info('images', TensorProto.FLOAT, ['batch', 3, 224, 224])],
                              [helper.make_tensor_value_info('scores', TensorProto.FLOAT, ['batch', classes])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('file')
    parser.add_argument('--width', type=float, default=1.0, help='channels in parts of the published ones')
    args = parser.parse_args()
    onnx.save(alexnet(args.width), args.file)


if __name__ == '__main__':
    main()
