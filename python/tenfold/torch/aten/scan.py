"""Running extremes, products and sums of exponentials along an axis, by steps that double how far each element looks back."""
from __future__ import annotations

from collections.abc import Callable

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.shape import END
from tenfold.torch.aten.table import aten

Parts = tuple[Value, ...]


def scanned(call: Call, parts: Parts, axis: int, combine: Callable[[Parts, Parts], Parts]) -> Parts:
    """`combine` gives what two neighboring runs come to, the earlier one first."""
    axis = call.axis(axis, parts[0])
    (size,) = call.fixed([call.argument(0).shape[axis]], 'a running extreme, product or sum of exponentials')

    def cut(part: Value, start: int, end: int) -> Value:
        return call.Slice(part, *(call.ints([n]) for n in (start, end, axis)))
    step = 1
    while step < size:
        before, here = ([cut(p, *ends) for p in parts] for ends in ((0, size - step), (step, END)))
        made = combine(tuple(before), tuple(here))
        parts = tuple(call.Concat(cut(p, 0, step), m, axis=axis) for p, m in zip(parts, made, strict=True))
        step *= 2
    return parts


def extremes(call: Call, x: Value, axis: int, further: str) -> tuple[Value | None, ...]:
    """Of equal ones the last, and NaN behind the first NaN, as torch has it."""
    if call.rank(x) == 0:
        return call.Identity(x), call.constant(0, 'i64')
    number = call.cast(x, 'i32') if x.dtype == 'bool' else x
    sizes = call.argument(0).shape
    places = call.Range(call.constant(0, 'i64'), call.cast(sizes[axis], 'i64'), call.constant(1, 'i64'))
    places = call.Expand(call.reshape(places, [-1 if a == call.axis(axis, x) else 1 for a in range(call.rank(x))]), call.ints(list(sizes)))

    def later(before: Parts, here: Parts) -> Parts:
        taken = call.add(further, here[0], before[0])
        if call.is_float(number):
            taken = call.Or(call.IsNaN(here[0]), call.And(taken, call.Not(call.IsNaN(before[0]))))
        return tuple(call.Where(taken, h, b) for h, b in zip(here, before, strict=True))
    if not call.used(1):
        (values,) = scanned(call, (number,), axis, later)
        return call.cast(values, x.dtype), None
    values, found = scanned(call, (number, places), axis, later)
    return call.cast(values, x.dtype), found


@aten('cummax')
def cummax(call: Call, x: Value, axis: int) -> tuple[Value | None, ...]: return extremes(call, x, axis, 'GreaterOrEqual')


@aten('cummin')
def cummin(call: Call, x: Value, axis: int) -> tuple[Value | None, ...]: return extremes(call, x, axis, 'LessOrEqual')


@aten('cumprod')
def cumprod(call: Call, x: Value, axis: int, dtype: object = None) -> Value:
    x = call.computed(x)
    if call.rank(x) == 0:
        return call.Identity(x)
    return call.computed(scanned(call, (call.wide(x),), axis, lambda before, here: (call.Mul(before[0], here[0]),))[0])


@aten('logcumsumexp')
def logcumsumexp(call: Call, x: Value, axis: int) -> Value:
    if call.rank(x) == 0:
        return call.Identity(x)

    def both(before: Parts, here: Parts) -> Parts:
        high, low = call.Max(before[0], here[0]), call.Min(before[0], here[0])
        away = call.Where(call.Equal(low, high), call.constant(0.0, high.dtype), call.Sub(low, high))
        return (call.Add(high, call.Log(call.Add(call.Exp(away), 1.0))),)
    return call.computed(scanned(call, (call.wide(x),), axis, both)[0])
