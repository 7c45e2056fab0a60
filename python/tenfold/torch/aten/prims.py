"""Primitives of torch's decompositions that are not just as a function of ATen."""
from __future__ import annotations

from typing import Any

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.binary import div_mode
from tenfold.torch.aten.reduce import extreme, reduced
from tenfold.torch.aten.table import Axes, Number, Size, aten


@aten('prims.convert_element_type.default')
def convert_element_type(call: Call, x: Value, dtype: Any) -> Value:
    return call.Identity(x) if x.dtype == call.dtype else call.cast(x, call.dtype)


@aten('prims.div.default')
def div(call: Call, x: Value, y: Value) -> Value:
    return div_mode(call, x, y, None if call.is_float(x) else 'trunc')


@aten('prims.sum.default')
def sum_(call: Call, x: Value, axes: Axes, dtype: Any = None) -> Value: return over(call, 'ReduceSum', call.computed(x), axes)


@aten('prims.prod.default')
def prod(call: Call, x: Value, axes: Axes, dtype: Any = None) -> Value: return over(call, 'ReduceProd', call.computed(x), axes)


@aten('prims.amax.default')
def amax(call: Call, x: Value, axes: Axes, dtype: Any = None) -> Value: return over(call, 'ReduceMax', x, axes)


@aten('prims.amin.default')
def amin(call: Call, x: Value, axes: Axes, dtype: Any = None) -> Value: return over(call, 'ReduceMin', x, axes)


def over(call: Call, op: str, x: Value, axes: Axes) -> Value:
    """Over these axes; none of them: x as it is, where ATen's functions take all."""
    if not axes:
        return call.Identity(x)
    return extreme(call, op, x, axes, False) if op in ('ReduceMax', 'ReduceMin') else reduced(call, op, x, axes, False)


@aten('prims.iota.default')
def iota(call: Call, length: Size, start: Number, step: Number, *rest: Any) -> Value:
    numbers = call.Range(call.constant(0, 'i64'), call.cast(length, 'i64'), call.constant(1, 'i64'))
    return call.cast(call.Add(call.Mul(numbers, int(step)), int(start)), call.dtype)
