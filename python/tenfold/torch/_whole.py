"""Functions that torch would take apart before the backend sees them: each becomes an operator of its own, `tenfold::NAME`, in a graph.

Where an engine has no form for one of them, torch computes it by its own function.
"""
from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

import torch
from tenfold.torch.aten.pool import MODES, by_factor
from torch.nn import functional

library = torch.library.Library('tenfold', 'DEF')   # noqa: TOR901
library.define('attention(Tensor query, Tensor key, Tensor value, Tensor? mask=None, float dropout=0.0, bool causal=False, '
                'float? scale=None, bool shared=False) -> Tensor')
library.define('interpolate(Tensor x, SymInt[]? sizes, float[]? factors, str mode, bool? align) -> Tensor')


def attention(query: Any, key: Any, value: Any, mask: Any = None, dropout: float = 0.0, causal: bool = False, scale: float | None = None,
              shared: bool = False) -> Any:
    made = functional.scaled_dot_product_attention(query, key, value, mask, dropout, causal, scale=scale, enable_gqa=shared)
    return made.contiguous()


def attention_fake(query: Any, key: Any, value: Any, mask: Any = None, dropout: float = 0.0, causal: bool = False,
                   scale: float | None = None, shared: bool = False) -> Any:
    return query.new_empty([*query.shape[:-1], value.shape[-1]])


def interpolate(x: Any, sizes: Any, factors: Any, mode: str, align: bool | None) -> Any:
    return functional.interpolate(x, sizes, factors, mode, align)


library.impl('attention', attention, 'CompositeExplicitAutograd')
library.impl('interpolate', interpolate, 'CompositeExplicitAutograd')
torch.library.register_fake('tenfold::attention', attention_fake, lib=library)
torch.library.register_fake('tenfold::interpolate', interpolate, lib=library)


def given(node: torch.fx.Node, defaults: dict[str, Any]) -> dict[str, Any]:
    """All arguments by their names."""
    return {**defaults, **dict(zip(defaults, node.args, strict=False)), **node.kwargs}


def whole_attention(node: torch.fx.Node) -> tuple[Any, ...] | None:
    """With dropout it stays: it is random."""
    every = given(node, {'query': None, 'key': None, 'value': None, 'attn_mask': None, 'dropout_p': 0.0, 'is_causal': False, 'scale': None,
                         'enable_gqa': False})
    return None if every['dropout_p'] != 0.0 else tuple(every.values())


def requested(size: Any, factor: float) -> Any:
    return math.floor(size * factor) if isinstance(size, int) else None


def whole_interpolation(node: torch.fx.Node) -> tuple[Any, ...] | None:
    """Where an engine comes to the same places: in parts it would be gathering by places that are data."""
    every = given(node, {'input': None, 'size': None, 'scale_factor': None, 'mode': 'nearest', 'align_corners': None,
                         'recompute_scale_factor': None, 'antialias': False})
    x, sizes, factors = every['input'], every['size'], every['scale_factor']
    example = x.meta.get('example_value', x.meta.get('val')) if isinstance(x, torch.fx.Node) else None
    if not isinstance(example, torch.Tensor) or every['recompute_scale_factor'] or every['antialias']:
        return None
    if every['mode'] not in ('nearest', *MODES) or every['mode'] == 'bicubic':    # of which there is no kernel
        return None

    def each(value: Any) -> list[Any] | None:
        return list(value) if isinstance(value, (list, tuple)) else None if value is None else [value] * (example.dim() - 2)
    factors = each(factors)
    if factors is not None:
        known = all(isinstance(f, (int, float)) for f in factors)
        if not known or not all(by_factor(s, requested(s, f), f) for s, f in zip(example.shape[2:], factors, strict=True)):
            return None
    return x, each(sizes), factors and [float(f) for f in factors], every['mode'], every['align_corners']


def given_attention(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
                    scale: float | None = None, enable_gqa: bool = False) -> Any:
    if dropout_p != 0.0:
        return functional.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale,
                                                       enable_gqa=enable_gqa)
    return torch.ops.tenfold.attention(query, key, value, attn_mask, 0.0, is_causal, scale, enable_gqa)


def many_heads() -> Any:
    """torch's function behind nn.MultiheadAttention, which calls given_attention() where it calls torch's."""
    known = functional.multi_head_attention_forward
    others = {'scaled_dot_product_attention': given_attention, 'has_torch_function': lambda tensors: False}   # which would call torch's own
    made = types.FunctionType(known.__code__, {**known.__globals__, **others}, 'many_heads_attention', known.__defaults__,
                              known.__closure__)
    made.__kwdefaults__, made.__module__ = known.__kwdefaults__, __name__      # else a graph would write torch's name for it
    return made


many_heads_attention = many_heads()


WHOLE: dict[Any, tuple[Any, Callable[[torch.fx.Node], tuple[Any, ...] | None]]] = {
    functional.scaled_dot_product_attention: (torch.ops.tenfold.attention.default, whole_attention),
    torch.ops.aten.scaled_dot_product_attention.default: (torch.ops.tenfold.attention.default, whole_attention),
    functional.interpolate: (torch.ops.tenfold.interpolate.default, whole_interpolation),
    functional.multi_head_attention_forward: (many_heads_attention, lambda node: node.args)}


def as_it_lay(graph: torch.fx.Graph, whole: torch.fx.Node, before: Any) -> torch.fx.Node:
    """In a graph that was traced already (torch.export's), views behind count on the strides that the result had."""
    if not isinstance(before, torch.Tensor) or before.is_contiguous():
        return whole
    order = sorted(range(before.dim()), key=lambda axis: -int(before.stride(axis)))
    moved = graph.call_function(torch.ops.aten.permute.default, (whole, order))
    dense = graph.call_function(torch.ops.aten.clone.default, (moved,), {'memory_format': torch.contiguous_format})
    return graph.call_function(torch.ops.aten.permute.default, (dense, [order.index(axis) for axis in range(before.dim())]))


def keep_whole(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The graph with each of these functions as one operator."""
    changed = False
    for node in list(module.graph.nodes):
        operator, arguments = WHOLE.get(node.target, (None, None)) if node.op == 'call_function' else (None, None)
        if arguments is None or (args := arguments(node)) is None:
            continue
        changed = True
        with module.graph.inserting_before(node):
            whole = module.graph.call_function(operator, args, node.kwargs if operator is many_heads_attention else {})
            placed = as_it_lay(module.graph, whole, node.meta.get('val'))
        whole.meta = placed.meta = dict(node.meta)
        node.replace_all_uses_with(placed)
        module.graph.erase_node(node)
    if changed:
        module.recompile()
    return module
