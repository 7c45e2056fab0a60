"""--normalize: a chain of steps on planes [channel, ...] as they are read. Two of them need statistics of the whole image."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.imaging.segment._options import number, refuse_flag

Planes = Callable[[], Iterator[np.ndarray]]   # an image once more, from its first plane to its last


@dataclass(frozen=True)
class Step:
    kind: str
    values: tuple[float, ...] = ()


def parse_step(text: str) -> Step:
    kind, _, rest = text.partition(':')
    if kind == 'zscore' and not rest:
        return Step(kind)
    if kind == 'mean':
        mean, comma, std = rest.partition(',std:')
        if comma and number('normalize', std) > 0:
            return Step(kind, (number('normalize', mean), number('normalize', std)))
        refuse_flag('normalize', text, 'mean:M,std:S, where S is above 0')
    values = tuple(number('normalize', part) for part in rest.split(',')) if rest else ()
    if kind == 'scale' and len(values) == 1:
        return Step(kind, values)
    if kind == 'clip' and len(values) == 2 and values[0] < values[1]:
        return Step(kind, values)
    if kind == 'percentile' and len(values) == 2 and 0 <= values[0] < values[1] <= 100:
        return Step(kind, values)
    refuse_flag('normalize', text, 'scale:F, clip:A,B with A < B, mean:M,std:S, zscore, or percentile:P,Q with 0 <= P < Q <= 100')


class Chain:
    """The steps for one image: with its statistics, once measure() has seen it."""

    def __init__(self, steps: list[Step]):
        self.steps = steps
        self._fixed: list[tuple[Any, Any]] = []   # (subtracted, divisor) by channel, of the steps that are known
        self.constant: list[int] = []             # channels without any difference, which become zeros

    @property
    def needs_statistics(self) -> bool:
        return any(step.kind in ('zscore', 'percentile') for step in self.steps)

    def measure(self, planes: Planes) -> None:
        """Reads the image once for each step with statistics, twice where percentiles are of floats."""
        self._fixed, self.constant = [], []
        for step in self.steps:
            if step.kind == 'zscore':
                found = moments(self._applied(planes))
            elif step.kind == 'percentile':
                found = percentiles(lambda: self._applied(planes), step.values)
            else:
                found = None
            if found is not None:
                self.constant += [channel for channel, width in enumerate(found[1]) if not width > 0]
                found = found[0], np.where(found[1] > 0, found[1], np.inf)
            self._fixed.append(found if found is not None else (None, None))

    def _applied(self, planes: Planes) -> Iterator[np.ndarray]:
        known = len(self._fixed)
        return (self(plane, known) for plane in planes()) if known else planes()

    def __call__(self, planes: np.ndarray, count: int | None = None) -> np.ndarray:
        """The first `count` steps on [channel, ...]; all of them without. Gives float32."""
        found = planes.astype(np.float32)
        for at, step in enumerate(self.steps[:count]):
            if step.kind == 'scale':
                found *= np.float32(step.values[0])
            elif step.kind == 'clip':
                np.clip(found, *(np.float32(value) for value in step.values), out=found)
            elif step.kind == 'mean':
                found -= np.float32(step.values[0])
                found /= np.float32(step.values[1])
            else:
                subtracted, divisor = (one.astype(np.float32).reshape(-1, *[1] * (found.ndim - 1)) for one in self._fixed[at])
                found -= subtracted
                found /= divisor
        return found


def moments(planes: Iterator[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation by channel, without NaN; parts are merged by Chan's formula, so that large means cost no digits."""
    count: Any = 0
    mean: Any = 0.0
    squares: Any = 0.0
    for plane in planes:
        rows = plane.reshape(len(plane), -1).astype(np.float64)
        there = ~np.isnan(rows)
        n = there.sum(axis=1)
        rows = np.where(there, rows, 0)
        own = rows.sum(axis=1) / np.maximum(n, 1)
        total = count + n
        step = own - mean
        squares = squares + (np.where(there, rows - own[:, None], 0) ** 2).sum(axis=1) + step ** 2 * count * n / np.maximum(total, 1)
        mean, count = mean + step * n / np.maximum(total, 1), total
    return mean, np.sqrt(squares / np.maximum(count, 1))


