"""ILogger, Logger, and how lines of the library come to them."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from tenfold.tensorrt._enums import Severity

_OF_NATIVE = {'verbose': 4, 'info': 3, 'warning': 2, 'error': 1}
_said: set[str] = set()


class ILogger:
    """To be derived from: log(severity, message) receives every line."""

    Severity = Severity
    INTERNAL_ERROR, ERROR, WARNING, INFO, VERBOSE = Severity

    def __init__(self) -> None:
        pass

    def __enter__(self) -> ILogger: return self
    def __exit__(self, *_: object) -> None: pass

    def log(self, severity: Any, msg: str) -> None:
        raise NotImplementedError(f'{type(self).__name__} derives from ILogger and has no log(severity, message)')


class Logger(ILogger):
    """Writes lines to stderr, down to `min_severity`."""

    def __init__(self, min_severity: Any = Severity.WARNING) -> None:
        self._least = Severity(min_severity)

    @property
    def min_severity(self) -> Severity: return self._least

    @min_severity.setter
    def min_severity(self, severity: Any) -> None: self._least = Severity(severity)

    def log(self, severity: Any, msg: str) -> None:
        if severity <= self._least:
            print(f'[{time.strftime("%m/%d/%Y-%H:%M:%S")}] [TRT] [{Severity(severity).name[0]}] {msg}', file=sys.stderr)


def need_logger(logger: Any) -> ILogger:
    if not isinstance(logger, ILogger):
        raise TypeError(f'a logger is a trt.Logger or derives from trt.ILogger, got {type(logger).__name__}')
    return logger


def native_log(logger: ILogger) -> Callable[[str, str], None]:
    """For build(log=) and load(log=)."""
    return lambda severity, text: logger.log(Severity(_OF_NATIVE[severity]), text)


def fail(logger: ILogger, failure: object) -> None:
    """To the logger, and to the error recorder where there is one."""
    if record := getattr(logger, '_record_failure', None):   # a Recorded one
        record(failure)
    logger.log(Severity.ERROR, str(failure))


def say_once(logger: ILogger, text: str, severity: Any = Severity.WARNING) -> None:
    """Once in a process."""
    if text not in _said:
        _said.add(text)
        logger.log(severity, text)
