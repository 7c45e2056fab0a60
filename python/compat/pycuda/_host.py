"""The device where there is no GPU: memory of the host, copied at once; streams and events are numbers."""
from __future__ import annotations

import ctypes
import time

NAME = 'CPU (tenfold: no CUDA device is used)'
_pieces: dict[int, ctypes.Array[ctypes.c_char]] = {}   # what was allocated, by its address
_times: dict[int, float] = {}                          # when events were recorded
ALIGNMENT = 256   # as the driver gives it, and contexts want it


def begin() -> None: pass
def count() -> int: return 1
def name(ordinal: int) -> str: return NAME
def compute_capability(ordinal: int) -> tuple[int, int]: return 0, 0
def driver_version() -> int: return 0


def memory_info() -> tuple[int, int]:
    import os
    page = os.sysconf('SC_PAGE_SIZE')
    return os.sysconf('SC_AVPHYS_PAGES') * page, os.sysconf('SC_PHYS_PAGES') * page


def allocate(size: int) -> int:
    piece = (ctypes.c_char * (size + ALIGNMENT))()
    address = -(-ctypes.addressof(piece) // ALIGNMENT) * ALIGNMENT
    _pieces[address] = piece
    return address


def release(address: int) -> None:
    _pieces.pop(address, None)


allocate_pinned, release_pinned = allocate, release


def copy(to: int, source: int, size: int, stream: int | None) -> None:
    ctypes.memmove(to, source, size)


def fill(to: int, pattern: bytes, count: int, stream: int | None) -> None:
    ctypes.memmove(to, pattern * count, len(pattern) * count)


def new_stream(flags: int) -> int: return 0
def end_stream(stream: int) -> None: pass
def wait_stream(stream: int) -> None: pass
def stream_done(stream: int) -> bool: return True
def stream_waits(stream: int, event: int) -> None: pass
def synchronize() -> None: pass


def new_event(flags: int) -> int:
    _times[number := max(_times, default=0) + 1] = 0.0
    return number


def end_event(event: int) -> None: _times.pop(event, None)
def record(event: int, stream: int) -> None: _times[event] = time.perf_counter()
def wait_event(event: int) -> None: pass
def event_done(event: int) -> bool: return True
def milliseconds(first: int, last: int) -> float: return (_times[last] - _times[first]) * 1e3
