"""OnnxParserRefitter: the weights of an ONNX file, given to a Refitter by their names."""
from __future__ import annotations

import os
from typing import Any

from tenfold import _native
from tenfold._build import _model
from tenfold._registry import put_plugins
from tenfold.errors import Error
from tenfold.tensorrt._logger import ILogger, native_log, need_logger
from tenfold.tensorrt._parser.errors import ParserError
from tenfold.tensorrt._parser.model_source import ModelSource, folders_of
from tenfold.tensorrt._plugins.operators import on_host, operators
from tenfold.tensorrt._run.refitter import Refitter


class OnnxParserRefitter(ModelSource):
    """Each call gives the refitter all weights of the file that the engine has; refitter.refit_cuda_engine() then puts them in."""

    def __init__(self, refitter: Refitter, logger: ILogger) -> None:
        if not isinstance(refitter, Refitter):
            raise TypeError(f'OnnxParserRefitter takes a Refitter, got {type(refitter).__name__}')
        self._refitter, self._logger = refitter, need_logger(logger)
        self._errors: list[ParserError] = []

    def refit_from_bytes(self, model: Any, path: str | None = None) -> bool:
        """`path`: where the file lay, for weights that lie beside it. False: get_error(i) tells why, and nothing was given."""
        if isinstance(model, str):
            raise TypeError('refit_from_bytes() takes the bytes of an ONNX file; refit_from_file() takes its path')
        return self._refit(model, {'external_data_dirs': folders_of(path)})

    def refit_from_file(self, model: Any) -> bool: return self._refit(os.fspath(model), {})

    def refit_model_proto(self) -> bool:
        """What load_model_proto() and load_initializer() gave."""
        loaded = self._loaded('refit_model_proto()')
        return loaded is not None and self._refit(*loaded)

    def _refit(self, model: Any, options: dict[str, Any]) -> bool:
        self._errors = []
        try:
            options.update(log=native_log(self._logger), plugins=operators(on_host()))
            found = _native.weights(_model(model), put_plugins(options))
        except Error as error:
            return self._refuse_error(error)
        requested = self._refitter.get_all_weights()
        if missing := [name for name in requested if name not in found]:
            return self._refuse(ParserError('invalid_model', f'the model has no weights {", ".join(missing)}, which the engine has'))
        given = dict(self._refitter._given)
        for name in requested:
            if not self._refitter.set_named_weights(name, found[name]):
                self._refitter._given = given
                return self._refuse(ParserError('invalid_model', f"the model's weights '{name}' do not fit the engine's"))
        return True
