"""What the library calls the nodes of an ONNX file that a network was read from: layer types are asked for by these names."""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_GRAPH, _FUNCTION, _NODE = 7, 25, 1   # fields of ModelProto and GraphProto
_NUMBERED = re.compile(r'(.+)_\d+')


class _Node(NamedTuple):
    name: str
    op: str
    domain: str
    outputs: list[str]


def _varint(data: Any, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 0x7f) << shift, shift + 7, at + 1
        if byte < 0x80:
            return value, at


def _parts(data: Any, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Number, beginning and end of each field that has a length."""
    while at < end:
        tag, at = _varint(data, at)
        if tag & 7 == 2:
            size, at = _varint(data, at)
            yield tag >> 3, at, at + size
            at += size
        elif tag & 7 == 0:
            _, at = _varint(data, at)
        else:
            at += 8 if tag & 7 == 1 else 4


def _texts(data: Any, at: int, end: int) -> dict[int, list[str]]:
    """The texts among the fields 2 to 4 and 7 of a NodeProto, or 1 and 10 of a FunctionProto."""
    made: dict[int, list[str]] = {}
    for number, begin, stop in _parts(data, at, end):
        if number in (1, 2, 3, 4, 7, 10):
            made.setdefault(number, []).append(bytes(data[begin:stop]).decode(errors='replace'))
    return made


def _read(data: Any) -> tuple[list[_Node], set[tuple[str, str]]]:
    """Nodes of the graph, and the functions (domain, name) that the file defines."""
    nodes, functions = [], set()
    for part, at, end in _parts(data, 0, len(data)):
        if part == _FUNCTION:
            texts = _texts(data, at, end)
            functions.add((texts.get(10, [''])[0], texts.get(1, [''])[0]))
        for number, begin, stop in _parts(data, at, end) if part == _GRAPH else ():
            if number == _NODE:
                texts = _texts(data, begin, stop)
                name, op, domain = (texts.get(field, [''])[0] for field in (3, 4, 7))
                nodes.append(_Node(name, op, domain, [output for output in texts.get(2, []) if output]))
    return nodes, functions


class OnnxNames:
    """Of a graph as it was read: nodes may be renamed afterwards. What a function of the file calls its nodes, the graph does, too."""

    def __init__(self, model: Any = b'', graph: Any = None) -> None:
        """`model`: a path, or bytes."""
        self._by_node: dict[Any, str] = {}   # by the key of what gives a node's first result
        self._by_name: dict[str, str] = {}   # of what a node is made of: its name, followed by numbers
        if graph is None:
            return
        if not isinstance(model, str):
            return self._take(graph, *_read(memoryview(model).cast('B')))
        with open(model, 'rb') as file:   # and not mapped: whoever writes over it meanwhile would end the process
            self._take(graph, *_read(memoryview(file.read())))

    def _take(self, graph: Any, nodes: list[_Node], functions: set[tuple[str, str]]) -> None:
        seen = set()
        for index, node in enumerate(nodes):
            results = ', '.join(node.outputs)
            name = f'{node.op} -> {results}' if not node.name else f'{node.name} -> {results}' if node.name in seen else node.name
            seen.add(node.name)
            if (node.domain, node.op) in functions:
                continue
            self._by_name.setdefault(node.name or f'{node.op}_{index}', name)
            for output in node.outputs:
                if (ref := graph._data.find(output)).defined and (producer := graph._data.producer(ref)).defined:
                    self._by_node.setdefault(producer.key, name)

    def of(self, node: Any) -> str:
        """Of a node of the graph; of one that the file does not have, its own name."""
        if node.ref.key in self._by_node:
            return self._by_node[node.ref.key]
        numbered = _NUMBERED.fullmatch(node.name)
        return self._by_name.get(node.name) or (self._by_name.get(numbered[1]) if numbered else None) or str(node.name)
