"""Serialized plans and memory at an address, as arrays."""
from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from tenfold.errors import Unsupported
from tenfold.tensorrt._enums import DataType


class IHostMemory(bytes):
    """A plan: f.write(memory), bytes(memory), memoryview(memory)."""

    @property
    def nbytes(self) -> int: return len(self)

    @property
    def dtype(self) -> DataType: return DataType.INT8

    def __bool__(self) -> bool: return True
    def __enter__(self) -> IHostMemory: return self
    def __exit__(self, *_: object) -> None: pass


def plan_of(engine: Any) -> IHostMemory:
    return IHostMemory(engine.serialize())


class _OnGpu:
    """Memory of a GPU by its address."""

    def __init__(self, address: int, shape: Sequence[int], typestr: str) -> None:
        self.__cuda_array_interface__ = dict(shape=tuple(shape), typestr=typestr, data=(address, False), version=3)


def _numpy_dtype(name: str) -> Any:
    import numpy as np
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes
        return np.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError):
        raise Unsupported(f'memory of {name} can be bound by its address where the package ml_dtypes is installed, and holds a byte or '
                          'more for each element') from None


def array_at(address: int, shape: Sequence[int], dtype: str, on_gpu: bool) -> Any:
    """What bind() takes for the memory at an address. The caller keeps it alive, and says truly where it is."""
    import numpy as np
    numpy_dtype = _numpy_dtype(dtype)
    if 0 in shape:
        return np.empty(tuple(shape), numpy_dtype)
    if on_gpu:
        if numpy_dtype.kind == 'V':
            raise Unsupported(f'memory of a GPU that holds {dtype} cannot be bound by its address yet: set the dtype of that input or '
                              'output of the network to float16 or float32')
        return _OnGpu(address, shape, numpy_dtype.str)
    count = int(np.prod(shape, dtype=np.int64))
    memory = (ctypes.c_uint8 * (count * numpy_dtype.itemsize)).from_address(address)
    return np.frombuffer(memory, numpy_dtype).reshape(tuple(shape))


def copy_to(address: int, array: Any) -> None:
    """An array's elements to an address of the host."""
    ctypes.memmove(address, array.ctypes.data, array.nbytes)
