"""Pooling windows, and interpolation between neighbors."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch._types import TORCH
from tenfold.torch.aten.table import Size, aten


def windows(call: Call, count: int, kernel: int | Sequence[int], strides: int | Sequence[int],
            pads: int | Sequence[int], dilations: int | Sequence[int] = (1,)) -> dict[str, list[int]]:
    """Attributes of a pooling over `count` axes; torch's single numbers count for each."""
    def each(given: int | Sequence[int], name: str) -> list[int]:
        given = call.fixed([given] if isinstance(given, int) else given, name)
        return given * count if len(given) == 1 else given
    return {'kernel_shape': each(kernel, 'a window'), 'strides': each(strides or kernel, 'a stride'), 'pads': each(pads, 'a padding') * 2,
            'dilations': each(dilations, 'a dilation')}


def batched(call: Call, x: Value, count: int, function: Callable[[Value], Any]) -> Any:
    """ONNX wants a batch."""
    if call.rank(x) == count + 2:
        return function(x)
    made = function(call.Unsqueeze(x, call.ints([0])))
    drop = [None if m is None else call.Squeeze(m, call.ints([0])) for m in (made if isinstance(made, tuple) else (made,))]
    return tuple(drop) if isinstance(made, tuple) else drop[0]


def average(call: Call, count: int, x: Value, kernel: Sequence[int], strides: Sequence[int], pads: int | Sequence[int],
            ceil: bool, whole: bool, divisor: int | None) -> Value:
    every = windows(call, count, kernel, strides, pads)
    if divisor and ceil:
        call.refuse('divisor_override with ceil_mode')
    x = x if call.is_float(x) else call.cast(x, 'f64')

    def pooled(v: Value) -> Any:
        y = call.AveragePool(v, ceil_mode=int(ceil), count_include_pad=int(whole or bool(divisor)), **every)
        return call.Mul(y, math.prod(every['kernel_shape']) / divisor) if divisor else y
    return call.computed(batched(call, x, count, pooled))


@aten('avg_pool1d')
def avg_pool1d(call: Call, x: Value, kernel: Sequence[int], strides: Sequence[int] = (), pads: int | Sequence[int] = 0,
               ceil: bool = False, whole: bool = True) -> Value:
    return average(call, 1, x, kernel, strides, pads, ceil, whole, None)


@aten('avg_pool2d')
def avg_pool2d(call: Call, x: Value, kernel: Sequence[int], strides: Sequence[int] = (), pads: int | Sequence[int] = 0,
               ceil: bool = False, whole: bool = True, divisor: int | None = None) -> Value:
    return average(call, 2, x, kernel, strides, pads, ceil, whole, divisor)


@aten('avg_pool3d')
def avg_pool3d(call: Call, x: Value, kernel: Sequence[int], strides: Sequence[int] = (), pads: int | Sequence[int] = 0,
               ceil: bool = False, whole: bool = True, divisor: int | None = None) -> Value:
    return average(call, 3, x, kernel, strides, pads, ceil, whole, divisor)


def largest(call: Call, count: int, x: Value, kernel: Sequence[int], strides: Sequence[int], pads: int | Sequence[int],
            dilations: int | Sequence[int], ceil: bool) -> tuple[Value | None, ...]:
    every = windows(call, count, kernel, strides, pads, dilations)
    if not call.used(1):
        return batched(call, x, count, lambda v: call.MaxPool(v, ceil_mode=int(ceil), **every)), None
    sizes = call.fixed(call.argument(0).shape[-count:], 'the places of a pooling')

    def pooled(v: Value) -> Any:
        y, places = call.MaxPool(v, ceil_mode=int(ceil), outputs=2, **every)
        return y, call.Mod(places, math.prod(sizes))      # torch counts within a plane
    return batched(call, x, count, pooled)


