"""Reductions along axes, extremes and their places, orders and running sums."""
from __future__ import annotations

import math
from typing import Any

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.table import Axes, aten


def reduced(call: Call, op: str, x: Value, axes: Axes, keep: bool) -> Value:
    """Over these axes; none or an empty list: over all."""
    if call.rank(x) == 0:
        return call.Identity(x)
    axes = [axes] if isinstance(axes, int) else list(axes or range(call.rank(x)))
    return call.add(op, x, call.ints(axes), keepdims=int(keep))


@aten('sum.dim_IntList')
def sum_(call: Call, x: Value, axes: Axes = None, keep: bool = False, dtype: Any = None) -> Value:
    return reduced(call, 'ReduceSum', call.computed(x), axes, keep)


@aten('sum')
def sum_all(call: Call, x: Value, dtype: Any = None) -> Value:
    return reduced(call, 'ReduceSum', call.computed(x), None, False)


@aten('mean.dim')
def mean(call: Call, x: Value, axes: Axes = None, keep: bool = False, dtype: Any = None) -> Value:
    return reduced(call, 'ReduceMean', call.computed(x), axes, keep)


@aten('mean')
def mean_all(call: Call, x: Value, dtype: Any = None) -> Value: return mean(call, x)


@aten('prod.dim_int')
def prod(call: Call, x: Value, axis: int, keep: bool = False, dtype: Any = None) -> Value:
    return reduced(call, 'ReduceProd', call.computed(x), axis, keep)


@aten('prod')
def prod_all(call: Call, x: Value, dtype: Any = None) -> Value:
    return reduced(call, 'ReduceProd', call.computed(x), None, False)


@aten('amax')
def amax(call: Call, x: Value, axes: Axes = (), keep: bool = False) -> Value:
    return extreme(call, 'ReduceMax', x, axes, keep)


@aten('amin')
def amin(call: Call, x: Value, axes: Axes = (), keep: bool = False) -> Value:
    return extreme(call, 'ReduceMin', x, axes, keep)


def extreme(call: Call, op: str, x: Value, axes: Axes, keep: bool) -> Value:
    """Of bools as bytes."""
    if x.dtype != 'bool':
        return reduced(call, op, x, axes, keep)
    return call.cast(reduced(call, op, call.cast(x, 'i32'), axes, keep), 'bool')


@aten('max')
def max_all(call: Call, x: Value) -> Value: return extreme(call, 'ReduceMax', x, None, False)


@aten('min')
def min_all(call: Call, x: Value) -> Value: return extreme(call, 'ReduceMin', x, None, False)


@aten('any', 'any.dim', 'any.dims')
def any_(call: Call, x: Value, axes: Axes = None, keep: bool = False) -> Value:
    if isinstance(axes, list) and not axes:
        return call.cast(call.cast(x, 'bool'), call.dtype)
    found = reduced(call, 'ReduceMax', call.cast(call.cast(x, 'bool'), 'i32'), axes, keep)
    return call.cast(call.Greater(found, 0), call.dtype)            # of nothing: less than 0


@aten('all', 'all.dim')
def all_(call: Call, x: Value, axes: Axes = None, keep: bool = False) -> Value:
    return call.cast(extreme(call, 'ReduceMin', call.cast(x, 'bool'), axes, keep), call.dtype)


@aten('var.correction')
def var(call: Call, x: Value, axes: Axes = None, correction: float | None = None, keep: bool = False) -> Value:
    return variance(call, x, axes, 1 if correction is None else correction, keep)


@aten('var.dim')
def var_dim(call: Call, x: Value, axes: Axes, unbiased: bool = True, keep: bool = False) -> Value:
    return variance(call, x, axes, int(unbiased), keep)


def variance(call: Call, x: Value, axes: Axes, correction: float, keep: bool) -> Value:
    rank = call.rank(x)
    axes = [axes] if isinstance(axes, int) else list(axes or range(rank))
    axes = [call.axis(a, x) for a in axes] if rank else []
    count = math.prod(call.fixed([call.argument(0).shape[a] for a in axes], 'a variance'))
    x = call.wide(x)
    away = call.Sub(x, reduced(call, 'ReduceMean', x, axes, True))
    total = reduced(call, 'ReduceSum', call.Mul(away, away), axes, keep)
    left = max(count - correction, 0)
    return call.computed(call.Div(total, float(left)))


@aten('argmax')
def argmax(call: Call, x: Value, axis: int | None = None, keep: bool = False) -> Value:
    return place(call, 'ArgMax', x, axis, keep)


