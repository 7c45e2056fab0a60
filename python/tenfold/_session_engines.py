"""The engines of a session on one device: for the arrays that come, for initializers that are fed, for ranks that only a run tells."""
from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from tenfold import _native, errors
from tenfold._engine import Engine
from tenfold._log import logger

_MOST = 16   # sets of shapes whose engines are kept, as ModelEngines keeps them
# Problems that a shape may settle.
_RANK = ('the rank of the result is unknown', 'has an unknown number of dimensions', 'has no declared number of dimensions')


class Engines:
    """`arguments`: what the file declares, read where it is needed."""

    def __init__(self, model: Any, config: dict[str, Any], tune: str, cache: Any, tuner: Any) -> None:
        self._model, self._config, self._rest = model, config, (tune, cache, tuner, Engine)
        self._lock = threading.Lock()
        self._fed: dict[frozenset[str], _native.ModelEngines] = {}          # by the initializers that are fed
        self._of_shapes: OrderedDict[Any, _native.ModelEngines] = OrderedDict()
        self.plain: _native.ModelEngines | None = None                      # None: shapes must be known before there is one
        self.one_for_all = False
        try:
            self.plain = self._make({})
            self.one_for_all = self.plain.one_for_all
        except errors.Unsupported as error:
            if config.get('profiles') or not self._needs_shapes():
                raise
            why = str(error).splitlines()[-1].split(';')[0].strip()
            logger.warning('%s; so an engine is built for each set of shapes, when it first comes', why)

    def _make(self, more: dict[str, Any]) -> _native.ModelEngines:
        return _native.ModelEngines(self._model, {**self._config, **more}, *self._rest)

    def _needs_shapes(self) -> bool:
        """Whether all that stands against the model is a rank that no shape gives yet."""
        problems = [str(problem) for problem in _native.check(self._model, self._config)]
        return bool(problems) and all(any(words in problem for words in _RANK) for problem in problems)

    @property
    def bindings(self) -> list[_native.Binding]:
        return self.plain.bindings if self.plain is not None else []

    def any(self) -> tuple[Engine, bool]:
        if self.plain is None:
            raise errors.InvalidArgument('an engine needs the shapes of all inputs first: give them to run()')
        return self.plain.any()

    def engine_of(self, feed: dict[str, Any], fed: frozenset[str]) -> tuple[Engine, bool]:
        """`fed`: the initializers among the feed."""
        if self.plain is not None and not fed:
            return self.plain.engine_of(feed)
        return self._for(feed, fed).engine_of(feed)

    def has_engine_of(self, feed: dict[str, Any], fed: frozenset[str]) -> bool:
        if self.plain is not None and not fed:
            return self.plain.has_engine_of(feed)
        return self._for(feed, fed).has_engine_of(feed)

    def wait(self, timeout: float | None) -> bool:
        return all([one.wait(timeout) for one in self._all()])

    def served(self) -> list[Any]:
        return [served for one in self._all() for served in one.served()]

    def _all(self) -> list[_native.ModelEngines]:
        with self._lock:
            return [*([self.plain] if self.plain is not None else []), *self._fed.values(), *self._of_shapes.values()]

    def _for(self, feed: dict[str, Any], fed: frozenset[str]) -> _native.ModelEngines:
        if self.plain is None:
            return self._for_shapes(feed, fed)
        with self._lock:
            if fed not in self._fed:   # those that are not fed stay constants, which is faster
                self._fed[fed] = self._make({'overridable': sorted(fed)})
            return self._fed[fed]

    def _for_shapes(self, feed: dict[str, Any], fed: frozenset[str]) -> _native.ModelEngines:
        shapes = {name: tuple(array.shape) for name, array in feed.items() if hasattr(array, 'shape')}
        key = (fed, tuple(sorted(shapes.items())))
        with self._lock:
            if key not in self._of_shapes:
                fixed = {name: shape for name, shape in shapes.items() if name not in fed}
                self._of_shapes[key] = self._make({'profiles': [fixed], 'overridable': sorted(fed)})
                if len(self._of_shapes) > _MOST:
                    self._of_shapes.popitem(last=False)
            self._of_shapes.move_to_end(key)
            return self._of_shapes[key]
