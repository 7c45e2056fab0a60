"""Host memory that GPUs copy from and to by themselves: arrays in it, and arrays of the caller's that are registered."""
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from tenfold import _native

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    import numpy as np


def _device(device: str | None) -> str:
    from tenfold._device import _with_libraries, default_device
    _with_libraries()
    return device or default_device()


def pinned_empty(shape: int | Sequence[int], dtype: Any = 'float32', device: str | None = None) -> np.ndarray[Any, Any]:
    """A NumPy array in pinned memory, for inputs and out= of engines on GPUs: copied at the bus's full speed while kernels run. It is given
    back with the last array that looks at it.

    device: 'cuda', 'cuda:1', or 'cpu', where this is ordinary memory; None: TENFOLD_DEVICE, else the first GPU, else the CPU.
    """
    import numpy as np
    kind, extents = np.dtype(dtype), (operator.index(shape),) if hasattr(shape, '__index__') else tuple(shape)
    if kind.hasobject:
        raise TypeError(f'pinned memory holds numbers, not {kind}: a dtype of fixed size is expected')
    if any(extent < 0 for extent in extents):
        raise ValueError(f'the shape {extents}: extents from 0 are expected')
    size = kind.itemsize
    for extent in extents:
        size *= int(extent)
    if size == 0:
        return np.empty(extents, kind)
    memory: Any = _native.PinnedMemory(_device(device), size)   # a buffer, which lives as long as the array
    array: np.ndarray[Any, Any] = np.frombuffer(memory, np.uint8).view(kind).reshape(extents)
    return array


class RegisteredMemory:
    """What register_memory() gives. The array is registered until close(), the end of a `with`, or the end of this object."""

    def __init__(self, array: Any, device: str | None = None) -> None:
        import numpy as np
        if not isinstance(array, np.ndarray):
            raise TypeError(f'register_memory() takes a NumPy array, got {type(array).__name__}; torch has Tensor.pin_memory()')
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            raise ValueError(f'the array of shape {array.shape} is not contiguous: register the array that it is a view of')
        if not array.flags.writeable:
            raise ValueError(f'the array of shape {array.shape} is read-only, which cannot be registered: copy it to pinned_empty()')
        if array.nbytes == 0:
            raise ValueError(f'the array of shape {array.shape} has no elements: there is nothing to register')
        self.array: Any = array   # its memory must not go before the registration
        self._memory: _native.PinnedMemory | None = _native.PinnedMemory.of_callers(_device(device), array.ctypes.data, array.nbytes)

    @property
    def pinned(self) -> bool:
        """False: it was closed, or the device is a CPU, where nothing is to be done."""
        return self._memory is not None and self._memory.pinned

    def close(self) -> None:
        """The array is ordinary memory again. Runs that use it must have ended."""
        self._memory = None
        self.array = None

    def __enter__(self) -> RegisteredMemory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def register_memory(array: Any, device: str | None = None) -> RegisteredMemory:
    """Registers a NumPy array's memory, so that GPUs copy from and to it at the bus's full speed. It takes as long as
    an ordinary copy or two (77 MB: 5 ms): for arrays that many runs use. Keep what this returns as long as they do.

    device: as of pinned_empty().
    """
    return RegisteredMemory(array, device)
