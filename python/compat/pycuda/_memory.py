"""Memory of the device, and copies from and to it."""
from __future__ import annotations

from typing import Any

from tenfold.pycuda._buffers import address_and_size
from tenfold.pycuda._stream import Stream
from tenfold.pycuda._used import used
from tenfold.pycuda.errors import LogicError


class DeviceAllocation:
    """Memory of the device; int() is its address. It is given back when the object goes, or by free()."""

    def __init__(self, size: int) -> None:
        if size <= 0:
            raise LogicError(f'mem_alloc of {size} bytes: a positive number was expected')
        self.size = int(size)
        self._device = used()
        self._address = self._device.allocate(self.size)

    def free(self) -> None:
        if not self._address:
            raise LogicError('this memory was freed before')
        self._device.release(self._address)
        self._address = 0

    def __int__(self) -> int:
        if not self._address:
            raise LogicError('this memory was freed')
        return int(self._address)

    __index__ = __int__

    def __del__(self) -> None:
        if getattr(self, '_address', 0):
            self._device.release(self._address)


def mem_alloc(bytes: int) -> DeviceAllocation: return DeviceAllocation(bytes)
def mem_alloc_like(ary: Any) -> DeviceAllocation: return DeviceAllocation(ary.nbytes)


def _copy(to: int, source: int, size: int, stream: Stream | None, now: bool) -> None:
    used().copy(to, source, size, None if now else stream.handle if stream else 0)


def memcpy_htod_async(dest: Any, src: Any, stream: Stream | None = None, now: bool = False) -> None:
    address, size = address_and_size(src, writable=False)
    _fits(dest, size)
    _copy(int(dest), address, size, stream, now)


def memcpy_dtoh_async(dest: Any, src: Any, stream: Stream | None = None, now: bool = False) -> None:
    address, size = address_and_size(dest, writable=True)
    _fits(src, size)
    _copy(address, int(src), size, stream, now)


def memcpy_dtod_async(dest: Any, src: Any, size: int, stream: Stream | None = None, now: bool = False) -> None:
    _fits(dest, size)
    _fits(src, size)
    _copy(int(dest), int(src), size, stream, now)


def memcpy_htod(dest: Any, src: Any) -> None: memcpy_htod_async(dest, src, now=True)
def memcpy_dtoh(dest: Any, src: Any) -> None: memcpy_dtoh_async(dest, src, now=True)
def memcpy_dtod(dest: Any, src: Any, size: int) -> None: memcpy_dtod_async(dest, src, size, now=True)


def _fits(memory: Any, size: int) -> None:
    if isinstance(memory, DeviceAllocation) and size > memory.size:
        raise LogicError(f'a copy of {size} bytes, where {memory.size} were allocated')


def _fill(dest: Any, value: int, count: int, width: int, stream: Stream | None) -> None:
    _fits(dest, width * count)
    used().fill(int(dest), (value % 256 ** width).to_bytes(width, 'little'), count, stream.handle if stream else None)


def memset_d8(dest: Any, data: int, count: int) -> None: _fill(dest, data, count, 1, None)
def memset_d16(dest: Any, data: int, count: int) -> None: _fill(dest, data, count, 2, None)
def memset_d32(dest: Any, data: int, count: int) -> None: _fill(dest, data, count, 4, None)


def to_device(bf_obj: Any) -> DeviceAllocation:
    """A copy of an array on the device."""
    memory = mem_alloc(address_and_size(bf_obj, writable=False)[1])
    memcpy_htod(memory, bf_obj)
    return memory


def from_device(devptr: Any, shape: Any, dtype: Any, order: str = 'C') -> Any:
    import numpy as np
    array: Any = np.empty(shape, dtype, order)   # type: ignore[call-overload]
    memcpy_dtoh(array, devptr)
    return array


def from_device_like(devptr: Any, other_ary: Any) -> Any: return from_device(devptr, other_ary.shape, other_ary.dtype)
