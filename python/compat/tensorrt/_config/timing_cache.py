"""ITimingCache: what kernels took, shared by builds; its keys, and what was fastest of each."""
from __future__ import annotations

import zlib
from typing import Any

from tenfold import _native
from tenfold.tensorrt._memory import IHostMemory
from tenfold.tensorrt._names import Named, refused


class TimingCacheKey:
    """A problem on a machine, as a number of 128 bits."""

    __slots__ = ('_text',)

    def __init__(self, text: str) -> None: self._text = text

    @staticmethod
    def parse(text: str) -> TimingCacheKey:
        """From "0x" and 32 hexadecimal digits."""
        if not (text.startswith('0x') and len(text) == 34 and all(c in '0123456789abcdefABCDEF' for c in text[2:])):
            raise ValueError(f'a key is 0x and 32 hexadecimal digits, got {text!r}')
        return TimingCacheKey(text.lower())

    def __str__(self) -> str: return self._text
    def __repr__(self) -> str: return f'<TimingCacheKey {self._text}>'
    def __eq__(self, other: object) -> bool: return isinstance(other, TimingCacheKey) and self._text == other._text
    def __hash__(self) -> int: return hash(self._text)


class TimingCacheValue:
    """A number of the fastest tactic and its configuration, and its time."""

    tacticHash, timingMSec = 0, 0.0

    def __init__(self, tactic_hash: int, timing_msec: float) -> None:
        self.tacticHash, self.timingMSec = tactic_hash, timing_msec

    def __repr__(self) -> str: return f'<TimingCacheValue {self.tacticHash:#x} {self.timingMSec} ms>'


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

    def queryKeys(self) -> list[TimingCacheKey]: return [TimingCacheKey(key) for key in self._native.keys()]

    def query(self, key: TimingCacheKey) -> TimingCacheValue:
        """Of a key that is not there: 0 and -1 ms."""
        found = self._native.fastest(str(key))
        if found is None:
            return TimingCacheValue(0, -1.0)
        tactic, config, nanoseconds = found
        return TimingCacheValue(zlib.crc32(tactic.encode()) << 32 | zlib.crc32(config.encode()), nanoseconds / 1e6)

    def update(self, key: TimingCacheKey, value: TimingCacheValue) -> bool:
        raise refused('update()', 'entries of a timing cache cannot be set one by one: an algorithm selector chooses tactics')

    def __len__(self) -> int: return len(self._native)
    def __bool__(self) -> bool: return True
