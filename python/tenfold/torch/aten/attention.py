"""Attention, by the names that torch gives it on each device."""
from __future__ import annotations

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.table import aten


def attend(call: Call, query: Value, key: Value, value: Value, mask: Value | None = None, causal: bool = False,
           scale: float | None = None, shared: bool = False) -> Value:
    size = call.fixed([call.argument(0).shape[-1]], 'attention')[0]
    factor = size ** -0.5 if scale is None else float(scale)
    if shared or call.rank(query) != 4:
        call.refuse('attention of other than four axes, or with fewer keys than heads')
    if mask is not None and mask.dtype != 'bool':
        mask = call.cast(mask, query.dtype)
    return call.Attention(query, key, value, mask, is_causal=int(causal), scale=factor)


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
