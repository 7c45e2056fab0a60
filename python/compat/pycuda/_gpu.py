"""The device where there is a GPU: calls of NVIDIA's driver library, in the context that tenfold uses, too."""
from __future__ import annotations

import ctypes
import functools
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_void_p

from tenfold.pycuda.errors import raise_for

COMPUTE_CAPABILITY = (75, 76)   # CUdevice_attribute
NOT_READY = 600
_ordinal = 0


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL('libcuda.so.1')


def _call(function: str, *arguments: object, but: int = 0) -> int:
    library = _library()
    code = int(getattr(library, function)(*arguments))
    if code not in (0, but):
        text = c_char_p()
        library.cuGetErrorString(code, byref(text))
        raise_for(code, f'{function} failed: {(text.value or b"unknown error").decode()}')
    return code


def begin(ordinal: int = 0) -> None:
    """The device's primary context becomes this thread's."""
    global _ordinal
    _ordinal = ordinal
    _call('cuInit', 0)
    context = c_void_p()
    _call('cuDevicePrimaryCtxRetain', byref(context), ordinal)
    _call('cuCtxSetCurrent', context)


def need_context() -> None:
    """This thread's, whoever made it; the device's primary one where it has none."""
    context = c_void_p()
    _call('cuInit', 0)
    _call('cuCtxGetCurrent', byref(context))
    if not context.value:
        begin(_ordinal)


def count() -> int:
    n = c_int()
    _call('cuInit', 0)
    _call('cuDeviceGetCount', byref(n))
    return n.value


def name(ordinal: int) -> str:
    text = ctypes.create_string_buffer(256)
    _call('cuDeviceGetName', text, 256, ordinal)
    return text.value.decode()


def compute_capability(ordinal: int) -> tuple[int, int]:
    major, minor = c_int(), c_int()
    for to, attribute in zip((major, minor), COMPUTE_CAPABILITY):
        _call('cuDeviceGetAttribute', byref(to), attribute, ordinal)
    return major.value, minor.value


def driver_version() -> int:
    version = c_int()
    _call('cuDriverGetVersion', byref(version))
    return version.value


def memory_info() -> tuple[int, int]:
    free, total = c_size_t(), c_size_t()
    _call('cuMemGetInfo_v2', byref(free), byref(total))
    return free.value, total.value


def allocate(size: int) -> int:
    address = c_void_p()
    _call('cuMemAlloc_v2', byref(address), c_size_t(size))
    return address.value or 0


def release(address: int) -> None: _call('cuMemFree_v2', c_void_p(address))


def allocate_pinned(size: int) -> int:
    address = c_void_p()
    _call('cuMemHostAlloc', byref(address), c_size_t(size), c_uint(0))
    return address.value or 0


def release_pinned(address: int) -> None: _call('cuMemFreeHost', c_void_p(address))


def copy(to: int, source: int, size: int, stream: int | None) -> None:
    """Between any two places: the driver knows which address is whose. Without a stream the host waits for the end."""
    if stream is None:
        _call('cuMemcpy', c_void_p(to), c_void_p(source), c_size_t(size))
    else:
        _call('cuMemcpyAsync', c_void_p(to), c_void_p(source), c_size_t(size), c_void_p(stream))


def fill(to: int, pattern: bytes, count: int, stream: int | None) -> None:
    width = 8 * len(pattern)
    value = {8: ctypes.c_ubyte, 16: ctypes.c_ushort, 32: c_uint}[width](int.from_bytes(pattern, 'little'))
    if stream is None:
        _call(f'cuMemsetD{width}_v2', c_void_p(to), value, c_size_t(count))
    else:
        _call(f'cuMemsetD{width}Async', c_void_p(to), value, c_size_t(count), c_void_p(stream))


def new_stream(flags: int) -> int:
    stream = c_void_p()
    _call('cuStreamCreate', byref(stream), c_uint(flags))
    return stream.value or 0


def end_stream(stream: int) -> None: _call('cuStreamDestroy_v2', c_void_p(stream))
def wait_stream(stream: int) -> None: _call('cuStreamSynchronize', c_void_p(stream))
def stream_done(stream: int) -> bool: return _call('cuStreamQuery', c_void_p(stream), but=NOT_READY) == 0
def stream_waits(stream: int, event: int) -> None: _call('cuStreamWaitEvent', c_void_p(stream), c_void_p(event), c_uint(0))
def synchronize() -> None: _call('cuCtxSynchronize')


def new_event(flags: int) -> int:
    event = c_void_p()
    _call('cuEventCreate', byref(event), c_uint(flags))
    return event.value or 0


def end_event(event: int) -> None: _call('cuEventDestroy_v2', c_void_p(event))
def record(event: int, stream: int) -> None: _call('cuEventRecord', c_void_p(event), c_void_p(stream))
def wait_event(event: int) -> None: _call('cuEventSynchronize', c_void_p(event))
def event_done(event: int) -> bool: return _call('cuEventQuery', c_void_p(event), but=NOT_READY) == 0


def milliseconds(first: int, last: int) -> float:
    time = ctypes.c_float()
    _call('cuEventElapsedTime', byref(time), c_void_p(first), c_void_p(last))
    return time.value
