"""Activations."""
from __future__ import annotations

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.table import Number, aten


@aten('relu')
def relu(call: Call, x: Value) -> Value: return call.Relu(x)


@aten('sigmoid')
def sigmoid(call: Call, x: Value) -> Value: return call.Sigmoid(call.computed(x))


@aten('gelu')
def gelu(call: Call, x: Value, approximate: str = 'none') -> Value: return call.Gelu(x, approximate=approximate)


@aten('silu')
def silu(call: Call, x: Value) -> Value: return call.Swish(x)


@aten('mish')
def mish(call: Call, x: Value) -> Value: return call.Mish(x)


@aten('hardswish')
def hardswish(call: Call, x: Value) -> Value: return call.HardSwish(x)


@aten('hardsigmoid')
def hardsigmoid(call: Call, x: Value) -> Value: return call.HardSigmoid(x, alpha=1 / 6, beta=0.5)


@aten('elu')
def elu(call: Call, x: Value, alpha: Number = 1, scale: Number = 1, input_scale: Number = 1) -> Value:
    below = call.Mul(call.Sub(call.Exp(call.Mul(call.wide(x), float(input_scale))), 1.0), float(alpha * scale))
    return call.Where(call.Greater(x, 0.0), call.Mul(x, float(scale)) if scale != 1 else x, call.computed(below))


@aten('hardtanh')
def hardtanh(call: Call, x: Value, low: Number = -1, high: Number = 1) -> Value:
    return call.Clip(x, call.computed(low), call.computed(high))


@aten('leaky_relu')
def leaky_relu(call: Call, x: Value, slope: Number = 0.01) -> Value: return call.LeakyRelu(x, alpha=float(slope))


@aten('_softmax')
def softmax(call: Call, x: Value, axis: int, half_to_float: bool) -> Value:
    return call.Softmax(call.computed(x), axis=axis) if call.rank(x) else call.Exp(call.Sub(x, x))


@aten('_log_softmax')
def log_softmax(call: Call, x: Value, axis: int, half_to_float: bool) -> Value:
    """Of what is left of x beside its largest, which LogSoftmax by itself would add to a logarithm and take off again."""
    if not call.rank(x):
        return call.computed(call.Sub(x, x))
    x = call.wide(call.computed(x))
    return call.computed(call.LogSoftmax(call.Sub(x, call.ReduceMax(x, call.ints([axis]), keepdims=1)), axis=axis))
