"""torch_tensorrt.logging: levels of the logger "tenfold", by Torch-TensorRT's names."""
from __future__ import annotations

import contextlib
import enum
import logging as python_logging
from collections.abc import Iterator

from tenfold._log import logger
from tenfold.torch_tensorrt._settings import no_effect


class Level(enum.Enum):
    InternalError = python_logging.CRITICAL
    Error = python_logging.ERROR
    Warning = python_logging.WARNING
    Info = python_logging.INFO
    Debug = python_logging.DEBUG
    Graph = python_logging.DEBUG - 1


def get_reportable_log_level() -> Level:
    """The least severe level that is logged."""
    now = logger.getEffectiveLevel()
    return next((level for level in Level if level.value <= now), Level.Graph)


def set_reportable_log_level(level: Level) -> None:
    """Lines below this level are not logged. A process that has set up no logging gets them on stderr."""
    logger.setLevel(Level(level).value)
    if level.value < python_logging.WARNING and not logger.hasHandlers():
        logger.addHandler(python_logging.StreamHandler())


def log(level: Level, msg: str) -> None: logger.log(Level(level).value, '%s', msg)


def set_is_colored_output_on(colored: bool) -> None:
    if colored:
        no_effect('logging.set_is_colored_output_on(True)', 'lines go to the module logging, which has no colors')


def get_is_colored_output_on() -> bool: return False


@contextlib.contextmanager
def at(level: Level) -> Iterator[None]:
    before = logger.level
    set_reportable_log_level(level)
    try:
        yield
    finally:
        logger.setLevel(before)


def internal_errors() -> contextlib.AbstractContextManager[None]: return at(Level.InternalError)


def errors() -> contextlib.AbstractContextManager[None]: return at(Level.Error)


def warnings() -> contextlib.AbstractContextManager[None]: return at(Level.Warning)


def info() -> contextlib.AbstractContextManager[None]: return at(Level.Info)


def debug() -> contextlib.AbstractContextManager[None]: return at(Level.Debug)


def graphs() -> contextlib.AbstractContextManager[None]: return at(Level.Graph)


def __getattr__(name: str) -> None:
    raise AttributeError(f'torch_tensorrt.logging of Tenfold has no {name!r}')
