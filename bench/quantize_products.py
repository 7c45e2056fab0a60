#!/usr/bin/env python3
"""Writes a model whose products and convolutions with weights are quantized:
quantize_products.py IN.onnx OUT.onnx float8|int8|float8-attention [RUNS]

Weights get a scale for each column or filter, activations one for each tensor: the largest magnitude in RUNS (4) runs on random inputs
becomes the type's largest number, 448 or 127. With float8-attention products of two activations, too. Needs onnx,
onnxruntime and numpy; dynamic dims are run with batch 2 and 128 elsewhere. (The optimizer of ONNX Runtime 1.31 computes such e4m3 models
wrongly: compare with the float model, or switch it off.)
"""
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper, version_converter

LARGEST = {'float8': 448.0, 'int8': 127.0}
TYPE = {'float8': TensorProto.FLOAT8E4M3FN, 'int8': TensorProto.INT8}


def codes():
    """The value of each code without a sign: exponent of 4 bits, biased by 7, and 3 bits of fraction."""
    return np.array([(2.0 ** -6 * m / 8 if e == 0 else 2.0 ** (e - 7) * (1 + m / 8)) for e in range(16) for m in range(8)][:127])


def to_float8(values):
    table = codes()
    magnitude = np.minimum(np.abs(values), table[-1])
    above = np.clip(np.searchsorted(table, magnitude), 1, 126)
    low, high = table[above - 1], table[above]
    middle = (low + high) / 2
    up = (magnitude > middle) | ((magnitude == middle) & (above % 2 == 0))   # ties to the even code
    return (np.where(up, above, above - 1) | np.where(np.signbit(values), 128, 0)).astype(np.uint8)


def small(kind, name, values):
    """A tensor of 8 bits from values that are scaled already."""
    data = to_float8(values) if kind == 'float8' else np.clip(np.rint(values), -127, 127).astype(np.int8)
    return TensorProto(name=name, data_type=TYPE[kind], dims=values.shape, raw_data=data.tobytes())


def random_inputs(session, rng):
    feeds = {}
    for i in session.get_inputs():
        shape = [d if isinstance(d, int) else 2 if k == 0 else 128 for k, d in enumerate(i.shape)]
        if 'float' in i.type:
            feeds[i.name] = rng.uniform(-1, 1, shape).astype(np.float32)
        else:
            feeds[i.name] = np.ones(shape, np.int64) if 'mask' in i.name else rng.integers(1000, 30000, shape)
    return feeds


def largest_magnitudes(model, names, runs):
    """By name: the largest magnitude of a tensor over some runs."""
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    for name in names:
        watched.graph.node.append(helper.make_node('Abs', [name], [name + '/abs']))
        watched.graph.node.append(helper.make_node('ReduceMax', [name + '/abs'], [name + '/largest'], keepdims=0))
        watched.graph.output.append(helper.make_tensor_value_info(name + '/largest', TensorProto.FLOAT, []))
    session = ort.InferenceSession(watched.SerializeToString(), providers=['CPUExecutionProvider'])
    rng = np.random.default_rng(7)
    all_runs = [session.run([n + '/largest' for n in names], random_inputs(session, rng)) for _ in range(runs)]
    return {n: float(max(r[i] for r in all_runs)) for i, n in enumerate(names)}


def channel_axis(node, weights):
    """The axis of a product's weights with a scale for each slice; None: it stays as it is."""
    rank = len(weights[node.input[1]].dims) if len(node.input) > 1 and node.input[1] in weights else 0
    if node.op_type == 'Conv' and rank > 2:
        return 0
    if node.op_type not in ('MatMul', 'Gemm') or rank != 2:
        return None
    return 0 if node.op_type == 'Gemm' and any(a.name == 'transB' and a.i for a in node.attribute) else 1


def of_activations(node, weights, made):
    """Whether a product's operands are both computed."""
    return node.op_type == 'MatMul' and all(i in made and i not in weights for i in node.input)


def quantize(model, kind, runs, attention=False):
    weights = {t.name: t for t in model.graph.initializer}
    made = {o: n.op_type for n in model.graph.node for o in n.output}
    products = [n for n in model.graph.node if channel_axis(n, weights) is not None]
    expected = [n.input[0] for n in products]
    if attention:
        expected += [i for n in model.graph.node if of_activations(n, weights, made) for i in n.input]
    largest = largest_magnitudes(model, list(dict.fromkeys(expected)), runs)
    largest.update({name: 1.0 for name in largest if made.get(name) == 'Softmax'})   # whatever a run shows
    model = version_converter.convert_version(model, 19)   # the first with e4m3
    weights = {t.name: t for t in model.graph.initializer}
    new, begun = [], {}

    def constant(name, value):
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value, np.float32), name))
        return name

    def activation(x):
        if x not in begun:
            scale = constant(x + '/scale', max(largest[x], 1e-6) / LARGEST[kind])
            model.graph.initializer.append(small(kind, x + '/zero', np.zeros([])))
            new.append(helper.make_node('QuantizeLinear', [x, scale, x + '/zero'], [x + '/small']))
            new.append(helper.make_node('DequantizeLinear', [x + '/small', scale, x + '/zero'], [x + '/back']))
            begun[x] = x + '/back'
        return begun[x]

    for node in model.graph.node:
        axis = channel_axis(node, weights)
        if attention and of_activations(node, weights, made):
            node.input[0], node.input[1] = activation(node.input[0]), activation(node.input[1])
        if axis is not None and node.input[0] in largest:
            x, w = node.input[0], node.input[1]
            activation(x)
            if w not in begun:
                values = numpy_helper.to_array(weights[w])
                others = tuple(d for d in range(values.ndim) if d != axis)
                scales = np.maximum(np.abs(values).max(axis=others), 1e-8).astype(np.float32) / np.float32(LARGEST[kind])
                scaled = values / np.expand_dims(scales, others)
                model.graph.initializer.append(small(kind, w + '/small', scaled))
                new.append(helper.make_node('DequantizeLinear', [w + '/small', constant(w + '/scale', scales)], [w + '/back'],
                                            axis=axis))
                begun[w] = w + '/back'
            node.input[0], node.input[1] = begun[x], begun[w]
        new.append(node)
    del model.graph.node[:]
    model.graph.node.extend(new)
    used = {i for n in model.graph.node for i in n.input}
    kept = [t for t in model.graph.initializer if t.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    del model.graph.value_info[:]
    return model


if __name__ == '__main__':
    expected = sys.argv[3].partition('-') if len(sys.argv) in (4, 5) else ('', '', '')
    if expected[0] not in TYPE or expected[2] not in ('', 'attention') or expected == ('int8', '-', 'attention'):
        sys.exit(__doc__)
    runs = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    onnx.save(quantize(onnx.load(sys.argv[1]), expected[0], runs, expected[2] == 'attention'), sys.argv[2])
