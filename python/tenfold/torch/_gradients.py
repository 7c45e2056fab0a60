"""Who asks for gradients gets torch; a graph that computes gradients of its own (torch.func) is traced with gradients on."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch._dynamo.symbolic_convert import InstructionTranslator


def why_gradients(args: Sequence[Any]) -> str:
    """Why this call asks for gradients; empty: it does not. Weights of a module in eval() ask for none."""
    if not torch.is_grad_enabled():
        return ''
    tensors = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
    if any(not isinstance(t, torch.nn.Parameter) for t in tensors):
        return 'an input asks for gradients'
    if not tensors:
        return ''
    seen = modules()
    if not seen:   # a module of a closure or a global, which may be in training mode
        return 'weights ask for gradients, and the compiled function holds no module that says whether it is in eval(): use torch.no_grad()'
    if any(part.training for module in seen for part in module.modules()):
        return 'the module is in training mode: eval() or torch.no_grad() gives it engines'
    return ''


def modules() -> list[torch.nn.Module]:
    """The modules that the frame which is being compiled sees."""
    try:
        scope = InstructionTranslator.current_tx().output.root_tx.f_locals
    except (AttributeError, RuntimeError):
        return []
    return [v for v in scope.values() if isinstance(v, torch.nn.Module)]


# How the functions that open a transform or ask for gradients are named in a graph of torch's.
TRANSFORMS = ('_increment_nesting', '_autograd_grad', '_set_tensor_requires_grad', '_make_dual', 'requires_grad_', 'backward')


def transforms(module: torch.fx.GraphModule) -> bool:
    """Whether the graph, or a graph in it, transforms a function as torch.func does, or asks for gradients."""
    def is_one(node: torch.fx.Node) -> bool:
        name = node.target if node.op == 'call_method' else getattr(node.target, '__name__', '')
        return node.target is torch.autograd.grad or str(name).endswith(TRANSFORMS)
    graphs = [part.graph for part in module.modules() if isinstance(part, torch.fx.GraphModule)]
    return any(is_one(node) for graph in graphs for node in graph.nodes if node.op in ('call_method', 'call_function'))


@contextlib.contextmanager
def gradients_inside(module: torch.fx.GraphModule, args: Sequence[Any], requested: bool) -> Iterator[None]:
    """Gradients are on within the graph while it is traced without them around it: torch wrote the graph down for a caller who has them
    on, so that none of its nodes says so. Of weights none are asked for: else torch would trace what training needs."""
    if not requested:
        yield
        return
    graph, switch = module.graph, torch._C._set_grad_enabled
    placeholders = [n for n in graph.nodes if n.op == 'placeholder']
    asking = [n for n, a in zip(placeholders, args, strict=True) if isinstance(a, torch.Tensor) and a.requires_grad]
    with graph.inserting_before(next(n for n in graph.nodes if n.op != 'placeholder')):
        on = graph.call_function(switch, (True,))
        detached = {n: graph.call_method('detach', (n,)) for n in asking}
    for node, without in detached.items():
        node.replace_all_uses_with(without, delete_user_cb=lambda user, without=without: user is not without)
    with graph.inserting_before(graph.output_node()):
        off = graph.call_function(switch, (False,))
    module.recompile()
    try:
        yield
    finally:
        for node, without in detached.items():
            without.replace_all_uses_with(node)
        for added in (*detached.values(), on, off):
            graph.erase_node(added)
        module.recompile()
