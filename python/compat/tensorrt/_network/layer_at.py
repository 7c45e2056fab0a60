"""Where a layer is: a node that was parsed, or a layer of those that were added one by one. ILayer and its classes look at one of these."""
from __future__ import annotations

from typing import Any

from tenfold._network import Node, Value
from tenfold.tensorrt._layer_enums import LayerType
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._network.layer_kinds import KINDS
from tenfold.tensorrt._network.layer_types import layer_type
from tenfold.tensorrt._network.parsed_options import parsed_option
from tenfold.tensorrt._network.tensor import ITensor

_TYPES = {'attention': LayerType.ATTENTION_OUTPUT}


def type_of_kind(kind: str) -> LayerType: return _TYPES.get(kind) or LayerType[kind.upper()]


class ParsedNode:
    def __init__(self, network: Any, node: Node) -> None: self.network, self.node = network, node

    is_boundary, made = False, False

    @property
    def name(self) -> str: return self.node.name
    def rename(self, name: str) -> None: self.node.name = name
    @property
    def op(self) -> str: return self.node.op
    @property
    def type(self) -> LayerType: return layer_type(self.node.op)
    @property
    def key(self) -> Any: return self.node.ref.key

    @property
    def num_inputs(self) -> int: return len(self.node.inputs)
    @property
    def num_outputs(self) -> int: return len(self.node.outputs)
    def get_input(self, index: int) -> ITensor | None: return self._wrap(self.node.inputs, index)
    def get_output(self, index: int) -> ITensor | None: return self._wrap(self.node.outputs, index)

    def set_input(self, index: int, tensor: ITensor) -> None:
        """Another value that was parsed, or an input."""
        self.node.set_input(index, tensor._value)

    def casts(self, index: int) -> bool: return False
    def option(self, kind: str, name: str) -> Any: return parsed_option(self.node, kind, name)

    def set_option(self, name: str, value: Any) -> None:
        raise refused(f"{name} of layer '{self.name}'", f'it was parsed from a node of ONNX ({self.op}), whose attributes stay the '
                      "model's: change the model, or add a layer in its place")

    def _wrap(self, values: list[Any], index: int) -> ITensor | None:
        """None: there is none, or it is left out."""
        value = values[index] if 0 <= index < len(values) else None
        return None if value is None else ITensor(self.network, value)


class ResultTensor(ITensor):
    """A result of a layer, whatever is made anew below it."""

    def __init__(self, network: Any, layer: int, result: int) -> None:
        self._network, self._layer, self._result = network, layer, result

    @property
    def _value(self) -> Value:   # type: ignore[override]
        return Value(self._network._graph, self._network._made.result(self._layer, self._result))

    @property
    def name(self) -> str: return self._value.name

    @name.setter
    def name(self, name: str) -> None: self._network._made.rename_result(self._layer, self._result, name)

    @property
    def is_network_input(self) -> bool: return False
    @property
    def is_network_output(self) -> bool: return bool(self._network._made.is_output(self._layer, self._result))
    def _operand(self) -> Any: return self._layer, self._result
    def _key(self) -> Any: return 'made', self._layer, self._result


class MadeAt:
    def __init__(self, network: Any, number: int) -> None: self.network, self.number = network, number

    made = True

    @property
    def _layers(self) -> Any: return self.network._made
    @property
    def kind(self) -> str: return str(self._layers.kind(self.number))

    @property
    def is_boundary(self) -> bool:
        """Of a loop or branch, which computes nothing."""
        return KINDS[self.kind].region in ('loop', 'conditional')

    @property
    def name(self) -> str: return str(self._layers.name(self.number))
    def rename(self, name: str) -> None: self._layers.rename(self.number, name)
    @property
    def op(self) -> str: return self.kind
    @property
    def type(self) -> LayerType: return type_of_kind(self.kind)
    @property
    def key(self) -> Any: return self.number

    @property
    def num_inputs(self) -> int: return len(self._layers.operands(self.number))
    @property
    def num_outputs(self) -> int: return int(self._layers.results(self.number))

    def get_input(self, index: int) -> ITensor | None:
        operands = self._layers.operands(self.number)
        return self.network._of_operand(operands[index]) if 0 <= index < len(operands) else None

    def set_input(self, index: int, tensor: ITensor) -> None:
        self._layers.set_operand(self.number, index, self.network._operand(tensor))

    def get_output(self, index: int) -> ITensor | None:
        """None: there is none. The first is there whatever the layer is, so that nothing has to be made for it."""
        return ResultTensor(self.network, self.number, index) if index == 0 or 0 < index < self.num_outputs else None

    def casts(self, index: int) -> bool:
        """Whether the type of an output is an option, which is no request but what the layer computes."""
        return index == 0 and 'to_type' in KINDS[self.kind].options

    def option(self, kind: str, name: str) -> Any: return self._layers.option(self.number, name)
    def set_option(self, name: str, value: Any) -> None: self._layers.set(self.number, name, value)
