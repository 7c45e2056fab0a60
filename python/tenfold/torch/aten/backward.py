"""Gradients of layers, as torch's core operators have them: graphs that compute gradients explicitly hold them."""
from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch._types import TORCH
from tenfold.torch.aten.pool import averages, windows
from tenfold.torch.aten.table import Size, aten


def fitted(call: Call, x: Value, begins: Sequence[int], sizes: Sequence[int]) -> Value:
    """Of the last axes: `sizes` elements from `begins` on; zeros where there are none."""
    have = call.network_dims(x)[-len(sizes):]
    axes = call.ints(range(call.rank(x) - len(sizes), call.rank(x)))
    ends = [b + s - h for b, s, h in zip(begins, sizes, have, strict=True)]
    return call.Pad(x, call.ints([*(-b for b in begins), *ends]), None, axes, mode='constant')


def spread(call: Call, grad: Value, kernel: Value, strides: Sequence[int], pads: Sequence[int],
           dilations: Sequence[int], groups: int, sizes: Sequence[int]) -> Value:
    """The gradient of a convolution's input, whose spatial sizes are these."""
    whole = call.ConvTranspose(grad, kernel, strides=strides, dilations=dilations, group=groups)
    return fitted(call, whole, pads, sizes)


def correlated(call: Call, x: Value, grad: Value, strides: Sequence[int], pads: Sequence[int], dilations: Sequence[int],
               groups: int, sizes: Sequence[int]) -> Value:
    """The gradient of a convolution's kernel, whose spatial sizes are these: a convolution over the batch."""
    def part(v: Value, group: int) -> Value:
        count = call.network_dims(v)[1] // groups
        some = call.Slice(v, call.ints([group * count]), call.ints([(group + 1) * count]), call.ints([1])) if groups > 1 else v
        return call.Transpose(some, perm=[1, 0, *range(2, call.rank(v))])
    made = []
    for group in range(groups):
        y = call.Conv(part(x, group), part(grad, group), strides=dilations, dilations=strides, pads=[*pads, *pads])
        made.append(fitted(call, call.Transpose(y, perm=[1, 0, *range(2, call.rank(x))]), [0] * len(sizes), sizes))
    return call.Concat(*made, axis=0) if groups > 1 else made[0]


@aten('convolution_backward')
def convolution_backward(call: Call, grad: Value, x: Value, kernel: Value, bias_sizes: Sequence[int] | None,
                         strides: Sequence[int], pads: Sequence[int], dilations: Sequence[int], transposed: bool,
                         output_pads: Sequence[int], groups: int, mask: Sequence[bool]) -> tuple[Value | None, ...]:
    count = call.rank(x) - 2
    strides, pads, dilations = ([*v] * (count if len(v) == 1 else 1) for v in (strides, pads, dilations))
    sizes = [call.fixed(call.argument(i).shape[2:], 'a gradient of a convolution') for i in (0, 1, 2)]
    first = second = third = None
    if mask[0] and transposed:
        first = call.Conv(grad, kernel, strides=strides, dilations=dilations, group=groups, pads=[*pads, *pads])
    elif mask[0]:
        first = spread(call, grad, kernel, strides, pads, dilations, groups, sizes[1])
    if mask[1]:
        large, small = (grad, x) if transposed else (x, grad)
        second = correlated(call, large, small, strides, pads, dilations, groups, sizes[2])
    if mask[2]:
        third = call.ReduceSum(grad, call.ints([0, *range(2, count + 2)]), keepdims=0)
    return first, second, third


@aten('avg_pool2d_backward')
def avg_pool2d_backward(call: Call, grad: Value, x: Value, kernel: Sequence[int], strides: Sequence[int],
                        pads: Sequence[int], ceil: bool, whole: bool, divisor: int | None) -> Value:
    every = windows(call, 2, kernel, strides, pads)
    shape = call.fixed(call.argument(1).shape, 'a gradient of a pooling')
    planes, sizes, (rows, columns) = math.prod(shape[:-2]), shape[-2:], call.argument(0).shape[-2:]
    window, step, edge = every['kernel_shape'], every['strides'], every['pads'][:2]
    ones = torch.ones(1, 1, *sizes, dtype=torch.float64)
    counts = torch.nn.functional.avg_pool2d(ones, window, step, edge, ceil, whole, 1)
    counts = torch.full_like(counts, divisor) if divisor else window_sizes(sizes, window, step, edge, (rows, columns)) if whole else counts
    dtype = TORCH[grad.dtype]
    shares = call.Div(call.reshape(grad, [planes, 1, rows, columns]), call.tensor(counts.to(dtype)))
    made = spread(call, shares, call.tensor(torch.ones(1, 1, *window, dtype=dtype)), step, edge, [1, 1], 1, sizes)
    return call.reshape(made, shape)


def window_sizes(sizes: Sequence[int], window: Sequence[int], step: Sequence[int], edge: Sequence[int],
                 counts: Sequence[int]) -> torch.Tensor:
    """Elements of each window, padding included, but not what ceil_mode adds behind it."""
    along = [torch.tensor([min(i * s - e + w, n + e) - (i * s - e) for i in range(c)], dtype=torch.float64)
             for n, w, s, e, c in zip(sizes, window, step, edge, counts, strict=True)]
    return (along[0][:, None] * along[1]).reshape(1, 1, *counts)


