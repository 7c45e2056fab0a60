"""torch_tensorrt.dynamo: torch.export's way to an engine, by Torch-TensorRT's names."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from tenfold.torch_tensorrt import _compile
from tenfold.torch_tensorrt._input import Input


def compile(exported_program: Any, inputs: Sequence[Any] | None = None, **settings: Any) -> Callable[..., Any]:
    """As torch_tensorrt.compile(ir="dynamo"), of an ExportedProgram or a module."""
    return _compile.compile(exported_program, 'dynamo', inputs, **settings)


def trace(mod: Any, inputs: Sequence[Any] | None = None, *, arg_inputs: Sequence[Any] | None = None,
          kwarg_inputs: Mapping[str, Any] | None = None, strict: bool = False) -> torch.export.ExportedProgram:
    """torch.export.export, for shapes as the Inputs have them."""
    given = inputs if inputs is not None else arg_inputs or ()
    specs = [g if isinstance(g, Input) else Input.from_tensor(g) for g in given]
    place = _compile.place_of(mod, None)
    if kwarg_inputs and any(_compile.dims_of(a) for a in specs):
        raise ValueError('trace(kwarg_inputs=...): shapes that vary want all arguments among the inputs')
    shapes = tuple(map(_compile.dims_of, specs)) if any(map(_compile.dims_of, specs)) else None
    with torch.no_grad():
        return torch.export.export(mod.eval(), tuple(a.example(place, a.dtype) for a in specs), dict(kwarg_inputs or {}),
                                   dynamic_shapes=shapes, strict=strict)


def convert_exported_program_to_serialized_trt_engine(exported_program: Any, inputs: Sequence[Any] | None = None, *,
                                                      require_full_compilation: bool = True, **settings: Any) -> bytes:
    """The plan's bytes, which tenfold.load() and tenfold.tensorrt's runtime read."""
    if not require_full_compilation:
        raise ValueError('require_full_compilation=False: an engine has no parts that torch computes')
    made: Any = compile(exported_program, inputs, require_full_compilation=True, **settings)
    return bytes(made.engine.serialize())


def __getattr__(name: str) -> None:
    raise AttributeError(f'torch_tensorrt.dynamo of Tenfold has compile, trace and convert_exported_program_to_serialized_trt_engine, no '
                         f'{name!r}')
