"""What plug-ins and their creators derive from. They are Python's own classes: a plug-in derives from several at once."""
from __future__ import annotations

import copy
from typing import Any

from tenfold.tensorrt._plugins.fields import PluginFieldCollection
from tenfold.tensorrt._versioned import IVersionedInterface


class _Interface(IVersionedInterface):
    def __init__(self) -> None:
        pass

    def _lacks(self, method: str) -> NotImplementedError:
        return NotImplementedError(f'{type(self).__name__} is a plug-in and has no {method}()')


class IPluginResource(_Interface):
    """What plug-ins share by a key: IPluginRegistry.acquire_plugin_resource()."""

    def acquire(self) -> None: """When the first asks for it."""
    def release(self) -> None: """When the last has given it back."""
    def clone(self) -> Any: return copy.copy(self)


class IPluginResourceContext:
    """What attach_to_context() is given. `device` is ours: "cpu" or "cuda"."""

    gpu_allocator = error_recorder = None

    def __init__(self, device: str) -> None: self.device = device


class _Plugin(_Interface):
    plugin_version, plugin_namespace, num_outputs = '1', '', 1

    def clone(self) -> Any: return copy.copy(self)
    def destroy(self) -> None: """When nothing uses it any more."""


class IPluginV2(_Plugin):
    """8.x's and older form. `plugin_type` is its name."""

    plugin_type, tensorrt_version = '', 101600

    def initialize(self) -> None: """Before the first run of a context."""
    def terminate(self) -> None: """With the context."""
    def get_serialization_size(self) -> int: return len(self.serialize())

    @property
    def serialization_size(self) -> int: return self.get_serialization_size()
    # Of plug-ins for implicit batches, which are not asked.
    def supports_format(self, dtype: Any, format: Any) -> bool: return False
    def configure_with_format(self, input_shapes: Any, output_shapes: Any, dtype: Any, format: Any, max_batch_size: int) -> None: pass
    def get_output_shape(self, index: int, input_shapes: Any) -> Any: raise self._lacks('get_output_shape')
    def get_workspace_size(self, *_: Any) -> int: return 0

    def execute_async(self, batch_size: int, inputs: Any, outputs: Any, workspace: Any, stream_handle: int) -> Any:
        raise self._lacks('execute_async')

    def serialize(self) -> Any: raise self._lacks('serialize')


class IPluginV2Ext(IPluginV2):
    """Plug-ins for implicit batches: there are none."""

    def get_output_data_type(self, index: int, input_types: Any) -> Any: raise self._lacks('get_output_data_type')
    def configure_plugin(self, *_: Any) -> None: pass
    def attach_to_context(self, *_: Any) -> None: pass
    def detach_from_context(self) -> None: pass


class IPluginV2DynamicExtBase(IPluginV2Ext):
    pass


class IPluginV2DynamicExt(IPluginV2DynamicExtBase):
    FORMAT_COMBINATION_LIMIT = 100

    def get_output_datatype(self, index: int, input_types: Any) -> Any: raise self._lacks('get_output_datatype')
    def get_output_dimensions(self, output_index: int, inputs: Any, exprBuilder: Any) -> Any: raise self._lacks('get_output_dimensions')
    def supports_format_combination(self, pos: int, in_out: Any, num_inputs: int) -> bool: raise self._lacks('supports_format_combination')
    def configure_plugin(self, inp: Any, out: Any) -> None: """With the shapes of the next runs."""
    def get_workspace_size(self, input_desc: Any, output_desc: Any) -> int: return 0

    def enqueue(self, input_desc: Any, output_desc: Any, inputs: Any, outputs: Any, workspace: int, stream: int) -> Any:
        raise self._lacks('enqueue')


class IPluginCapability(_Interface):
    pass


class IPluginV3(_Plugin):
    def get_capability_interface(self, type: Any) -> Any: return self


class IPluginV3OneCore(IPluginCapability):
    plugin_name, plugin_version, plugin_namespace = '', '1', ''


class IPluginV3OneBuild(IPluginCapability):
    DEFAULT_FORMAT_COMBINATION_LIMIT = 100
    num_outputs, format_combination_limit, timing_cache_id, metadata_string = 1, 100, None, None

    def get_output_data_types(self, input_types: Any) -> Any: raise self._lacks('get_output_data_types')
    def get_output_shapes(self, inputs: Any, shape_inputs: Any, exprBuilder: Any) -> Any: raise self._lacks('get_output_shapes')
    def supports_format_combination(self, pos: int, in_out: Any, num_inputs: int) -> bool: raise self._lacks('supports_format_combination')
    def configure_plugin(self, inp: Any, out: Any) -> None: """With the range of shapes."""
    def get_valid_tactics(self) -> Any: return []
    def get_workspace_size(self, input_desc: Any, output_desc: Any) -> int: return 0


class IPluginV3OneBuildV2(IPluginV3OneBuild):
    def get_aliased_input(self, output_index: int) -> int: return -1


class IPluginV3OneRuntime(IPluginCapability):
    def get_fields_to_serialize(self) -> Any: return PluginFieldCollection()
    def set_tactic(self, tactic: int) -> None: """One of get_valid_tactics()."""
    def on_shape_change(self, inp: Any, out: Any) -> None: """Before the first run with these shapes."""
    def attach_to_context(self, context: Any) -> Any: return self.clone()   # type: ignore[attr-defined]

    def enqueue(self, input_desc: Any, output_desc: Any, inputs: Any, outputs: Any, workspace: int, stream: int) -> Any:
        raise self._lacks('enqueue')


class IPluginCreatorInterface(_Interface):
    """`name`, `plugin_version`, `plugin_namespace`, `field_names`."""

    name, plugin_version, plugin_namespace, tensorrt_version = '', '1', '', 101600
    field_names = PluginFieldCollection()


class IPluginCreator(IPluginCreatorInterface):
    def create_plugin(self, name: str, field_collection: Any) -> Any: raise self._lacks('create_plugin')
    def deserialize_plugin(self, name: str, serialized_plugin: bytes) -> Any: raise self._lacks('deserialize_plugin')


class IPluginCreatorV3One(IPluginCreatorInterface):
    def create_plugin(self, name: str, field_collection: Any, phase: Any) -> Any: raise self._lacks('create_plugin')


class IPluginCreatorV3Quick(IPluginCreatorInterface):
    def create_plugin(self, name: str, namespace: str, field_collection: Any, phase: Any, request: Any) -> Any:
        raise self._lacks('create_plugin')
