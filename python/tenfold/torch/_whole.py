"""Functions that torch would take apart before the backend sees them: each becomes an operator of its own, `tenfold::NAME`, in a graph.

Where an engine has no form for one of them, torch computes it by its own function.
"""
from __future__ import annotations

from typing import Any

import torch

library = torch.library.Library('tenfold', 'DEF')   # noqa: TOR901
library.define('attention(Tensor query, Tensor key, Tensor value, Tensor? mask=None, float dropout=0.0, bool causal=False, '
                'float? scale=None, bool shared=False) -> Tensor')


def attention(query: Any, key: Any, value: Any, mask: Any = None, dropout: float = 0.0, causal: bool = False, scale: float | None = None,
              shared: bool = False) -> Any:
    made = torch.nn.functional.scaled_dot_product_attention(query, key, value, mask, dropout, causal, scale=scale, enable_gqa=shared)
    return made.contiguous()


def attention_fake(query: Any, key: Any, value: Any, mask: Any = None, dropout: float = 0.0, causal: bool = False,
                   scale: float | None = None, shared: bool = False) -> Any:
    return query.new_empty([*query.shape[:-1], value.shape[-1]])


library.impl('attention', attention, 'CompositeExplicitAutograd')
torch.library.register_fake('tenfold::attention', attention_fake, lib=library)

NAMES = ('query', 'key', 'value', 'attn_mask', 'dropout_p', 'is_causal', 'scale', 'enable_gqa')
WHOLE = {torch.nn.functional.scaled_dot_product_attention, torch.ops.aten.scaled_dot_product_attention.default}


def keep_whole(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The graph with its attention as one operator each. Attention with dropout stays: it is random."""
    changed = False
    for node in list(module.graph.nodes):
        if node.op != 'call_function' or node.target not in WHOLE:
            continue
        given = {**dict(zip(NAMES, node.args, strict=False)), **node.kwargs}
        if given.get('dropout_p', 0.0) != 0.0:
            continue
        changed = True
        with module.graph.inserting_before(node):
            whole = module.graph.call_function(torch.ops.tenfold.attention.default, tuple(
                given.get(name, default) for name, default in zip(NAMES, (None, None, None, None, 0.0, False, None, False), strict=True)))
        whole.meta = dict(node.meta)
        node.replace_all_uses_with(whole)
        module.graph.erase_node(node)
    if changed:
        module.recompile()
    return module
