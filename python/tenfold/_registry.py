"""The process's own operators: what tenfold.plugins made and loaded is known to every build and load that names no other set."""
from __future__ import annotations

import threading
from typing import Any

from tenfold import _native

_lock = threading.RLock()
_operators: dict[str, Any] = {}      # by "domain::name"; the last definition counts, so that a notebook's cell may run again
_libraries: list[str] = []
_made: _native.Plugins | None = None   # of all of these, until something changes


def changed() -> None:
    """An operator has got a tactic."""
    global _made
    with _lock:
        _made = None


def register(operator: Any) -> None:
    with _lock:
        _operators[str(operator)] = operator
        changed()


def register_library(path: str) -> None:
    with _lock:
        if path not in _libraries:
            _libraries.append(path)
            changed()


def forget(name: str) -> None:
    with _lock:
        changed()
        if name in _libraries:
            _libraries.remove(name)
        else:
            del _operators[name]


def new_set() -> _native.Plugins:
    """Of all, for one more to be added."""
    with _lock:
        made = _native.Plugins()
        for path in _libraries:
            made.load(path)
        for operator in _operators.values():
            made.add(operator)
        return made


def known_plugins() -> _native.Plugins | None:
    """The set of all, which nobody adds to; None: there are none."""
    global _made
    with _lock:
        if _made is None and (_operators or _libraries):
            _made = new_set()
        return _made


def put_plugins(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a build or load, with the operators that are known."""
    if options.get('plugins') is None and (known := known_plugins()) is not None:
        options = {**options, 'plugins': known}
    return options
