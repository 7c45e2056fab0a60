#!/usr/bin/env python3
"""Rewrites a QDQ model with unsigned activations as the same model with signed ones: signed_activations.py IN.onnx OUT.onnx

Every uint8 zero point z becomes the int8 zero point z - 128, which means the same real numbers. Needs onnx and numpy.
"""
import sys

import numpy as np
import onnx
from onnx import numpy_helper


def signed(model):
    points = {n.input[2] for n in model.graph.node if n.op_type in ('QuantizeLinear', 'DequantizeLinear') and len(n.input) > 2}
    for i, tensor in enumerate(model.graph.initializer):
        value = numpy_helper.to_array(tensor)
        if tensor.name in points and value.dtype == np.uint8:
            model.graph.initializer[i].CopyFrom(numpy_helper.from_array((value.astype(np.int16) - 128).astype(np.int8), tensor.name))
    del model.graph.value_info[:]   # they may name the old types
    onnx.checker.check_model(model)
    return model


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    onnx.save(signed(onnx.load(sys.argv[1])), sys.argv[2])
