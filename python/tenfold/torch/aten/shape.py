"""What moves elements and computes nothing."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.table import Number, Size, aten

END = (1 << 63) - 1


@aten('view', '_unsafe_view', 'reshape', 'view_copy')
def view(call: Call, x: Value, sizes: Sequence[Size]) -> Value: return call.reshape(x, list(sizes))


@aten('permute')
def permute(call: Call, x: Value, axes: Sequence[int]) -> Value:
    return call.Transpose(x, perm=[call.axis(a, x) for a in axes]) if axes else call.Identity(x)


@aten('transpose.int')
def transpose(call: Call, x: Value, first: int, second: int) -> Value:
    axes = list(range(call.rank(x)))
    if axes:
        first, second = call.axis(first, x), call.axis(second, x)
        axes[first], axes[second] = second, first
    return permute(call, x, axes)


@aten('t')
def t(call: Call, x: Value) -> Value: return permute(call, x, list(range(call.rank(x)))[::-1])


@aten('expand')
def expand(call: Call, x: Value, sizes: Sequence[Size], *rest: Any) -> Value:
    if not sizes:
        return call.Identity(x)
    return call.Expand(x, call.ints([1 if isinstance(n, int) and n == -1 else n for n in sizes]))


@aten('repeat')
def repeat(call: Call, x: Value, repeats: Sequence[Size]) -> Value:
    if not repeats:
        return call.Identity(x)
    before = len(repeats) - call.rank(x)
    if before:
        x = call.Unsqueeze(x, call.ints(range(before)))
    return call.Tile(x, call.ints(list(repeats)))


@aten('unsqueeze')
def unsqueeze(call: Call, x: Value, axis: int) -> Value:
    return call.Unsqueeze(x, call.ints([axis + call.rank(x) + 1 if axis < 0 else axis]))


@aten('squeeze.dim', 'squeeze.dims')
def squeeze(call: Call, x: Value, axes: int | Sequence[int]) -> Value:
    ones = [call.axis(a, x) for a in ([axes] if isinstance(axes, int) else axes) if call.rank(x)]
    sizes = call.argument(0).shape
    ones = sorted({a for a in ones if isinstance(sizes[a], int) and sizes[a] == 1})
    return call.Squeeze(x, call.ints(ones)) if ones else call.Identity(x)


@aten('squeeze')
def squeeze_all(call: Call, x: Value) -> Value: return squeeze(call, x, list(range(call.rank(x))))


@aten('cat')
def cat(call: Call, parts: Sequence[Value], axis: int = 0) -> Value:
    given = [a.meta['val'] for a in call.node.args[0]]
    kept = [p for p, fake in zip(parts, given, strict=True) if not (fake.dim() == 1 and fake.shape[0] == 0) or call.fake.dim() == 1]
    kept = [call.computed(p) for p in kept]
    return call.Concat(*kept, axis=axis) if len(kept) > 1 else call.Identity(kept[0])


@aten('stack')
def stack(call: Call, parts: Sequence[Value], axis: int = 0) -> Value:
    axis = axis + call.fake.dim() if axis < 0 else axis
    return call.Concat(*(call.Unsqueeze(call.computed(p), call.ints([axis])) for p in parts), axis=axis)


@aten('slice.Tensor')
def slice_(call: Call, x: Value, axis: int = 0, start: Size | None = None, end: Size | None = None,
           step: int = 1) -> Value:
    first, last = 0 if start is None else start, END if end is None else end
    return call.Slice(x, call.ints([first]), call.ints([last]), call.ints([call.axis(axis, x)]), call.ints([step]))


@aten('select.int')
def select(call: Call, x: Value, axis: int, index: Size) -> Value:
    return call.Gather(x, call.cast(index, 'i64'), axis=axis)


@aten('split_with_sizes')
def split_with_sizes(call: Call, x: Value, sizes: Sequence[Size], axis: int = 0) -> list[Value]:
    made = call.Split(x, call.ints(list(sizes)), axis=axis, outputs=len(sizes))
    return made if len(sizes) > 1 else [made]


@aten('split.Tensor')
def split(call: Call, x: Value, size: Size, axis: int = 0) -> list[Value]:
    sizes = call.fixed([part.shape[axis] for part in call.result], 'a split')
    return split_with_sizes(call, x, sizes, axis)


@aten('unbind.int')
def unbind(call: Call, x: Value, axis: int = 0) -> list[Value]:
    axis = call.axis(axis, x)
    return [call.Squeeze(p, call.ints([axis])) for p in split_with_sizes(call, x, [1] * len(call.result), axis)]


@aten('flip')
def flip(call: Call, x: Value, axes: Sequence[int]) -> Value:
    if not axes or not call.rank(x):
        return call.Identity(x)
    axes = [call.axis(a, x) for a in axes]
    count = len(axes)
    return call.Slice(x, call.ints([-1] * count), call.ints([-END] * count), call.ints(axes), call.ints([-1] * count))


@aten('diagonal')
def diagonal(call: Call, x: Value, offset: int = 0, first: int = 0, second: int = 1) -> Value:
    first, second = call.axis(first, x), call.axis(second, x)
    sizes = list(call.argument(0).shape)
    rows, columns = call.fixed([sizes[first], sizes[second]], 'a diagonal')
    kept = [a for a in range(call.rank(x)) if a not in (first, second)]
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    begin = offset if offset >= 0 else -offset * columns
    flat = call.reshape(permute(call, x, [*kept, first, second]), [*(sizes[a] for a in kept), rows * columns])
    return call.Gather(flat, call.ints([begin + i * (columns + 1) for i in range(count)]), axis=-1)


@aten('as_strided')
def as_strided(call: Call, x: Value, sizes: Sequence[Size], strides: Sequence[int], offset: int | None = None) -> Value:
    source = call.argument(0)
    sizes, strides = call.fixed(sizes, 'as_strided'), call.fixed(strides, 'as_strided')
    offset = (source.storage_offset() if offset is None else offset)
    if not source.is_contiguous() or source.storage_offset() != 0:
        call.refuse('as_strided of a tensor that does not lie row by row')
    places = torch.zeros(sizes, dtype=torch.int64) + offset
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        places += (torch.arange(size) * stride).reshape([-1 if a == axis else 1 for a in range(len(sizes))])
    if places.numel() and int(places.max()) >= source.numel():
        call.refuse('as_strided beyond the end of its tensor')
    return call.Gather(call.reshape(x, [-1]), call.tensor(places), axis=0)


@aten('constant_pad_nd')
def constant_pad_nd(call: Call, x: Value, pads: Sequence[Size], value: Number = 0) -> Value:
    return pad(call, x, pads, 'constant', call.computed(value))


@aten('reflection_pad1d', 'reflection_pad2d', 'reflection_pad3d')
def reflection_pad(call: Call, x: Value, pads: Sequence[int]) -> Value: return pad(call, x, pads, 'reflect')


@aten('replication_pad1d', 'replication_pad2d', 'replication_pad3d')
def replication_pad(call: Call, x: Value, pads: Sequence[int]) -> Value: return pad(call, x, pads, 'edge')


def pad(call: Call, x: Value, pads: Sequence[Size], mode: str, *value: Value) -> Value:
    """torch counts pairs from the last axis."""
    axes = [call.rank(x) - 1 - i for i in range(len(pads) // 2)]
    if not axes:
        return call.Identity(x)
    if mode != 'constant' and all(isinstance(n, int) for n in pads) and min(pads) < 0:      # what is cut off may still be repeated
        x = pad(call, x, [max(n, 0) for n in pads], mode)
        lasts = [n if n < 0 else END for n in pads[1::2]]
        return call.Slice(x, call.ints([max(-n, 0) for n in pads[::2]]), call.ints(lasts), call.ints(axes))
    ends = [*(pads[2 * i] for i in range(len(axes))), *(pads[2 * i + 1] for i in range(len(axes)))]
    return call.Pad(x, call.ints(ends), value[0] if value else None, call.ints(axes), mode=mode)
