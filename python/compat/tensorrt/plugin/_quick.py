"""A quick plug-in as an IPluginV3, which asks the decorated functions."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tenfold.tensorrt._plugins.fields import QuickPluginCreationRequest
from tenfold.tensorrt._plugins.interfaces import IPluginV3, IPluginV3OneBuild, IPluginV3OneCore, IPluginV3OneRuntime
from tenfold.tensorrt._plugins.shapes import DimsExprs
from tenfold.tensorrt.plugin._aot import Kernel
from tenfold.tensorrt.plugin._tensors import Shape, ShapeExprs, Tensor, TensorDesc


class Quick(IPluginV3, IPluginV3OneCore, IPluginV3OneBuild, IPluginV3OneRuntime):
    def __init__(self, definition: Any, attributes: dict[str, Any], fields: Any, request: QuickPluginCreationRequest) -> None:
        self._definition, self._attributes, self._fields, self._request = definition, attributes, fields, request
        self.plugin_namespace, self.plugin_name = definition.plugin_id.split('::')
        self.num_outputs, self._tactic = definition.outputs, 0
        self._types: list[Any] = []
        self._told: list[Any] = []
        self._ranges: tuple[list[Any], int] = [], 0
        self._on_gpu = False
        self._kernel: Any = None
        self._compiled = self._chooses_compiled()

    def _chooses_compiled(self) -> bool:
        """Whether aot_impl computes."""
        d, name = self._definition, self._request.name
        if d.impl is None and d.aot_impl is None:
            raise ValueError(f'{d.plugin_id} has neither impl nor aot_impl')
        for strict, part in (('STRICT_AOT', 'aot_impl'), ('STRICT_JIT', 'impl')):
            if name == strict and getattr(d, part) is None:
                raise ValueError(f'{d.plugin_id} has no {part}, which is asked for')
        if d.impl is not None and d.aot_impl is not None and name == 'UNKNOWN':
            raise ValueError(f'{d.plugin_id} has impl and aot_impl: say which one (add_plugin(aot=), PREFER_AOT_PYTHON_PLUGINS)')
        return d.impl is None or name.endswith('AOT') and d.aot_impl is not None

    @property
    def gpu_only(self) -> bool: return self._compiled

    def attach_to_context(self, context: Any) -> Quick:
        made = self.clone()
        made._on_gpu = context.device == 'cuda'
        return made

    def clone(self) -> Quick: return Quick(self._definition, self._attributes, self._fields, self._request)
    def get_fields_to_serialize(self) -> Any: return self._fields

    def _describe(self, inputs: list[TensorDesc]) -> list[TensorDesc]:
        found = self._definition.describe(*inputs, **self._attributes)
        made = list(found) if isinstance(found, (tuple, list)) else [found]
        for i, each in enumerate(made):
            if not isinstance(each, TensorDesc):
                raise TypeError(f'{self._definition.plugin_id}: the registered function returns TensorDescs, got {type(each).__name__}')
            if each.is_size_tensor:
                each._finalize(i)   # type: ignore[attr-defined]
        return made

    def get_output_data_types(self, input_types: Any) -> Any:
        self._types, self._told = list(input_types), [None] * self.num_outputs
        return self._told   # filled in with the shapes

    def get_output_shapes(self, inputs: Any, shape_inputs: Any, exprBuilder: Any) -> Any:
        described = self._describe([TensorDesc(tuple(e for e in dims), kind) for dims, kind in zip(inputs, self._types)])
        self._told[:] = [d.dtype for d in described]
        return [DimsExprs(e._expr for e in d.shape_expr) for d in described]

    def _combinations(self, in_out: Any, num_inputs: int) -> list[Any] | None:
        """Those that take these types; None: all types are taken."""
        if self._definition.autotune is None:
            return None
        descs = []
        for each in in_out:
            made = TensorDesc(tuple(each.desc.dims), each.desc.type)
            made._shape = Shape(each.desc.dims, each)
            descs.append(made)
        found = _call(self._definition.autotune, descs[:num_inputs], self._attributes, [tuple(descs[num_inputs:])])
        return [c for c in found if c.takes([each.desc.type for each in in_out])]

    def supports_format_combination(self, pos: int, in_out: Any, num_inputs: int) -> bool:
        return pos > 0 or self._combinations(in_out, num_inputs) != []

    def configure_plugin(self, inp: Any, out: Any) -> None: self._ranges = [*inp, *out], len(inp)

    def get_valid_tactics(self) -> list[int]: return sorted({int(t) for c in self._combinations(*self._ranges) or () for t in c._tactics})

    def set_tactic(self, tactic: int) -> None: self._tactic = int(tactic)

    def on_shape_change(self, inp: Any, out: Any) -> None:
        if not self._compiled:
            return
        descs = []
        for each in (*inp, *out):
            descs.append(TensorDesc(ShapeExprs.from_tuple(each.dims), each.type))
            descs[-1]._shape = Shape(each.dims)
        name, code, parameters, extra = _call(self._definition.aot_impl, descs[:len(inp)], self._attributes,
                                              [tuple(descs[len(inp):]), self._tactic])
        self._kernel = Kernel(name if isinstance(name, str) else name.decode(), code), parameters, extra

    def enqueue(self, input_desc: Any, output_desc: Any, inputs: Any, outputs: Any, workspace: int, stream: int) -> None:
        if self._compiled:
            kernel, parameters, extra = self._kernel
            return kernel.launch(parameters, inputs, extra, outputs, stream)   # type: ignore[no-any-return]
        ins = [Tensor(a, d.dims, d.type, stream, self._on_gpu, True) for a, d in zip(inputs, input_desc)]
        outs = [Tensor(a, d.dims, d.type, stream, self._on_gpu, False) for a, d in zip(outputs, output_desc)]
        _call(self._definition.impl, ins, self._attributes, [tuple(outs), stream, self._tactic])


def _call(function: Callable[..., Any], inputs: list[Any], attributes: dict[str, Any], rest: list[Any]) -> Any:
    """The operands, the attributes that it has parameters for, and as much of the rest as it takes."""
    names = list(inspect.signature(function).parameters)[len(inputs):]
    given = [attributes[n] for n in names if n in attributes]
    return function(*inputs, *given, *rest[:len(names) - len(given)])
