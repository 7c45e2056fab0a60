"""What Predictor and Embedder are alike in: options that travel, an engine that does not, one for each actor."""
from __future__ import annotations

import threading
from typing import Any

from tenfold.errors import InvalidArgument
from tenfold.ray._place import in_actor


class Model:
    """It is pickled as its arguments. In an actor the engine is opened at once, so that what is missing ends the start of the actor;
    elsewhere by the first call."""

    _NAME = ''   # of the first argument

    def __init__(self, path: Any, options: dict[str, Any]) -> None:
        if path is None:
            raise TypeError(f"{type(self).__name__} needs {self._NAME}=..., the model's path: map_batches({type(self).__name__}, "
                            f"fn_constructor_kwargs={{'{self._NAME}': ...}}, compute=ray.data.ActorPoolStrategy(size=...))")
        self.path, self._given = path, options
        self._lock, self._opened = threading.Lock(), None
        if in_actor():
            self.open()

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self._NAME, self.path, self._given)

    def open(self) -> Any:
        """The engine, or encoder, which the first call makes."""
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def _open(self) -> Any:
        raise NotImplementedError


def _again(kind: Any, name: str, path: str, options: dict[str, Any]) -> Any:
    return kind(**{name: path}, **options)


def expect_one_of(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InvalidArgument(f'{name} is {value!r}, expected {" or ".join(map(repr, known))}')


def kept_columns(columns: list[str], used: set[str], keep: Any, made: list[str]) -> list[str]:
    """Columns that go on beside the results: `keep`, or all that were not used. Names of results are not among them."""
    if keep is None:
        kept = [name for name in columns if name not in used]
    else:
        kept = [keep] if isinstance(keep, str) else list(keep)
        if absent := [name for name in kept if name not in columns]:
            raise InvalidArgument(f'keep has {absent[0]!r}, and the batch has the columns {", ".join(map(repr, columns))}')
    if twice := [name for name in made if name in kept]:
        raise InvalidArgument(f'the batch has a column {twice[0]!r}, which is the name of a result, too: name the result otherwise, or '
                              'leave the column out of keep=[...]')
    return kept
