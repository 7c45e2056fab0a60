"""Weights: an array, or memory at an address, as layers and refits take it."""
from __future__ import annotations

import ctypes
from typing import Any

from tenfold import _native
from tenfold.tensorrt._enums import DataType
from tenfold.tensorrt._memory import _numpy_dtype
from tenfold.tensorrt._names import Named
from tenfold.tensorrt._types import address_of, datatype, native_dtype

_FOURS = ('INT4', 'FP4')   # two in a byte, the first in its low half


def _bytes_of(kind: DataType, count: int) -> int: return (count + 1) // 2 if kind.name in _FOURS else count * int(kind.itemsize)


def _unpacked(memory: Any, count: int, numpy_dtype: Any) -> Any:
    import numpy as np
    halves = np.stack([memory & 15, memory >> 4], 1).reshape(-1)[:count]
    if numpy_dtype.name == 'int4':
        return ((halves ^ 8).astype(np.int8) - 8).astype(numpy_dtype)
    return halves.view(numpy_dtype)


class Weights(Named):
    """Of an array, or of `count` elements of `type` at an address: either is kept and not copied. Of a type alone, or of nothing: empty
    ones, as for a bias that is left out."""

    def __init__(self, type: Any = DataType.FLOAT, ptr: Any = None, count: Any = None, *, a: Any = None) -> None:
        """Weights(), Weights(type), Weights(type, ptr, count) or Weights(a). ValueError: no memory for some elements, or a negative count;
        TypeError: neither an array nor a type."""
        import numpy as np
        self._address: int | None = None
        self._given: Any = None
        if a is not None or not isinstance(type, DataType):
            if a is not None and type is not DataType.FLOAT or ptr is not None or count is not None:
                raise TypeError('Weights() takes an array, or a type, an address and a count: not some of both')
            self._given = np.ascontiguousarray(type if a is None else a)
            if self._given.dtype.kind in 'OUSMm':
                raise TypeError(f'Weights() takes an array, or a DataType, got {(type if a is None else a).__class__.__name__}')
            self._kind, self._count = datatype(_native.dtype_name(self._given.dtype), 'the weights'), int(self._given.size)
            return
        if (ptr is None) != (count is None):
            raise TypeError('Weights(type, ptr, count) takes an address and a count, one of them is missing')
        self._kind, self._count = type, 0 if count is None else int(count)
        self._address = 0 if ptr is None else address_of(ptr, 'weights')
        if self._count < 0 or (self._count and not self._address):
            raise ValueError(f'Weights({type}, {self._address:#x}, {self._count}): there are no such elements')

    @property
    def _array(self) -> Any:
        """With the shape that was given; of an address, in one dim. The memory is the host's."""
        import numpy as np
        if self._given is not None:
            return self._given
        numpy_dtype = _numpy_dtype(_native.numpy_name(native_dtype(self._kind)))
        if self._count < 1:
            return np.empty(0, numpy_dtype)
        memory = np.frombuffer(memoryview((ctypes.c_uint8 * self.nbytes).from_address(self._address or 0)), np.uint8)
        return _unpacked(memory, self._count, numpy_dtype) if self._kind.name in _FOURS else memory.view(numpy_dtype)

    @property
    def dtype(self) -> DataType: return self._kind
    @property
    def size(self) -> int: return self._count
    @property
    def nbytes(self) -> int: return _bytes_of(self._kind, max(self._count, 0))

    def numpy(self) -> Any:
        """A view in one dim; these Weights, where NumPy itself has no such type."""
        return self._array.reshape(-1) if self._kind.name in ('FLOAT', 'HALF', 'INT8', 'INT32', 'BOOL', 'UINT8', 'INT64') else self

    def __len__(self) -> int: return max(self._count, 0)


def array_of(given: Any) -> Any:
    """Of what layers take for weights: Weights, an array, None."""
    import numpy as np
    return None if given is None else given._array if isinstance(given, Weights) else np.ascontiguousarray(given)


def no_weights() -> Weights:
    """Of a name that nothing has: size -1, as TensorRT says it."""
    made = Weights()
    made._count = -1
    return made


def from_gpu(given: Any, name: str) -> Any:
    """A copy on the host of Weights(type, ptr, count) whose address is a GPU's."""
    import numpy as np

    from tenfold.pycuda import _gpu
    if not isinstance(given, Weights) or given._address is None:
        raise TypeError(f"weights of '{name}' that lie on the device are Weights(type, ptr, count), got {type(given).__name__}")
    numpy_dtype, memory = _numpy_dtype(_native.numpy_name(native_dtype(given._kind))), np.empty(given.nbytes, np.uint8)
    _gpu.need_context()
    _gpu.copy(memory.ctypes.data, given._address, memory.nbytes, None)
    return _unpacked(memory, given.size, numpy_dtype) if given._kind.name in _FOURS else memory.view(numpy_dtype)
