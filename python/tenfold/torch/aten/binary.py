"""Arithmetic of two numbers, in the type that torch promotes them to."""
from __future__ import annotations

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.table import Number, Operand, aten
from tenfold.torch.aten.unary import trunc


def scaled(call: Call, y: Operand, alpha: Number) -> Value:
    """alpha * y in the type of the result."""
    y = call.computed(y)
    return y if alpha == 1 else call.Mul(y, call.computed(alpha))


@aten('add.Tensor', 'add.Scalar')
def add(call: Call, x: Operand, y: Operand, alpha: Number = 1) -> Value:
    if call.dtype == 'bool':
        return call.Or(*call.computed(x, y)) if alpha else call.computed(x)
    return call.Add(call.computed(x), scaled(call, y, alpha))


@aten('sub.Tensor', 'sub.Scalar')
def sub(call: Call, x: Operand, y: Operand, alpha: Number = 1) -> Value:
    return call.Sub(call.computed(x), scaled(call, y, alpha))


@aten('mul.Tensor', 'mul.Scalar')
def mul(call: Call, x: Operand, y: Operand) -> Value:
    x, y = call.computed(x, y)
    return call.And(x, y) if call.dtype == 'bool' else call.Mul(x, y)


@aten('div.Tensor', 'div.Scalar')
def div(call: Call, x: Operand, y: Operand) -> Value: return call.Div(*call.computed(x, y))


@aten('div.Tensor_mode', 'div.Scalar_mode')
def div_mode(call: Call, x: Operand, y: Operand, rounding_mode: str | None = None) -> Value:
    x, y = call.computed(x, y)
    if rounding_mode is None:
        return call.Div(x, y)
    if rounding_mode == 'trunc':
        return trunc(call, call.Div(x, y))
    if not call.is_float(x):
        return call.Div(call.Sub(x, call.Mod(x, y)), y)
    quotient = call.Round(call.Div(call.Sub(x, remainder_of(call, x, y)), y))
    return call.Where(call.Equal(y, 0.0), call.Div(x, y), quotient)


@aten('fmod.Tensor', 'fmod.Scalar')
def fmod(call: Call, x: Operand, y: Operand) -> Value: return call.Mod(*call.computed(x, y), fmod=1)


def remainder_of(call: Call, x: Value, y: Value) -> Value:
    """With the sign of y."""
    rest = call.Mod(x, y, fmod=1)
    signs_differ = call.Xor(call.Less(rest, 0.0), call.Less(y, 0.0))
    return call.Where(call.And(signs_differ, call.Not(call.Equal(rest, 0.0))), call.Add(rest, y), rest)


@aten('remainder.Tensor', 'remainder.Scalar', 'remainder.Scalar_Tensor')
def remainder(call: Call, x: Operand, y: Operand) -> Value:
    x, y = call.computed(x, y)
    return remainder_of(call, x, y) if call.is_float(x) else call.Mod(x, y)


@aten('pow.Tensor_Tensor', 'pow.Tensor_Scalar', 'pow.Scalar')
def pow_(call: Call, x: Operand, y: Operand) -> Value:
    x = call.computed(x)
    if not isinstance(y, Value):
        if y == 1:
            return call.Identity(x)
        if y == 2:
            return call.Mul(x, x)
        if y == 0.5:
            return call.Sqrt(x)
        if y == -1 and call.is_float(x):
            return call.Reciprocal(x)
    return call.computed(call.Pow(call.wide(x), call.wide(call.computed(y))))


@aten('atan2.out')
def atan2_out(call: Call, y: Value, x: Value, out: Value) -> Value: return atan2(call, y, x)


@aten('atan2')
def atan2(call: Call, y: Value, x: Value) -> Value:
    y, x = (call.wide(v) for v in call.computed(y, x))
    pi = 3.141592653589793
    angle = call.Atan(call.Div(y, x))
    behind = call.Where(call.Less(y, 0.0), call.Sub(angle, pi), call.Add(angle, pi))
    upright = call.Where(call.Less(y, 0.0), call.constant(-pi / 2, x.dtype), call.constant(pi / 2, x.dtype))
    zeros = call.Where(call.Less(call.Div(call.constant(1.0, x.dtype), x), 0.0), call.constant(pi, x.dtype), call.constant(0.0, x.dtype))
    some = call.Where(call.Equal(x, 0.0), upright, call.Where(call.Less(x, 0.0), behind, angle))
    return call.computed(call.Where(call.Equal(y, 0.0), zeros, some))


@aten('maximum')
def maximum(call: Call, x: Value, y: Value) -> Value: return extreme(call, 'Max', 'Or', x, y)


@aten('minimum')
def minimum(call: Call, x: Value, y: Value) -> Value: return extreme(call, 'Min', 'And', x, y)


def extreme(call: Call, op: str, of_bool: str, x: Value, y: Value) -> Value:
    x, y = call.computed(x, y)
    return call.add(of_bool if call.dtype == 'bool' else op, x, y)


@aten('clamp', 'clamp.Tensor')
def clamp(call: Call, x: Value, low: Operand | None = None, high: Operand | None = None) -> Value:
    x = call.computed(x)
    if low is not None:
        x = call.Max(x, call.computed(low))
    return x if high is None else call.Min(x, call.computed(high))
