"""Fields that can be set and have no effect: that is said once, as a warning."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._logger import say_once


def noted(name: str, default: Any, why: str = '') -> property:
    """Reads what was set; another value than the default is said to have no effect."""
    def get(self: Any) -> Any:
        return self.__dict__.get('_noted', {}).get(name, default)

    def put(self: Any, value: Any) -> None:
        if value != default:
            say_once(self._logger, f'{name} = {value} has no effect in Tenfold' + (f': {why}' if why else ''))
        self.__dict__.setdefault('_noted', {})[name] = value
    return property(get, put)
