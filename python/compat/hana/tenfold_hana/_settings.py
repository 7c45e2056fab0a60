"""The seven environment variables: an argument is before its variable, and the variable before the default."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tenfold import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable

PRECISIONS = ('auto', 'fp32', 'bf16', 'fp16', 'int8')


@dataclass(frozen=True)
class Settings:
    use_tensorrt: bool
    precision: str
    cache_dir: str
    max_workspace_size: int   # MB
    engine_rebuild: bool
    int8_calibration: bool
    calibration_cache: str


def _flag(given: Any) -> bool:
    text = str(given).lower()
    if text not in ('true', 'false'):
        raise ValueError('true or false')
    return text == 'true'


def _precision(given: Any) -> str:
    if given not in PRECISIONS:
        raise ValueError('one of ' + ', '.join(PRECISIONS))
    return str(given)


def _folder(given: Any) -> str:
    return os.path.abspath(os.path.expanduser(os.fspath(given)))


def _megabytes(given: Any) -> int:
    text = str(given).strip()
    if isinstance(given, bool) or not text.isdecimal() or int(text) == 0:
        raise ValueError('a whole number of MB from 1 on')
    return int(text)


_VARIABLES: dict[str, tuple[str, str, Callable[[Any], Any]]] = {   # field: variable, default, how it is read
    'use_tensorrt': ('USE_TENSORRT', 'false', _flag),
    'precision': ('TENSORRT_PRECISION', 'auto', _precision),
    'cache_dir': ('TENSORRT_CACHE_DIR', '~/.cache/hana_trt_engines', _folder),
    'max_workspace_size': ('TENSORRT_MAX_WORKSPACE_SIZE', '1024', _megabytes),
    'engine_rebuild': ('TENSORRT_ENGINE_REBUILD', 'false', _flag),
    'int8_calibration': ('TENSORRT_INT8_CALIBRATION', 'false', _flag),
    'calibration_cache': ('TENSORRT_CALIBRATION_CACHE', '~/.cache/hana_trt_calibration', _folder),
}


def _read(field: str, argument: Any) -> Any:
    variable, default, parse = _VARIABLES[field]
    where, given = (variable, os.environ.get(variable) or default) if argument is None else (field, argument)
    try:
        return parse(given)
    except (ValueError, TypeError) as wrong:
        expected = str(wrong) if isinstance(wrong, ValueError) else 'the path of a folder'
        raise InvalidArgument(f'{where} is {given!r}, expected {expected}') from None


def is_set(field: str) -> bool:
    """Whether the environment says it."""
    return bool(os.environ.get(_VARIABLES[field][0]))


def who_said(**arguments: Any) -> dict[str, str]:
    """{field: the argument, or the variable, that sets it}, of fields that are not left to their defaults."""
    return {field: field if arguments.get(field) is not None else _VARIABLES[field][0]
            for field in _VARIABLES if arguments.get(field) is not None or is_set(field)}


def read_settings(**arguments: Any) -> Settings:
    """Arguments by the names of the fields; None: what the environment says. Raises InvalidArgument with the variable and its choices."""
    return Settings(**{field: _read(field, arguments.pop(field, None)) for field in _VARIABLES}, **arguments)
