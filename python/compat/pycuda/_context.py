"""Devices and their contexts."""
from __future__ import annotations

from tenfold.pycuda import _gpu
from tenfold.pycuda._used import used
from tenfold.pycuda.errors import LogicError


def init(flags: int = 0) -> None: used().count()
def get_version() -> tuple[int, int, int]: return (v := used().driver_version()) // 1000, v % 1000 // 10, 0
def get_driver_version() -> int: return int(used().driver_version())
def mem_get_info() -> tuple[int, int]: return used().memory_info()   # type: ignore[no-any-return]


class Device:
    """One device by its number, as the driver counts."""

    def __init__(self, dev_no: int) -> None:
        if not 0 <= dev_no < used().count():
            raise LogicError(f'device {dev_no}: there are {used().count()}')
        self._ordinal = dev_no

    @staticmethod
    def count() -> int: return int(used().count())
    def name(self) -> str: return str(used().name(self._ordinal))
    def compute_capability(self) -> tuple[int, int]: return used().compute_capability(self._ordinal)   # type: ignore[no-any-return]
    def total_memory(self) -> int: return mem_get_info()[1]

    def make_context(self, flags: int = 0) -> Context:
        context = Context(self)
        context.push()
        return context

    retain_primary_context = make_context


class Context:
    """The device's primary context, which tenfold uses, too: push() makes it this thread's, pop() leaves it there."""
    _current: Device | None = None

    def __init__(self, device: Device) -> None:
        self._device = device

    def push(self) -> None:
        if used() is _gpu:
            _gpu.begin(self._device._ordinal)
        Context._current = self._device

    @staticmethod
    def pop() -> None: pass
    def detach(self) -> None: pass

    @staticmethod
    def get_device() -> Device:
        if Context._current is None:
            raise LogicError('no context was made: import pycuda.autoinit, or Device(0).make_context()')
        return Context._current

    @staticmethod
    def synchronize() -> None: used().synchronize()
