"""Stream: a CUDA stream of somebody else's, by its number."""
from __future__ import annotations

from typing import Any


class Stream:
    """A CUstream that the caller owns and keeps alive; torch's and CuPy's streams can be given as they are."""

    def __init__(self, handle: int) -> None:
        self.handle = int(handle)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Stream) and self.handle == other.handle

    def __hash__(self) -> int:
        return hash(self.handle)

    def __repr__(self) -> str:
        return f'tenfold.Stream({self.handle:#x})'
