"""Host memory as arrays, and arrays as addresses."""
from __future__ import annotations

import ctypes
import weakref
from typing import Any

from tenfold.pycuda.errors import LogicError


def address_and_size(array: Any, writable: bool) -> tuple[int, int]:
    """Of a C-contiguous buffer. Raises what says which condition is not met."""
    import numpy as np
    view: Any = array if isinstance(array, np.ndarray) else np.frombuffer(array, np.uint8)
    if not (view.flags.c_contiguous or view.flags.f_contiguous):
        raise LogicError(f'the array of shape {view.shape} is not contiguous: copy numpy.ascontiguousarray(array)')
    if writable and not view.flags.writeable:
        raise LogicError(f'the array of shape {view.shape} is read-only, and was to be written')
    return view.ctypes.data, view.nbytes


def pagelocked_empty(shape: Any, dtype: Any, order: str = 'C', mem_flags: int = 0) -> Any:
    """An array in memory that the device copies from and to directly; given back with the last array that looks at it."""
    import numpy as np

    from tenfold.pycuda._used import used
    device, dtype = used(), np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    address = device.allocate_pinned(max(count * dtype.itemsize, 1))
    memory = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(address)
    weakref.finalize(memory, device.release_pinned, address).atexit = False   # arrays may outlive this module
    return np.frombuffer(memory, dtype, count).reshape(shape, order=order)


def pagelocked_zeros(shape: Any, dtype: Any, order: str = 'C', mem_flags: int = 0) -> Any:
    array = pagelocked_empty(shape, dtype, order, mem_flags)
    array.fill(0)
    return array


def pagelocked_empty_like(array: Any, mem_flags: int = 0) -> Any: return pagelocked_empty(array.shape, array.dtype)


def aligned_empty(shape: Any, dtype: Any, order: str = 'C', alignment: int = 4096) -> Any:
    import numpy as np
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = np.empty(size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    return memory[start:start + size].view(dtype).reshape(shape, order=order)
