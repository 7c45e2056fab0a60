"""PyCUDA's exceptions, by the driver's codes."""
from __future__ import annotations

from typing import NoReturn

OUT_OF_MEMORY, LAUNCH_FAILURES = 2, (700, 701, 702, 719)


class Error(Exception): pass
class LogicError(Error): pass
class RuntimeError(Error): pass   # noqa: A001  PyCUDA's name
class LaunchError(RuntimeError): pass
class MemoryError(Error): pass    # noqa: A001


def raise_for(code: int, message: str) -> NoReturn:
    kind = MemoryError if code == OUT_OF_MEMORY else LaunchError if code in LAUNCH_FAILURES else LogicError
    raise kind(message)
