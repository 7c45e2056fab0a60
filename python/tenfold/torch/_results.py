"""What a graph returns: which results are the engine's, which are arguments or sizes, and how they lie."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy
import torch
from tenfold.torch._call import Refused
from tenfold.torch._convert import Conversion, is_size
from tenfold.torch._sizes import Ranges, evaluate


class Results:
    """What a graph returns, in order: results of the engine, arguments, and sizes."""

    def __init__(self, graph: torch.fx.Graph, made: Conversion, ranges: Ranges, places: Mapping[torch.fx.Node, int]) -> None:
        (returned,) = graph.output_node().args
        self.single = isinstance(returned, torch.fx.Node)
        self.sources: list[tuple[str, Any]] = []
        self.names: list[str] = []
        self.strided: dict[str, Any] = {}               # outputs that do not lie row by row: sizes, strides, type, device
        known: dict[torch.fx.Node, int] = {}
        for node in [returned] if self.single else returned:
            if node is None or not isinstance(node, torch.fx.Node):
                self.sources.append(('value', node))
            elif node in places:
                self.sources.append(('argument', places[node]))
            elif is_size(node):
                self.sources.append(('size', number(node.meta['val'], ranges)))
            else:
                if node not in known:
                    known[node] = len(self.names)
                    self._mark(node, made, ranges)
                self.sources.append(('output', known[node]))
        self.plain = all(kind == 'output' and i == k for k, (kind, i) in enumerate(self.sources)) and len(self.sources) == len(self.names)

    def _mark(self, node: torch.fx.Node, made: Conversion, ranges: Ranges) -> None:
        value, name = made.value(node), f'y{len(self.names)}'
        made.network.output(made.network.add('Identity', value), name)
        self.names.append(name)
        fake = node.meta['val']
        if not lies_row_by_row(fake) and lies_densely(fake):
            sizes, strides = ([number(s, ranges) for s in numbers] for numbers in (fake.shape, fake.stride()))
            self.strided[name] = (sizes, strides, fake.dtype, fake.device)

    def made(self, values: list[int]) -> dict[str, torch.Tensor]:
        """Memory for results that do not lie row by row."""
        return {name: torch.empty_strided([f(values) for f in sizes], [f(values) for f in strides], dtype=dtype, device=device)
                for name, (sizes, strides, dtype, device) in self.strided.items()}

    def gather(self, outputs: list[Any], args: Sequence[Any], values: list[int]) -> Any:
        made = [outputs[given] if kind == 'output' else args[given] if kind == 'argument' else given(values) if kind == 'size' else given
                for kind, given in self.sources]
        return made[0] if self.single else made


def hints(numbers: Any) -> list[int]:
    """Sizes as they are in the first call."""
    return [n if isinstance(n, int) else n.node.hint for n in numbers]


def lies_row_by_row(fake: torch.Tensor) -> bool:
    if None in hints([*fake.shape, *fake.stride()]):     # a size that only the data decides
        return True
    return lies_in_order(fake, range(fake.dim()))


def lies_densely(fake: torch.Tensor) -> bool:
    """In some order of the axes. Results of other strides, where elements share places or lie apart, are made row by row."""
    return lies_in_order(fake, sorted(range(fake.dim()), key=lambda a: -hints(fake.stride())[a]))


def lies_in_order(fake: torch.Tensor, axes: Any) -> bool:
    sizes, strides, dense = hints(fake.shape), hints(fake.stride()), 1
    for axis in reversed(list(axes)):
        if sizes[axis] != 1 and strides[axis] != dense:
            return 0 in sizes
        dense *= max(sizes[axis], 1)
    return True


def number(size: Any, ranges: Ranges) -> Any:
    """A size as a function of the values of the symbols."""
    if isinstance(size, (bool, int, float)):
        return lambda values: size
    e = size.node.expr if hasattr(size, 'node') else sympy.Integer(size)
    if unknown := e.free_symbols - set(ranges.symbols):
        raise Refused(f'the size {e}, whose part {min(map(str, unknown))} is no extent of an input')
    function = evaluate(e, ranges.symbols)
    return lambda values: function(*values)
