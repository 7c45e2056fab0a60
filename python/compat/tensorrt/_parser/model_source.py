"""Models that come in parts: load_model_proto(), then load_initializer() for what the file refers to, then parse or refit."""
from __future__ import annotations

import ctypes
import os
from typing import Any

from tenfold.tensorrt._logger import fail
from tenfold.tensorrt._parser.errors import Errors, ParserError
from tenfold.tensorrt._types import address_of


def folders_of(path: str | None) -> list[str]:
    """Where weights of a file may lie that comes as bytes: beside it, and beside what it is a link to; in the working directory, where
    nobody says which file it was."""
    if path:
        path = os.fspath(path)
        return [os.path.dirname(os.path.abspath(path)), os.path.dirname(os.path.realpath(path))]
    try:
        return [os.getcwd()]
    except OSError:   # it is gone
        return []


class ModelSource(Errors):
    _model: bytes | None = None
    _folders: list[str] = []         # never changed in place
    _given: dict[str, Any] = {}

    def load_model_proto(self, model: Any, path: str | None = None) -> bool:
        """The bytes of a file, which are copied. `path`: where it lay, for weights that lie beside it."""
        if isinstance(model, str):
            raise TypeError('load_model_proto() takes the bytes of an ONNX file, got a str')
        self._errors = []
        self._model, self._folders, self._given = bytes(memoryview(model)), folders_of(path), {}
        return True

    def load_initializer(self, name: str, data: Any, size: int) -> bool:
        """`size` bytes at an address of the host, in the place of the initializer's that the file has or refers to. They
        are copied. That there is one of this name and size is looked at when the model is read."""
        import numpy as np
        if self._model is None:
            fail(self._logger, 'load_initializer(): no model is loaded: load_model_proto() does')
            return False
        address = address_of(data, name)
        if not address or size < 0:
            fail(self._logger, f'load_initializer(): {size} bytes at {address} were given for {name!r}')
            return False
        self._given[name] = np.frombuffer(ctypes.string_at(address, size), np.uint8)
        return True

    def _loaded(self, what: str) -> tuple[bytes, dict[str, Any]] | None:
        """The model and the options to read it by; None: there is none."""
        if self._model is None:
            self._refuse(ParserError('invalid_argument', f'{what}: no model is loaded: load_model_proto() does'))
            return None
        return self._model, {'external_data_dirs': self._folders, 'initializers': self._given}
