"""Layers that were added one by one: their options, operands and results. A class for each kind, made from its table."""
from __future__ import annotations

import math
import operator
from typing import Any

from tenfold.tensorrt._enums import DataType
from tenfold.tensorrt._network.attention import IAttention
from tenfold.tensorrt._network.layer import ILayer
from tenfold.tensorrt._network.layer_kinds import ALIASES, KINDS
from tenfold.tensorrt._types import Dims
from tenfold.tensorrt._weights import Weights, array_of


def to_native(kind: Any, value: Any) -> Any:
    """An option as tenfold/layers.h has it."""
    if kind is Weights:
        return array_of(value)
    if kind in (int, float):
        return kind(_one(value))
    if kind is Dims:
        return [int(extent) for extent in (() if value is None else value)]
    if kind is list:
        return [float(each) for each in value]
    if kind is str:
        return str(value)
    return int(bool(value)) if kind is bool else kind(value).name


def from_native(kind: Any, value: Any) -> Any:
    if kind is Weights:   # TensorRT gives arrays in one dim, and Weights where NumPy has no such type
        return (Weights() if value is None else Weights(value)).numpy()
    if kind is Dims:
        return Dims(value)
    if kind is bool:
        return bool(value)
    if kind is float:
        return None if math.isnan(value) else value
    return value if kind in (int, str, list) else kind[value] if value else None


class MadeLayer(ILayer):
    """`type` is the LayerType, but for activations and poolings, whose `type` is theirs, as in TensorRT."""


def _one(value: Any) -> Any:
    """A number, also where it comes in a list or an array of one."""
    if not hasattr(value, '__len__') or isinstance(value, str) or getattr(value, 'ndim', 1) == 0:
        return value
    if len(value) != 1:
        raise ValueError(f'one number was expected, got {len(value)}: several are given as a tensor, by set_input()')
    return value[0]


def _is_whole(value: Any) -> bool: return hasattr(value, '__index__') and not isinstance(value, bool)


def _option(name: str, kind: Any, also: tuple[str, ...] = ()) -> property:
    def get(self: MadeLayer) -> Any:
        if self._kind == 'fill' and name in ('alpha', 'beta') and (whole := self._at.option('fill', f'{name}_int64')):
            return whole[0]
        return from_native(kind, self._at.option(self._kind, name))

    def put(self: MadeLayer, value: Any) -> None:
        native = to_native(kind, value)
        for each in (name, *also):
            self._at.set_option(each, native)
        if name == 'reshape_dims':
            self._at.set_option('has_reshape', 1)
        if self._kind == 'fill' and name in ('alpha', 'beta'):   # which hold more digits as whole numbers
            value = _one(value)
            self._at.set_option(f'{name}_int64', [operator.index(value)] if _is_whole(value) else [])
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

    def is_alpha_beta_int64(self) -> bool: return bool(self._at.option('fill', 'to_type') == 'INT64')


class _Nms(MadeLayer):
    @property
    def topk_box_limit(self) -> int:
        """Of boxes that are looked at: all are."""
        return int(self._network._notes.get((self._key(), 'topk_box_limit'), 0))

    @topk_box_limit.setter
    def topk_box_limit(self, limit: int) -> None:
        self._network._note(self._key(), 'topk_box_limit', int(limit), 'all boxes are looked at')


class _Normalization(MadeLayer):
    @property
    def is_v2(self) -> bool: return bool(self._network._notes.get((self._key(), 'is_v2'), False))

    @property
    def compute_precision(self) -> DataType:
        return DataType(self._network._notes.get((self._key(), 'compute_precision'), DataType.FLOAT))

    @compute_precision.setter
    def compute_precision(self, kind: DataType) -> None:
        self._network._note(self._key(), 'compute_precision', DataType(kind), 'sums of a normalization are FLOAT')


# What kinds derive from beside MadeLayer.
_BASES = {'loop': ILoopBoundaryLayer, 'conditional': IIfConditionalBoundaryLayer, 'attention': IAttentionBoundaryLayer,
          'fill': _Fill, 'nms': _Nms, 'normalization': _Normalization}


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
