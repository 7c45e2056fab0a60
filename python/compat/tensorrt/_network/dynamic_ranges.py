"""Ranges that the caller gives to single tensors, as a calibration cache has them: the largest magnitude by 127, as the bits of a float."""
from __future__ import annotations

import math
import struct
from typing import Any

from tenfold.errors import InvalidArgument

_HEAD = 'TRT-101600-EntropyCalibration2'


def checked(low: Any, high: Any, name: str) -> tuple[float, float]:
    """Both bounds as floats."""
    low, high = float(low), float(high)
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise InvalidArgument(f"the dynamic range of '{name}' is {low} to {high}: finite bounds are expected, the lower one first")
    return low, high


def cache_of(network: Any) -> bytes:
    """A line for each tensor of the network: zero for one without a range, which stays in floats with all that reads it."""
    graph = network._graph
    values = [*graph.inputs, *(value for node in graph.nodes for value in node.outputs if value is not None)]
    scales = dict.fromkeys((value.name for value in values), 0.0)
    scales.update({tensor.name: max(map(abs, bounds)) / 127 for tensor, bounds in network._ranges.values()})
    lines = [f'{name}: {struct.unpack("<I", struct.pack("<f", scale))[0]:x}' for name, scale in scales.items()
             if name and '\n' not in name and '\r' not in name]
    return '\n'.join([_HEAD, *lines, '']).encode()
