"""RowRing: the last rows of streams, as windows in memory that runners read in place."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from tenfold import _native
from tenfold.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _WindowAddress(int):
    """Where a window lies, and how many of its rows were not pushed yet."""

    missing_rows: int = 0


class RowRing:
    """The last rows of streams, each in one piece of memory, mapped twice: a push copies one row."""

    def __init__(self, rows: int, width: int, dtype: Any = 'float32', streams: int = 1) -> None:
        import numpy as np
        self.dtype = np.dtype(dtype)
        self.rows, self.width, self.streams = rows, width, streams
        self._native = _native.RowRing(rows, width * self.dtype.itemsize, streams)

    def push(self, row: Any, stream: int = 0) -> NDArray[Any]:
        """The window after the push, read-only: [rows, width], the oldest row first. It is valid until the push after the next."""
        return self._view(self.push_at(row, stream))

    def push_at(self, row: Any, stream: int = 0) -> int:
        """The same, as the window's address for LatencyRunner.infer_at()."""
        import numpy as np
        array = np.ascontiguousarray(row, self.dtype)
        if array.shape != (self.width,):
            raise InvalidArgument(f'a row has the shape ({self.width},), not {array.shape}')
        address = _WindowAddress(self._address(self._native.push(stream, array.ctypes.data), stream))
        address.missing_rows = self.rows - self.filled(stream)
        return address

    def window(self, stream: int = 0) -> NDArray[Any]:
        return self._view(self._address(self._native.window(stream), stream))

    def filled(self, stream: int = 0) -> int:
        """How many rows of the window were pushed; those before are zeros."""
        return int(self._native.filled(stream))

    def clear(self, stream: int = 0) -> None:
        self._native.clear(stream)

    def _address(self, address: int, stream: int) -> int:
        if not address:
            raise InvalidArgument(f'there is no stream {stream}; there are {self.streams}')
        return address

    def _view(self, address: int) -> NDArray[Any]:
        import numpy as np
        buffer = (ctypes.c_char * (self.rows * self.width * self.dtype.itemsize)).from_address(address)
        setattr(buffer, '_ring', self)   # the view keeps the memory
        view: NDArray[Any] = np.frombuffer(buffer, self.dtype).reshape(self.rows, self.width)
        view.flags.writeable = False
        return view
