"""Engines as files, {model}_{precision}.engine: the library's plan cache under these names."""
from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING

import tenfold
from tenfold import _native

from tenfold_hana._devices import log

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_LIMIT = -1   # of the cache: nothing is removed that its user has not removed


def file_name(model_name: str) -> str:
    """Of a model: a name, or a folder, whose last part counts. sentence-transformers/x is sentence-transformers_x."""
    name = os.fspath(model_name)
    if os.path.isabs(name) or name.startswith(('.', '~')):
        name = os.path.basename(os.path.abspath(os.path.expanduser(name)))
    return name.strip('/').replace('/', '_')


def _built(path: str, build: Callable[[str], tenfold.Engine | None], device: str) -> tenfold.Engine:
    engine = build(path)
    if engine is not None:
        return engine
    if not os.path.exists(path):
        raise tenfold.InvalidArgument(f'_build_engine() returned nothing and wrote no {path}; it writes the engine there')
    return tenfold.load(path, device=device if device.startswith('cuda') else None)


def engine_at(path: str, key: str, device: str, build: Callable[[str], tenfold.Engine | None], rebuild: bool = False) -> tenfold.Engine:
    """The engine of the file if it was made by this key, or what `build` makes: it writes the file, or returns the engine, or both.

    Processes wait for one that builds. The files may be removed at any time. Where they cannot be written the log says so."""
    folder, name = os.path.split(path)
    try:
        cache = _native.PlanCache(folder, _NO_LIMIT)
    except tenfold.FileError as error:
        log.warning('engines are not kept: %s', error)
        with tempfile.TemporaryDirectory() as elsewhere:
            return _built(os.path.join(elsewhere, name), build, device)
    if rebuild:
        with contextlib.suppress(OSError):
            os.remove(path)
    options = {'device': device} if device.startswith('cuda') else {}
    return tenfold.Engine(cache.get(key, lambda: _built(path, build, device), name, options))
