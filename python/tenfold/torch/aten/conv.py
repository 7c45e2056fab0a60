"""Convolutions."""
from __future__ import annotations

from collections.abc import Sequence

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.table import aten


@aten('convolution')
def convolution(call: Call, x: Value, kernel: Value, bias: Value | None, strides: Sequence[int], pads: Sequence[int],
                dilations: Sequence[int], transposed: bool, output_pads: Sequence[int], groups: int) -> Value:
    axes = call.rank(kernel) - 2
    every = {name: list(call.fixed(v, 'a convolution')) * (axes if len(v) == 1 else 1)
             for name, v in (('strides', strides), ('pads', pads), ('dilations', dilations), ('output_padding', output_pads))}
    every['pads'] *= 2
    if not transposed:
        del every['output_padding']
    operands = [v if v is None or call.is_float(v) else call.cast(v, 'f64') for v in (x, kernel, bias)]   # of integers: exact up to 2^53
    return call.computed(call.add('ConvTranspose' if transposed else 'Conv', *operands, group=groups, **every))
