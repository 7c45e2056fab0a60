"""plugin(): a custom operator of torch as a plug-in, so that engines hold it and need not end before it."""
from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from tenfold import plugins
from tenfold.torch._types import NAMES, TORCH
from tenfold.torch.aten import OPERATORS
from torch._subclasses.fake_tensor import FakeTensorMode

NOTHING = {'int': 0, 'float': 0.0, 'bool': 0, 'str': '', 'List[int]': [], 'List[float]': []}     # where the schema has no default


def overload_of(op: Any) -> Any:
    """The overload behind torch.ops.x.y, torch.ops.x.y.default, or what torch.library.custom_op gave."""
    found = getattr(op, '_opoverload', op)
    found = getattr(found, 'default', found)
    if not isinstance(found, torch._ops.OpOverload):
        raise TypeError(f'plugin() takes an operator of torch.ops or of torch.library.custom_op, got {type(op).__name__}')
    return found


def split(overload: Any) -> tuple[list[Any], list[Any]]:
    """Arguments of the schema that are tensors, and the others."""
    schema = overload._schema
    if schema.is_mutable:
        raise ValueError(f'{overload} writes to its arguments: a plug-in only reads them')
    tensors = [a for a in schema.arguments if str(a.type) == 'Tensor']
    others = [a for a in schema.arguments if str(a.type) != 'Tensor']
    for argument in others:
        if str(argument.type) not in NOTHING:
            raise ValueError(f'{overload}: the argument {argument.name} is a {argument.type}; a plug-in has tensors, numbers, texts, and '
                             'lists of numbers')
    if not tensors or any(str(r.type) != 'Tensor' for r in schema.returns):
        raise ValueError(f'{overload} does not go from tensors to tensors')
    return tensors, others


class Described:
    """Calls of an overload with operands by position and attributes by name."""

    def __init__(self, overload: Any) -> None:
        self.overload, (self.tensors, self.others) = overload, split(overload)
        self.outputs = len(overload._schema.returns)
        self.attributes = {a.name: a.default_value if a.default_value is not None else NOTHING[str(a.type)] for a in self.others}

    def call(self, operands: Sequence[torch.Tensor], attributes: dict[str, Any]) -> tuple[torch.Tensor, ...]:
        left = iter(operands)
        given = [next(left) if str(a.type) == 'Tensor' else bool(attributes[a.name]) if str(a.type) == 'bool' else attributes[a.name]
                 for a in self.overload._schema.arguments]
        made = self.overload(*given)
        return tuple(made) if isinstance(made, (tuple, list)) else (made,)

    def named(self, function: Any, results: int) -> Any:
        """The function with parameters that plug-ins can count: results, operands, attributes."""
        names = [f'out{i}' for i in range(results)] + [a.name for a in self.tensors]
        kinds = inspect.Parameter
        function.__signature__ = inspect.Signature(
            [kinds(n, kinds.POSITIONAL_ONLY) for n in names] +
            [kinds(n, kinds.KEYWORD_ONLY, default=v) for n, v in self.attributes.items()])
        return function

    def foreseen(self, types: Sequence[plugins.Type], attributes: dict[str, Any], assigned: dict[str, int]) -> list[torch.Tensor]:
        with FakeTensorMode():
            operands = [torch.empty([d if isinstance(d, int) else assigned[d] for d in t.dims], dtype=TORCH[t.dtype]) for t in types]
            return list(self.call(operands, attributes))

    def infer(self, types: Sequence[plugins.Type], attributes: dict[str, Any]) -> tuple[plugins.Type, ...]:
        """By torch's own foresight, for two values of each symbolic extent."""
        symbols = sorted({d for t in types for d in t.dims if not isinstance(d, int)})
        tries = [{s: first + step * i for i, s in enumerate(symbols)} for first, step in ((5, 2), (8, 3))]
        made = [self.foreseen(types, attributes, assigned) for assigned in tries]

        def extent(sizes: tuple[int, int]) -> int | str:
            if sizes[0] == sizes[1]:
                return sizes[0]
            found = next((s for s in symbols if all(a[s] == size for a, size in zip(tries, sizes, strict=True))), None)
            if found is None:
                raise ValueError(f'{self.overload}: a result has an extent that is neither a number nor an operand\'s')
            return found
        return tuple(plugins.Type(NAMES[a.dtype], tuple(extent(pair) for pair in zip(a.shape, b.shape, strict=True)))
                     for a, b in zip(*made, strict=True))


def plugin(op: Any) -> plugins.Operator:
    """Makes a plug-in of a custom operator of torch, which every engine that is built from now on may hold.

    `op`: torch.ops.lib.name, or what torch.library.custom_op gave. It needs a fake kernel (register_fake) and takes tensors, numbers, texts
    and lists of numbers. It runs as torch runs it, on the CPU and on GPUs, so a process that loads such a plan needs torch and this call.
    """
    described = Described(overload_of(op))
    domain, name = str(described.overload._schema.name).split('::')

    def reference(*operands: Any, **attributes: Any) -> Any:
        made = described.call([torch.from_numpy(o.copy()) for o in operands], {**described.attributes, **attributes})
        return tuple(m.contiguous().numpy() for m in made) if described.outputs > 1 else made[0].contiguous().numpy()
    made = plugins.op(f'{domain}::{name}', outputs=described.outputs, **described.attributes)(described.named(reference, 0))
    made.infer(described.named(lambda *types, **attributes: described.infer(types, {**described.attributes, **attributes}), 0))

    def by_torch(*arrays: Any, **attributes: Any) -> None:
        results, operands = arrays[:described.outputs], arrays[described.outputs:]
        with torch.no_grad():
            for result, value in zip(results, described.call(operands, {**described.attributes, **attributes}), strict=True):
                result.copy_(value)
    for device in ('cpu', 'cuda'):
        made.tactic(device, name=f'torch_{device}', arrays='torch')(described.named(by_torch, described.outputs))

    def append(call: Any, *arguments: Any) -> Any:
        given = dict(zip((a.name for a in described.overload._schema.arguments), arguments, strict=False))
        attributes = {n: int(v) if isinstance(v, bool) else v for n, v in {**described.attributes, **given}.items()
                      if n in described.attributes}
        found = call.network.add(name, *(given[a.name] for a in described.tensors), outputs=described.outputs, domain=domain, **attributes)
        return found
    OPERATORS[str(described.overload)] = append
    return made
