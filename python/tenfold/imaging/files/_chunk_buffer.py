"""Collects regions until a chunk is whole, so that each chunk is compressed and written once."""
from __future__ import annotations

import itertools
import math
from typing import Callable

import numpy as np


class ChunkBuffer:
    """`put(slices, array)` takes whole chunks, clipped at the array's end; the rest waits. Each voxel comes once.

    Along axes that the first region has whole, a slab has them, too: its chunks are put by one call, and compressed in parallel.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, chunks: tuple[int, ...],
                 put: Callable[[tuple[slice, ...], np.ndarray], None]):
        self._shape, self._dtype, self._chunks, self._put = shape, dtype, chunks, put
        self._begun = False
        self._waiting: dict[tuple[int, ...], tuple[np.ndarray, int]] = {}   # by index of chunk: its voxels, and how many are there

    def write(self, starts: tuple[int, ...], array: np.ndarray) -> None:
        if array.size == 0:
            return
        if not self._begun:
            self._begun = True
            self._chunks = tuple(
                whole if extent == whole else chunk for extent, whole, chunk in zip(array.shape, self._shape, self._chunks)
            )
        stops = tuple(start + extent for start, extent in zip(starts, array.shape))
        inner = self._write_whole(starts, stops, array)
        touched = (range(start // chunk, -(-stop // chunk)) for start, stop, chunk in zip(starts, stops, self._chunks))
        for index in itertools.product(*touched):
            if inner is None or not all(first <= i < last for i, (first, last) in zip(index, inner)):
                self._collect(index, starts, stops, array)

    def _write_whole(self, starts: tuple[int, ...], stops: tuple[int, ...], array: np.ndarray) -> list[tuple[int, int]] | None:
        """All chunks that lie in the region, by one call. Gives their range along each axis."""
        inner = []
        for start, stop, chunk, extent in zip(starts, stops, self._chunks, self._shape):
            first = -(-start // chunk)
            last = -(-stop // chunk) if stop == extent else stop // chunk
            if first >= last:
                return None
            inner.append((first, last))
        region = tuple(slice(first * chunk, min(last * chunk, extent))
                       for (first, last), chunk, extent in zip(inner, self._chunks, self._shape))
        self._put(region, array[tuple(slice(part.start - start, part.stop - start) for part, start in zip(region, starts))])
        return inner

    def _bounds(self, index: tuple[int, ...]) -> tuple[slice, ...]:
        return tuple(slice(i * chunk, min((i + 1) * chunk, extent)) for i, chunk, extent in zip(index, self._chunks, self._shape))

    def _collect(self, index: tuple[int, ...], starts: tuple[int, ...], stops: tuple[int, ...], array: np.ndarray) -> None:
        bounds = self._bounds(index)
        shape = tuple(part.stop - part.start for part in bounds)
        chunk, count = self._waiting.pop(index, (None, 0))
        if chunk is None:
            chunk = np.zeros(shape, self._dtype)
        shared = [slice(max(part.start, start), min(part.stop, stop)) for part, start, stop in zip(bounds, starts, stops)]
        piece = array[tuple(slice(part.start - start, part.stop - start) for part, start in zip(shared, starts))]
        chunk[tuple(slice(part.start - whole.start, part.stop - whole.start) for part, whole in zip(shared, bounds))] = piece
        if count + piece.size >= math.prod(shape):
            self._put(bounds, chunk)
        else:
            self._waiting[index] = chunk, count + piece.size

    def pending(self, axis: int, within: tuple[int, int, int] | None = None) -> int | None:
        """`within`: (axis, begin, end): of chunks that have something of this range."""
        other, begin, end = within or (axis, 0, self._shape[axis])
        return min((index[axis] * self._chunks[axis] for index in list(self._waiting)
                    if index[other] * self._chunks[other] < end and (index[other] + 1) * self._chunks[other] > begin), default=None)

    @property
    def unfinished(self) -> int:
        """How many chunks were written in part only."""
        return len(self._waiting)
