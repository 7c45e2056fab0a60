"""Service: a model behind Ray Serve; a plain class, which _deployment.py hands to Serve."""
from __future__ import annotations

import asyncio
import difflib
import inspect
import os
from typing import Any

import numpy as np

from tenfold.errors import Error, InvalidArgument
from tenfold.ray._embedder import Embedder
from tenfold.ray._model import Model
from tenfold.ray._predictor import Predictor

_PATHS = ('path', 'folder')


class Service:
    """`path`: a folder of an encoder, or a model for Predictor. Other keywords are those of Embedder, or of Predictor.

    A handle calls it with a list of texts, or a dict of arrays; over HTTP it takes {"texts": [...]} and answers {"embeddings": [...]},
    or takes {"inputs": {...}} and answers {"outputs": {...}}. `user_config` of the deployment, which may change while it serves, holds
    the same keywords, `path` too: the new model is opened beside the old one, which answers until then, and goes on where the new one
    fails.
    """

    def __init__(self, path: Any, **options: Any) -> None:
        self._base = {'path': os.fspath(path), **options}
        self._config: dict[str, Any] | None = None
        self._model: Model = _model_of(self._base)
        self._model.open()

    async def reconfigure(self, config: dict[str, Any]) -> None:
        if config == (self._config or {}):
            return
        made = _model_of({**self._base, **config})
        await asyncio.to_thread(made.open)   # requests go on meanwhile
        self._model, self._config = made, dict(config)

    async def check_health(self) -> None:
        await asyncio.to_thread(self._model.check)   # type: ignore[attr-defined]

    async def __call__(self, request: Any) -> Any:
        if hasattr(request, 'scope') and hasattr(request, 'json'):   # starlette's, of HTTP
            return await self._over_http(request)
        return await asyncio.to_thread(self._answer, request)

    def _answer(self, request: Any) -> Any:
        model = self._model
        if isinstance(model, Predictor):
            return model(request)
        if isinstance(request, str) or not isinstance(request, (list, tuple, np.ndarray)):
            raise InvalidArgument(f'an encoder takes a list of texts, got {type(request).__name__}')
        assert isinstance(model, Embedder)
        vectors, failed = model.vectors(list(request))
        if failed:
            at, why = next(iter(failed.items()))
            raise InvalidArgument(f'text {at}: {why}')
        return vectors

    async def _over_http(self, request: Any) -> Any:
        from starlette.responses import JSONResponse   # comes with ray[serve]
        try:
            name, other = ('inputs', 'outputs') if isinstance(self._model, Predictor) else ('texts', 'embeddings')
            try:
                body = await request.json()
            except ValueError as error:
                raise InvalidArgument(f'the body is no JSON: {error}') from None
            if not isinstance(body, dict) or name not in body:
                raise InvalidArgument(f'the body is a JSON object with "{name}"')
            given = body[name]
            if name == 'inputs':
                if not isinstance(given, dict):
                    raise InvalidArgument('"inputs" is an object, from names to lists of rows')
                given = {column: _array(column, rows) for column, rows in given.items()}
            answer = await asyncio.to_thread(self._answer, given)
        except (Error, TypeError) as error:
            wrong = isinstance(error, (InvalidArgument, TypeError))
            return JSONResponse({'error': str(error)}, status_code=400 if wrong else 500)
        lists = {key: value.tolist() for key, value in answer.items()} if name == 'inputs' else answer.tolist()
        return JSONResponse({other: lists})


def _array(column: str, rows: Any) -> Any:
    try:
        array = np.asarray(rows)
    except ValueError:
        array = np.asarray(None)
    if array.dtype == object:
        raise InvalidArgument(f'"inputs": the rows of {column!r} are no lists of numbers of one shape')
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _model_of(options: dict[str, Any]) -> Model:
    options = dict(options)
    path = os.path.expanduser(os.fspath(options.pop('path')))
    kind = Predictor if os.path.isfile(path) or path.endswith(('.onnx', '.plan', '.engine')) else Embedder
    known = [name for name in inspect.signature(kind).parameters if name not in _PATHS]
    free = {name: value for name, value in options.items() if name not in known}
    for name in free:
        if near := difflib.get_close_matches(name, [*known, 'path'], 1):
            raise TypeError(f"{kind.__name__} takes no {name!r}; '{near[0]}' is meant?")
    if kind is Embedder:
        options.setdefault('column', 'text')
    return kind(path, **options)
