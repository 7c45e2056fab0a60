"""Which operators of a graph become engines, and which torch computes between them."""
from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import torch
from tenfold.torch._convert import CHECKS, Conversion, is_size
from tenfold.torch._report import Report
from tenfold.torch._sizes import is_of_data
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase


def is_view(node: torch.fx.Node) -> bool:
    """Whether the result is memory of the operand."""
    if node.target is operator.getitem:
        return is_view(node.args[0])
    schema = getattr(node.target, '_schema', None)
    return schema is not None and any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)


def last_views(graph: torch.fx.Graph) -> set[torch.fx.Node]:
    """Views that nothing but the caller reads: torch makes them, so that they share memory and have strides as in eager mode."""
    found: set[torch.fx.Node] = set()
    for node in reversed(graph.nodes):
        if node.op == 'call_function' and not is_size(node) and is_view(node) and all(u.op == 'output' or u in found for u in node.users):
            found.add(node)
    return found


OF_MANY = {torch.ops.aten._transformer_encoder_layer_fwd.default: 12}     # what stands for this many operators


def counted(nodes: Any) -> int:
    return sum(OF_MANY.get(n.target, 1) for n in nodes
               if n.op == 'call_function' and n.target is not operator.getitem and not is_size(n))


class Support(OperatorSupportBase):
    def __init__(self, left: set[torch.fx.Node]) -> None:
        self.left = left

    def is_node_supported(self, submodules: Mapping[str, Any], node: torch.fx.Node) -> bool:
        return node.op == 'call_function' and node not in self.left


def split(module: torch.fx.GraphModule, weights: Mapping[torch.fx.Node, torch.Tensor], minimum: int,
          report: Report) -> tuple[torch.fx.GraphModule, list[torch.fx.Node] | Conversion]:
    """The module with subgraphs of operators as submodules, and the nodes that call them. A module that is one
    subgraph stays as it is; then
    the second is what it becomes."""
    graph = module.graph
    graph.eliminate_dead_code()
    tried = Conversion(graph, weights, module)
    views = last_views(graph)
    for node, why in tried.failed.items():
        if node.target is not operator.getitem and node not in views:
            report.leave(str(node.target), why)
    left = set(tried.failed) | views | stranded_sizes(graph)
    left |= checks_and_what_they_read(graph) if left else set()
    if not left:
        if counted(graph.nodes) >= minimum:
            return module, tried
        report.leave(f'{counted(graph.nodes)} operators', f'an subgraph of fewer than {minimum}')
        return module, []
    partitioner = CapabilityBasedPartitioner(module, Support(left), allows_single_node_partition=True)
    kept = []
    for part in partitioner.propose_partitions():
        if (count := counted(part.nodes)) >= minimum:
            kept.append(part)
        elif count:
            report.leave(f'{count} operators', f'an subgraph of fewer than {minimum}')
    if not kept:
        return module, []
    fused = partitioner.fuse_partitions(kept)
    return fused, [n for n in fused.graph.nodes if n.op == 'call_module']


def checks_and_what_they_read(graph: torch.fx.Graph) -> set[torch.fx.Node]:
    """Where torch computes a part, it counts on what these check of sizes that the data decides."""
    return {n for n in graph.nodes if n.op == 'call_function' and (n.target in CHECKS or is_of_data(n.meta.get('val')))}


def stranded_sizes(graph: torch.fx.Graph) -> set[torch.fx.Node]:
    """Symbolic numbers that are no sizes, which engines do not compute."""
    kinds = (torch.SymFloat, torch.SymBool, float, bool, type(None))
    return {n for n in graph.nodes if n.op == 'call_function' and isinstance(n.meta.get('val'), kinds) and n.target not in CHECKS
            and not all(u.target in CHECKS for u in n.users)}