def percentiles(planes: Callable[[], Iterator[np.ndarray]], wanted: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The lower percentile and the distance to the upper one, by channel, as numpy.percentile has them: exactly, from counts."""
    high, integers = histogram(planes())
    found = []
    lows: dict[tuple[int, int], np.ndarray] = {}
    ranks = [[(count.sum() - 1) * percent / 100 for percent in wanted] for count in high]
    ends = [np.cumsum(count) for count in high]
    if not integers:   # 16 bits are known of each value that is asked for: the other 16
        bins = [sorted({int(np.searchsorted(end, rank, 'right')) for at in of for rank in (np.floor(at), np.ceil(at))})
                for end, of in zip(ends, ranks)]
        lows = low_histograms(planes(), bins)
    for channel, (end, of) in enumerate(zip(ends, ranks)):
        values = []
        for at in of:
            below, above = (value_at(int(rank), end, channel, lows if not integers else None, integers)
                            for rank in (np.floor(at), np.ceil(at)))
            values.append(below + (above - below) * (at - np.floor(at)))
        found.append(values)
    low, up = np.array(found, np.float64).T
    return low, up - low


def ordered_bits(values: np.ndarray) -> np.ndarray:
    """Of float32: integers in the same order."""
    bits = values.astype(np.float32, copy=False).view(np.uint32)
    return np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))


def from_bits(bits: int) -> float:
    plain = np.uint32(bits ^ 0x80000000 if bits >> 31 else ~bits & 0xffffffff)
    return float(plain.view(np.float32))


def histogram(planes: Iterator[np.ndarray]) -> tuple[list[np.ndarray], str]:
    """Counts by channel: of the values where they are integers of 16 bits at most, else of the upper half of their ordered bits."""
    counts: list[np.ndarray] = []
    integers = ''
    for plane in planes:
        integers = plane.dtype.name if plane.dtype.kind in 'ui' and plane.dtype.itemsize <= 2 else ''
        counts = counts or [np.zeros(1 << 16, np.int64) for _ in plane]
        for channel, values in enumerate(plane.reshape(len(plane), -1)):
            if integers:
                keys = values.astype(np.int64) + (1 << 15 if plane.dtype.kind == 'i' else 0)
            else:
                keys = ordered_bits(values[~np.isnan(values)]) >> 16
            counts[channel] += np.bincount(keys, minlength=1 << 16)
    return counts, integers


def low_histograms(planes: Iterator[np.ndarray], bins: list[list[int]]) -> dict[tuple[int, int], np.ndarray]:
    found = {(channel, one): np.zeros(1 << 16, np.int64) for channel, of in enumerate(bins) for one in of}
    for plane in planes:
        for channel, values in enumerate(plane.reshape(len(plane), -1)):
            bits = ordered_bits(values[~np.isnan(values)])
            for one in bins[channel]:
                found[channel, one] += np.bincount(bits[bits >> 16 == one] & 0xffff, minlength=1 << 16)
    return found


def value_at(rank: int, end: np.ndarray, channel: int, lows: dict[tuple[int, int], np.ndarray] | None, integers: str) -> float:
    """The value with `rank` smaller ones before it."""
    place = min(int(np.searchsorted(end, rank, 'right')), len(end) - 1)
    if lows is None:
        return float(place - (1 << 15 if integers.startswith('int') else 0))
    before = int(end[place - 1]) if place else 0
    counts = lows.get((channel, place))
    if counts is None:   # an image of NaN alone
        return 0.0
    return from_bits(place << 16 | int(np.searchsorted(np.cumsum(counts), rank - before, 'right')))
