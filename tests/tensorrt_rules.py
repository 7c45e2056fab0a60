"""TensorRT's rules for files with Q/DQ, as its documentation states them ("Working with Quantized Types"), held over a written file."""

import numpy as np
from onnx import TensorProto, numpy_helper

PRODUCTS = ('Conv', 'MatMul', 'Gemm')
NARROW = {TensorProto.INT8, TensorProto.FLOAT8E4M3FN, TensorProto.INT4}


def channel_axis(node):
    """Of the weights' output channels."""
    if node.op_type == 'Conv':
        return 0
    if node.op_type == 'Gemm':
        return 0 if any(a.name == 'transB' and a.i for a in node.attribute) else 1
    return 1


def broken_rules(model):
    """What TensorRT would refuse, or compute in floats; empty: nothing."""
    graph, found = model.graph, []
    constants = {i.name: i for i in graph.initializer}
    made = {o: n for n in graph.node for o in n.output}
    readers = {}
    for n in graph.node:
        for i in n.input:
            readers.setdefault(i, []).append(n)

    def attribute(node, name, default):
        return next((a.i for a in node.attribute if a.name == name), default)

    for n in graph.node:
        if n.op_type not in ('QuantizeLinear', 'DequantizeLinear'):
            continue
        scale, zero = (constants.get(i) for i in (list(n.input) + [''])[1:3])
        if scale is None or zero is None:
            found.append(f'{n.name}: scale and zero point are to be constants')
            continue
        if zero.data_type not in NARROW:
            found.append(f'{n.name}: of type {TensorProto.DataType.Name(zero.data_type)}, int8, fp8 e4m3 or int4 is taken')
        if zero.raw_data.strip(b'\0'):
            found.append(f'{n.name}: a zero point is not 0')
        steps = numpy_helper.to_array(scale)
        if scale.data_type != TensorProto.FLOAT or not (np.isfinite(steps) & (steps > 0)).all():
            found.append(f'{n.name}: scales are to be finite and above 0')
        weights = n.op_type == 'DequantizeLinear' and n.input[0] in constants
        blocks = attribute(n, 'block_size', 0)
        if not weights and steps.ndim:
            found.append(f'{n.name}: data have one scale')
        if weights:
            shape = list(constants[n.input[0]].dims)
            for reader in readers.get(n.output[0], []):
                if reader.op_type not in PRODUCTS or reader.input[1] != n.output[0]:
                    found.append(f'{n.name}: quantized constants are weights of products, not operand of {reader.name}')
                elif blocks:
                    axis = attribute(n, 'axis', 1)
                    expected = [d // blocks if i == axis else d for i, d in enumerate(shape)]
                    if list(steps.shape) != expected or shape[axis] % blocks or axis == channel_axis(reader):
                        found.append(f'{n.name}: blocks divide the axis that is summed over')
                elif attribute(n, 'axis', 1) != channel_axis(reader) or list(steps.shape) != [shape[channel_axis(reader)]]:
                    found.append(f'{n.name}: the axis of scales is that of output channels')
        if n.op_type == 'DequantizeLinear' and not weights and made[n.input[0]].op_type != 'QuantizeLinear':
            found.append(f'{n.name}: stands behind no QuantizeLinear')
        if n.op_type == 'QuantizeLinear' and not all(r.op_type == 'DequantizeLinear' for r in readers.get(n.output[0], [])):
            found.append(f'{n.name}: stands before no DequantizeLinear')
        if n.op_type == 'QuantizeLinear' and n.input[0] in constants:
            found.append(f'{n.name}: weights are stored quantized')
    for n in graph.node:
        if n.op_type not in PRODUCTS:
            continue
        x, w = (made.get(i) for i in n.input[:2])
        if len(n.input) > 2 and n.input[2] in made and made[n.input[2]].op_type == 'DequantizeLinear':
            found.append(f'{n.name}: biases stay in floats')
        if w is not None and w.op_type == 'DequantizeLinear' and not attribute(w, 'block_size', 0):
            if x is None or x.op_type != 'DequantizeLinear':
                found.append(f'{n.name}: its weights are quantized, and its data are not')
    return found
