"""Tensors made of numbers, and changes of type."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch._types import TORCH
from tenfold.torch.aten.table import Number, Operand, Size, aten

MOST_FOLDED = 1 << 16      # elements of a tensor that torch makes while the network is made


def filled(call: Call, sizes: Sequence[Size], value: Operand) -> Value:
    x = call.cast(value, call.dtype)
    return call.Expand(x, call.ints(sizes)) if sizes else x


@aten('full')
def full(call: Call, sizes: Sequence[Size], value: Number, *rest: Any) -> Value: return filled(call, list(sizes), value)


@aten('full_like')
def full_like(call: Call, x: Value, value: Number, *rest: Any) -> Value:
    return filled(call, list(call.fake.shape), value)


@aten('fill.Scalar', 'fill.Tensor')
def fill(call: Call, x: Value, value: Operand) -> Value: return filled(call, list(call.fake.shape), value)


@aten('zeros', 'ones', 'empty.memory_format', 'empty_strided', 'empty_permuted', 'new_zeros', 'new_ones', 'new_empty')
def constant_fill(call: Call, *rest: Any) -> Value:
    """What nobody has written holds zeros."""
    return filled(call, list(call.fake.shape), 1 if 'ones' in str(call.node.target) else 0)


@aten('scalar_tensor')
def scalar_tensor(call: Call, value: Number, *rest: Any) -> Value: return call.cast(value, call.dtype)


@aten('arange.start_step')
def arange(call: Call, start: Size | float, end: Size | float, step: Size | float = 1, *rest: Any) -> Value:
    if all(isinstance(n, (int, float)) for n in (start, end, step)):
        made = torch.arange(start, end, step, dtype=TORCH[call.dtype])
        if made.numel() <= MOST_FOLDED:
            return call.tensor(made)
    if any(isinstance(n, (float, torch.SymFloat)) for n in (start, end, step)):
        call.refuse('a symbolic size between floats')
    return call.cast(call.Range(*(call.cast(n, 'i64') for n in (start, end, step))), call.dtype)


@aten('_to_copy', 'to.dtype')
def to_copy(call: Call, x: Value, *rest: Any) -> Value:
    source = call.argument(0)
    if source.device != call.fake.device:
        call.refuse(f'a copy from {source.device} to {call.fake.device}')
    return call.Identity(x) if x.dtype == call.dtype else call.cast(x, call.dtype)


@aten('clone', 'alias', 'detach', 'lift_fresh_copy', 'contiguous')
def clone(call: Call, x: Value, *rest: Any) -> Value: return call.Identity(x)


@aten('copy')
def copy(call: Call, x: Value, source: Value, *rest: Any) -> Value:
    source = call.computed(source)
    return call.Expand(source, call.ints(list(call.fake.shape))) if call.rank(x) else call.Identity(source)


@aten('native_dropout')
def native_dropout(call: Call, x: Value, p: float, train: bool | None) -> tuple[Value | None, ...]:
    if train and p:
        call.refuse('a random operator')
    return call.Identity(x), call.Expand(call.constant(True, 'bool'), call.ints(list(call.fake.shape))) if call.used(1) else None
