"""free_weights=True: modules lose the tensors that engines alone read. Who computes with such a weight gets an error that says so."""
from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import torch
from tenfold._log import logger


class Freed(torch.Tensor):
    """In the place of a weight: of its shape, type and device, without memory."""
    __torch_function__ = torch._C._disabled_torch_function_impl
    tenfold_freed = True                       # which TorchWatch asks for

    called: str
    origin: weakref.ref[torch.Tensor]

    @staticmethod
    def __new__(cls, weight: torch.Tensor, name: str) -> Freed:
        made = torch.Tensor._make_wrapper_subclass(cls, weight.shape, strides=weight.stride(), dtype=weight.dtype, device=weight.device,
                                                   requires_grad=weight.requires_grad)
        made._is_param = isinstance(weight, torch.nn.Parameter)
        made.called, made.origin = name, weakref.ref(weight)
        return made

    def __init__(self, *_: Any) -> None:
        pass

    def refuse(self) -> NoReturn:
        raise RuntimeError(f'the weight {self.called!r} lies in an engine alone, for torch.compile was given free_weights=True: '
                           'load_state_dict(..., assign=True) gives the module its weights anew')

    @classmethod
    def __torch_dispatch__(cls, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> NoReturn:
        given = torch.utils._pytree.arg_tree_leaves(*args, **(kwargs or {}))
        next(g for g in given if isinstance(g, Freed)).refuse()

    def __repr__(self) -> str:      # torch's would read the elements
        return f'<freed weight {self.called!r}: {self.dtype} {list(self.shape)}>'

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.refuse()

    def __deepcopy__(self, memo: Any) -> NoReturn:
        self.refuse()


def is_freed_from(now: Any, before: torch.Tensor) -> bool:
    return isinstance(now, Freed) and now.origin() is before


Slot = tuple[dict[str, Any], str]        # parameters or buffers of a module, and a name among them


def slots_of(modules: Sequence[torch.nn.Module], tensors: Sequence[torch.Tensor]) -> list[Slot]:
    """Where modules hold these tensors."""
    requested = {id(t) for t in tensors}
    return [(held, name) for root in modules for part in root.modules() for held in (part._parameters, part._buffers)
            for name, value in held.items() if id(value) in requested]


def drop_guards(module: torch.fx.GraphModule, args: Sequence[Any], tensors: Sequence[torch.Tensor]) -> None:
    """torch's compiled code takes what lies in the place of these weights, whatever it is: TorchWatch looks at them."""
    context = torch._guards.TracingContext.try_get()
    if context is None:
        return
    requested = {id(t) for t in tensors}
    nodes = [n for n in module.graph.nodes if n.op == 'placeholder']
    sources = {getattr(n, '_dynamo_source', None) for n, a in zip(nodes, args, strict=True) if id(a) in requested}
    guards = context.guards_context.dynamo_guards
    for guard in [g for g in guards if g.originating_source in sources]:
        guards.inner.discard(guard)


class Freeing:
    """A compiled graph, behind whose first run torch's copy of the weights goes; and behind each run that was given other ones."""

    def __init__(self, run: Callable[..., Any], subgraphs: Sequence[Any], slots: Sequence[Slot]) -> None:
        self.run, self.subgraphs, self.slots = run, subgraphs, slots
        self._lock = threading.Lock()

    def __call__(self, *args: Any) -> Any:
        found = self.run(*args)
        if any(subgraph.holds_weights for subgraph in self.subgraphs):
            self.free()
        return found

    def free(self) -> None:
        with self._lock:
            freed: dict[int, Freed] = {}
            for held, name in self.slots:
                weight = held.get(name)
                if weight is not None and not isinstance(weight, Freed):
                    held[name] = freed.setdefault(id(weight), Freed(weight, name))
            for subgraph in self.subgraphs:
                subgraph.free(freed)
            logger.info('%d weights lie in engines alone now', len(freed))


def engines_alone(reads: Mapping[torch.fx.Node, torch.Tensor], subgraph_of: Callable[[torch.fx.Node], Any]) -> list[torch.Tensor]:
    """Weights of a graph that nobody but engines reads. `subgraph_of`: of a node; None: torch computes it."""
    def inside(node: torch.fx.Node, weight: torch.Tensor) -> bool:
        subgraphs = [subgraph_of(user) for user in node.users]
        return all(i is not None and any(weight is w for w in i.weights) for i in subgraphs)
    return [weight for node, weight in reads.items() if inside(node, weight)]
