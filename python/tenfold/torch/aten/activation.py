"""Activations."""
from __future__ import annotations

from tenfold.torch.aten.table import aten


@aten('relu')
def relu(call, x): return call.Relu(x)


@aten('sigmoid')
def sigmoid(call, x): return call.Sigmoid(call.computed(x))


@aten('gelu')
def gelu(call, x, approximate='none'): return call.Gelu(x, approximate=approximate)


@aten('silu')
def silu(call, x): return call.Swish(x)


@aten('mish')
def mish(call, x): return call.Mish(x)


@aten('hardswish')
def hardswish(call, x): return call.HardSwish(x)


@aten('hardsigmoid')
def hardsigmoid(call, x): return call.HardSigmoid(x, alpha=1 / 6, beta=0.5)


@aten('elu')
def elu(call, x, alpha=1, scale=1, input_scale=1):
    below = call.Mul(call.Sub(call.Exp(call.Mul(call.wide(x), float(input_scale))), 1.0), float(alpha * scale))
    return call.Where(call.Greater(x, 0.0), call.Mul(x, float(scale)) if scale != 1 else x, call.computed(below))


@aten('hardtanh')
def hardtanh(call, x, low=-1, high=1): return call.Clip(x, call.computed(low), call.computed(high))


@aten('leaky_relu')
def leaky_relu(call, x, slope=0.01): return call.LeakyRelu(x, alpha=float(slope))


@aten('_softmax')
def softmax(call, x, axis, half_to_float): return call.Softmax(call.computed(x), axis=axis) if call.rank(x) else call.Exp(call.Sub(x, x))


@aten('_log_softmax')
def log_softmax(call, x, axis, half_to_float):
    return call.LogSoftmax(call.computed(x), axis=axis) if call.rank(x) else call.Sub(x, x)
