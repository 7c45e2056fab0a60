"""Which inputs decide sizes by their elements, and which outputs have sizes that only data decides: found in a network."""
from __future__ import annotations

import re
from typing import Any

# Operands whose elements decide the shape of the result.
_DECIDING = {'Reshape': (1,), 'Expand': (1,), 'Resize': (1, 2, 3), 'Upsample': (1,), 'Range': (0, 1, 2), 'Slice': (1, 2, 3, 4),
             'Tile': (1,), 'Pad': (1, 3), 'CenterCropPad': (1,), 'ConstantOfShape': (0,), 'TopK': (1,), 'OneHot': (1,), 'Split': (1,),
             'Squeeze': (1,), 'Unsqueeze': (1,), 'MaxUnpool': (2,), 'DFT': (1,), 'STFT': (1, 3), 'HannWindow': (0,), 'HammingWindow': (0,),
             'BlackmanWindow': (0,), 'MelWeightMatrix': (0, 1), 'Col2Im': (1, 2), 'AffineGrid': (1,)}
# Operators of these domains without a line above or below have shapes that follow from shapes.
_PLAIN_DOMAINS = ('', 'ai.onnx')
_BY_DATA = ('NonZero', 'Compress', 'Unique', 'NonMaxSuppression', 'Loop', 'If', 'Scan', 'StringSplit', 'ImageDecoder')
_DATA = '*'
_SYMBOL = re.compile(r'symbol (\S+) \[(\S+) \.\. (.+?)\] ', re.M)


class Sizes:
    """`hosts`: inputs that decide sizes; `by_hosts` and `by_data`: outputs whose sizes follow from them, or from data."""

    def __init__(self, network: Any) -> None:
        graph = network._graph
        self._contents: dict[Any, frozenset[str]] = {}   # inputs that decide a value's elements; _DATA: others do
        self._shapes: dict[Any, frozenset[str]] = {}     # and its shape, beside the shapes of inputs
        hosts: set[str] = set()
        for value in graph.inputs:
            small = value.dtype in ('i32', 'i64') and len(value.dims) < 2 and all(isinstance(d, int) for d in value.dims)
            self._contents[value.ref.key] = frozenset([value.name if small else _DATA])
        for node in graph.nodes:
            hosts |= self._pass(node)
        names = [value.name for value in graph.inputs]
        self.hosts = [name for name in names if name in hosts]
        by = {value.name: self._shape(value) for value in graph.outputs}
        self.by_data = [name for name, found in by.items() if _DATA in found]
        self.by_hosts = [name for name, found in by.items() if found and _DATA not in found]

    def _shape(self, value: Any) -> frozenset[str]: return self._shapes.get(value.ref.key, frozenset())

    def _pass(self, node: Any) -> frozenset[str]:
        """Inputs that decide the shape of its results by their elements."""
        nothing: frozenset[str] = frozenset()
        operands = [value for value in node.inputs if value is not None]
        contents = nothing.union(*(self._contents.get(v.ref.key, nothing) for v in operands))
        shapes, deciding = nothing.union(*map(self._shape, operands)), nothing
        if node.op in ('Shape', 'Size'):
            contents, shapes = shapes, nothing
        elif node.op in _BY_DATA or 'Sequence' in node.op or 'Optional' in node.op or node.domain not in _PLAIN_DOMAINS:
            deciding = contents or frozenset([_DATA])
        else:
            places = [i for i in _DECIDING.get(node.op, ()) if i < len(node.inputs) and node.inputs[i] is not None]
            deciding = nothing.union(*(self._contents.get(node.inputs[i].ref.key, nothing) for i in places))
        for value in node.outputs:
            if value is not None:
                self._contents[value.ref.key], self._shapes[value.ref.key] = contents | shapes | deciding, shapes | deciding
        return nothing if _DATA in deciding else deciding


def told_of_sizes(network: Any, profiles: list[Any]) -> dict[str, Any]:
    """What a plan keeps: names, ranges of values by profile, and the largest extents of what data decides, as expressions of others."""
    sizes, graph = Sizes(network), network._graph
    reported: dict[str, Any] = {}
    if sizes.hosts:
        reported.update(hosts=sizes.hosts, by_hosts=sizes.by_hosts,
                    values=[{name: [list(v) for v in p._values[name]] for name in sizes.hosts if name in p._values} for p in profiles])
    if sizes.by_data:
        reported.update(by_data={v.name: list(v.dims) for v in graph.outputs if v.name in sizes.by_data},
                    extents={v.name: list(v.dims) for v in graph.inputs},
                    most={name: most for name, _, most in _SYMBOL.findall(str(graph))})
    return reported