@aten('max_pool2d_with_indices')
def max_pool2d(call: Call, x: Value, kernel: Sequence[int], strides: Sequence[int] = (), pads: int | Sequence[int] = 0,
               dilations: int | Sequence[int] = 1, ceil: bool = False) -> tuple[Value | None, ...]:
    return largest(call, 2, x, kernel, strides, pads, dilations, ceil)


@aten('max_pool3d_with_indices')
def max_pool3d(call: Call, x: Value, kernel: Sequence[int], strides: Sequence[int] = (), pads: int | Sequence[int] = 0,
               dilations: int | Sequence[int] = 1, ceil: bool = False) -> tuple[Value | None, ...]:
    return largest(call, 3, x, kernel, strides, pads, dilations, ceil)


def averages(size: int, requested: int, dtype: torch.dtype) -> torch.Tensor:
    """The matrix [wanted, size] of an adaptive average along one axis."""
    made = torch.zeros(requested, size, dtype=torch.float64)
    for i in range(requested):
        begin, end = i * size // requested, -((-(i + 1) * size) // requested)
        made[i, begin:end] = 1 / (end - begin)
    return made.to(dtype)


def adaptive(call: Call, x: Value, requested: Sequence[Size]) -> Value:
    count = len(requested)
    if all(w == 1 for w in requested):
        return call.ReduceMean(x, call.ints(range(-count, 0)), keepdims=1)
    sizes = call.fixed(call.argument(0).shape[-count:], 'an adaptive pooling')
    requested = call.fixed(requested, 'an adaptive pooling')
    if all(s % w == 0 for s, w in zip(sizes, requested, strict=True)):
        window = [s // w for s, w in zip(sizes, requested, strict=True)]
        return batched(call, x, count, lambda v: call.AveragePool(v, kernel_shape=window, strides=window))
    wide = call.wide(x)
    for k, (size, expected) in enumerate(zip(sizes, requested, strict=True)):      # along one axis after the other
        axes = list(range(call.rank(x)))
        axes[-1], axes[k - count] = axes[k - count], axes[-1]
        matrix = call.tensor(averages(size, expected, TORCH[wide.dtype]).t())
        wide = call.Transpose(call.MatMul(call.Transpose(wide, perm=axes), matrix), perm=axes)
    return call.computed(wide)


@aten('adaptive_avg_pool1d')
def adaptive_avg_pool1d(call: Call, x: Value, requested: Sequence[Size]) -> Value: return adaptive(call, x, requested)


@aten('_adaptive_avg_pool2d')
def adaptive_avg_pool2d(call: Call, x: Value, requested: Sequence[Size]) -> Value: return adaptive(call, x, requested)


@aten('_adaptive_avg_pool3d')
def adaptive_avg_pool3d(call: Call, x: Value, requested: Sequence[Size]) -> Value: return adaptive(call, x, requested)


def resized(call: Call, x: Value, scales: Sequence[float | None] | None, **attributes: Any) -> Value:
    """To sizes, or by factors where torch computes places by them."""
    shape, requested = call.argument(0).shape, call.fake.shape[2:]
    factors = [float(s) for s in scales or () if s is not None]
    if not factors:
        return call.Resize(x, None, None, call.ints([shape[0], shape[1], *requested]), **attributes)
    if len(factors) != len(requested) or not all(map(by_factor, shape[2:], requested, factors)):
        call.refuse(f'the factors {factors}, by which an engine would come to other places')
    return call.Resize(x, None, call.constant([1.0, 1.0, *factors], 'f32'), None, **attributes)


def by_factor(size: Size, requested: Size, factor: float) -> bool:
    """Whether an engine moves along this axis as torch does. It takes an axis that keeps its size as it is, by whatever factor."""
    if isinstance(size, int) and isinstance(requested, int):
        return math.floor(size * factor) == requested and (size != requested or factor == 1)
    return float(torch.tensor(factor)) == factor and (factor <= 1 or factor >= 2)


@aten('upsample_nearest1d.vec', 'upsample_nearest2d.vec', 'upsample_nearest3d.vec')
def upsample_nearest_vec(call: Call, x: Value, sizes: Sequence[Size] | None, scales: Sequence[float | None] | None) -> Value:
    return nearest(call, x, scales)


@aten('upsample_nearest1d', 'upsample_nearest2d', 'upsample_nearest3d')
def upsample_nearest(call: Call, x: Value, sizes: Sequence[Size], *scales: float | None) -> Value:
    return nearest(call, x, scales)


def nearest(call: Call, x: Value, scales: Sequence[float | None] | None) -> Value:
    return resized(call, x, scales, mode='nearest', coordinate_transformation_mode='asymmetric', nearest_mode='floor')


def smooth(call: Call, x: Value, scales: Sequence[float | None] | None, align: bool, **attributes: Any) -> Value:
    """Corners that are aligned give the places; factors count for the others."""
    if align:
        return resized(call, x, None, coordinate_transformation_mode='align_corners', **attributes)
    return resized(call, x, scales, coordinate_transformation_mode='half_pixel', **attributes)


@aten('upsample_linear1d.vec', 'upsample_bilinear2d.vec', 'upsample_trilinear3d.vec')
def upsample_linear_vec(call: Call, x: Value, sizes: Sequence[Size] | None, align: bool,
                        scales: Sequence[float | None] | None) -> Value:
    return smooth(call, x, scales, align, mode='linear')


@aten('upsample_bilinear2d', 'upsample_linear1d', 'upsample_trilinear3d')
def upsample_linear(call: Call, x: Value, sizes: Sequence[Size], align: bool, *scales: float | None) -> Value:
    return smooth(call, x, scales, align, mode='linear')


@aten('upsample_bicubic2d')
def upsample_bicubic2d(call: Call, x: Value, sizes: Sequence[Size], align: bool, *scales: float | None) -> Value:
    return smooth(call, x, scales, align, mode='cubic', cubic_coeff_a=-0.75)


@aten('upsample_bicubic2d.vec')
def upsample_bicubic2d_vec(call: Call, x: Value, sizes: Sequence[Size] | None, align: bool, scales: Sequence[float | None] | None) -> Value:
    return smooth(call, x, scales, align, mode='cubic', cubic_coeff_a=-0.75)


MODES = {'linear': 'linear', 'bilinear': 'linear', 'trilinear': 'linear', 'bicubic': 'cubic'}


@aten('tenfold.interpolate.default')
def interpolate(call: Call, x: Value, sizes: Sequence[Size] | None, factors: Sequence[float] | None, mode: str,
                align: bool | None) -> Value:
    if mode == 'nearest':
        return nearest(call, x, factors)
    if mode not in MODES:
        call.refuse(f'the mode {mode!r}')
    more = {'cubic_coeff_a': -0.75} if mode == 'bicubic' else {}
    return smooth(call, x, factors, bool(align), mode=MODES[mode], **more)


@aten('grid_sampler_2d')
def grid_sampler_2d(call: Call, x: Value, grid: Value, mode: int, padding: int, align: bool) -> Value:
    if mode == 1 and x.dtype in ('f16', 'bf16'):
        call.refuse('the nearest of places that are rounded to 16 bits')
    return call.GridSample(x, grid, mode=('linear', 'nearest', 'cubic')[mode], padding_mode=('zeros', 'border', 'reflection')[padding],
                           align_corners=int(align))


@aten('col2im')
def col2im(call: Call, x: Value, size: Sequence[int], kernel: Sequence[int], dilations: Sequence[int],
           pads: Sequence[int], strides: Sequence[int]) -> Value:
    rank = call.rank(x)
    if rank == 2:
        x = call.Unsqueeze(x, call.ints([0]))
    every = {'dilations': list(dilations), 'pads': [*pads, *pads], 'strides': list(strides)}
    y = call.Col2Im(x, call.ints(list(size)), call.ints(list(kernel)), **every)
    return call.Squeeze(y, call.ints([0])) if rank == 2 else y
