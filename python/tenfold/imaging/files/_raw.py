"""A file of raw voxels behind a header: regions by memory map, written by pwrite in the longest runs that are contiguous.

A map lives for one read only. Pages of a lasting one would count as memory of the process, and grow with the file.
"""
from __future__ import annotations

import errno
import math
import os
from typing import Any

import numpy as np

from tenfold.imaging.files._errors import disk_full, refuse
from tenfold.imaging.files._sink import Writer


class RawFile:
    def __init__(self, path: str, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any], order: str = 'C'):
        self.path, self.offset, self.shape, self.dtype, self.order = path, offset, shape, dtype, order
        self._fd: int | None = None

    @property
    def size(self) -> int:
        """Of the whole file."""
        return self.offset + math.prod(self.shape) * self.dtype.itemsize

    def check_size(self) -> None:
        found = os.path.getsize(self.path)
        if found < self.size:
            refuse(self.path, f'cut: it has {found:,} bytes, shape {list(self.shape)} of {self.dtype} needs {self.size:,}', 'copy it again')

    def read(self, parts: tuple[slice, ...]) -> np.ndarray:
        self.check_size()   # a map beyond the end would end the process, not raise
        mapped = np.memmap(self.path, self.dtype, 'r', self.offset, self.shape, self.order)  # type: ignore[call-overload]
        return np.array(mapped[parts])

    def create(self, header: bytes) -> None:
        """A new file with this header and the space for all voxels, so that a full disk is found here and not hours later."""
        with open(self.path, 'wb') as file:
            file.write(header)
            try:
                os.posix_fallocate(file.fileno(), 0, self.size)
            except OSError as error:
                if error.errno in (errno.EOPNOTSUPP, errno.EINVAL):   # a file system that reserves nothing: a write will find the disk full
                    file.truncate(self.size)
                    return
                if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    raise
                file.close()
                os.unlink(self.path)
                disk_full(self.path, self.size, error)

    def write(self, starts: tuple[int, ...], array: np.ndarray) -> None:
        shape = self.shape
        if self.order == 'F':
            starts, shape, array = starts[::-1], shape[::-1], array.T
        array = np.ascontiguousarray(array, dtype=self.dtype)
        if self._fd is None:
            self._fd = os.open(self.path, os.O_WRONLY)
        first = len(shape)   # all axes from here on are whole
        while first > 0 and array.shape[first - 1] == shape[first - 1]:
            first -= 1
        leading = max(first - 1, 0)   # each index of these is a run
        strides = [math.prod(shape[axis + 1:]) * self.dtype.itemsize for axis in range(len(shape))]
        base = self.offset + sum(start * stride for start, stride in zip(starts, strides))
        for index in np.ndindex(array.shape[:leading]):
            run = array[index].reshape(-1).view(np.uint8)
            self._put(memoryview(run), base + sum(i * stride for i, stride in zip(index, strides)))

    def _put(self, run: memoryview, offset: int) -> None:
        assert self._fd is not None
        while run:
            done = os.pwrite(self._fd, run, offset)
            run, offset = run[done:], offset + done

    def close(self) -> None:
        if self._fd is not None:
            os.fsync(self._fd)
            os.close(self._fd)
            self._fd = None


class RawWriter(Writer):
    """Of a format whose voxels lie raw behind its header."""

    raw: RawFile

    def write(self, starts: tuple[int, ...], array: np.ndarray) -> None:
        self.raw.write(starts, array)

    def finish(self) -> None:
        self.raw.close()

    def abandon(self) -> None:
        self.raw.close()
