"""The distinct nodes of a model as models of their own: the same operator, attributes, constants, and the values that reach it."""
from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

VALUES_AT_FIRST = 64          # inner values of the first run; each further one gives as many as
BYTES_AT_ONCE = 256 << 20     # fit into this, by those of the run before: a model of 20,000 nodes takes a few runs
SMALL = 16            # elements of a constant that may be axes or a shape: such nodes differ by its values, others by its shape alone


@dataclass
class Node:
    name: str
    operator: str
    shapes: str                  # of the inputs
    count: int
    model: onnx.ModelProto
    inputs: dict[str, Any]


@dataclass
class Skipped:
    name: str
    operator: str
    reason: str


def outer_names(graph: onnx.GraphProto) -> Iterator[str]:
    """Values that the nodes of a body read from around it."""
    inside = {i.name for i in graph.input} | {w.name for w in graph.initializer} | {o for n in graph.node for o in n.output}
    for name in [i for n in graph.node for i in reads(n)] + [o.name for o in graph.output]:
        if name and name not in inside:
            yield name


def reads(node: onnx.NodeProto) -> list[str]:
    """Its inputs, and what its bodies read from around them."""
    names = [i for i in node.input if i]
    for attribute in node.attribute:
        for body in ([attribute.g] if attribute.HasField('g') else []) + list(attribute.graphs):
            names += outer_names(body)
    return list(dict.fromkeys(names))


def constant_names(model: onnx.ModelProto) -> set[str]:
    """Weights, and what nodes compute of constants alone: both engines compute that once."""
    names = {w.name for w in model.graph.initializer} | {w.values.name for w in model.graph.sparse_initializer}
    for node in model.graph.node:   # which the standard orders
        if all(name in names for name in reads(node)) and not node.op_type.startswith('Random'):
            names.update(o for o in node.output if o)
    return names


class Values:
    """Inner values of one run, asked for in portions."""

    def __init__(self, model: onnx.ModelProto, feed: dict[str, Any]):
        self._model, self._feed = model, feed

    def __call__(self, names: list[str]) -> Iterator[tuple[str, Any]]:
        inner = [name for name in names if name not in self._feed]
        yield from ((name, self._feed[name]) for name in names if name in self._feed)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        count = VALUES_AT_FIRST
        while inner:
            portion, inner = inner[:count], inner[count:]
            model = onnx.ModelProto()
            model.CopyFrom(self._model)
            del model.graph.output[:]
            model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in portion)
            session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=['CPUExecutionProvider'])
            found = session.run(portion, self._feed)
            size = sum(value.nbytes for value in found if isinstance(value, np.ndarray))
            count = max(1, min(8 * count, count * BYTES_AT_ONCE // max(size, 1)))
            yield from zip(portion, found, strict=True)


def describe(value: Any) -> tuple[str, tuple[int, ...]] | None:
    """Type and shape, or None for what is no array of NumPy's own types."""
    return (value.dtype.name, value.shape) if isinstance(value, np.ndarray) and value.dtype.kind in 'biuf' else None


def key_of(node: onnx.NodeProto, known: dict[str, Any], constants: dict[str, Any]) -> str:
    """What two nodes have in common that take the same time."""
    bare = onnx.NodeProto()
    bare.CopyFrom(node)
    for field in ('name', 'doc_string', 'input', 'output'):
        bare.ClearField(field)
    digest = hashlib.sha256(bare.SerializeToString(deterministic=True) + repr([bool(o) for o in node.output]).encode())
    for name in list(node.input) + reads(node)[len([i for i in node.input if i]):]:
        digest.update(repr((bool(name), name in constants, known.get(name))).encode())
        if name in constants and constants[name].size <= SMALL:
            digest.update(constants[name].tobytes())
    return digest.hexdigest()


def shape_text(node: onnx.NodeProto, known: dict[str, Any]) -> str:
    texts = ['x'.join(map(str, known[i][1])) or 'scalar' for i in node.input if known.get(i)]
    return ' '.join(texts[:3]) + (' ...' if len(texts) > 3 else '')


def alone(node: onnx.NodeProto, model: onnx.ModelProto, known: dict[str, Any], constants: dict[str, Any]) -> onnx.ModelProto:
    make = onnx.helper.make_tensor_value_info
    element = lambda name: onnx.helper.np_dtype_to_tensor_dtype(np.dtype(known[name][0]))
    graph = onnx.GraphProto(name=node.name or node.op_type)
    graph.node.add().CopyFrom(node)
    for name in reads(node):
        if name in constants:
            graph.initializer.append(numpy_helper.from_array(constants[name], name))
        else:
            graph.input.append(make(name, element(name), known[name][1]))
    graph.output.extend(make(name, element(name), None) for name in node.output if name)
    return onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def distinct_nodes(model: onnx.ModelProto, feed: dict[str, Any]) -> tuple[list[Node], list[Skipped]]:
    fixed, values = constant_names(model), Values(model, feed)
    rows: dict[str, Node] = {}
    skipped, known, constants = [], {}, {}
    nodes = []
    for node in model.graph.node:
        if all(o in fixed for o in node.output if o):
            if node.op_type != 'Constant':
                skipped.append(Skipped(node.name, node.op_type, 'all that it reads is constant'))
        else:
            nodes.append(node)
    names = dict.fromkeys(name for node in nodes for name in [*reads(node), *node.output] if name)
    for name, value in values(list(names)):
        known[name] = describe(value)
        if name in fixed and known[name]:
            constants[name] = value
    for node in nodes:
        if any(known[name] is None for name in [*reads(node), *node.output] if name):
            skipped.append(Skipped(node.name, node.op_type, 'it reads or writes what is no array of a type that NumPy has'))
            continue
        key = key_of(node, known, constants)
        if key in rows:
            rows[key].count += 1
        else:
            name = node.name or node.output[0]
            rows[key] = Node(name, node.op_type, shape_text(node, known), 1, alone(node, model, known, constants), {})
    wanted: dict[str, list[Node]] = {}
    for row in rows.values():
        for value in row.model.graph.input:
            wanted.setdefault(value.name, []).append(row)
    for name, value in values(list(wanted)):
        for row in wanted[name]:
            row.inputs[name] = value
    return list(rows.values()), skipped
