"""A model in floats from one with QuantizeLinear and DequantizeLinear: weights dequantized, all else left out."""

import numpy as np
import onnx
from onnx import numpy_helper


def _dequantized(node, constants):
    w, s = (constants[name].astype(np.float64) for name in node.input[:2])
    z = constants[node.input[2]].astype(np.float64) if len(node.input) > 2 else np.zeros_like(s)
    if s.size > 1:
        axis = next((a.i for a in node.attribute if a.name == 'axis'), 1)
        shape = [-1 if d == axis else 1 for d in range(w.ndim)]
        s, z = s.reshape(shape), z.reshape(shape)
    return ((w - z) * s).astype(np.float32)


def float_form(model):
    """`model`: a ModelProto, which is left as it is. Between the two nodes may stand Clip and Cast, as PyTorch writes them."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    graph = model.graph
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    stands_for, narrow, kept, made = {}, set(), [], {}
    for node in graph.node:
        source = node.input[0] if node.input else ''
        if node.op_type == 'Constant':
            constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        if node.op_type == 'Identity' and source in constants:
            constants[node.output[0]] = constants[source]
        if node.op_type == 'DequantizeLinear' and source in constants:
            made[node.output[0]] = _dequantized(node, constants)
        elif node.op_type == 'QuantizeLinear' or (node.op_type in ('Clip', 'Cast') and source in narrow):
            narrow.add(node.output[0])
            stands_for[node.output[0]] = source
        elif node.op_type == 'DequantizeLinear':
            stands_for[node.output[0]] = source
        else:
            kept.append(node)

    def real(name):
        while name in stands_for:
            name = stands_for[name]
        return name

    outputs = {real(o.name): o.name for o in graph.output}
    for node in kept:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                names[i] = outputs.get(real(name), real(name))
    used = {name for node in kept for name in node.input}
    initializers = [i for i in graph.initializer if i.name in used]
    initializers += [numpy_helper.from_array(v, k) for k, v in made.items() if k in used]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(kept)
    graph.initializer.extend(initializers)
    onnx.checker.check_model(model)
    return model
