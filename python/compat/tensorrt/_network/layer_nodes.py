"""Which nodes of the graph a layer has become, and what the library calls them."""
from __future__ import annotations

from typing import Any

_FLOATS = ('f32', 'f16', 'bf16', 'f64', 'f8e4m3fn', 'f8e5m2')


def is_float(value: Any) -> bool: return value.dtype in _FLOATS
def gives_floats(node: Any) -> bool: return any(value is not None and is_float(value) for value in node.outputs)


class LayerNodes:
    """Those of a network that its outputs need; others never come to the build."""

    def __init__(self, network: Any) -> None:
        self._network = network
        graph, makers = network._graph, {}
        for node in graph.nodes:
            for value in node.outputs:
                if value is not None:
                    makers[value.ref.key] = node
        self._makers, self._all_names = makers, {node.name for node in graph.nodes}
        self._needed = {node.ref.key for node in self._behind(graph.outputs, set())}
        self.names = {self.name(node) for node in graph.nodes if node.ref.key in self._needed and gives_floats(node)}

    def name(self, node: Any) -> str: return str(self._network._onnx_names.of(node))
    def gives(self, value: Any) -> Any: return self._makers.get(value.ref.key)

    def _behind(self, values: list[Any], stop: set[Any]) -> list[Any]:
        """The nodes that compute values, from others at which this ends."""
        found, open_ = {}, list(values)
        while open_:
            value = open_.pop()
            node = None if value is None or value.ref.key in stop else self.gives(value)
            if node is not None and node.ref.key not in found:
                found[node.ref.key] = node
                open_ += node.inputs
        return list(found.values())

    def of(self, layer: Any) -> list[Any]:
        """What a layer has become; empty: it is not needed, or lies in a loop or branch."""
        if layer._is_boundary():
            return []
        if not layer._at.made:
            return [node for node in [layer._at.node] if node.ref.key in self._needed]
        operands = [layer.get_input(i) for i in range(layer.num_inputs)]
        stop = {tensor._value.ref.key for tensor in operands if tensor is not None}
        results = [layer.get_output(i)._value for i in range(layer.num_outputs)]
        nodes = [node for node in self._behind(results, stop) if node.ref.key in self._needed]
        for node in nodes:
            self._call_after(node, layer.name)
        return nodes

    def _call_after(self, node: Any, layer: str) -> None:
        """Messages of the build name the layer so: some nodes are called after their operator."""
        before = node.name
        if not before.startswith(layer):
            node.name = layer if layer not in self._all_names else f'{layer}.{before}'
            self._all_names.add(node.name)
            if before in self.names:
                self.names.remove(before)
                self.names.add(node.name)
