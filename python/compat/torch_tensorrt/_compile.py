"""compile(), save() and load()."""
from __future__ import annotations

import dataclasses
import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tenfold
import torch
from tenfold.torch import _report
from tenfold.torch._backend import compiled
from tenfold.torch._export import export
from tenfold.torch._options import read_options
from tenfold.torch._plan_module import PlanModule
from tenfold.torch._types import NAMES
from tenfold.torch_tensorrt import logging
from tenfold.torch_tensorrt._device import Device
from tenfold.torch_tensorrt._input import Input
from tenfold.torch_tensorrt._settings import SETTINGS, build_fields, no_effect, precisions

WAYS = ('default', 'dynamo', 'ts', 'torchscript', 'torch_compile', 'exported_program')


def compile(module: Any, ir: str = 'default', inputs: Sequence[Any] | None = None, arg_inputs: Sequence[Any] | None = None,
            kwarg_inputs: Mapping[str, Any] | None = None, enabled_precisions: Any = None, *, calibrator: Any = None, device: Any = None,
            require_full_compilation: bool = False, min_block_size: int = 5, **settings: Any) -> Callable[..., Any]:
    """A module as one engine, which torch.jit.save and torch.export.save keep.

    `inputs`: an Input for each argument, or tensors. With ir="torch_compile" it is torch.compile. Where a part of the module has no engine,
    it is torch.compile, too, which cannot be saved, and a warning tells why (`require_full_compilation`: Unsupported is raised).
    """
    if ir not in WAYS:
        raise ValueError(f'ir={ir!r} is none of {", ".join(WAYS)}')
    if isinstance(module, torch.jit.ScriptModule):
        raise TypeError('a ScriptModule has lost what torch.export reads: give the nn.Module that it was made of')
    options = {**build_fields(settings), **precisions(enabled_precisions)}
    raises = settings.get('pass_through_build_failures', False)
    if settings.get('debug', False):
        logging.set_reportable_log_level(logging.Level.Debug)
    if calibrator is not None and not options['int8']:
        no_effect('compile(calibrator=...)', 'enabled_precisions has no torch.int8')
    in_parts = {**options, 'min_block_size': min_block_size}
    if ir == 'torch_compile':
        if require_full_compilation or settings.get('strict', False):
            raise ValueError('require_full_compilation and strict: torch.compile may end a graph anywhere; ir="dynamo" has them')
        return torch.compile(module, backend=functools.partial(by_settings, raises=raises), options=in_parts)
    given = inputs if inputs is not None else arg_inputs
    if given is None and kwarg_inputs is None:
        raise ValueError('compile() needs inputs: an Input for each argument, or tensors')
    module = module if isinstance(module, torch.export.ExportedProgram) else module.eval()
    place = place_of(module, device)
    specs = [g if isinstance(g, Input) else Input.from_tensor(g) for g in given or ()]
    names = names_of(module, specs)
    if calibrator is not None and options['int8']:
        options['calibration'] = calibrator.options(names)
    requested = {name: NAMES[a.dtype] for name, a in zip(names, specs, strict=True) if differs(a, module)}
    if requested:
        options['input_formats'] = requested
    for one, name in zip(specs, names, strict=True):
        if one.name not in ('', name):
            no_effect(f'Input(name={one.name!r})', f'an input has the name of the module\'s argument, {name!r}')
    try:
        return PlanModule(exported(module, specs, names, place, kwarg_inputs, options, settings.get('strict', False)))
    except (tenfold.Unsupported, tenfold.OutOfMemory, tenfold.Internal) as error:
        if require_full_compilation or raises:
            raise
        _report.warn_once(f'torch_tensorrt.compile() of Tenfold: {error}; torch computes the rest, and the result cannot be saved')
        return torch.compile(module, backend='tenfold', dynamic=any(a.min_shape != a.max_shape for a in specs) or None, options=in_parts)


def by_settings(module: torch.fx.GraphModule, args: Sequence[Any], *, options: Mapping[str, Any], raises: bool) -> Callable[..., Any]:
    return compiled(module, args, dataclasses.replace(read_options(options, None), raises=raises), [])


def backend(module: torch.fx.GraphModule, args: Sequence[Any], *, options: Mapping[str, Any] | None = None, mode: str | None = None,
            **rest: Any) -> Callable[..., Any]:
    """torch.compile(m, backend="torch_tensorrt", options={...}): settings of compile(), and those of the backend "tenfold"."""
    if rest:
        raise TypeError(f'the backend "torch_tensorrt" of Tenfold has no argument {next(iter(rest))!r}')
    given = dict(options or {})
    known = {name: given.pop(name) for name in list(given) if name in SETTINGS}
    made = build_fields(known)
    if known.get('debug', False):
        logging.set_reportable_log_level(logging.Level.Debug)
    if known.get('strict', False):
        raise ValueError('strict=True: torch.compile ends a graph where it must; torch_tensorrt.compile() has it')
    if 'enabled_precisions' in given:
        made.update(precisions(given.pop('enabled_precisions')))
    chosen = read_options({**made, **given}, mode)
    return compiled(module, args, dataclasses.replace(chosen, raises=known.get('pass_through_build_failures', False)), [])