@aten('_adaptive_avg_pool2d_backward')
def adaptive_avg_pool2d_backward(call: Call, grad: Value, x: Value) -> Value:
    sizes = call.fixed(call.argument(1).shape[-2:], 'a gradient of a pooling')
    requested = call.fixed(call.argument(0).shape[-2:], 'a gradient of a pooling')
    rows, columns = (call.tensor(averages(s, w, TORCH[grad.dtype])) for s, w in zip(sizes, requested, strict=True))
    return call.MatMul(call.Transpose(rows, perm=[1, 0]), call.MatMul(grad, columns))


@aten('max_pool2d_with_indices_backward')
def max_pool2d_backward(call: Call, grad: Value, x: Value, kernel: Sequence[int], strides: Sequence[int],
                        pads: Sequence[int], dilations: Sequence[int], ceil: bool, places: Value) -> Value:
    shape = call.fixed(call.argument(1).shape, 'a gradient of a pooling')
    flat = [*shape[:-2], -1]
    zeros = call.tensor(torch.zeros([*shape[:-2], math.prod(shape[-2:])], dtype=TORCH[grad.dtype]))
    made = call.ScatterElements(zeros, call.reshape(places, flat), call.reshape(grad, flat), axis=-1, reduction='add')
    return call.reshape(made, shape)


@aten('embedding_dense_backward')
def embedding_dense_backward(call: Call, grad: Value, indices: Value, rows: Size, padding: int,
                             by_frequency: bool) -> Value:
    width = call.fixed([call.argument(0).shape[-1], rows], 'a gradient of an embedding')[0]
    dtype, flat = grad.dtype, call.reshape(indices, [-1])
    kept = call.cast(call.Not(call.Equal(flat, padding)), dtype)
    rows_of = call.Mul(call.reshape(grad, [-1, width]), call.Unsqueeze(kept, call.ints([1])))
    places = call.Unsqueeze(flat, call.ints([1]))
    made = call.ScatterND(call.tensor(torch.zeros(rows, width, dtype=TORCH[dtype])), places, rows_of, reduction='add')
    if not by_frequency:
        return made
    ones = call.Expand(call.constant(1, dtype), call.Shape(flat))
    counts = call.ScatterND(call.tensor(torch.zeros(rows, dtype=TORCH[dtype])), places, ones, reduction='add')
    return call.Div(made, call.Unsqueeze(call.Max(counts, 1), call.ints([1])))


def through_norm(call: Call, grad: Value, hat: Value, factor: Value, axes: Sequence[int], count: int) -> Value:
    """The gradient of (x - mean) * factor, where hat is that: over `count` elements along the axes."""
    def mean(v: Value) -> Value:
        return call.Div(call.ReduceSum(v, call.ints(axes), keepdims=1), float(count))
    inner = call.Sub(call.Sub(grad, mean(grad)), call.Mul(hat, mean(call.Mul(grad, hat))))
    return call.Mul(inner, factor)


@aten('native_layer_norm_backward')
def layer_norm_backward(call: Call, grad: Value, x: Value, sizes: Sequence[Size], mean: Value, factor: Value,
                        weight: Value | None, bias: Value | None, mask: Sequence[bool]) -> list[Value | None]:
    count = math.prod(call.fixed(sizes, 'a gradient of a layer norm'))
    rank = call.rank(x)
    outer, inner = list(range(rank - len(sizes))), list(range(rank - len(sizes), rank))
    hat = call.Mul(call.Sub(call.wide(x), mean), factor)
    wide = call.wide(grad)
    scaled = wide if weight is None else call.Mul(wide, call.wide(weight))
    first = through_norm(call, scaled, hat, factor, inner, count) if mask[0] else None
    second = total(call, call.Mul(wide, hat), outer) if mask[1] and weight is not None else None
    third = total(call, wide, outer) if mask[2] and bias is not None else None
    return [None if v is None else call.cast(v, x.dtype) for v in (first, second, third)]


def total(call: Call, v: Value, axes: Sequence[int]) -> Value:
    return call.ReduceSum(v, call.ints(axes), keepdims=0) if axes else v


@aten('native_group_norm_backward')
def group_norm_backward(call: Call, grad: Value, x: Value, mean: Value, factor: Value, weight: Value | None, n: Size,
                        channels: Size, rest: Size, groups: int, mask: Sequence[bool]) -> list[Value | None]:
    n, channels, rest = call.fixed([n, channels, rest], 'a gradient of a group norm')
    inside = channels // groups

    def grouped(v: Value) -> Value: return call.reshape(call.wide(v), [n, groups, inside, rest])
    mean, factor = (call.reshape(call.wide(v), [n, groups, 1, 1]) for v in (mean, factor))
    hat, wide = call.Mul(call.Sub(grouped(x), mean), factor), grouped(grad)
    scaled = wide if weight is None else call.Mul(wide, call.reshape(call.wide(weight), [1, groups, inside, 1]))
    first = call.reshape(through_norm(call, scaled, hat, factor, [2, 3], inside * rest), list(call.argument(1).shape)) if mask[0] else None
    second, third = (call.reshape(call.ReduceSum(v, call.ints([0, 3]), keepdims=0), [channels]) if requested else None
                     for v, requested in ((call.Mul(wide, hat), mask[1]), (wide, mask[2])))
    return [None if v is None else call.cast(v, x.dtype) for v in (first, second, third)]
