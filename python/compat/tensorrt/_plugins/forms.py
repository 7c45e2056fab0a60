"""IPluginV3 and IPluginV2DynamicExt behind one face: types and shapes of results, what is supported, workspace, runs."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.tensorrt._plugins.fields import PluginCapabilityType, TensorRTPhase
from tenfold.tensorrt._plugins.interfaces import IPluginResourceContext, IPluginV3
from tenfold.tensorrt._plugins.shapes import DynamicPluginTensorDesc, IExprBuilder, PluginTensorDesc, exprs_of
from tenfold.tensorrt._types import datatype, native_dtype

Result = tuple[str, list[str]]


class V3:
    def __init__(self, plugin: Any) -> None:
        self._plugin = plugin
        self._build = plugin.get_capability_interface(PluginCapabilityType.BUILD)
        self._runtime = plugin.get_capability_interface(PluginCapabilityType.RUNTIME)

    def results(self, inputs: Sequence[Any], shape_inputs: Sequence[Any]) -> list[Result]:
        """Element type and extents of each; `inputs`: tenfold.plugins.Types."""
        types = self._build.get_output_data_types([datatype(t.dtype, 'an operand of a plug-in') for t in inputs])
        shapes = self._build.get_output_shapes([exprs_of(t.dims) for t in inputs], [exprs_of(t.contents) for t in shape_inputs],
                                               IExprBuilder())
        if len(types) != len(shapes) or len(types) != self._build.num_outputs:
            raise ValueError(f'num_outputs is {self._build.num_outputs}, get_output_data_types() told {len(types)} and get_output_shapes() '
                             f'{len(shapes)}')
        return [(native_dtype(t), [str(e._extent) for e in shape]) for t, shape in zip(types, shapes)]

    @property
    def gpu_only(self) -> bool: return bool(getattr(self._build, 'gpu_only', False))

    def unsupported(self, inputs: list[DynamicPluginTensorDesc], outputs: list[DynamicPluginTensorDesc]) -> str | None:
        return _unsupported(self._build, [*inputs, *outputs], len(inputs), [d.desc for d in (*inputs, *outputs)])

    def tactics(self, inputs: list[DynamicPluginTensorDesc], outputs: list[DynamicPluginTensorDesc]) -> list[int]:
        self._build.configure_plugin(inputs, outputs)
        return [int(t) for t in self._build.get_valid_tactics()]

    def workspace(self, inputs: list[DynamicPluginTensorDesc], outputs: list[DynamicPluginTensorDesc]) -> int:
        return int(self._build.get_workspace_size(inputs, outputs))

    def open(self, inputs: list[DynamicPluginTensorDesc], outputs: list[DynamicPluginTensorDesc], tactic: int | None,
             device: str) -> None:
        if self._build is not None:
            self._build.configure_plugin(inputs, outputs)
        if tactic is not None:
            self._runtime.set_tactic(tactic)
        attached = self._runtime.attach_to_context(IPluginResourceContext(device))
        if attached is not None:
            self._runtime = attached.get_capability_interface(PluginCapabilityType.RUNTIME)
            if tactic is not None:
                self._runtime.set_tactic(tactic)

    def shapes(self, inputs: list[PluginTensorDesc], outputs: list[PluginTensorDesc]) -> None:
        self._runtime.on_shape_change(inputs, outputs)

    def enqueue(self, *call: Any) -> Any: return self._runtime.enqueue(*call)
    def close(self) -> None: self._plugin.destroy()


class V2:
    gpu_only = False

    def __init__(self, plugin: Any) -> None:
        self._plugin = plugin

    def results(self, inputs: Sequence[Any], shape_inputs: Sequence[Any]) -> list[Result]:
        types = [datatype(t.dtype, 'an operand of a plug-in') for t in inputs]
        found = []
        for i in range(self._plugin.num_outputs):
            dims = self._plugin.get_output_dimensions(i, [exprs_of(t.dims) for t in inputs], IExprBuilder())
            found.append((native_dtype(self._plugin.get_output_datatype(i, types)), [str(e._extent) for e in dims]))
        return found

    def unsupported(self, inputs: list[DynamicPluginTensorDesc], outputs: list[DynamicPluginTensorDesc]) -> str | None:
        descs = [d.desc for d in (*inputs, *outputs)]
        return _unsupported(self._plugin, descs, len(inputs), descs)

    def tactics(self, inputs: list[DynamicPluginTensorDesc], outputs: list[DynamicPluginTensorDesc]) -> list[int]: return []

    def workspace(self, inputs: list[DynamicPluginTensorDesc], outputs: list[DynamicPluginTensorDesc]) -> int:
        def largest(all: list[DynamicPluginTensorDesc]) -> list[PluginTensorDesc]:
            made = [_fixed(d, d.max) for d in all]
            return made
        return int(self._plugin.get_workspace_size(largest(inputs), largest(outputs)))

    def open(self, inputs: list[DynamicPluginTensorDesc], outputs: list[DynamicPluginTensorDesc], tactic: int | None,
             device: str) -> None:
        self._plugin.initialize()

    def shapes(self, inputs: list[PluginTensorDesc], outputs: list[PluginTensorDesc]) -> None:
        self._plugin.configure_plugin([_range(d) for d in inputs], [_range(d) for d in outputs])

    def enqueue(self, *call: Any) -> Any: return self._plugin.enqueue(*call)

    def close(self) -> None:
        self._plugin.terminate()
        self._plugin.destroy()


def form_of(plugin: Any) -> V2 | V3:
    return V3(plugin) if isinstance(plugin, IPluginV3) else V2(plugin)


def created(description: Any, phase: TensorRTPhase) -> V2 | V3:
    return form_of(description.create(phase))


def _unsupported(plugin: Any, in_out: list[Any], inputs: int, descs: list[PluginTensorDesc]) -> str | None:
    for pos, desc in enumerate(descs):
        if not plugin.supports_format_combination(pos, in_out, inputs):
            what = f'input {pos}' if pos < inputs else f'output {pos - inputs}'
            return f'supports_format_combination() refuses {desc.type} in the format LINEAR for {what}'
    return None


def _fixed(range: DynamicPluginTensorDesc, dims: Any) -> PluginTensorDesc:
    made = PluginTensorDesc()
    made._dims, made._type = dims, range.desc.type
    return made


def _range(desc: PluginTensorDesc) -> DynamicPluginTensorDesc:
    made = DynamicPluginTensorDesc()
    made._desc, made._min, made._max, made._opt = desc, desc.dims, desc.dims, desc.dims
    return made
