"""Normalizations."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch._types import TORCH
from tenfold.torch.aten.table import Number, Size, aten


def filled(call: Call, sizes: Sequence[Size], value: Number, dtype: str) -> Value:
    return call.tensor(torch.full(call.fixed(sizes, 'a normalization without weights'), value, dtype=TORCH[dtype]))


def moments(call: Call, x: Value, axes: Sequence[int], eps: float) -> tuple[Value, Value]:
    """Mean and 1/sqrt(variance + eps), for those who read them."""
    x = call.wide(x)
    mean = call.ReduceMean(x, call.ints(axes), keepdims=1)
    away = call.Sub(x, mean)
    spread = call.ReduceMean(call.Mul(away, away), call.ints(axes), keepdims=1)
    return mean, call.Reciprocal(call.Sqrt(call.Add(spread, float(eps))))


@aten('native_layer_norm')
def native_layer_norm(call: Call, x: Value, sizes: Sequence[Size], weight: Value | None, bias: Value | None,
                      eps: float) -> tuple[Value | None, ...]:
    axis = call.rank(x) - len(sizes)
    given = call.fixed(sizes, 'a layer norm')
    scale = filled(call, given, 1, x.dtype) if weight is None else call.cast(weight, x.dtype)
    shift = None if bias is None else call.cast(bias, x.dtype)
    y = call.LayerNormalization(x, scale, shift, axis=axis, epsilon=float(eps))
    mean, factor = moments(call, x, list(range(axis, call.rank(x))), eps) if call.used(1) or call.used(2) else (None, None)
    return y, as_result(call, mean, 1), as_result(call, factor, 2)


def as_result(call: Call, value: Value | None, index: int) -> Value | None:
    return None if value is None else call.reshape(call.cast(value, {v: k for k, v in TORCH.items()}[call.result[index].dtype]),
                                                   list(call.result[index].shape))


@aten('native_group_norm')
def native_group_norm(call: Call, x: Value, weight: Value | None, bias: Value | None, n: Size, channels: Size,
                      rest: Size, groups: int, eps: float) -> tuple[Value | None, ...]:
    scale = filled(call, [channels], 1, x.dtype) if weight is None else call.cast(weight, x.dtype)
    shift = filled(call, [channels], 0, x.dtype) if bias is None else call.cast(bias, x.dtype)
    y = call.GroupNormalization(x, scale, shift, num_groups=groups, epsilon=float(eps))
    if not (call.used(1) or call.used(2)):
        return y, None, None
    mean, factor = moments(call, call.reshape(x, [n, groups, -1]), [2], eps)
    return y, as_result(call, mean, 1), as_result(call, factor, 2)


@aten('_native_batch_norm_legit_no_training')
def batch_norm(call: Call, x: Value, weight: Value | None, bias: Value | None, mean: Value, variance: Value,
               momentum: float, eps: float) -> tuple[Value | None, ...]:
    channels = [call.argument(0).shape[1]]
    scale = filled(call, channels, 1, mean.dtype) if weight is None else weight
    shift = filled(call, channels, 0, mean.dtype) if bias is None else bias
    y = call.BatchNormalization(x, scale, shift, mean, variance, epsilon=float(eps))
    return y, empty(call, 1), empty(call, 2)


@aten('_native_batch_norm_legit')
def batch_norm_legit(call: Call, x: Value, weight: Value | None, bias: Value | None, mean: Value, variance: Value,
                     training: bool, momentum: float, eps: float) -> tuple[Value | None, ...]:
    if training:
        call.refuse('a norm that writes to its running moments')
    return batch_norm(call, x, weight, bias, mean, variance, momentum, eps)


def empty(call: Call, index: int) -> Value | None: return call.tensor(torch.zeros(0)) if call.used(index) else None


@aten('_native_batch_norm_legit.no_stats')
def batch_norm_of_batch(call: Call, x: Value, weight: Value | None, bias: Value | None, training: bool, momentum: float,
                        eps: float) -> tuple[Value | None, ...]:
    """By the moments of the batch itself: an instance norm."""
    axes = [a for a in range(call.rank(x)) if a != 1]
    mean, factor = moments(call, x, axes, eps)
    y = call.Mul(call.Sub(call.wide(x), mean), factor)
    shape = [-1] + [1] * (call.rank(x) - 2)
    if weight is not None:
        y = call.Mul(y, call.reshape(call.cast(weight, y.dtype), shape))
    if bias is not None:
        y = call.Add(y, call.reshape(call.cast(bias, y.dtype), shape))
    return call.computed(y), as_result(call, mean, 1), as_result(call, factor, 2)


@aten('rms_norm', '_fused_rms_norm')
def rms_norm(call: Call, x: Value, sizes: Sequence[Size], weight: Value | None = None, eps: float | None = None) -> Any:
    dtype = x.dtype
    eps = torch.finfo(TORCH[dtype]).eps if eps is None else eps
    given = call.fixed(sizes, 'a norm')
    scale = filled(call, given, 1, dtype) if weight is None else call.cast(weight, dtype)
    y = call.RMSNormalization(x, scale, axis=call.rank(x) - len(given), epsilon=float(eps))
    if not isinstance(call.result, (tuple, list)):
        return y
    if not call.used(1):
        return y, None
    axes = call.ints(range(call.rank(x) - len(given), call.rank(x)))
    square = call.ReduceMean(call.Mul(call.wide(x), call.wide(x)), axes, keepdims=1)
    return y, as_result(call, call.Reciprocal(call.Sqrt(call.Add(square, float(eps)))), 1)
