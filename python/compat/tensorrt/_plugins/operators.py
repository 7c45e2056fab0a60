"""Operators that ask TensorRT's plug-ins: one for those that add_plugin_v2() and add_plugin_v3() add, and one for each name that has a
creator, which ONNX files use as a node of any domain."""
from __future__ import annotations

import contextlib
import sys
from typing import Any

from tenfold import _native, _registry
from tenfold._device import default_device
from tenfold.plugins._arrays import Cupy, Torch
from tenfold.plugins._types import Problem, Type, problem_of, types_of
from tenfold.tensorrt._plugins.description import Description
from tenfold.tensorrt._plugins.fields import PluginField, PluginFieldCollection, TensorRTPhase, default_attribute, field_of_attribute
from tenfold.tensorrt._plugins.forms import V2, V3, created
from tenfold.tensorrt._plugins.registry import get_plugin_registry
from tenfold.tensorrt._plugins.shapes import desc_of, range_of

_MOST_OPERANDS = 16


class PluginOperator:
    """What native/plugins/plugin_operator.cpp asks; TensorRT's plug-ins have no reference, so it is enqueue(), too, on the host."""

    since = version = min_outputs = 1
    min_inputs = 0
    max_inputs = max_outputs = _MOST_OPERANDS
    is_graph = False

    def __init__(self, domain: str, name: str, attributes: dict[str, Any], on_host: bool) -> None:
        self.domain, self.name, self.attributes, self._on_host = domain, name, attributes, on_host
        self.tactics = [Enqueue(self, 'cpu', 'enqueue'), Enqueue(self, 'cuda', 'enqueue_on_gpu'), Launch(self, 'cuda', 'launch_on_gpu')]

    def describe(self, attributes: dict[str, Any]) -> Description: return Description.of_text(attributes['data'])

    def infer_types(self, given: list[Any], attributes: dict[str, Any]) -> list[tuple[str, list[str]]]:
        description = self.describe(attributes)
        inputs, shape_inputs = _parted(types_of(given), description)
        if any(t.contents is None for t in shape_inputs):
            raise ValueError('a shape input has no contents that are known before the run: it is to be an integer tensor of few elements, '
                             'made from shapes and constants')
        form = created(description, TensorRTPhase.BUILD)
        if self._on_host and form.gpu_only:
            raise NotImplementedError(f"plug-in '{description.name}' has a kernel for GPUs alone (aot_impl), and this is the CPU")
        found = form.results(inputs, shape_inputs)
        if not self._on_host and any('<=' in extent for _, dims in found for extent in dims):
            raise NotImplementedError('sizes that only the run knows (declare_size_tensor()) are found on the CPU alone')
        outputs = [range_of(Type(kind, tuple(int(d) if d.isdecimal() else d for d in dims))) for kind, dims in found]
        if why := form.unsupported([range_of(t) for t in inputs], outputs):
            raise ValueError(f"plug-in '{description.name}': {why}")
        return found

    def compute(self, inputs: list[Any], attributes: dict[str, Any], outputs: list[Any], are_open: list[bool]) -> list[tuple[int, ...]]:
        if not self._on_host:
            raise NotImplementedError('the plug-in computes on the GPU alone')
        description = self.describe(attributes)
        types = [Type(a.dtype, a.shape, a.shape, a.shape, _contents(a)) for a in inputs]
        given, shape_inputs = _parted(tuple(types), description)
        results = created(description, TensorRTPhase.BUILD).results(given, shape_inputs)
        rooms = [Type(o.dtype, o.shape, o.shape, o.shape) for o in outputs]
        run = Opened(description, given, rooms, None, 'cpu', 0)
        run(inputs, outputs, 0, 0, None)
        return [tuple(_size(extent, room, outputs) for extent, room in zip(dims, output.shape))
                for (_, dims), output in zip(results, outputs)]


class NamedOperator(PluginOperator):
    """Of ONNX nodes with a creator's name, whose attributes are the creator's fields, plugin_version and plugin_namespace."""

    def __init__(self, name: str, on_host: bool) -> None:
        creators = [c for c in get_plugin_registry().all_creators if c.name == name]
        self._fields: dict[str, PluginField] = {f.name: f for c in creators for f in c.field_names}
        first = creators[0]
        super().__init__('*', name, {**{f: default_attribute(field) for f, field in self._fields.items()},
                                     'plugin_version': str(first.plugin_version), 'plugin_namespace': first.plugin_namespace}, on_host)

    def describe(self, attributes: dict[str, Any]) -> Description:
        fields = [field_of_attribute(field, attributes[name]) for name, field in self._fields.items()]
        return Description(self.name, attributes['plugin_version'], attributes['plugin_namespace'],
                           PluginFieldCollection(f for f in fields if f is not None))


