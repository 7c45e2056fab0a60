"""Attention, by the names that torch gives it on each device."""
from __future__ import annotations

import math

import torch
from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.index import same
from tenfold.torch.aten.table import Size, aten


def attend(call: Call, query: Value, key: Value, value: Value, mask: Value | None = None, causal: bool = False,
           scale: float | None = None, shared: bool = False) -> Value:
    size = call.fixed([call.argument(0).shape[-1]], 'attention')[0]
    factor = size ** -0.5 if scale is None else float(scale)
    if mask is not None and mask.dtype != 'bool':
        mask = call.cast(mask, query.dtype)
    rows = [list(call.argument(i).shape[:-2]) for i in range(3)]
    heads = [r[-1:] if shared else [] for r in rows]              # who shares keys has fewer heads of them
    front = list(torch.broadcast_shapes(*(r[:len(r) - len(h)] for r, h in zip(rows, heads, strict=True))))
    parts = [in_four(call, x, i, [*front, *h], r) for i, (x, r, h) in enumerate(zip((query, key, value), rows, heads, strict=True))]
    if mask is not None:
        mask = mask_in_four(call, mask, [*front, *heads[0]])
    found = call.Attention(*parts, mask, is_causal=int(causal), scale=factor)
    return found if len(rows[0]) == 2 else call.reshape(found, list(call.fake.shape))


def in_four(call: Call, x: Value, index: int, requested: list[Size], rows: list[Size]) -> Value:
    """As [batches, heads, ..., ...]: the first axes as one, or a one in their place."""
    shape = list(call.argument(index).shape)
    if len(rows) != len(requested) or not all(same(a, b) for a, b in zip(rows, requested, strict=True)):
        x = call.Expand(x, call.ints([*requested, *shape[-2:]]))
    return x if len(requested) == 2 else call.reshape(x, [*folded(requested), *shape[-2:]])


def folded(front: list[Size]) -> list[Size]:
    """Two sizes of those in front of the last two axes."""
    return [math.prod(front[:-1]), *(front[-1:] or [1])]


def mask_in_four(call: Call, mask: Value, front: list[Size]) -> Value:
    if len(front) <= 2 or call.rank(mask) < 3:
        return mask
    mask = call.Expand(mask, call.ints([*front[:-1], 1, 1, 1]))
    return call.Reshape(mask, call.Concat(call.ints([-1]), call.Shape(mask, start=-3), axis=0))


def rest(call: Call, y: Value, count: int) -> tuple[Value | None, ...]:
    """What only gradients want is left out."""
    if any(call.used(i) for i in range(1, count)):
        call.refuse('attention whose sums are read')
    return (y, *[None] * (count - 1))


@aten('scaled_dot_product_attention', 'tenfold.attention.default')
def scaled_dot_product_attention(call: Call, query: Value, key: Value, value: Value, mask: Value | None = None,
                                 dropout: float = 0.0, causal: bool = False, scale: float | None = None,
                                 shared: bool = False) -> Value:
    if dropout:
        call.refuse('a random operator')
    return attend(call, query, key, value, mask, causal, scale, shared)


@aten('_scaled_dot_product_flash_attention_for_cpu')
def flash_attention_for_cpu(call: Call, query: Value, key: Value, value: Value, dropout: float = 0.0,
                            causal: bool = False, mask: Value | None = None,
                            scale: float | None = None) -> tuple[Value | None, ...]:
    if dropout:
        call.refuse('a random operator')
    return rest(call, attend(call, query, key, value, mask, causal, scale), 2)


@aten('_scaled_dot_product_flash_attention')
def flash_attention(call: Call, query: Value, key: Value, value: Value, dropout: float = 0.0, causal: bool = False,
                    debug: bool = False, scale: float | None = None) -> tuple[Value | None, ...]:
    if dropout:
        call.refuse('a random operator')
    return rest(call, attend(call, query, key, value, None, causal, scale), 9)


@aten('_scaled_dot_product_efficient_attention')
def efficient_attention(call: Call, query: Value, key: Value, value: Value, mask: Value | None, sums: bool,
                        dropout: float = 0.0, causal: bool = False,
                        scale: float | None = None) -> tuple[Value | None, ...]:
    if dropout:
        call.refuse('a random operator')
    return rest(call, attend(call, query, key, value, mask, causal, scale), 4)


@aten('_scaled_dot_product_cudnn_attention')
def cudnn_attention(call: Call, query: Value, key: Value, value: Value, mask: Value | None, sums: bool,
                    dropout: float = 0.0, causal: bool = False, debug: bool = False,
                    scale: float | None = None) -> tuple[Value | None, ...]:
    if dropout:
        call.refuse('a random operator')
    return rest(call, attend(call, query, key, value, mask, causal, scale), 9)
