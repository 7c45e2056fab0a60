"""Inputs that a graph writes to: the graph returns what it would write there, and a few calls copy all of it."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

COPY = torch.ops.aten.copy_.default


def take_writes(module: torch.fx.GraphModule) -> dict[torch.fx.Node, torch.fx.Node]:
    """Takes the copies into inputs off the graph, which returns their sources behind its results. By input: the source."""
    graph, found = module.graph, {}
    for node in list(graph.nodes):
        if node.op == 'call_function' and node.target is COPY and node.args[0].op == 'placeholder' and node.args[0] not in found:
            found[node.args[0]] = node.args[1]
            node.replace_all_uses_with(node.args[1])
            graph.erase_node(node)
    if found:
        end = graph.output_node()
        (returned,) = end.args
        end.args = ([*(returned if isinstance(returned, (list, tuple)) else [returned]), *found.values()],)
        module.recompile()
    return found


Groups = list[tuple[tuple[int, ...], tuple[int, ...]]]     # places of inputs, and of their sources behind the results


def groups_of(graph: torch.fx.Graph, writes: dict[torch.fx.Node, torch.fx.Node]) -> Groups:
    """Those of one type and device, which torch copies by one kernel. Who splits the graph behind this may copy its nodes."""
    places = {node: i for i, node in enumerate(n for n in graph.nodes if n.op == 'placeholder')}
    groups: dict[Any, list[tuple[int, int]]] = {}
    for i, node in enumerate(writes):
        fake = node.meta['val']
        groups.setdefault((fake.dtype, fake.device), []).append((places[node], i - len(writes)))
    return [tuple(zip(*pairs, strict=True)) for pairs in groups.values()]


class Written:
    """What computes such a graph, and writes. It is called with a list of arguments."""

    def __init__(self, run: Callable[..., Any], groups: Groups) -> None:
        self._run, self._groups = run, groups
        self._count = sum(len(to) for to, _ in groups)

    def __call__(self, args: Any) -> Any:
        inputs = list(args)                                  # which a graph of torch's lets go
        found = list(self._run(args))
        with torch.no_grad():
            for to, source in self._groups:
                torch._foreach_copy_([inputs[i] for i in to], [found[i] for i in source])
        del found[-self._count:]
        return found