@aten('argmin')
def argmin(call: Call, x: Value, axis: int | None = None, keep: bool = False) -> Value:
    return place(call, 'ArgMin', x, axis, keep)


def place(call: Call, op: str, x: Value, axis: int | None, keep: bool) -> Value:
    if call.rank(x) == 0:
        return call.constant(0, 'i64')
    if axis is not None:
        return call.add(op, x, axis=axis, keepdims=int(keep))
    found = call.Squeeze(call.add(op, call.reshape(x, [-1]), axis=0, keepdims=0))
    return call.reshape(found, [1] * call.rank(x)) if keep else found


@aten('max.dim')
def max_dim(call: Call, x: Value, axis: int, keep: bool = False) -> tuple[Value | None, ...]:
    return both(call, 'ReduceMax', 'ArgMax', x, axis, keep)


@aten('min.dim')
def min_dim(call: Call, x: Value, axis: int, keep: bool = False) -> tuple[Value | None, ...]:
    return both(call, 'ReduceMin', 'ArgMin', x, axis, keep)


def both(call: Call, op: str, op_place: str, x: Value, axis: int, keep: bool) -> tuple[Value | None, ...]:
    number = call.cast(x, 'i32') if x.dtype == 'bool' else x
    return (extreme(call, op, x, axis, keep) if call.used(0) else None,
            place(call, op_place, number, axis, keep) if call.used(1) else None)


@aten('topk')
def topk(call: Call, x: Value, k: int, axis: int = -1, largest: bool = True,
         sorted_: bool = True) -> tuple[Value | None, ...]:
    if call.rank(x) == 0:
        return call.Identity(x), call.constant(0, 'i64')
    values, places = call.TopK(x, call.ints([k]), axis=axis, largest=int(largest), sorted=1, outputs=2)
    return values, places


@aten('sort')
def sort(call: Call, x: Value, axis: int = -1, descending: bool = False) -> tuple[Value | None, ...]:
    return in_order(call, x, axis, descending)


@aten('sort.stable')
def sort_stable(call: Call, x: Value, stable: bool | None = None, axis: int = -1,
                descending: bool = False) -> tuple[Value | None, ...]:
    return in_order(call, x, axis, descending)


def in_order(call: Call, x: Value, axis: int, descending: bool) -> tuple[Value | None, ...]:
    if call.rank(x) == 0:
        return call.Identity(x), call.constant(0, 'i64')
    number = call.cast(x, 'i32') if x.dtype == 'bool' else x
    values, places = call.TopK(number, call.ints([call.fake.shape[axis]]), axis=axis, largest=int(descending), sorted=1, outputs=2)
    return call.cast(values, x.dtype), places


@aten('cumsum')
def cumsum(call: Call, x: Value, axis: int, dtype: Any = None) -> Value:
    x = call.computed(x)
    return call.CumSum(x, call.constant(axis, 'i64')) if call.rank(x) else call.Identity(x)


@aten('histc')
def histc(call: Call, x: Value, bins: int = 100, low: float = 0, high: float = 0) -> Value:
    """Counts of elements between two bounds, which are the least and the largest element where both are equal."""
    x = call.reshape(x, [-1])
    ends: tuple[Value, ...] = tuple(call.constant(float(n), x.dtype) for n in (low, high))
    if low == high:
        ends = tuple(call.ReduceMin(x, keepdims=0) if n == 0 else call.ReduceMax(x, keepdims=0) for n in (0, 1))
        flat = call.Equal(*ends)
        ends = call.Where(flat, call.Sub(ends[0], 1.0), ends[0]), call.Where(flat, call.Add(ends[1], 1.0), ends[1])
    inside = call.And(call.GreaterOrEqual(x, ends[0]), call.LessOrEqual(x, ends[1]))
    place = call.Div(call.Mul(call.Sub(x, ends[0]), float(bins)), call.Sub(ends[1], ends[0]))
    place = call.Where(inside, call.Min(place, float(bins - 1)), call.constant(float(bins), x.dtype))      # a bin more, for the others
    nothing = call.Expand(call.constant(0.0, x.dtype), call.ints([bins + 1]))
    ones = call.Expand(call.constant(1.0, x.dtype), call.Shape(x))
    counts = call.ScatterElements(nothing, call.cast(place, 'i64'), ones, axis=0, reduction='add')
    return call.Slice(counts, call.ints([0]), call.ints([bins]), call.ints([0]))
