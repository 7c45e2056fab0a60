"""From models and plans to engines: build, load, retune, and what can be asked of a model."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tenfold import _native
from tenfold._device import _with_libraries, default_device, put_device
from tenfold._engine import Engine
from tenfold._network import Network
from tenfold._registry import put_plugins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal, Unpack

    from tenfold._options import BuildOptions, LoadOptions


def _model(model: Any) -> Any:
    """A path, bytes, or what the native layer knows."""
    if isinstance(model, Network):
        return model._data
    if hasattr(model, 'SerializeToString'):   # onnx.ModelProto
        return model.SerializeToString()
    if isinstance(model, str) or hasattr(model, '__fspath__'):
        return model
    if hasattr(model, 'state_dict') and hasattr(model, 'forward'):   # torch.nn.Module
        raise TypeError(f'{type(model).__name__} is a module of torch: torch.compile(module, backend="tenfold"), or '
                        'tenfold.torch.export(module, example_inputs) for a module that runs a plan')
    try:
        memoryview(model)
    except TypeError:
        raise TypeError('a model is a path, bytes of an ONNX file, an onnx.ModelProto or a tenfold.Network, '
                        f'got {type(model).__name__}') from None
    return model


def _within_budget(options: dict[str, Any], data: Any, max_error: Any, metric: Any, classes: Any) -> dict[str, Any]:
    """The fields `calibration` and `budget` of what build() takes in words."""
    if max_error is None:
        for name, given in (('metric', metric), ('classes', classes)):
            if given is not None:
                raise TypeError(f"build(): '{name}' needs max_error=..., the allowed error of the outputs")
    else:
        if data is None and options.get('calibration') is None:
            raise TypeError("build(): 'max_error' needs data=..., samples to measure the error on")
        budget = {'metric': metric, 'labels': None if classes is None else [int(one) for one in classes]}
        if hasattr(max_error, 'keys'):
            budget |= {'max_error': max(max_error.values()), 'outputs': dict(max_error)}
        else:
            budget['max_error'] = max_error
        options['budget'] = {name: given for name, given in budget.items() if given is not None} | (options.get('budget') or {})
    if data is not None:
        options['calibration'] = {'sample': data, **(options.get('calibration') or {})}
    return options


_PRECISIONS = {'fp32': {}, 'fp16': {'fp16': True}, 'bf16': {'bf16': True}, 'auto': {'auto_precision': True}}


def _with_precision(options: dict[str, Any], precision: str | None) -> dict[str, Any]:
    """The fields that a precision in one word stands for."""
    if precision is None:
        return options
    if precision not in _PRECISIONS:
        expected = ', '.join(map(repr, _PRECISIONS))
        raise ValueError(f'build(): precision is {precision!r}, expected one of {expected}; int8 and fp8 need data=... or a quantized file')
    for field in ('fp16', 'bf16', 'auto_precision'):
        if options.get(field) is not None:
            raise TypeError(f"build(): 'precision' and '{field}' say the same; give one of them")
    return options | _PRECISIONS[precision]


def build(model: Any, *, precision: Literal['fp32', 'fp16', 'bf16', 'auto'] | None = None, data: Any = None,
          max_error: float | Mapping[str, float] | None = None,
          metric: str | Callable[[list[dict[str, Any]], list[dict[str, Any]]], float] | None = None,
          classes: Sequence[int] | None = None, **options: Unpack[BuildOptions]) -> Engine:
    """Builds the engine of a model: a path, the bytes of an ONNX file, an onnx.ModelProto or a Network.

    `precision`: 'fp32' (the default), 'fp16' and 'bf16' permit these types where the device has them; 'auto' takes what is fastest on the
    device, and `engine.notes` say what that is, and on a CPU by how much it changes the outputs.

    `max_error`: search for the fastest plan whose error to the fp32 model is at most this (a dict: by output), measured by `metric` ('l2',
    'linf', 'cosine', 'top1', 'top5', or a function of the outputs of the reference and of the plan, two lists of dicts, that returns the
    error). `data`: a sequence of samples (dicts from input names to arrays), or a function of an index; every second sample is used for
    int8 ranges, the others to measure the error. `classes`: with 'top1' and 'top5' the class of each sample; the error is then the loss of
    accuracy.

    Keywords are the fields of tenfold::BuildConfig (tenfold/build.h documents them). `device`: default TENFOLD_DEVICE, else the first GPU,
    else the CPU. `profiles`: {"x": (min, opt, max shape)}, or one fixed shape; or a list of these.
    """
    given = _within_budget(_with_precision(dict(options), precision), data, max_error, metric, classes)
    return Engine(_native.build(_model(model), put_plugins(put_device(given))))


if build.__doc__:   # not under python -OO
    build.__doc__ += '\n    All of them: ' + ', '.join(name for name, _ in _native.build_options()) + '.\n'


def load(plan: Any, **options: Unpack[LoadOptions]) -> Engine:
    """The engine of a plan: a path, or bytes (any slice of a buffer). Keywords are the fields of tenfold::LoadOptions."""
    _with_libraries()
    if options.get('device') is None and os.environ.get('TENFOLD_DEVICE'):
        options['device'] = os.environ['TENFOLD_DEVICE']
    return Engine(_native.load(plan, put_plugins(dict(options))))


def retune(plan: Any, **options: Unpack[BuildOptions]) -> Engine:
    """Chooses kernels again for an engine, or for a plan's file, on this machine. Keywords as for build(), without profiles."""
    _with_libraries()
    if options.get('device') is None:
        engine = plan if isinstance(plan, _native.Engine) else load(plan)
        options['device'] = default_device() if engine.info.on_gpu else 'cpu'
    return Engine(_native.retune(plan, put_plugins(dict(options))))


