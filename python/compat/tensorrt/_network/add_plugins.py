"""INetworkDefinition.add_plugin*: layers that are plug-ins of the caller's."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.tensorrt._enums import NetworkDefinitionCreationFlag
from tenfold.tensorrt._network.add_layers import AddLayers
from tenfold.tensorrt._network.layer_at import MadeAt
from tenfold.tensorrt._network.layer_kinds import title_of
from tenfold.tensorrt._network.made_layer import CLASSES
from tenfold.tensorrt._plugins.description import Description
from tenfold.tensorrt._plugins.fields import PluginCapabilityType, PluginFieldCollection, QuickPluginCreationRequest
from tenfold.tensorrt._plugins.interfaces import IPluginV2DynamicExt, IPluginV3


class AddPlugins(AddLayers):
    def add_plugin_v2(self, inputs: Sequence[Any], plugin: Any) -> Any:
        """`plugin`: an IPluginV2DynamicExt whose creator is registered: serialize() is what the plan keeps of it."""
        if not isinstance(plugin, IPluginV2DynamicExt):
            raise TypeError(f'add_plugin_v2() takes an IPluginV2DynamicExt, got {type(plugin).__name__}')
        state = plugin.serialize()
        description = Description(plugin.plugin_type, str(plugin.plugin_version), plugin.plugin_namespace,
                                  state=state.encode() if isinstance(state, str) else bytes(state))
        return self._add_plugin('plugin_v2', inputs, plugin, description, plugin.num_outputs)

    def add_plugin_v3(self, inputs: Sequence[Any], shape_inputs: Sequence[Any], plugin: Any, request: str = 'UNKNOWN') -> Any:
        """`plugin`: an IPluginV3 whose creator is registered: get_fields_to_serialize() is what the plan keeps of it. `shape_inputs`:
        tensors whose elements decide shapes."""
        if not isinstance(plugin, IPluginV3):
            raise TypeError(f'add_plugin_v3() takes an IPluginV3, got {type(plugin).__name__}')
        core, build, runtime = (plugin.get_capability_interface(kind) for kind in PluginCapabilityType)
        description = Description(core.plugin_name, str(core.plugin_version), core.plugin_namespace,
                                  PluginFieldCollection(runtime.get_fields_to_serialize() or ()), None, len(shape_inputs), request)
        return self._add_plugin('plugin_v3', [*inputs, *shape_inputs], plugin, description, build.num_outputs)

    def add_plugin(self, func: Any = None, aot: bool | None = None, *, tuple: Any = None) -> Any:
        """`func`: what tensorrt.plugin.op.NAMESPACE.NAME(...) gives. `aot`: aot_impl (True), impl (False), or what there is."""
        if tuple is None and not callable(func):   # inputs, shape inputs and the plug-in itself
            tuple = func
        if tuple is not None:
            inputs, shape_inputs, plugin = tuple
            return self.add_plugin_v3(inputs, shape_inputs, plugin)
        if aot is None:
            prefers_aot = self.get_flag(NetworkDefinitionCreationFlag.PREFER_AOT_PYTHON_PLUGINS)   # type: ignore[attr-defined]
            prefers_jit = self.get_flag(NetworkDefinitionCreationFlag.PREFER_JIT_PYTHON_PLUGINS)   # type: ignore[attr-defined]
            request = 'PREFER_AOT' if prefers_aot else 'PREFER_JIT' if prefers_jit else 'UNKNOWN'
        else:
            request = 'STRICT_AOT' if aot else 'STRICT_JIT'
        return self.add_plugin_v3(*func(QuickPluginCreationRequest[request]), request=request)

    def _add_plugin(self, kind: str, operands: Sequence[Any], plugin: Any, description: Description, outputs: int) -> Any:
        made: Any = self._layers_made()   # type: ignore[attr-defined]
        options = {'domain': 'tensorrt', 'op': 'Plugin', 'data': description.text(), 'outputs': int(outputs)}
        number = made.add(kind, [self._operand(t) for t in operands], options, f'(Unnamed Layer* {made.count()}) [{title_of(kind)}]')
        self._plugins[number] = plugin   # type: ignore[attr-defined]
        return CLASSES[kind](self, MadeAt(self, number))
