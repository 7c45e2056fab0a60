"""Functions of one number."""
from __future__ import annotations

import math

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.table import aten


@aten('abs', 'prims.abs.default')
def abs_(call: Call, x: Value) -> Value: return x if x.dtype in ('bool', 'u8') else call.Abs(x)


@aten('acos', 'prims.acos.default')
def acos(call: Call, x: Value) -> Value: return call.Acos(call.computed(x))


@aten('acosh', 'prims.acosh.default')
def acosh(call: Call, x: Value) -> Value: return call.Acosh(call.computed(x))


@aten('asin', 'prims.asin.default')
def asin(call: Call, x: Value) -> Value: return call.Asin(call.computed(x))


@aten('asinh', 'prims.asinh.default')
def asinh(call: Call, x: Value) -> Value: return call.Asinh(call.computed(x))


@aten('atan', 'prims.atan.default')
def atan(call: Call, x: Value) -> Value: return call.Atan(call.computed(x))


@aten('atanh', 'prims.atanh.default')
def atanh(call: Call, x: Value) -> Value: return call.Atanh(call.computed(x))


@aten('ceil', 'prims.ceil.default')
def ceil(call: Call, x: Value) -> Value: return call.Ceil(x) if call.is_float(x) else x


@aten('cos', 'prims.cos.default')
def cos(call: Call, x: Value) -> Value: return call.Cos(call.computed(x))


@aten('cosh', 'prims.cosh.default')
def cosh(call: Call, x: Value) -> Value: return call.Cosh(call.computed(x))


@aten('erf', 'prims.erf.default')
def erf(call: Call, x: Value) -> Value: return call.Erf(call.computed(x))


@aten('exp', 'prims.exp.default')
def exp(call: Call, x: Value) -> Value: return call.Exp(call.computed(x))


@aten('expm1', 'prims.expm1.default')
def expm1(call: Call, x: Value) -> Value:
    if call.dtype == 'f64':
        call.refuse('float64, of which no form keeps the last digits')
    return call.computed(call.Sub(call.Exp(call.cast(x, 'f64')), 1.0))


@aten('floor', 'prims.floor.default')
def floor(call: Call, x: Value) -> Value: return call.Floor(x) if call.is_float(x) else x


@aten('log', 'prims.log.default')
def log(call: Call, x: Value) -> Value: return call.Log(call.computed(x))


@aten('log10', 'prims.log10.default')
def log10(call: Call, x: Value) -> Value:
    return call.computed(call.Mul(call.Log(call.wide(call.computed(x))), 1 / math.log(10)))


@aten('log1p', 'prims.log1p.default')
def log1p(call: Call, x: Value) -> Value:
    if call.dtype == 'f64':
        call.refuse('float64, of which no form keeps the last digits')
    return call.computed(call.Log(call.Add(call.cast(x, 'f64'), 1.0)))


@aten('log2', 'prims.log2.default')
def log2(call: Call, x: Value) -> Value:
    return call.computed(call.Mul(call.Log(call.wide(call.computed(x))), 1 / math.log(2)))


@aten('neg', 'prims.neg.default')
def neg(call: Call, x: Value) -> Value: return call.Neg(x) if x.dtype != 'u8' else call.Sub(0, x)


@aten('reciprocal', 'prims.reciprocal.default')
def reciprocal(call: Call, x: Value) -> Value: return call.Reciprocal(call.computed(x))


@aten('round', 'prims.round.default')
def round_(call: Call, x: Value) -> Value: return call.Round(x) if call.is_float(x) else x


@aten('rsqrt', 'prims.rsqrt.default')
def rsqrt(call: Call, x: Value) -> Value: return call.computed(call.Reciprocal(call.Sqrt(call.wide(call.computed(x)))))


@aten('sign', 'prims.sign.default')
def sign(call: Call, x: Value) -> Value:
    """0 for NaN, as torch has it."""
    if not call.is_float(x):
        return x if x.dtype == 'bool' else call.Sign(x)
    return call.Sub(call.cast(call.Greater(x, 0.0), x.dtype), call.cast(call.Less(x, 0.0), x.dtype))


@aten('sin', 'prims.sin.default')
def sin(call: Call, x: Value) -> Value: return call.Sin(call.computed(x))


@aten('sinh', 'prims.sinh.default')
def sinh(call: Call, x: Value) -> Value: return call.Sinh(call.computed(x))


@aten('sqrt', 'prims.sqrt.default')
def sqrt(call: Call, x: Value) -> Value: return call.Sqrt(call.computed(x))


@aten('tan', 'prims.tan.default')
def tan(call: Call, x: Value) -> Value: return call.Tan(call.computed(x))


@aten('tanh', 'prims.tanh.default')
def tanh(call: Call, x: Value) -> Value: return call.Tanh(call.computed(x))


@aten('trunc', 'prims.trunc.default')
def trunc(call: Call, x: Value) -> Value:
    return call.Where(call.Less(x, 0.0), call.Ceil(x), call.Floor(x)) if call.is_float(x) else x
