"""Layers that were added one by one: their options, operands and results. A class for each kind, made from its table."""
from __future__ import annotations

import math
from typing import Any

from tenfold._network import Value
from tenfold.tensorrt._attention import IAttention
from tenfold.tensorrt._enums import DataType
from tenfold.tensorrt._layer import ILayer
from tenfold.tensorrt._layer_enums import LayerType
from tenfold.tensorrt._layer_kinds import ALIASES, KINDS
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._tensor import ITensor
from tenfold.tensorrt._types import Dims
from tenfold.tensorrt._weights import Weights, array_of


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
    def is_network_output(self) -> bool: return self._network._made.is_output(self._layer, self._result)
    def _operand(self) -> Any: return self._layer, self._result
    def _key(self) -> Any: return 'made', self._layer, self._result


def to_native(kind: Any, value: Any) -> Any:
    """An option as tenfold/layers.h has it."""
    if kind is Weights:
        return array_of(value)
    if kind is Dims:
        return [int(extent) for extent in (() if value is None else value)]
    if kind is list:
        return [float(each) for each in value]
    if kind in (int, float, str):
        return kind(value)
    return int(bool(value)) if kind is bool else kind(value).name


def from_native(kind: Any, value: Any) -> Any:
    if kind is Weights:
        return Weights(DataType.FLOAT) if value is None else Weights(value)
    if kind is Dims:
        return Dims(value)
    if kind is bool:
        return bool(value)
    if kind is float:
        return None if math.isnan(value) else value
    return value if kind in (int, str, list) else kind[value] if value else None


class MadeLayer(ILayer):
    """`type` is the LayerType, but for activations and poolings, whose `type` is theirs, as in TensorRT."""

    _kind = ''

    def __init__(self, network: Any, number: int) -> None:
        self._network, self._number = network, number

    @property
    def _made(self) -> Any: return self._network._made

    @property
    def name(self) -> str: return self._made.name(self._number)

    @name.setter
    def name(self, name: str) -> None: self._made.rename(self._number, name)

    @property
    def type(self) -> Any: return _TYPES.get(self._kind) or LayerType[self._kind.upper()]

    def _key(self) -> Any: return self._number
    def _is_made(self) -> bool: return True

    def _is_boundary(self) -> bool:
        """Of a loop or branch, which computes nothing."""
        return KINDS[self._kind].region in ('loop', 'conditional')

    @property
    def op(self) -> Any: return self._kind

    @property
    def num_inputs(self) -> int: return len(self._made.operands(self._number))
    @property
    def num_outputs(self) -> int: return self._made.results(self._number)

    def get_input(self, index: int) -> ITensor | None:
        operands = self._made.operands(self._number)
        return self._network._of_operand(operands[index]) if 0 <= index < len(operands) else None

    def set_input(self, index: int, tensor: ITensor) -> None:
        self._made.set_operand(self._number, index, self._network._operand(tensor))

    def get_output(self, index: int) -> ITensor | None:
        """None: there is none. The first is there whatever the layer is, so that nothing has to be made for it."""
        return ResultTensor(self._network, self._number, index) if index == 0 or 0 < index < self.num_outputs else None

    # A layer that casts has the type of its output as an option, which is no request but what it computes.

    def _casts(self, index: int) -> bool: return index == 0 and 'to_type' in KINDS[self._kind].options
    def _cast_note(self) -> tuple[int, str]: return self._number, 'to_type'

    def set_output_type(self, index: int, dtype: Any) -> None:
        """Of a layer that casts: the type that it casts to."""
        if not self._casts(index):
            return super().set_output_type(index, dtype)
        self._network._notes.setdefault(self._cast_note(), self._made.option(self._number, 'to_type'))
        self._made.set(self._number, 'to_type', DataType(dtype).name)

    def output_type_is_set(self, index: int) -> bool:
        return self._cast_note() in self._network._notes if self._casts(index) else super().output_type_is_set(index)

    def get_output_type(self, index: int) -> DataType | None:
        output = self.get_output(index) if self._casts(index) else None
        return super().get_output_type(index) if output is None else output.dtype

    def reset_output_type(self, index: int) -> None:
        if not self._casts(index):
            super().reset_output_type(index)
        elif self.output_type_is_set(index):
            self._made.set(self._number, 'to_type', self._network._notes.pop(self._cast_note()))

    def __repr__(self) -> str: return f'<{type(self).__name__} {self.name!r}>'


