"""ILayer: a node of a parsed network, to look at."""
from __future__ import annotations

from typing import Any

from tenfold._network import Node
from tenfold.tensorrt._layer_precisions import Precisions
from tenfold.tensorrt._layer_types import layer_type
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._tensor import ITensor


class ILayer(Precisions):
    """`op` is ONNX's name of what it computes. Layers that were added one by one are of classes of their own."""

    def __init__(self, network: Any, node: Node) -> None:
        self._network, self._node = network, node

    @property
    def name(self) -> str: return self._node.name

    @name.setter
    def name(self, name: str) -> None: self._node.name = name

    @property
    def op(self) -> str: return self._node.op

    @property
    def type(self) -> Any:
        """The LayerType of what the operator is in TensorRT; of what is there several layers, the last one's."""
        return layer_type(self._node.op)

    @property
    def metadata(self) -> str:
        """What the script notes of it; plans do not keep it."""
        return str(self._network._metadata.get(self._key(), ''))

    @metadata.setter
    def metadata(self, text: str) -> None: self._network._metadata[self._key()] = str(text)

    def _key(self) -> Any: return self._node.ref.key
    def _is_made(self) -> bool: return False
    def _is_boundary(self) -> bool: return False

    @property
    def num_ranks(self) -> int: return 1

    @num_ranks.setter
    def num_ranks(self, count: int) -> None:
        if count != 1:
            raise refused(f"num_ranks = {count} of layer '{self.name}'", 'a run uses one device: there are no collectives')

    def set_input(self, index: int, tensor: ITensor) -> None:
        """Of a parsed layer: another value that was parsed, or an input."""
        self._node.set_input(index, tensor._value)

    @property
    def num_inputs(self) -> int: return len(self._node.inputs)
    @property
    def num_outputs(self) -> int: return len(self._node.outputs)
    def get_input(self, index: int) -> ITensor | None: return self._wrap(self._node.inputs, index)
    def get_output(self, index: int) -> ITensor | None: return self._wrap(self._node.outputs, index)

    def _wrap(self, values: list[Any], index: int) -> ITensor | None:
        """None: there is none, or it is left out."""
        value = values[index] if 0 <= index < len(values) else None
        return None if value is None else ITensor(self._network, value)

    def __repr__(self) -> str: return f'<ILayer {self._node!r}>'
