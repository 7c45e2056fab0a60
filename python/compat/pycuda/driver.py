"""pycuda.driver: memory, copies, streams, events and devices. Kernels of one's own (SourceModule) and textures are not there.

Which device is meant is tenfold's question: TENFOLD_DEVICE, else the first GPU, else the CPU.
"""
from __future__ import annotations

from tenfold._repr import give_reprs as _give_reprs
from tenfold.pycuda._buffers import aligned_empty, pagelocked_empty, pagelocked_empty_like, pagelocked_zeros
from tenfold.pycuda._context import Context, Device, get_driver_version, get_version, init, mem_get_info
from tenfold.pycuda._memory import (DeviceAllocation, from_device, from_device_like, mem_alloc, mem_alloc_like, memcpy_dtod,
                                    memcpy_dtod_async, memcpy_dtoh, memcpy_dtoh_async, memcpy_htod, memcpy_htod_async, memset_d8,
                                    memset_d16, memset_d32, to_device)
from tenfold.pycuda._stream import Event, Stream
from tenfold.pycuda.errors import Error, LaunchError, LogicError, MemoryError, RuntimeError

__all__ = ['Context', 'Device', 'DeviceAllocation', 'Error', 'Event', 'LaunchError', 'LogicError', 'MemoryError', 'RuntimeError', 'Stream',
           'aligned_empty', 'ctx_flags', 'event_flags', 'from_device', 'from_device_like', 'get_driver_version', 'get_version',
           'host_alloc_flags', 'init', 'mem_alloc', 'mem_alloc_like', 'mem_get_info', 'memcpy_dtod', 'memcpy_dtod_async', 'memcpy_dtoh',
           'memcpy_dtoh_async', 'memcpy_htod', 'memcpy_htod_async', 'memset_d16', 'memset_d32', 'memset_d8', 'pagelocked_empty',
           'pagelocked_empty_like', 'pagelocked_zeros', 'to_device']


class ctx_flags:
    SCHED_AUTO, SCHED_SPIN, SCHED_YIELD, SCHED_BLOCKING_SYNC, MAP_HOST, LMEM_RESIZE_TO_MAX = 0, 1, 2, 4, 8, 16


class event_flags:
    DEFAULT, BLOCKING_SYNC, DISABLE_TIMING = 0, 1, 2


class host_alloc_flags:
    PORTABLE, DEVICEMAP, WRITECOMBINED = 1, 2, 4


_give_reprs(globals())
