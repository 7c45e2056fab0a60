"""Engines as files: {model}_{precision}.engine, found again by a key, shared by processes, rebuilt with the reason."""
from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from typing import TYPE_CHECKING

import tenfold

from tenfold_hana._devices import log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = 'tenfold_hana.key'   # the label of an engine that holds its key


def file_name(model_name: str) -> str:
    """Of a model: a name, or a folder, whose last part counts. sentence-transformers/x is sentence-transformers_x."""
    name = os.fspath(model_name)
    if os.path.isabs(name) or name.startswith(('.', '~')):
        name = os.path.basename(os.path.abspath(os.path.expanduser(name)))
    return name.strip('/').replace('/', '_')


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Others wait for what this process builds. The file may be removed at any time: then two build, and the later one stays."""
    with open(path + '.lock', 'w', encoding='utf-8') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _loaded(path: str, device: str) -> tenfold.Engine:
    return tenfold.load(path, device=device if device.startswith('cuda') else None)


def _found(path: str, key: str, device: str, foreign: bool) -> tenfold.Engine | None:
    """The engine of a file, or None, and the log says why. `foreign`: one that tells no key is taken, too."""
    if not os.path.exists(path):
        return None
    try:
        engine = _loaded(path, device)
    except (tenfold.OutOfMemory, tenfold.DeviceError):   # not the file's fault
        raise
    except tenfold.Error as error:
        log.warning('%s is built anew: %s', path, error)
        return None
    found = engine.labels.get(KEY)
    if found == key or foreign and found is None:
        log.info('%s: an engine of %d MB was loaded', path, os.path.getsize(path) >> 20)
        return engine
    log.warning('%s is built anew: it was made from another model, for another device, or with other options', path)
    return None


def _built(path: str, build: Callable[[str], tenfold.Engine | None], device: str) -> tenfold.Engine:
    engine = build(path)
    if engine is not None:
        return engine
    if not os.path.exists(path):
        raise tenfold.InvalidArgument(f'_build_engine() returned nothing and wrote no {path}; it writes the engine there')
    return _loaded(path, device)


def engine_at(path: str, key: str, device: str, build: Callable[[str], tenfold.Engine | None], *, rebuild: bool = False,
              foreign: bool = False) -> tenfold.Engine:
    """The engine of the file, or what `build` makes: it writes the file, or returns the engine, or both."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lock = contextlib.ExitStack()
        lock.enter_context(_locked(path))
    except OSError as error:
        log.warning('engines are not kept: %s', error)
        with tempfile.TemporaryDirectory() as folder:
            return _built(os.path.join(folder, os.path.basename(path)), build, device)
    with lock:
        found = None if rebuild else _found(path, key, device, foreign)
        return found or _built(path, build, device)


def saved(engine: tenfold.Engine, path: str) -> tenfold.Engine:
    """Where the disk is full, or the folder has gone, the engine is used all the same."""
    try:
        engine.save(path)
    except tenfold.FileError as error:
        log.warning('the engine is not kept: %s', error)
    return engine