def refit(engine: Engine, weights: Any) -> Engine:
    """A new engine with other weights: a dict from names to arrays, or the path of an ONNX file that has them."""
    if not hasattr(weights, 'items'):
        weights = {name: value for name, value in _native.weights(weights, put_plugins({})).items()
                   if any(w.name == name for w in engine.refittable_weights)}
    return engine.refit(weights)


def weights(model: Any, **options: Unpack[BuildOptions]) -> dict[str, Any]:
    """The named weights of a model (a path, bytes, an onnx.ModelProto), as arrays that cannot be written to."""
    return _native.weights(_model(model), put_plugins(dict(options)))


def bindings(model: Any, **options: Unpack[BuildOptions]) -> list[_native.Binding]:
    """Inputs and outputs of a model (a path, bytes, an onnx.ModelProto), without a build."""
    if isinstance(model, Network):
        raise TypeError('a Network tells its inputs and outputs itself; bindings() takes a path, bytes or an onnx.ModelProto')
    return _native.model_bindings(_model(model), put_plugins(dict(options)))


def metadata(model: Any) -> _native.ModelMetadata:
    """Metadata of a model's file (a path, bytes, an onnx.ModelProto): its producer, and custom entries."""
    if isinstance(model, Network):
        raise TypeError('a Network is made here, no file speaks of it; metadata() takes a path, bytes or an onnx.ModelProto')
    return _native.model_metadata(_model(model))


def check(model: Any, **options: Unpack[BuildOptions]) -> list[_native.ModelProblem]:
    """Everything that is invalid or unsupported in a model (a path, bytes, an onnx.ModelProto); an empty list if nothing is."""
    return _native.check(_model(model), put_plugins(dict(options)))


def extent_limits(model: Any, **options: Unpack[BuildOptions]) -> list[_native.ExtentLimit]:
    """Dynamic dimensions of a valid model that do not work at every size, because an exporter baked an example's size into nodes."""
    return _native.extent_limits(_model(model), put_plugins(dict(options)))


def inspect(plan: Any) -> _native.PlanInspection:
    """The contents of a plan: of an engine, a file, or bytes."""
    return (plan if isinstance(plan, _native.Engine) else load(plan)).inspection()


def profile(engine: Engine, inputs: Any = None, runs: int = 10) -> list[tuple[str, float]]:
    """Steps and their milliseconds: the median of some runs on these inputs (None: zeros at the opt shapes)."""
    return engine.create_context().profile(inputs, runs)
