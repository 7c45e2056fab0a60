"""Functions of one number."""
from __future__ import annotations

import math

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.table import aten


@aten('abs')
def abs_(call: Call, x: Value) -> Value: return x if x.dtype in ('bool', 'u8') else call.Abs(x)


@aten('acos')
def acos(call: Call, x: Value) -> Value: return call.Acos(call.computed(x))


@aten('acosh')
def acosh(call: Call, x: Value) -> Value: return call.Acosh(call.computed(x))


@aten('asin')
def asin(call: Call, x: Value) -> Value: return call.Asin(call.computed(x))


@aten('asinh')
def asinh(call: Call, x: Value) -> Value: return call.Asinh(call.computed(x))


@aten('atan')
def atan(call: Call, x: Value) -> Value: return call.Atan(call.computed(x))


@aten('atanh')
def atanh(call: Call, x: Value) -> Value: return call.Atanh(call.computed(x))


@aten('ceil')
def ceil(call: Call, x: Value) -> Value: return call.Ceil(x) if call.is_float(x) else x


@aten('cos')
def cos(call: Call, x: Value) -> Value: return call.Cos(call.computed(x))


@aten('cosh')
def cosh(call: Call, x: Value) -> Value: return call.Cosh(call.computed(x))


@aten('erf')
def erf(call: Call, x: Value) -> Value: return call.Erf(call.computed(x))


@aten('exp')
def exp(call: Call, x: Value) -> Value: return call.Exp(call.computed(x))


@aten('expm1')
def expm1(call: Call, x: Value) -> Value:
    if call.dtype == 'f64':
        call.refuse('float64, of which no form keeps the last digits')
    return call.computed(call.Sub(call.Exp(call.cast(x, 'f64')), 1.0))


@aten('floor')
def floor(call: Call, x: Value) -> Value: return call.Floor(x) if call.is_float(x) else x


@aten('log')
def log(call: Call, x: Value) -> Value: return call.Log(call.computed(x))


@aten('log10')
def log10(call: Call, x: Value) -> Value:
    return call.computed(call.Mul(call.Log(call.wide(call.computed(x))), 1 / math.log(10)))


@aten('log1p')
def log1p(call: Call, x: Value) -> Value:
    if call.dtype == 'f64':
        call.refuse('float64, of which no form keeps the last digits')
    return call.computed(call.Log(call.Add(call.cast(x, 'f64'), 1.0)))


@aten('log2')
def log2(call: Call, x: Value) -> Value:
    return call.computed(call.Mul(call.Log(call.wide(call.computed(x))), 1 / math.log(2)))


@aten('neg')
def neg(call: Call, x: Value) -> Value: return call.Neg(x) if x.dtype != 'u8' else call.Sub(0, x)


@aten('reciprocal')
def reciprocal(call: Call, x: Value) -> Value: return call.Reciprocal(call.computed(x))


@aten('round')
def round_(call: Call, x: Value) -> Value: return call.Round(x) if call.is_float(x) else x


@aten('rsqrt')
def rsqrt(call: Call, x: Value) -> Value: return call.computed(call.Reciprocal(call.Sqrt(call.wide(call.computed(x)))))


@aten('sign')
def sign(call: Call, x: Value) -> Value:
    """0 for NaN, as torch has it."""
    if not call.is_float(x):
        return x if x.dtype == 'bool' else call.Sign(x)
    return call.Sub(call.cast(call.Greater(x, 0.0), x.dtype), call.cast(call.Less(x, 0.0), x.dtype))


@aten('sin')
def sin(call: Call, x: Value) -> Value: return call.Sin(call.computed(x))


@aten('sinh')
def sinh(call: Call, x: Value) -> Value: return call.Sinh(call.computed(x))


@aten('sqrt')
def sqrt(call: Call, x: Value) -> Value: return call.Sqrt(call.computed(x))


@aten('tan')
def tan(call: Call, x: Value) -> Value: return call.Tan(call.computed(x))


@aten('tanh')
def tanh(call: Call, x: Value) -> Value: return call.Tanh(call.computed(x))


@aten('trunc')
def trunc(call: Call, x: Value) -> Value:
    return call.Where(call.Less(x, 0.0), call.Ceil(x), call.Floor(x)) if call.is_float(x) else x