def _option(name: str, kind: Any, also: tuple[str, ...] = ()) -> property:
    def get(self: MadeLayer) -> Any:
        if self._kind == 'fill' and name in ('alpha', 'beta') and (whole := self._made.option(self._number, f'{name}_int64')):
            return whole[0]
        return from_native(kind, self._made.option(self._number, name))

    def put(self: MadeLayer, value: Any) -> None:
        native = to_native(kind, value)
        for each in (name, *also):
            self._made.set(self._number, each, native)
        if name == 'reshape_dims':
            self._made.set(self._number, 'has_reshape', 1)
        if self._kind == 'fill' and name in ('alpha', 'beta'):   # which hold more digits as whole numbers
            self._made.set(self._number, f'{name}_int64', [value] if isinstance(value, int) else [])
    return property(get, put)


class ILoopBoundaryLayer(MadeLayer):
    @property
    def loop(self) -> Any: return self._network._regions[self._made.option(self._number, 'region')]


class IIfConditionalBoundaryLayer(MadeLayer):
    @property
    def conditional(self) -> Any: return self._network._regions[self._made.option(self._number, 'region')]


class IAttentionBoundaryLayer(MadeLayer):
    @property
    def attention(self) -> Any: return IAttention(self)


class IAttentionInputLayer(IAttentionBoundaryLayer):
    """Not made here: an attention is one layer, an IAttentionOutputLayer."""


class _Fill(MadeLayer):
    """alpha and beta are whole numbers where the result is INT64."""

    def is_alpha_beta_int64(self) -> bool: return bool(self._made.option(self._number, 'to_type') == 'INT64')


class _Nms(MadeLayer):
    @property
    def topk_box_limit(self) -> int:
        """Of boxes that are looked at: all are."""
        return int(self._network._notes.get((self._number, 'topk_box_limit'), 0))

    @topk_box_limit.setter
    def topk_box_limit(self, limit: int) -> None:
        self._network._note(self._number, 'topk_box_limit', int(limit), 'all boxes are looked at')


class _Normalization(MadeLayer):
    def is_v2(self) -> bool: return bool(self._network._notes.get((self._number, 'is_v2'), False))

    @property
    def compute_precision(self) -> DataType:
        return DataType(self._network._notes.get((self._number, 'compute_precision'), DataType.FLOAT))

    @compute_precision.setter
    def compute_precision(self, kind: DataType) -> None:
        self._network._note(self._number, 'compute_precision', DataType(kind), 'sums of a normalisation are FLOAT')


# What kinds derive from beside MadeLayer.
_BASES = {'loop': ILoopBoundaryLayer, 'conditional': IIfConditionalBoundaryLayer, 'attention': IAttentionBoundaryLayer,
          'fill': _Fill, 'nms': _Nms, 'normalization': _Normalization}
_TYPES = {'attention': LayerType.ATTENTION_OUTPUT}


def _plugin(self: MadeLayer) -> Any: return self._network._plugins[self._number]


def _class_of(kind: str) -> type[MadeLayer]:
    body: dict[str, Any] = {'_kind': kind, '__module__': 'tenfold.tensorrt'}
    options = KINDS[kind].options
    if kind.startswith('plugin'):
        body['plugin'] = property(_plugin)
    body.update({name: _option(name, of) for name, of in options.items()})
    for alias, names in ALIASES.items():
        if names[0] in options and alias not in options:
            body[alias] = _option(names[0], options[names[0]], names[1:])
    return type(KINDS[kind].class_name, (_BASES.get(KINDS[kind].region or kind, MadeLayer),), body)


CLASSES = {kind: _class_of(kind) for kind in KINDS}
BOUNDARIES = [ILoopBoundaryLayer, IIfConditionalBoundaryLayer, IAttentionBoundaryLayer, IAttentionInputLayer]
