"""Which inputs of a graph are weights: parameters and buffers that it only reads."""
from __future__ import annotations

import operator
from collections.abc import Container, Sequence
from typing import Any

import torch
from tenfold.torch._convert import is_fake


def places(module: torch.fx.GraphModule, args: Sequence[Any]) -> set[int]:
    """Places of parameters and buffers among the arguments of what torch.compile gives a backend."""
    nodes = [n for n in module.graph.nodes if n.op == 'placeholder']
    return {i for i, (n, a) in enumerate(zip(nodes, args, strict=True)) if isinstance(a, torch.Tensor) and not is_fake(a)
            and (isinstance(a, torch.nn.Parameter) or '_dynamo_static_input_type' in n.meta.get('tensor_dict', {}))}


def behind(graph: torch.fx.GraphModule, module: torch.fx.GraphModule, args: Sequence[Any],
           static: set[int], writes: Container[torch.fx.Node]) -> dict[torch.fx.Node, torch.Tensor]:
    """The weight of each input of the ATen graph that is one and that neither torch nor the graph (`writes`) writes to."""
    written = [getattr(d, 'mutated_input', None) for d in graph.graph.output_node().meta.get('desc') or []]
    found = {}
    for node in graph.graph.nodes:
        what = node.meta.get('desc')
        if node.op != 'placeholder' or what in written or node in writes:
            continue
        kind = type(what).__name__
        if kind == 'PlainAOTInput' and what.idx in static:
            found[node] = args[what.idx]
        elif kind in ('ParamAOTInput', 'BufferAOTInput'):      # torch made it an attribute of the module
            found[node] = operator.attrgetter(what.target)(module)
    return found
