"""The process's own operators: what tenfold.plugins made and loaded is known to every build and load that names no other set."""
from __future__ import annotations

import threading
from typing import Any

from tenfold import _native

_lock = threading.Lock()
_operators: dict[str, Any] = {}      # by "domain::name"; the last definition counts, so that a notebook's cell may run again
_libraries: list[str] = []


def register(operator: Any) -> None:
    with _lock:
        _operators[str(operator)] = operator


def register_library(path: str) -> None:
    with _lock:
        if path not in _libraries:
            _libraries.append(path)


def forget(name: str) -> None:
    with _lock:
        if name in _libraries:
            _libraries.remove(name)
        else:
            del _operators[name]


def known_plugins() -> _native.Plugins | None:
    """A new set, since operators may have got tactics; None: there are none."""
    with _lock:
        if not _operators and not _libraries:
            return None
        made = _native.Plugins()
        for path in _libraries:
            made.load(path)
        for operator in _operators.values():
            made.add(operator)
        return made


def put_plugins(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a build or load, with the operators that are known."""
    if options.get('plugins') is None and (known := known_plugins()) is not None:
        options = {**options, 'plugins': known}
    return options
