"""ITimingCache: what kernels took, shared by builds."""
from __future__ import annotations

from typing import Any

from tenfold import _native
from tenfold.tensorrt._memory import IHostMemory
from tenfold.tensorrt._names import Named


class ITimingCache(Named):
    def __init__(self, native: Any) -> None:
        self._native = native

    def serialize(self) -> IHostMemory:
        return IHostMemory(self._native.text.encode())

    def combine(self, input_cache: ITimingCache, ignore_mismatch: bool = False) -> bool:
        """Takes the other's entries in. Each says for which machine it is, so that none can be mistaken."""
        self._native.merge(input_cache._native)
        return True

    def reset(self) -> bool:
        self._native = _native.TimingCache()
        return True

    def __len__(self) -> int: return len(self._native)
    def __bool__(self) -> bool: return True
