"""register, impl, aot_impl, autotune: what a quick plug-in is made of; and op, where networks find it."""
from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeVar

from tenfold.tensorrt._network.tensor import ITensor
from tenfold.tensorrt._plugins.fields import (
    PluginField, PluginFieldCollection, PluginFieldType, QuickPluginCreationRequest, TensorRTPhase,
)
from tenfold.tensorrt._plugins.interfaces import IPluginCreatorV3Quick
from tenfold.tensorrt._plugins.registry import get_plugin_registry
from tenfold.tensorrt.plugin._quick import Quick
from tenfold.tensorrt.plugin._tensors import TensorDesc

_F = TypeVar('_F', bound=Callable[..., Any])
_FIELDS = {int: 'INT64', bool: 'INT64', float: 'FLOAT64', str: 'CHAR', bytes: 'UNKNOWN'}
_ARRAYS = {'int8': 'INT8', 'int16': 'INT16', 'int32': 'INT32', 'int64': 'INT64', 'float16': 'FLOAT16', 'float32': 'FLOAT32',
           'float64': 'FLOAT64'}


class PluginDef:
    """What the decorators of one plug-in gave."""

    def __init__(self, plugin_id: str, function: Callable[..., Any]) -> None:
        self.plugin_id, self.describe = plugin_id, function
        self.impl: Callable[..., Any] | None = None
        self.aot_impl: Callable[..., Any] | None = None
        self.autotune: Callable[..., Any] | None = None
        hints = typing.get_type_hints(function)
        parameters = list(inspect.signature(function).parameters)
        if lacking := [p for p in (*parameters, 'return') if p not in hints]:
            raise ValueError(f'{plugin_id}: parameters and result of the registered function need type hints; {lacking[0]!r} has none')
        self.inputs = [p for p in parameters if hints[p] is TensorDesc]
        self.attributes = {p: hints[p] for p in parameters if p not in self.inputs}
        self.outputs = len(typing.get_args(hints['return'])) or 1
        for name, hint in self.attributes.items():
            if hint not in _FIELDS and typing.get_origin(hint) is None:
                raise ValueError(f'{plugin_id}: the attribute {name!r} is a {hint}; int, float, str, bool, bytes and '
                                 'numpy.typing.NDArray[...] are known')

    def __call__(self, *tensors: Any, **attributes: Any) -> Callable[[QuickPluginCreationRequest], Any]:
        if len(tensors) != len(self.inputs) or any(not isinstance(t, ITensor) for t in tensors):
            raise ValueError(f'{self.plugin_id} takes {len(self.inputs)} tensors ({", ".join(self.inputs)}) by position, got '
                             f'{[type(t).__name__ for t in tensors]}')
        if set(attributes) != set(self.attributes):
            raise ValueError(f'{self.plugin_id} takes the attributes {", ".join(self.attributes) or "none"} by name, got '
                             f'{", ".join(attributes) or "none"}')
        fields = PluginFieldCollection(self._field(name, value) for name, value in attributes.items())
        creator = self.creator()

        def create(request: QuickPluginCreationRequest = QuickPluginCreationRequest.UNKNOWN) -> tuple[list[Any], list[Any], Any]:
            return list(tensors), [], creator.create_plugin(creator.name, creator.plugin_namespace, fields, TensorRTPhase.BUILD, request)
        return create

    def _field(self, name: str, value: Any) -> PluginField:
        hint = self.attributes[name]
        if hint not in _FIELDS:
            kind = _ARRAYS.get(str(getattr(value, 'dtype', '')))
            if kind is None:
                raise ValueError(f'{self.plugin_id}: the attribute {name!r} is an array of {", ".join(_ARRAYS)}, got {value!r}')
            return PluginField(name, value, PluginFieldType[kind])
        if type(value) is not hint:
            raise ValueError(f'{self.plugin_id}: the attribute {name!r} is a {hint.__name__}, got {type(value).__name__}')
        return PluginField(name, value if isinstance(value, (str, bytes)) else [value], PluginFieldType[_FIELDS[hint]])

    def value_of(self, field: PluginField) -> Any:
        hint = self.attributes[field.name]
        if hint in (str, bytes):
            data = field.data.tobytes()
            return data.decode() if hint is str else data
        return hint(field.data[0]) if hint in _FIELDS else field.data

    def empty_fields(self) -> PluginFieldCollection:
        def kind(hint: Any) -> str:
            if hint in _FIELDS:
                return _FIELDS[hint]
            return _ARRAYS.get(next((n for n in _ARRAYS if n in str(hint).replace('floating', '')), ''), 'FLOAT32')
        return PluginFieldCollection(PluginField(n, None, PluginFieldType[kind(h)]) for n, h in self.attributes.items())

    def creator(self) -> Creator:
        namespace, name = self.plugin_id.split('::')
        known = get_plugin_registry().get_creator(name, '1', namespace)
        if isinstance(known, Creator):
            known.plugin_def = self
            return known
        made = Creator(self, namespace, name)
        get_plugin_registry().register_creator(made, namespace)
        return made


