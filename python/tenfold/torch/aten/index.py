"""Gathering and scattering by indices that are data."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch._types import TORCH
from tenfold.torch.aten.shape import END, permute
from tenfold.torch.aten.table import Number, Size, aten


@aten('embedding')
def embedding(call: Call, table: Value, indices: Value, *rest: Any) -> Value: return call.Gather(table, indices, axis=0)


@aten('_embedding_bag')
def embedding_bag(call: Call, table: Value, indices: Value, offsets: Value, by_frequency: bool = False, mode: int = 0,
                  sparse: bool = False, weights: Value | None = None, last: bool = False,
                  padding: int = -1) -> tuple[Value | None, ...]:
    """Sums or means of rows, by a matrix of which row lies in which bag."""
    if mode == 2 or any(call.used(i) for i in (1, 2, 3)) or call.rank(indices) != 1:
        call.refuse('bags of largest rows, or whose places are read')
    bags, dtype = call.fake.shape[0], table.dtype
    numbers = call.Range(call.constant(0, 'i64'), call.Squeeze(call.Shape(indices)), call.constant(1, 'i64'))
    begins = call.Unsqueeze(call.cast(offsets, 'i64'), call.ints([1]))
    started = call.cast(call.GreaterOrEqual(call.Unsqueeze(numbers, call.ints([0])), begins), 'i64')
    bag = call.Sub(call.ReduceSum(started, call.ints([0]), keepdims=0), 1)
    own = call.Unsqueeze(call.Range(call.constant(0, 'i64'), call.cast(bags, 'i64'), call.constant(1, 'i64')), call.ints([1]))
    inside = call.And(call.Equal(call.Unsqueeze(bag, call.ints([0])), own),
                      call.Not(call.Equal(call.Unsqueeze(call.cast(indices, 'i64'), call.ints([0])), padding)))
    matrix = call.cast(inside, dtype)
    rows = call.Gather(table, indices, axis=0)
    if weights is not None:
        rows = call.Mul(rows, call.Unsqueeze(weights, call.ints([1])))
    made = call.MatMul(matrix, rows)
    if mode == 1:
        made = call.Div(made, call.Max(call.ReduceSum(matrix, call.ints([1]), keepdims=1), 1.0))
    return made, None, None, None


@aten('nonzero')
def nonzero(call: Call, x: Value) -> Value: return call.Transpose(call.NonZero(x), perm=[1, 0])


@aten('index_select')
def index_select(call: Call, x: Value, axis: int, indices: Value) -> Value:
    if call.rank(x) == 0:
        return call.Identity(x)
    if call.rank(indices) == 0:
        indices = call.reshape(indices, [1])
    return call.Gather(x, indices, axis=axis)


@aten('gather')
def gather(call: Call, x: Value, axis: int, indices: Value, *rest: Any) -> Value:
    if call.rank(x) == 0 or call.rank(indices) == 0:
        return call.Identity(x) if call.rank(x) == call.rank(indices) else call.reshape(x, list(call.fake.shape))
    return call.GatherElements(*shortened(call, x, axis, indices), axis=axis)


def shortened(call: Call, x: Value, axis: int, indices: Value) -> tuple[Value, Value]:
    """x as long as the indices along all other axes."""
    sizes, requested = call.argument(0).shape, call.argument(2).shape
    axis = call.axis(axis, x)
    axes = [a for a in range(call.rank(x)) if a != axis and not same(sizes[a], requested[a])]
    if axes:
        x = call.Slice(x, call.ints([0] * len(axes)), call.ints([requested[a] for a in axes]), call.ints(axes))
    return x, indices


def same(a: Size, b: Size) -> bool:
    return a is b or (isinstance(a, int) and isinstance(b, int) and a == b) or str(a) == str(b)


def joined(call: Call, x: Value, indices: Sequence[Value | None]) -> tuple[list[int], list[Value]]:
    """The axes that are indexed, and their indices of one shape as [..., axes]."""
    axes = [a for a, index in enumerate(indices) if index is not None]
    if any(call.node.args[1][a].meta['val'].dtype in (torch.bool, torch.uint8) for a in axes):
        call.refuse('a mask as an index: the data decides sizes')
    given = [call.cast(indices[a], 'i64') for a in axes]
    if len(given) > 1:
        fakes = [call.node.args[1][a].meta['val'] for a in axes]
        shape = list(torch.broadcast_shapes(*(f.shape for f in fakes)))
        given = [g if list(f.shape) == shape else call.Expand(g, call.ints(shape)) if shape else g
                 for g, f in zip(given, fakes, strict=True)]
    return axes, given


@aten('index.Tensor', '_unsafe_index.Tensor')
def index(call: Call, x: Value, indices: Sequence[Value | None]) -> Value:
    axes, given = joined(call, x, indices)
    if len(axes) == 1:
        return call.Gather(x, given[0], axis=axes[0])
    rest = [a for a in range(call.rank(x)) if a not in axes]
    moved = permute(call, x, [*axes, *rest])
    found = call.GatherND(moved, call.Concat(*(call.Unsqueeze(g, call.ints([-1])) for g in given), axis=-1))
    count = call.rank(given[0])
    if axes != list(range(axes[0], axes[-1] + 1)) or axes[0] == 0:
        return found                                   # torch puts what is indexed apart in front
    order = [*range(count, count + axes[0]), *range(count), *range(count + axes[0], count + len(rest))]
    return permute(call, found, order)


def put_by_mask(call: Call, x: Value, indices: Sequence[Value | None], values: Value) -> Value | None:
    """One number where a mask holds; None: the indices are no mask of that kind."""
    fakes = [None if n is None else n.meta['val'] for n in call.node.args[1]]
    axis, mask = next((a, f) for a, f in enumerate(fakes) if f is not None)
    if mask.dtype != torch.bool or sum(f is not None for f in fakes) != 1 or any(s != 1 for s in call.argument(2).shape):
        return None
    behind = call.rank(x) - axis - mask.dim()
    mask = indices[axis] if behind == 0 else call.Unsqueeze(indices[axis], call.ints(range(-behind, 0)))
    return call.Where(mask, call.reshape(call.computed(values), []), x)


def counts_up(node: Any) -> bool:
    """Whether an index is a position plus 0, 1, 2 ...: where a cache of keys or values is written."""
    if not isinstance(node, torch.fx.Node) or node.target is not torch.ops.aten.add.Tensor or len(node.args) != 2 or node.kwargs:
        return False
    numbers, position = sorted(node.args, key=lambda a: getattr(a, 'target', None) is not torch.ops.aten.arange.start_step)
    if not isinstance(position, torch.fx.Node) or getattr(numbers, 'target', None) is not torch.ops.aten.arange.start_step:
        return False
    first, end, *step = numbers.args
    fake = position.meta['val']
    return (first == 0 and isinstance(end, int) and step in ([], [1]) and not fake.dtype.is_floating_point
            and all(s == 1 for s in fake.shape) and node.meta['val'].dim() == 1)


def put_in_a_row(call: Call, x: Value, indices: Sequence[Value | None], values: Value) -> Value | None:
    """Steps that follow each other along one axis: of a cache, which stays as it lies. None: the index is no such one."""
    axes = [a for a, index in enumerate(indices) if index is not None]
    if len(axes) != 1 or axes[0] == 0 or not counts_up(call.node.args[1][axes[0]]):
        return None
    (axis,), sizes = axes, list(call.argument(0).shape)
    sizes[axis] = call.node.args[1][axis].meta['val'].shape[0]
    values = call.Expand(call.computed(values), call.ints(sizes))
    first = call.Slice(call.cast(indices[axis], 'i64'), call.ints([0]), call.ints([1]), call.ints([0]))
    starts = call.Expand(first, call.ints([sizes[0]]))
    return call.TensorScatter(x, values, starts, axis=axis)


@aten('index_put', '_unsafe_index_put')
def index_put(call: Call, x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False) -> Value:
    if not accumulate and (made := put_by_mask(call, x, indices, values)) is not None:
        return made
    if not accumulate and (made := put_in_a_row(call, x, indices, values)) is not None:
        return made
    axes, given = joined(call, x, indices)
    rest = [a for a in range(call.rank(x)) if a not in axes]
    moved = permute(call, x, [*axes, *rest])
    shape = call.argument(0).shape
    places = call.Concat(*(call.Unsqueeze(g, call.ints([-1])) for g in given), axis=-1)
    fakes = [call.node.args[1][a].meta['val'] for a in axes]
    place_shape = list(torch.broadcast_shapes(*(f.shape for f in fakes)))
    inside = axes == list(range(axes[0], axes[-1] + 1)) and axes[0] > 0
    front, back = ([shape[a] for a in rest if a < axes[0]], [shape[a] for a in rest if a > axes[-1]]) if inside else ([], [])
    requested = [*front, *place_shape, *back] if inside else [*place_shape, *(shape[a] for a in rest)]
    values = call.computed(values)
    if requested:
        values = call.Expand(values, call.ints(requested))
    if inside:
        a, p, b = len(front), len(place_shape), len(back)
        values = permute(call, values, [*range(a, a + p), *range(a), *range(a + p, a + p + b)])
    made = call.ScatterND(moved, places, values, reduction='add' if accumulate else 'none')
    order = [*axes, *rest]
    return permute(call, made, [order.index(a) for a in range(len(order))])


def scattered(call: Call, x: Value, axis: int, indices: Value, values: Value, reduction: str = 'none') -> Value:
    if call.rank(x) == 0:
        x, indices, values = (call.reshape(v, [1]) for v in (x, indices, values))
        return call.Squeeze(call.ScatterElements(x, indices, values, axis=0, reduction=reduction), call.ints([0]))
    return call.ScatterElements(x, indices, values, axis=axis, reduction=reduction)


def as_indices(call: Call, values: Value, indices: Value, index: int = 3) -> Value:
    """The values, cut to the shape of the indices."""
    sizes, requested = call.argument(index).shape, call.argument(2).shape
    axes = [a for a in range(len(requested)) if not same(sizes[a], requested[a])]
    if axes:
        values = call.Slice(values, call.ints([0] * len(axes)), call.ints([requested[a] for a in axes]), call.ints(axes))
    return values


@aten('scatter.src')
def scatter(call: Call, x: Value, axis: int, indices: Value, values: Value) -> Value:
    return scattered(call, x, axis, indices, as_indices(call, values, indices))


@aten('scatter.value')
def scatter_value(call: Call, x: Value, axis: int, indices: Value, value: Number) -> Value:
    shape = list(call.argument(2).shape)
    values = call.computed(value)
    return scattered(call, x, axis, indices, call.Expand(values, call.ints(shape)) if shape else values)


@aten('scatter_add')
def scatter_add(call: Call, x: Value, axis: int, indices: Value, values: Value) -> Value:
    return scattered(call, x, axis, indices, as_indices(call, values, indices), 'add')


NOTHING = {'sum': 0, 'mean': 0, 'prod': 1, 'amax': '-inf', 'amin': 'inf'}
REDUCTIONS = {'sum': 'add', 'mean': 'add', 'prod': 'mul', 'amax': 'max', 'amin': 'min'}


def min_or_max(dtype: torch.dtype, maximum: bool) -> Number:
    if dtype == torch.bool:
        return maximum
    if dtype.is_floating_point:
        return math.inf if maximum else -math.inf
    return torch.iinfo(dtype).max if maximum else torch.iinfo(dtype).min


@aten('scatter_reduce.two')
def scatter_reduce(call: Call, x: Value, axis: int, indices: Value, values: Value, reduce: str,
                   include_self: bool = True) -> Value:
    return by_reduction(call, x, axis, indices, as_indices(call, values, indices), reduce, include_self)


@aten('index_reduce')
def index_reduce(call: Call, x: Value, axis: int, indices: Value, values: Value, reduce: str, include_self: bool = True) -> Value:
    """As a scatter by the same indices along all other axes."""
    rank, values = call.rank(x), call.computed(values)
    if rank:
        indices = call.reshape(indices, [-1 if a == call.axis(axis, x) else 1 for a in range(rank)])
        values = call.reshape(values, [1]) if call.rank(values) == 0 else values
        indices = call.Expand(indices, call.Shape(values))
    else:
        indices, values = call.reshape(indices, []), call.reshape(values, [])
    return by_reduction(call, x, axis, indices, values, reduce, include_self)


def by_reduction(call: Call, x: Value, axis: int, indices: Value, values: Value, reduce: str, include_self: bool) -> Value:
    dtype = TORCH[x.dtype]
    if reduce == 'mean' and not dtype.is_floating_point:
        call.refuse('a mean of integers')
    if not include_self:
        nothing = NOTHING[reduce]
        if isinstance(nothing, str):
            nothing = min_or_max(dtype, nothing == 'inf')
        x = scattered(call, x, axis, indices, call.Expand(call.constant(nothing, x.dtype), call.Shape(indices))
                      if call.rank(indices) else call.constant(nothing, x.dtype))
    made = scattered(call, x, axis, indices, values, REDUCTIONS[reduce])
    if reduce != 'mean':
        return made
    ones = call.Expand(call.constant(1, x.dtype), call.Shape(indices)) if call.rank(indices) else call.constant(1, x.dtype)
    begin = call.constant(int(include_self), x.dtype)
    begin = call.Expand(begin, call.Shape(x)) if call.rank(x) else begin
    count = scattered(call, begin, axis, indices, ones, 'add')
    return call.Div(made, call.Max(count, 1))


def put_along(call: Call, x: Value, part: Value, axis: int, places: Value) -> Value:
    """x with a part of its shape but along one axis, whose places are i64[n]."""
    rank, axis, part = call.rank(x), call.axis(axis, x), call.cast(part, x.dtype)
    indices = call.reshape(places, [-1 if a == axis else 1 for a in range(rank)])
    return call.ScatterElements(x, call.Expand(indices, call.Shape(part)), part, axis=axis)


@aten('select_scatter')
def select_scatter(call: Call, x: Value, part: Value, axis: int, index: Size) -> Value:
    axis = call.axis(axis, x)
    shape = [1 if a == axis else s for a, s in enumerate(call.argument(0).shape)]
    part = call.reshape(call.Identity(part), shape)
    return put_along(call, x, part, axis, call.ints([index]))


@aten('slice_scatter')
def slice_scatter(call: Call, x: Value, part: Value, axis: int = 0, start: Size | None = None, end: Size | None = None,
                  step: int = 1) -> Value:
    axis = call.axis(axis, x)
    places = call.Range(call.constant(0, 'i64'), call.cast(call.argument(0).shape[axis], 'i64'), call.constant(1, 'i64'))
    places = call.Slice(places, call.ints([0 if start is None else start]), call.ints([END if end is None else end]), call.ints([0]),
                        call.ints([step]))
    part = call.Expand(part, call.ints([call.argument(1).shape[a] for a in range(call.rank(x))]))
    return put_along(call, x, part, axis, places)


@aten('masked_scatter')
def masked_scatter(call: Call, x: Value, mask: Value, source: Value) -> Value:
    shape = list(call.fake.shape)
    mask = call.Expand(mask, call.ints(shape)) if shape else mask
    flat = call.reshape(mask, [-1])
    places = call.Sub(call.CumSum(call.cast(flat, 'i64'), call.constant(0, 'i64')), 1)
    last = call.Sub(call.Size(source), 1)
    found = call.Gather(call.reshape(source, [-1]), call.Min(call.Max(places, 0), last), axis=0)
    found = call.reshape(found, shape) if shape else call.Squeeze(found, call.ints([0]))
    x = call.Expand(x, call.ints(shape)) if shape else x
    return call.Where(mask, found, x)
