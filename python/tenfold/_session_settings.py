"""Settings of ONNX Runtime's option classes: attributes of one type each, and what is told of those that change nothing here."""
from __future__ import annotations

import enum
from typing import Any

from tenfold._log import once


class Setting:
    """An attribute that takes what pybind11 takes for its type. `without_effect`: why another value than the default changes nothing; it is
    told once. `like_default`: values that ask for what happens anyway."""

    def __init__(self, default: Any, meaning: str, without_effect: str = '', like_default: tuple[Any, ...] = ()) -> None:
        self.default, self.without_effect, self._like_default = default, without_effect, like_default
        self.__doc__ = meaning

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, options: Any, owner: type | None = None) -> Any:
        return self if options is None else options._values.get(self.name, self.default)

    def __set__(self, options: Any, value: Any) -> None:
        kind = type(self.default)
        if kind is bool:
            good = value is None or not isinstance(value, str) and hasattr(type(value), '__bool__')
        elif kind is int:
            good = hasattr(type(value), '__index__')
        else:
            good = isinstance(value, kind)
        if not good:
            raise TypeError(f'{type(options).__name__}.{self.name} takes {_what(kind)}, got {value!r}, of the class {type(value).__name__}')
        options._values[self.name] = bool(value) if kind is bool else int(value) if kind is int else value

    def tell(self, options: Any) -> None:
        value = getattr(options, self.name)
        if self.without_effect and value != self.default and value not in self._like_default:
            once(f'{type(options).__name__}.{self.name} has no effect: {self.without_effect}')


def _what(kind: type) -> str:
    if issubclass(kind, enum.Enum):
        return f'a member of {kind.__name__}'
    return {bool: 'a truth value', int: 'an integer', str: 'a string'}[kind]


class Options:
    """What has such attributes, and no other ones."""

    __slots__ = ('_values', '_entries', '__weakref__')
    log_severity_level: Any

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._entries: dict[str, str] = {}

    def _add_entry(self, key: str, value: str) -> None:
        for one in (key, value):
            if not isinstance(one, str):
                raise TypeError(f'an entry of {type(self).__name__} is two strings, got {one!r}')
        self._entries[key] = value

    def _entry(self, key: str) -> str:
        if key not in self._entries:
            raise RuntimeError(f'{type(self).__name__} has no entry {key!r}')
        return self._entries[key]

    @classmethod
    def _settings(cls) -> list[Setting]:
        return [one for each in cls.__mro__ for one in vars(each).values() if isinstance(one, Setting)]

    def _tell(self, entries_with_effect: tuple[str, ...] = ()) -> None:
        """Of what is set here and changes nothing, unless no warnings are wanted."""
        if self.log_severity_level > 2:
            return
        for setting in self._settings():
            setting.tell(self)
        for key in self._entries:
            if key not in entries_with_effect:
                once(f'the entry {key!r} of {type(self).__name__} has no effect')
