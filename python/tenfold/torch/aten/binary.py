"""Arithmetic of two numbers, in the type that torch promotes them to."""
from __future__ import annotations

import math

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.table import Number, Operand, aten
from tenfold.torch.aten.unary import rsqrt, trunc


def terms(call: Call, x: Operand, y: Operand, alpha: Number) -> tuple[Value, Value]:
    """x and alpha * y in the type of the result, or in f32 for 16 bits: torch rounds the sum alone."""
    a, b = call.computed(x, y)
    if alpha == 1:
        return a, b
    a, b = call.wide(a), call.wide(b)
    return a, call.Mul(b, call.cast(alpha, b.dtype))


@aten('add.Tensor', 'add.Scalar', 'prims.add.default')
def add(call: Call, x: Operand, y: Operand, alpha: Number = 1) -> Value:
    if call.dtype == 'bool':
        return call.Or(*call.computed(x, y)) if alpha else call.computed(x)
    return call.computed(call.Add(*terms(call, x, y, alpha)))


@aten('sub.Tensor', 'sub.Scalar', 'prims.sub.default')
def sub(call: Call, x: Operand, y: Operand, alpha: Number = 1) -> Value:
    return call.computed(call.Sub(*terms(call, x, y, alpha)))


@aten('mul.Tensor', 'mul.Scalar', 'prims.mul.default')
def mul(call: Call, x: Operand, y: Operand) -> Value:
    x, y = call.computed(x, y)
    return call.And(x, y) if call.dtype == 'bool' else call.Mul(x, y)


@aten('div.Tensor', 'div.Scalar')
def div(call: Call, x: Operand, y: Operand) -> Value: return call.Div(*call.computed(x, y))


@aten('div.Tensor_mode', 'div.Scalar_mode')
def div_mode(call: Call, x: Operand, y: Operand, rounding_mode: str | None = None) -> Value:
    a, b = call.computed(x, y)
    if rounding_mode is None:
        return call.Div(a, b)
    a, b = call.wide(a), call.wide(b)
    plain, rest = call.Div(a, b), call.Mod(a, b, fmod=1)
    if rounding_mode == 'trunc':                          # torch rounds the quotient to 16 bits first
        return call.computed(trunc(call, call.wide(call.computed(plain))))
    if not call.is_float(a):
        return call.Where(other_sign(call, rest, b), call.Sub(plain, 1), plain)
    quotient = call.Div(call.Sub(a, rest), b)
    quotient = call.Round(call.Where(other_sign(call, rest, b), call.Sub(quotient, 1.0), quotient))
    return call.computed(call.Where(call.Equal(b, 0.0), plain, quotient))


@aten('fmod.Tensor', 'fmod.Scalar', 'prims.fmod.default')
def fmod(call: Call, x: Operand, y: Operand) -> Value: return call.Mod(*call.computed(x, y), fmod=1)


def remainder_of(call: Call, x: Value, y: Value) -> Value:
    """With the sign of y."""
    rest = call.Mod(x, y, fmod=1)
    return call.Where(other_sign(call, rest, y), call.Add(rest, y), rest)


def other_sign(call: Call, rest: Value, y: Value) -> Value:
    """Where a rest is not zero and has not the sign of y."""
    return call.And(call.Xor(call.Less(rest, 0.0), call.Less(y, 0.0)), call.Not(call.Equal(rest, 0.0)))


@aten('remainder.Tensor', 'remainder.Scalar', 'remainder.Scalar_Tensor', 'prims.remainder.default')
def remainder(call: Call, x: Operand, y: Operand) -> Value:
    a, b = call.computed(x, y)
    return remainder_of(call, a, b) if call.is_float(a) else call.Mod(a, b)


@aten('pow.Tensor_Tensor', 'pow.Tensor_Scalar', 'pow.Scalar', 'prims.pow.default')
def pow_(call: Call, x: Operand, y: Operand) -> Value:
    base: Value = call.computed(x)
    if not isinstance(y, Value):
        if y == 1:
            return call.Identity(base)
        if y == 2:
            return call.Mul(base, base)
        if y == 0.5:
            return call.Sqrt(base)
        if y == -0.5:
            return rsqrt(call, base)
        if y == -1 and call.is_float(base):
            return call.Reciprocal(base)
    return call.computed(call.Pow(call.wide(base), call.wide(call.computed(y))))


@aten('atan2.out')
def atan2_out(call: Call, y: Value, x: Value, out: Value) -> Value: return atan2(call, y, x)


@aten('atan2', 'prims.atan2.default')
def atan2(call: Call, y: Value, x: Value) -> Value:
    y, x = (call.wide(v) for v in call.computed(y, x))
    pi, high, wide = math.pi, call.Abs(y), call.Abs(x)
    nothing, half = (call.constant(a, x.dtype) for a in (0.0, pi / 4))
    level = call.Where(call.Equal(high, 0.0), nothing, half)           # where both are equal: zeros and infinities, too
    angle = call.Where(call.Equal(high, wide), level, call.Atan(call.Div(high, wide)))
    angle = call.Where(below_zero(call, x), call.Sub(pi, angle), angle)
    return call.computed(call.Where(below_zero(call, y), call.Neg(angle), angle))


def below_zero(call: Call, x: Value) -> Value:
    """Of -0, too."""
    return call.Less(call.Where(call.Equal(x, 0.0), call.Reciprocal(x), x), 0.0)


@aten('maximum', 'prims.maximum.default')
def maximum(call: Call, x: Value, y: Value) -> Value: return extreme(call, 'Max', 'Or', x, y)


@aten('minimum', 'prims.minimum.default')
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