class Enqueue:
    """The tactic for one kind of device: the plug-in's own tactics are its configurations."""

    version = 1
    capturable = False   # enqueue() is the user's, and TensorRT calls it in every run: it may allocate and wait

    def __init__(self, operator: PluginOperator, device: str, name: str) -> None:
        self._operator, self.device, self.name = operator, device, name

    def _asked(self, given: dict[str, Any]) -> tuple[Problem, Description, V2 | V3]:
        problem = problem_of(given)
        description = self._operator.describe(problem.attributes)
        return problem, description, created(description, TensorRTPhase.BUILD)

    def _ranges(self, problem: Problem, description: Description) -> tuple[list[Any], list[Any]]:
        return [range_of(t) for t in _parted(problem.inputs, description)[0]], [range_of(t) for t in problem.outputs]

    def supports(self, given: dict[str, Any]) -> str | None:
        problem, description, form = self._asked(given)
        if self.device == 'cuda' and self.capturable != form.gpu_only:
            return 'compiled kernels (aot_impl) are launched, others are enqueued by the plug-in'
        inputs, shape_inputs = _parted(problem.inputs, description)
        if not shape_inputs and any('<=' in extent for _, dims in form.results(inputs, []) for extent in dims):
            return 'sizes that only the run knows are found by the plain kernel'
        return form.unsupported(*self._ranges(problem, description))

    def configs(self, given: dict[str, Any]) -> list[list[int]]:
        problem, description, form = self._asked(given)
        return [[tactic] for tactic in form.tactics(*self._ranges(problem, description))] or [[]]

    def workspace(self, given: dict[str, Any]) -> int:
        problem, description, form = self._asked(given)
        return form.workspace(*self._ranges(problem, description))

    def open(self, given: dict[str, Any]) -> Opened:
        problem = problem_of(given)
        description = self._operator.describe(problem.attributes)
        return Opened(description, _parted(problem.inputs, description)[0], list(problem.outputs),
                      problem.config[0] if problem.config else None, problem.device, problem.ordinal)


class Launch(Enqueue):
    """Of compiled kernels (aot_impl), which are launched and do nothing else."""

    capturable = True


class Opened:
    """A plug-in of one context."""

    def __init__(self, description: Description, inputs: Any, outputs: Any, tactic: int | None, device: str, ordinal: int) -> None:
        self._form = created(description, TensorRTPhase.RUNTIME)
        self._count, self._device, self._ordinal = len(inputs), device, ordinal
        self._form.open([range_of(t) for t in inputs], [range_of(t) for t in outputs], tactic, device)
        self._shapes: Any = None
        self._libraries: dict[str, Any] = {}

    def __call__(self, inputs: list[Any], outputs: list[Any], workspace: int, stream: int, workers: Any) -> None:
        inputs = inputs[:self._count]
        ins, outs = ([desc_of(a.dtype, a.shape) for a in arrays] for arrays in (inputs, outputs))
        shapes = [tuple(d.dims) for d in (*ins, *outs)]
        with self._on(stream):
            if shapes != self._shapes:
                self._form.shapes(ins, outs)
                self._shapes = shapes
            failed = self._form.enqueue(ins, outs, [a.address for a in inputs], [a.address for a in outputs], workspace, stream)
        if failed:
            raise RuntimeError(f'enqueue() returned {failed}')

    def _on(self, stream: int) -> contextlib.ExitStack:
        """What torch and CuPy launch without naming a stream goes to the engine's, if they are in use."""
        stack = contextlib.ExitStack()
        if self._device == 'cuda':
            for module, kind in (('torch', Torch), ('cupy', Cupy)):
                if module in sys.modules:
                    if module not in self._libraries:
                        self._libraries[module] = kind(Problem((), (), {}, (), 'cuda', '', self._ordinal, 0))
                    stack.enter_context(self._libraries[module].on(stream))
        return stack

    def __del__(self) -> None:
        if form := getattr(self, '_form', None):
            form.close()


def _parted(types: tuple[Any, ...], description: Description) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    if any(t is None for t in types):
        raise ValueError('an operand is left out, which TensorRT\'s plug-ins cannot be told')
    count = len(types) - description.shape_inputs
    return types[:count], types[count:]


def _contents(array: Any) -> tuple[int, ...] | None:
    values = array.numpy()
    return tuple(int(v) for v in values.reshape(-1)) if values.dtype.kind in 'iu' and values.size <= 64 else None


def _size(extent: str, room: int, outputs: list[Any]) -> int:
    """What an extent was found to be."""
    name, found, _ = extent.partition('<=')
    return int(outputs[int(name.strip()[len('size'):])].numpy().reshape(-1)[0]) if found else room


def on_host() -> bool:
    """Whether builds are for the CPU."""
    return default_device() == 'cpu'


def needed(on_host: bool) -> _native.Plugins | None:
    """For builds and loads: as operators(), where there is a creator."""
    return operators(on_host) if get_plugin_registry().all_creators else _registry.known_plugins()


def operators(on_host: bool) -> _native.Plugins:
    """For networks: the operators of tenfold.plugins, and those that ask TensorRT's plug-ins."""
    made = _registry.new_set()
    made.add(PluginOperator('tensorrt', 'Plugin', {'data': ''}, on_host))
    for name in dict.fromkeys(c.name for c in get_plugin_registry().all_creators):
        if name.replace('_', '').isalnum() and name.isascii():   # as ONNX writes operators
            made.add(NamedOperator(name, on_host))
    return made
