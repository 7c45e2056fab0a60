"""Element types, shapes, and addresses: how TensorRT and Tenfold name them."""
from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tenfold import _native
from tenfold.tensorrt._enums import DataType
from tenfold.tensorrt._names import refused

_OF_TENFOLD = {'f32': DataType.FLOAT, 'f16': DataType.HALF, 'i8': DataType.INT8, 'i32': DataType.INT32, 'bool': DataType.BOOL,
               'u8': DataType.UINT8, 'f8e4m3fn': DataType.FP8, 'bf16': DataType.BF16, 'i64': DataType.INT64, 'i4': DataType.INT4,
               'f4e2m1': DataType.FP4, 'f8e8m0': DataType.E8M0}
_OF_TENSORRT = {kind: name for name, kind in _OF_TENFOLD.items()}


def datatype(dtype: str, what: str) -> DataType:
    """TensorRT's name of one of Tenfold's element types."""
    if dtype not in _OF_TENFOLD:
        raise refused(f'to name the type of {what}', f'it is {dtype}, which DataType has no name for: set the dtype of that input or '
                      'output of the network to one that it has')
    return _OF_TENFOLD[dtype]


def native_dtype(kind: Any) -> str:
    return _OF_TENSORRT[DataType(kind)]


def nptype(trt_type: DataType) -> type[Any]:
    """NumPy's type of a DataType."""
    import numpy as np
    name = _native.numpy_name(native_dtype(trt_type))
    if not hasattr(np, name) or name not in ('float32', 'float16', 'int8', 'int32', 'bool', 'uint8', 'int64'):
        raise TypeError(f'NumPy has no type for {DataType(trt_type)}')
    return np.dtype(name).type


def volume(iterable: Iterable[int]) -> int:
    """The number of elements of a shape."""
    return math.prod(iterable)


class Dims(Sequence[int]):
    """A shape: a sequence whose extents may be set, equal to a tuple or list of the same numbers."""

    MAX_DIMS = 8
    __hash__ = None   # type: ignore[assignment]

    def __init__(self, shape: Iterable[int] = ()) -> None:
        self._extents = [operator.index(extent) for extent in shape]

    def __len__(self) -> int: return len(self._extents)
    def __iter__(self) -> Iterator[int]: return iter(self._extents)
    def __setitem__(self, index: int, extent: int) -> None: self._extents[index] = operator.index(extent)
    def __eq__(self, other: object) -> bool: return isinstance(other, (Dims, tuple, list)) and self._extents == list(other)
    def __repr__(self) -> str: return repr(tuple(self._extents))

    def __getitem__(self, index: Any) -> Any:
        """An extent; of a slice a tuple of them, as of TensorRT's: (1,) + shape[1:]."""
        found = self._extents[index]
        return tuple(found) if isinstance(index, slice) else found


class Dims2(Dims):
    """Of two extents."""

    _names: tuple[str, ...] = ('dim0', 'dim1')

    def __init__(self, *extents: Any, **named: Any) -> None:
        """From one sequence (`shape`), from the extents themselves, or from nothing. ValueError: another number of extents."""
        if unknown := set(named) - {'shape', *self._names}:
            raise TypeError(f'{type(self).__name__}() has no {", ".join(sorted(unknown))}: it takes shape, or {", ".join(self._names)}')
        if twice := [name for name in self._names[:len(extents)] if name in named]:
            raise TypeError(f'{type(self).__name__}() got {", ".join(twice)} twice: by place and by name')
        given = named['shape'] if 'shape' in named else extents[0] if len(extents) == 1 and not named else None
        if given is None:
            given = [*extents, *(named[name] for name in self._names if name in named)] if extents or named else [0] * len(self._names)
        super().__init__(given)
        if len(self) != len(self._names):
            raise ValueError(f'{type(self).__name__} has {len(self._names)} extents, got {len(self)}')


class Dims3(Dims2):
    _names = ('dim0', 'dim1', 'dim2')


class Dims4(Dims2):
    _names = ('dim0', 'dim1', 'dim2', 'dim3')


class DimsHW(Dims2):
    """Height and width."""

    _names = ('h', 'w')

    @property
    def h(self) -> int: return self[0]   # type: ignore[no-any-return]

    @h.setter
    def h(self, extent: int) -> None: self[0] = extent

    @property
    def w(self) -> int: return self[1]   # type: ignore[no-any-return]

    @w.setter
    def w(self, extent: int) -> None: self[1] = extent


class Permutation(Dims):
    """The place that each dim of the result comes from."""


def shape_of(dims: Iterable[int | str]) -> Dims:
    """With -1 for what has a name."""
    return Dims(-1 if isinstance(extent, str) else extent for extent in dims)


def address_of(memory: Any, of: str) -> int:
    """A number, or what becomes one, as allocations of pycuda do; arrays are refused, whose one element might pass for an address."""
    if type(memory) is int and 0 <= memory < 1 << 64:
        return memory
    what = f"what is given for '{of}'"
    if getattr(memory, 'ndim', 0) or isinstance(memory, (bytes, bytearray, memoryview)):
        raise TypeError(f'{what} has to be an address: array.ctypes.data of NumPy, tensor.data_ptr() of torch; got {type(memory).__name__}')
    try:
        address = operator.index(memory) if hasattr(memory, '__index__') else int(memory)
    except (TypeError, ValueError):
        raise TypeError(f'{what} has to be an address (a whole number), got {type(memory).__name__}') from None
    if not 0 <= address < 1 << 64:
        raise ValueError(f'{what} has to be an address, got {address}')
    return address
