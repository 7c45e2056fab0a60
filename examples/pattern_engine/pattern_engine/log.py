"""What a build or an engine tells: to Python's logging, and errors are kept for the exception."""
from __future__ import annotations

import logging
from typing import Any

import tenfold.tensorrt as trt

LEVELS = {trt.Logger.INTERNAL_ERROR: logging.ERROR, trt.Logger.ERROR: logging.ERROR, trt.Logger.WARNING: logging.WARNING}


class Log(trt.ILogger):
    def __init__(self) -> None:
        trt.ILogger.__init__(self)
        self.errors: list[str] = []

    def log(self, severity: Any, msg: str) -> None:
        level = LEVELS.get(severity, logging.DEBUG)
        if level == logging.ERROR:   # the exception tells it
            self.errors.append(msg)
        else:
            logging.getLogger('pattern_engine').log(level, '%s', msg)

    def reasons(self) -> str:
        return '; '.join(self.errors) or 'no reason was told'
