"""From layers with types of their own to tenfold.build(layer_types=), which knows nodes by their names."""
from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import Any

from tenfold.errors import InvalidArgument, Unsupported
from tenfold.tensorrt._enums import BuilderFlag, DataType
from tenfold.tensorrt._logger import ILogger, say_once
from tenfold.tensorrt._network.layer_nodes import LayerNodes, gives_floats, is_float
from tenfold.tensorrt._types import native_dtype


def _beginning_with(head: str, names: list[str]) -> Iterator[str]:
    """Of names that are sorted."""
    for at in range(bisect.bisect_left(names, head), len(names)):
        if not names[at].startswith(head):
            return
        yield names[at]


class Asked:
    """Of one build."""

    def __init__(self, network: Any, obeys: bool, logger: ILogger) -> None:
        self._network, self._obeys, self._logger, self._nodes = network, obeys, logger, LayerNodes(network)
        self.precisions: dict[str, Any] = {}
        self.output_types: dict[str, Any] = {}
        for layer, kind in network._precisions.values():
            self._add_precision(layer, kind)
        requested: dict[Any, tuple[Any, dict[int, DataType]]] = {}
        for (key, index), (layer, kind) in network._output_types.items():
            requested.setdefault(key, (layer, {}))[1][index] = kind
        for layer, kinds in requested.values():
            self._add_outputs(layer, kinds)
        for patterns in (self.precisions, self.output_types):
            self._check_patterns(patterns)

    def _put(self, into: dict[str, Any], node: Any, requested: Any, layer: Any) -> None:
        name = self._nodes.name(node)
        if into.setdefault(name, requested) != requested:
            raise InvalidArgument(f"layer '{layer.name}' is to be {requested}, and another layer of the same node '{name}' {into[name]}")

    def _add_precision(self, layer: Any, kind: DataType) -> None:
        nodes = self._nodes.of(layer)
        if not nodes:
            self._tell_of_bodies(layer)
        for node in nodes:
            if gives_floats(node):   # what gives integers, bools or shapes computes as it does
                self._put(self.precisions, node, native_dtype(kind), layer)

    def _add_outputs(self, layer: Any, requested: dict[int, DataType]) -> None:
        needed = {node.ref.key for node in self._nodes.of(layer)}
        of_node: dict[Any, tuple[Any, dict[Any, str]]] = {}
        for index, kind in requested.items():
            value = layer.get_output(index)._value
            node = self._nodes.gives(value)
            if node is not None and node.ref.key in needed and (is_float(value) or value.dtype != native_dtype(kind)):
                of_node.setdefault(node.ref.key, (node, {}))[1][value.ref.key] = native_dtype(kind)
        for node, types in of_node.values():
            other = next(iter(types.values()))
            given = [types.get(v.ref.key, other if is_float(v) else v.dtype) for v in node.outputs if v is not None]
            self._put(self.output_types, node, given, layer)

    def _tell_of_bodies(self, layer: Any) -> None:
        if not self._network._regions or layer._is_boundary():
            return
        text = f"the precision of layer '{layer.name}' cannot be given to it: it lies in a loop or branch, or no output needs it"
        if self._obeys:
            raise Unsupported(text)
        say_once(self._logger, text)

    def _check_patterns(self, patterns: dict[str, Any]) -> None:
        """In the library a '*' stands for any characters; names that TensorRT makes up have one."""
        backwards = sorted(name[::-1] for name in self._nodes.names)
        for name, requested in patterns.items():
            head, star, tail = name.partition('*')
            if '*' in tail:
                raise InvalidArgument(f"layer '{name}' has a type of its own and more than one '*' in its name: give it another name")
            for other in _beginning_with(tail[::-1], backwards) if star else ():
                other = other[::-1]
                if other.startswith(head) and len(other) >= len(name) - 1 and patterns.get(other) != requested:
                    raise InvalidArgument(f"layer '{name}' has a type of its own, and the '*' in its name would give it to '{other}', too: "
                                          'give it another name')


def layer_types(network: Any, config: Any, logger: ILogger) -> dict[str, Any]:
    """Keywords of build(). Without either flag types are hints, which are followed where that is possible, as under PREFER."""
    if not network._precisions and not network._output_types:
        return {}
    obeys = config.get_flag(BuilderFlag.OBEY_PRECISION_CONSTRAINTS)
    requests = Asked(network, obeys, logger)
    if not requests.precisions and not requests.output_types:
        return {}
    return {'layer_types': dict(constraints='obey' if obeys else 'prefer', precisions=requests.precisions,
                                output_types=requests.output_types)}
