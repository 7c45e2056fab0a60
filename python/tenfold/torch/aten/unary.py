"""Functions of one number."""
from __future__ import annotations

import math

from tenfold.torch.aten.table import aten


@aten('abs')
def abs_(call, x): return x if x.dtype in ('bool', 'u8') else call.Abs(x)


@aten('acos')
def acos(call, x): return call.Acos(call.computed(x))


@aten('acosh')
def acosh(call, x): return call.Acosh(call.computed(x))


@aten('asin')
def asin(call, x): return call.Asin(call.computed(x))


@aten('asinh')
def asinh(call, x): return call.Asinh(call.computed(x))


@aten('atan')
def atan(call, x): return call.Atan(call.computed(x))


@aten('atanh')
def atanh(call, x): return call.Atanh(call.computed(x))


@aten('ceil')
def ceil(call, x): return call.Ceil(x) if call.is_float(x) else x


@aten('cos')
def cos(call, x): return call.Cos(call.computed(x))


@aten('cosh')
def cosh(call, x): return call.Cosh(call.computed(x))


@aten('erf')
def erf(call, x): return call.Erf(call.computed(x))


@aten('exp')
def exp(call, x): return call.Exp(call.computed(x))


@aten('expm1')
def expm1(call, x):
    if call.dtype == 'f64':
        call.refuse('float64, of which no form keeps the last digits')
    return call.computed(call.Sub(call.Exp(call.cast(x, 'f64')), 1.0))


@aten('floor')
def floor(call, x): return call.Floor(x) if call.is_float(x) else x


@aten('log')
def log(call, x): return call.Log(call.computed(x))


@aten('log10')
def log10(call, x): return call.computed(call.Mul(call.Log(call.wide(call.computed(x))), 1 / math.log(10)))


@aten('log1p')
def log1p(call, x):
    if call.dtype == 'f64':
        call.refuse('float64, of which no form keeps the last digits')
    return call.computed(call.Log(call.Add(call.cast(x, 'f64'), 1.0)))


@aten('log2')
def log2(call, x): return call.computed(call.Mul(call.Log(call.wide(call.computed(x))), 1 / math.log(2)))


@aten('neg')
def neg(call, x): return call.Neg(x) if x.dtype != 'u8' else call.Sub(0, x)


@aten('reciprocal')
def reciprocal(call, x): return call.Reciprocal(call.computed(x))


@aten('round')
def round_(call, x): return call.Round(x) if call.is_float(x) else x


@aten('rsqrt')
def rsqrt(call, x): return call.computed(call.Reciprocal(call.Sqrt(call.wide(call.computed(x)))))


@aten('sign')
def sign(call, x): return x if x.dtype == 'bool' else call.Sign(x)


@aten('sin')
def sin(call, x): return call.Sin(call.computed(x))


@aten('sinh')
def sinh(call, x): return call.Sinh(call.computed(x))


@aten('sqrt')
def sqrt(call, x): return call.Sqrt(call.computed(x))


@aten('tan')
def tan(call, x): return call.Tan(call.computed(x))


@aten('tanh')
def tanh(call, x): return call.Tanh(call.computed(x))


@aten('trunc')
def trunc(call, x):
    return call.Where(call.Less(x, 0.0), call.Ceil(x), call.Floor(x)) if call.is_float(x) else x
