"""Errors under ONNX Runtime's names. What a session raises stays Tenfold's error, and is one of these, too, so that `except` finds it by
either name."""
from __future__ import annotations

import functools
import os
from typing import Any

from tenfold import errors


class DeviceReset(Exception): pass
class EPFail(Exception): pass
class EngineError(Exception): pass
class Fail(Exception): pass
class InvalidArgument(Exception): pass
class InvalidGraph(Exception): pass
class InvalidProtobuf(Exception): pass
class ModelLoadCanceled(Exception): pass
class ModelLoaded(Exception): pass
class ModelRequiresCompilation(Exception): pass
class NoModel(Exception): pass
class NoSuchFile(Exception): pass
class NotFound(Exception): pass
class NotImplemented(Exception): pass
class RuntimeException(Exception): pass


# The first name is the class's own. Where ONNX Runtime has several for one kind, by where it finds the fault, each of them finds it.
_THEIRS: tuple[tuple[type[errors.Error], tuple[type[Exception], ...]], ...] = (
    (errors.InvalidArgument, (InvalidArgument,)),
    (errors.InvalidModel, (InvalidGraph, Fail)),
    (errors.Unsupported, (NotImplemented, InvalidGraph, Fail)),
    (errors.OutOfMemory, (RuntimeException,)),
    (errors.FileError, (Fail,)),
    (errors.DeviceError, (EPFail,)),
    (errors.Cancelled, (Fail,)),
    (errors.Internal, (RuntimeException,)),
    (errors.Error, (Fail,)),
)


class NoArray(TypeError, RuntimeError):
    """A feed that is no array. ONNX Runtime raises a RuntimeError, Tenfold a TypeError."""


class NoBinding(errors.InvalidArgument, RuntimeError):
    """An IOBinding's name that is none. ONNX Runtime raises a RuntimeError."""


def _again(kind: type[errors.Error], theirs: tuple[type[Exception], ...], arguments: tuple[Any, ...]) -> errors.Error:
    return _both(kind, theirs)(*arguments)


@functools.cache
def _both(kind: type[errors.Error], theirs: tuple[type[Exception], ...]) -> type[errors.Error]:
    def reduce(self: Any) -> tuple[Any, ...]:
        return _again, (kind, theirs, self.args), vars(self)
    return type(theirs[0].__name__, (kind, *theirs), {'__module__': __name__, '__doc__': kind.__doc__, '__reduce__': reduce})


def _names_of(error: errors.Error, path: Any) -> tuple[type[Exception], ...]:
    if isinstance(error, errors.FileError) and path is not None and not os.path.exists(path):
        return (NoSuchFile,)
    if isinstance(error, errors.InvalidModel) and 'an ONNX model' in str(error):   # the bytes are none at all
        return (InvalidProtobuf,)
    return next(theirs for kind, theirs in _THEIRS if isinstance(error, kind))


class AsTheirs:
    """A `with` whose errors have ONNX Runtime's names, too. `path`: of the model that is being opened."""

    def __init__(self, path: Any = None) -> None:
        self._path = path if isinstance(path, str) or hasattr(path, '__fspath__') else None

    def __enter__(self) -> None: pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:
            give_their_name(error, self._path)


def give_their_name(error: BaseException, path: Any = None) -> None:
    if isinstance(error, errors.Error):
        theirs = _names_of(error, path)
        if not isinstance(error, theirs[0]):
            error.__class__ = _both(type(error), theirs)
