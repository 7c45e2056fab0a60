"""Products of matrices, and distances between rows."""
from __future__ import annotations

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
