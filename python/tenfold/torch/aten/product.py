"""Products of matrices, and distances between rows."""
from __future__ import annotations

import math
from typing import Any

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.table import Number, aten


@aten('mm', 'bmm', 'matmul')
def mm(call: Call, a: Value, b: Value) -> Value: return call.MatMul(a, b)


@aten('linear')
def linear(call: Call, x: Value, weight: Value, bias: Value | None = None) -> Value:
    """In parts it would be a product for each of the first dims, where x does not lie row by row."""
    product = call.MatMul(x, call.Transpose(weight, perm=[1, 0]) if call.rank(weight) == 2 else weight)
    return product if bias is None else call.Add(product, bias)


@aten('addmm', 'baddbmm')
def addmm(call: Call, x: Value, a: Value, b: Value, beta: Number = 1, alpha: Number = 1) -> Value:
    product = call.MatMul(a, b)
    if alpha != 1:
        product = call.Mul(product, call.computed(alpha))
    if beta == 0:
        return product
    return call.Add(product, x if beta == 1 else call.Mul(x, call.computed(beta)))


@aten('dot', 'mv')
def mv(call: Call, a: Value, b: Value) -> Value: return call.MatMul(a, b)


MOST_GATHERED = 1 << 22    # elements of the weights that are copied for rows, where there are more rows than experts


@aten('_grouped_mm', 'transformers.grouped_mm_fallback.default')
def grouped_mm(call: Call, x: Value, weights: Value, ends: Value | None = None, bias: Value | None = None, dtype: Any = None) -> Value:
    """Rows by the weights [expert, size, width] of the expert that they are given to: `ends` has where each expert's rows end."""
    if bias is not None or (call.rank(x), call.rank(weights)) not in ((2, 3), (3, 3)) or (call.rank(x) == 2) != (ends is not None):
        call.refuse('a grouped product of this kind')
    if ends is None:
        return call.computed(call.MatMul(x, weights))
    rows, experts = call.argument(0).shape[0], *call.fixed(call.argument(1).shape[:1], 'the number of experts')
    (count,) = call.fixed([rows], 'a grouped product')
    if count > experts and count * math.prod(call.fixed(call.argument(1).shape[1:], 'an expert')) > MOST_GATHERED:
        call.refuse('a grouped product of many rows, for which each would have a copy of its weights')
    numbers = call.Range(call.constant(0, 'i64'), call.cast(rows, 'i64'), call.constant(1, 'i64'))
    past = call.GreaterOrEqual(call.Unsqueeze(numbers, call.ints([1])), call.Unsqueeze(call.cast(ends, 'i64'), call.ints([0])))
    expert = call.ReduceSum(call.cast(past, 'i64'), call.ints([1]), keepdims=0)
    own = call.Gather(weights, call.Min(expert, experts - 1), axis=0)
    made = call.Squeeze(call.MatMul(call.Unsqueeze(x, call.ints([1])), own), call.ints([1]))
    given = call.Unsqueeze(call.Less(expert, experts), call.ints([1]))
    return call.computed(call.Where(given, made, call.constant(0.0, made.dtype)))      # rows of no expert


@aten('_cdist_forward')
def cdist(call: Call, a: Value, b: Value, p: float, mode: int | None = None) -> Value:
    away = call.Abs(call.Sub(call.Unsqueeze(a, call.ints([-2])), call.Unsqueeze(b, call.ints([-3]))))
    return norm(call, away, float(p))


@aten('_pdist_forward')
def pdist(call: Call, x: Value, p: float = 2.0) -> Value:
    (rows, _) = call.fixed(call.argument(0).shape, 'pdist')
    pairs = [(i, j) for i in range(rows) for j in range(i + 1, rows)]
    first, second = (call.Gather(x, call.ints([pair[k] for pair in pairs]), axis=0) for k in (0, 1))
    return norm(call, call.Abs(call.Sub(first, second)), float(p))


def norm(call: Call, away: Value, p: float) -> Value:
    """Of rows of distances that are not negative."""
    axes = call.ints([-1])
    if p == 0:
        return call.ReduceSum(call.cast(call.Not(call.Equal(away, 0.0)), away.dtype), axes, keepdims=0)
    if p == float('inf'):
        return call.ReduceMax(away, axes, keepdims=0)
    if p == 1:
        return call.ReduceSum(away, axes, keepdims=0)
    if p == 2:
        return call.Sqrt(call.ReduceSum(call.Mul(away, away), axes, keepdims=0))
    return call.Pow(call.ReduceSum(call.Pow(away, p), axes, keepdims=0), 1 / p)