class Creator(IPluginCreatorV3Quick):
    def __init__(self, plugin_def: PluginDef, namespace: str, name: str) -> None:
        super().__init__()
        self.plugin_def, self.name, self.plugin_namespace, self.plugin_version = plugin_def, name, namespace, '1'
        self.field_names = plugin_def.empty_fields()

    def create_plugin(self, name: str, namespace: str, field_collection: Any, phase: Any, request: Any) -> Quick:
        attributes = {f.name: self.plugin_def.value_of(f) for f in field_collection}
        if lacking := [a for a in self.plugin_def.attributes if a not in attributes]:
            raise ValueError(f'{self.plugin_def.plugin_id} needs the attribute {lacking[0]!r}')
        return Quick(self.plugin_def, attributes, PluginFieldCollection(field_collection), QuickPluginCreationRequest(request))


op = SimpleNamespace()   # op.NAMESPACE.NAME(tensors, attribute=...) for network.add_plugin()
_known: dict[str, PluginDef] = {}


def register(plugin_id: str, lazy_register: bool = False) -> Callable[[_F], _F]:
    """Decorates (x: TensorDesc, ..., attribute: int, ...) -> TensorDesc or Tuple[TensorDesc, ...], which describes the results. All
    parameters need type hints. ONNX nodes named as the plug-in find it, too, unless `lazy_register`, before the first op... call."""
    namespace, mark, name = plugin_id.partition('::')
    if not mark or not namespace.isidentifier() or not name.isidentifier():
        raise ValueError(f'a plug-in is named "namespace::name", got {plugin_id!r}')

    def decorate(function: _F) -> _F:
        _known[plugin_id] = made = PluginDef(plugin_id, function)
        if not hasattr(op, namespace):
            setattr(op, namespace, SimpleNamespace())
        setattr(getattr(op, namespace), name, made)
        if not lazy_register:
            made.creator()
        return function
    return decorate


def _part(plugin_id: str, part: str) -> Callable[[_F], _F]:
    if plugin_id not in _known:
        raise ValueError(f'{part}("{plugin_id}"): register("{plugin_id}") comes first')

    def decorate(function: _F) -> _F:
        setattr(_known[plugin_id], part, function)
        return function
    return decorate


def impl(plugin_id: str) -> Callable[[_F], _F]:
    """Decorates (x: Tensor, ..., attributes by name, outputs, stream[, tactic]), which computes on the stream."""
    return _part(plugin_id, 'impl')


def aot_impl(plugin_id: str) -> Callable[[_F], _F]:
    """Decorates (x: TensorDesc, ..., attributes by name, outputs, tactic) -> (name, PTX, KernelLaunchParams, SymExprs): a kernel that gets
    the operands' addresses, these numbers, and the results' addresses. It is asked anew for each shape that a context meets."""
    return _part(plugin_id, 'aot_impl')


def autotune(plugin_id: str) -> Callable[[_F], _F]:
    """Decorates (x: TensorDesc, ..., attributes by name, outputs) -> list of AutoTuneCombination."""
    return _part(plugin_id, 'autotune')