def exported(module: Any, specs: Sequence[Input], names: Sequence[str], place: torch.device, keywords: Mapping[str, Any] | None,
             options: Mapping[str, Any], strict: bool = False) -> tenfold.Engine:
    examples = tuple(a.example(place, weights_type(module) if differs(a, module) else a.dtype) for a in specs)
    dims = tuple(map(dims_of, specs))
    ranged = any(dims)
    profiles = {n: (a.min_shape, a.opt_shape, a.max_shape) for n, a in zip(names, specs, strict=True)} if ranged and not keywords else None
    shapes = None if not ranged else dims if not keywords else None
    if strict and not isinstance(module, torch.export.ExportedProgram):
        with torch.no_grad():
            module = torch.export.export(module, examples, dict(keywords or {}), dynamic_shapes=shapes, strict=True)
    return export(module, examples, keywords, dynamic_shapes=shapes, profiles=profiles, **options)


def dims_of(specs: Input) -> dict[int, Any]:
    return {axis: torch.export.Dim.DYNAMIC(min=minimum, max=maximum)
            for axis, (minimum, maximum) in enumerate(zip(specs.min_shape, specs.max_shape, strict=True)) if minimum != maximum}


def names_of(module: Any, specs: Sequence[Input]) -> list[str]:
    """The names that torch.export gives to arguments."""
    forward = module.module().forward if isinstance(module, torch.export.ExportedProgram) else module.forward
    found: list[str] = []
    for parameter in inspect.signature(forward).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            found += [f'{parameter.name}_{i}' for i in range(len(specs) - len(found))]
        else:
            found.append(parameter.name)
    if len(found) < len(specs):
        raise ValueError(f'the module takes {len(found)} arguments, {len(specs)} inputs are given')
    return found[:len(specs)]


def weights_type(module: Any) -> torch.dtype:
    tensors = module.state_dict.values() if isinstance(module, torch.export.ExportedProgram) else module.parameters()
    return next((t.dtype for t in tensors if t.is_floating_point()), torch.float32)


def differs(specs: Input, module: Any) -> bool:
    """Whether an input comes in another float type than the module computes in."""
    return specs.dtype.is_floating_point and specs.dtype != weights_type(module)


def place_of(module: Any, device: Any) -> torch.device:
    """Where the module lies; another device is refused, since the module's tensors are there."""
    tensors = list(module.state_dict.values()) if isinstance(module, torch.export.ExportedProgram) else list(module.parameters())
    found = tensors[0].device if tensors else torch.device('cpu')
    chosen = Device(device).device if device is not None else None
    if chosen is not None and tensors and (chosen.type != found.type or chosen.index not in (None, found.index)):
        raise ValueError(f'device={device!r}, the module lies on {found}: module.to({str(chosen)!r}) moves it')
    return chosen or found


def save(module: Any, file_path: Any, *, output_format: str = 'exported_program', inputs: Any = None, arg_inputs: Any = None,
         retrace: bool = True, **rest: Any) -> None:
    """As "exported_program" (torch.export.save) or "torchscript" (torch.jit.save)."""
    if rest:
        raise TypeError(f'torch_tensorrt.save() of Tenfold has no setting {next(iter(rest))!r}')
    if not retrace:
        no_effect('save(retrace=False)', 'a module is always traced to be saved')
    if not isinstance(module, PlanModule):
        raise TypeError('what torch computes in part cannot be saved: see the warning that compile() gave')
    if output_format == 'torchscript':
        return torch.jit.save(module, os.fspath(file_path))
    if output_format != 'exported_program':
        raise ValueError(f'output_format={output_format!r} is neither "exported_program" nor "torchscript"')
    bindings = [b for b in module.engine.bindings if b.is_input]
    from tenfold.torch._types import TORCH
    given = inputs if inputs is not None else arg_inputs
    examples = tuple(g if isinstance(g, torch.Tensor) else g.example(module.plan.device, g.dtype) for g in given) if given else tuple(
        torch.zeros(module.engine.profile_shapes(0, b.name)[1], dtype=TORCH[b.dtype]) for b in bindings)
    dims = tuple({axis: torch.export.Dim.AUTO for axis, size in enumerate(b.shape) if size < 0} for b in bindings)
    torch.export.save(torch.export.export(module, examples, dynamic_shapes=(dims,), strict=False), os.fspath(file_path))


def load(file_path: Any) -> Any:
    """What save(), torch.jit.save or torch.export.save kept: a module."""
    path = os.fspath(file_path)
    try:
        return torch.jit.load(path)
    except RuntimeError:
        return torch.export.load(path)
