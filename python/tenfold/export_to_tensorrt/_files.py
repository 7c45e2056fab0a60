"""Engines as files: plans, and TorchScript files that hold one."""
from __future__ import annotations

import json
import os
import types
import zipfile
from typing import TYPE_CHECKING, Any

import tenfold

if TYPE_CHECKING:
    from collections.abc import Callable

_MAGIC = b'\x89TFPLAN\n'   # of a plan: src/execution/plan/format.h
_ZIP = b'PK\x03\x04'


def load_plan(path: str | os.PathLike[str], device: str | None = None) -> tenfold.Engine:
    """The engine of a plan, or of a `.ts` file that was exported here; torch is not needed."""
    name = os.fspath(path)
    options: Any = {'device': device} if device else {}
    try:
        with open(name, 'rb') as file:
            start = file.read(len(_MAGIC))
    except OSError as error:
        raise tenfold.FileError(f'{name}: {error.strerror}; expected an engine of python -m tenfold.export_to_tensorrt') from error
    if not start.startswith(_ZIP):
        return tenfold.load(name, **options)
    return tenfold.load(_plan_in(name), **options)


def _plan_in(path: str) -> bytes:
    """torch.jit.save writes each tensor as a file of its own in a ZIP archive; the plan is one of them."""
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                with archive.open(member) as file:
                    start = file.read(len(_MAGIC))
                    if start == _MAGIC:
                        return start + file.read()
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise tenfold.FileError(f'{path} is damaged: {error}; export it again') from error
    raise tenfold.InvalidInput(f'{path} is a TorchScript file without a plan, of TensorRT or of plain torch; expected one that '
                               'python -m tenfold.export_to_tensorrt wrote')


def save_plan(engine: tenfold.Engine, path: str | os.PathLike[str]) -> None:
    """A plan of this name, whole or not at all; folders are made."""
    _save(path, engine.save)


def save_module(module: Any, path: str | os.PathLike[str]) -> None:
    """export_module()'s result: as TorchScript where the name ends in `.ts`, else as a plan."""
    if is_torchscript(path):
        _save(path, module.traced().save)
    else:
        save_plan(module.engine, path)


def save_as_torchscript(engine: tenfold.Engine, path: str | os.PathLike[str]) -> None:
    """An engine of an ONNX file as TorchScript; torch is needed."""
    import numpy as np
    import torch
    from tenfold.torch._plan_module import Flat
    from tenfold.torch._types import TORCH
    binding = next(b for b in engine.bindings if b.is_input)
    smallest, usual, largest = engine.profile_shapes(0, binding.name)
    found = engine(np.zeros(usual, binding.numpy_dtype))
    arrays = list(found.values()) if isinstance(found, dict) else [found]
    outputs = [b for b in engine.bindings if not b.is_input]
    first = [['size', 0, 0] if smallest[0] != largest[0] else int(array.shape[0]) for array in arrays]
    described = json.dumps([{'dtype': b.dtype, 'sizes': [batch, *map(int, array.shape[1:])]}
                            for b, batch, array in zip(outputs, first, arrays, strict=True)])
    plan: Any = engine.serialize()
    described_plan: Any = types.SimpleNamespace(plan=torch.frombuffer(bytearray(plan), dtype=torch.uint8), _described=described)
    module = Flat(described_plan)
    example = torch.zeros(usual, dtype=TORCH[binding.dtype], device='cuda' if engine.info.on_gpu else 'cpu')
    with torch.no_grad():
        _save(path, torch.jit.trace(module, example, check_trace=False).save)


def is_torchscript(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).endswith('.ts')


def check_output(path: str | os.PathLike[str]) -> None:
    """Before a long build: whether `path` can be written."""
    if os.path.isdir(path):
        raise tenfold.FileError(f'--output {path} is a folder; expected the name of a file')
    folder = os.path.dirname(os.path.abspath(path))
    while not os.path.lexists(folder):   # it is made when there is something to write
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK | os.X_OK):
        raise tenfold.FileError(f'--output {path} cannot be written: {folder} is no folder in which this user may make files')


def _save(path: str | os.PathLike[str], write: Callable[[str], Any]) -> None:
    name = os.path.abspath(path)
    partial = name + '.partial'
    try:
        os.makedirs(os.path.dirname(name), exist_ok=True)
        write(partial)
        os.replace(partial, name)
    except OSError as error:
        raise tenfold.FileError(f'{path} cannot be written: {error}') from error
    finally:
        if os.path.exists(partial):
            os.remove(partial)
