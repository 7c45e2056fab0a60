"""Arrays of NumPy and of other libraries (zarr, dask, h5py, tensorstore): what has a shape, a type and slices for NumPy."""
from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.imaging.files._chunk_buffer import ChunkBuffer
from tenfold.imaging.files._errors import refuse_argument
from tenfold.imaging.files._sink import Target, Writer
from tenfold.imaging.files._source import Stored


def is_array(value: object) -> bool:
    return hasattr(value, 'shape') and hasattr(value, 'dtype') and hasattr(value, '__getitem__')


def name_of(array: Any) -> str:
    return f'<{type(array).__module__.partition(".")[0]}.{type(array).__name__}>'


def dtype_of(array: Any) -> np.dtype[Any]:
    for kind in (array.dtype, getattr(array.dtype, 'numpy_dtype', None)):   # tensorstore has its own, and says which is NumPy's
        try:
            if kind is not None:
                return np.dtype(kind)
        except TypeError:
            continue
    return np.asarray(array[tuple(slice(0, 1) for _ in array.shape)]).dtype   # torch


def chunks_of(array: Any) -> tuple[int, ...] | None:
    chunks = getattr(array, 'chunksize', None) or getattr(array, 'shards', None) or getattr(array, 'chunks', None)
    if isinstance(chunks, tuple) and len(chunks) == len(array.shape) and all(isinstance(one, int) for one in chunks):
        return chunks
    shape = getattr(getattr(getattr(array, 'chunk_layout', None), 'read_chunk', None), 'shape', None)   # tensorstore
    return tuple(int(one) for one in shape) if shape and all(shape) else None


def open_array(array: Any) -> Stored:
    try:
        shape = tuple(int(extent) for extent in array.shape)
    except (TypeError, ValueError):
        refuse_argument(name_of(array), f'its shape is {array.shape!r}', 'expected a number for each axis')
    return Stored(name_of(array), shape, dtype_of(array), lambda parts: np.asarray(array[parts]), chunks=chunks_of(array))


class ArrayWriter(Writer):
    """Into an array that the caller made, whole chunks at once where it has chunks."""

    def __init__(self, array: Any, axes: str, shape: tuple[int, ...], dtype: np.dtype[Any]):
        self._array, self.axes = array, axes
        self._buffer = ChunkBuffer(shape, dtype, chunks_of(array) or (), self._put) if chunks_of(array) else None

    def _put(self, parts: tuple[slice, ...], array: np.ndarray) -> None:
        self._array[parts] = array

    def write(self, starts: tuple[int, ...], array: np.ndarray) -> None:
        if self._buffer:
            self._buffer.write(starts, array)
        else:
            self._put(tuple(slice(start, start + extent) for start, extent in zip(starts, array.shape)), array)

    def pending(self, axis: str, within: tuple[str, int, int] | None = None) -> int | None:
        return self._buffer.pending(self.axes.index(axis), within and (self.axes.index(within[0]), *within[1:])) if self._buffer else None

    def finish(self) -> None:
        pass


def create_array(array: Any, target: Target) -> Writer:
    if not hasattr(array, '__setitem__'):
        refuse_argument(target.path, 'it takes no values', 'expected an array with __setitem__, as NumPy, zarr, h5py and tensorstore have')
    shape, dtype = tuple(int(extent) for extent in array.shape), dtype_of(array)
    if shape != target.shape or dtype.newbyteorder('=') != target.dtype:
        refuse_argument(target.path, f'it is {dtype}{list(shape)}, the output is {target.dtype}{list(target.shape)}',
                        'make it of this shape and type')
    for name in ('compress', 'chunks', 'shards'):
        if getattr(target, name) is not None:
            refuse_argument(target.path, f'{name}={getattr(target, name)!r} for an array that is there already', 'make the array so')
    return ArrayWriter(array, target.axes, shape, target.dtype)
