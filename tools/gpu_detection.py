#!/usr/bin/env python3
"""A detection network of random weights: a backbone, a pyramid with concatenations, three heads whose boxes are joined.

    gpu_detection.py FILE [SIZE]      writes it as ONNX, for images of SIZE x SIZE (320)

Concatenations of channels and of boxes make views, slices and copies at offsets that are no multiple of 16 bytes, which is what
gpu_check.py runs under compute-sanitizer's initcheck. Part of the bundle that script/gpu-check makes.
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CLASSES, ANCHORS = 7, 3


class Maker:
    def __init__(self):
        self.nodes, self.weights, self.rng = [], [], np.random.default_rng(5)

    def add(self, op, inputs, outputs=1, **attributes):
        names = [f'v{len(self.nodes)}_{i}' for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array):
        name = f'w{len(self.weights)}'
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def conv(self, x, before, after, kernel=3, stride=1, act=True):
        w = self.rng.standard_normal((after, before, kernel, kernel)).astype(np.float32) / np.float32(np.sqrt(before * kernel * kernel))
        b = self.rng.standard_normal(after).astype(np.float32) / 8
        y = self.add('Conv', [x, self.constant(w), self.constant(b)], pads=[kernel // 2] * 4, strides=[stride] * 2)
        return self.add('Mul', [y, self.add('Sigmoid', [y])]) if act else y

    def block(self, x, channels, after):
        half = after // 2
        a, b = self.conv(x, channels, half, 1), self.conv(x, channels, half, 1)
        a = self.add('Add', [a, self.conv(self.conv(a, half, half, 1), half, half)])
        return self.conv(self.add('Concat', [a, b], axis=1), 2 * half, after, 1)

    def head(self, x, channels, size):
        y = self.conv(x, channels, ANCHORS * (5 + CLASSES), 1, act=False)
        y = self.add('Reshape', [y, self.constant(np.array([0, ANCHORS, 5 + CLASSES, size * size], np.int64))])
        y = self.add('Sigmoid', [self.add('Transpose', [y], perm=[0, 1, 3, 2])])
        xy, wh, rest = self.add('Split', [y, self.constant(np.array([2, 2, 1 + CLASSES], np.int64))], 3, axis=3)
        grid = self.rng.standard_normal((1, ANCHORS, size * size, 2)).astype(np.float32)
        xy = self.add('Mul', [self.add('Add', [xy, self.constant(grid)]), self.constant(np.float32(320 / size))])
        wh = self.add('Mul', [self.add('Mul', [wh, wh]), self.constant(np.float32(64))])
        y = self.add('Concat', [xy, wh, rest], axis=3)
        return self.add('Reshape', [y, self.constant(np.array([0, ANCHORS * size * size, 5 + CLASSES], np.int64))])


def network(size):
    m = Maker()
    x = m.conv('images', 3, 16, 6 - 1, 2)
    x = m.block(m.conv(x, 16, 32, 3, 2), 32, 32)
    p3 = m.block(m.conv(x, 32, 64, 3, 2), 64, 60)          # 60 channels: no multiple of 8 halves
    p4 = m.block(m.conv(p3, 60, 96, 3, 2), 96, 92)
    p5 = m.conv(m.block(m.conv(p4, 92, 128, 3, 2), 128, 128), 128, 64, 1)
    pools = [p5]
    for _ in range(3):
        pools.append(m.add('MaxPool', [pools[-1]], kernel_shape=[5, 5], pads=[2] * 4))
    p5 = m.conv(m.add('Concat', pools, axis=1), 256, 100, 1)
    up = m.constant(np.array([1, 1, 2, 2], np.float32))

    def larger(y):
        return m.add('Resize', [y, '', up], mode='nearest', coordinate_transformation_mode='asymmetric', nearest_mode='floor')
    p4 = m.block(m.add('Concat', [larger(p5), p4], axis=1), 192, 76)
    p3 = m.block(m.add('Concat', [larger(p4), p3], axis=1), 136, 52)
    heads = [m.head(p3, 52, size // 8), m.head(p4, 76, size // 16), m.head(p5, 100, size // 32)]
    m.nodes.append(helper.make_node('Concat', heads, ['boxes'], axis=1))
    boxes = ANCHORS * sum((size // s) ** 2 for s in (8, 16, 32))
    graph = helper.make_graph(m.nodes, 'detection', [helper.make_tensor_value_info('images', TensorProto.FLOAT, [1, 3, size, size])],
                              [helper.make_tensor_value_info('boxes', TensorProto.FLOAT, [1, boxes, 5 + CLASSES])], m.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=9)


if __name__ == '__main__':
    onnx.save(network(int(sys.argv[2]) if len(sys.argv) > 2 else 320), sys.argv[1])
