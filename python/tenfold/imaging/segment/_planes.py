"""Planes of the input as the sweep asks for them, in a thread of its own: normalized, NaN counted."""
from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.errors import InvalidArgument
from tenfold.imaging.files import Sections, Source
from tenfold.imaging.segment._normalize import Chain

SWEEP_TYPES = ('uint8', 'uint16', 'int16', 'int32', 'float16', 'float32', 'float64')   # that windows are cut from as they are
GROUP_BYTES = 4 << 20   # planes are read in groups of so many, where chunks are smaller


class PlaneReader:
    """Of a source whose axes are [t][c] and the spatial ones, the sweep's axis first."""

    def __init__(self, source: Source, chain: Chain, nan: str, sections: Sections | None = None):
        self.source, self.chain, self.nan, self.sections = source, chain, nan, sections
        self.spatial = ''.join(axis for axis in source.axes if axis not in 'tc')
        self._extent = dict(zip(source.axes, source.shape))
        self.image = tuple(self._extent[axis] for axis in self.spatial)
        self.channels, self.times = self._extent.get('c', 1), self._extent.get('t', 1)
        stored = source.dtype.name
        self.dtype = np.dtype('float32' if chain.steps or stored not in (*SWEEP_TYPES, 'bool') else 'uint8' if stored == 'bool' else stored)
        self.nans_before = 0           # that a killed run has counted, in front of `count_from`: (time point, row, plane)
        self.count_from = (0, 0, 0)
        self._nans: list[tuple[int, int, int, int]] = []   # time point, row of the band, plane, how many
        self.seconds = 0.0
        self.bytes = 0
        self.group_bytes = GROUP_BYTES
        self._image = self._row = 0    # the time point that is swept, and the band
        self.measured = -1             # the time point whose statistics there are
        self._counted = slice(None)    # rows of the image that are this band's

    @property
    def group(self) -> int:
        """Planes that are read together: whole chunks."""
        plane = self.channels * int(np.prod(self.image[1:], dtype=np.int64)) * max(self.source.dtype.itemsize, self.dtype.itemsize)
        chunk = self.source.chunks[self.source.axes.index(self.spatial[0])] if self.source.chunks else 1
        groups = max(1, self.group_bytes // max(1, plane * chunk))
        return min(self.image[0], chunk * groups)

    @property
    def overhead(self) -> float:
        """Bytes of what is read, and of what becomes of it, for each that the sweep gets."""
        return 1 + self.source.dtype.itemsize / self.dtype.itemsize

    def begin(self, image: int, row: int, rows: tuple[int, int]) -> None:
        """The sweep over a band of a time point begins; `rows` of the image are its own."""
        if self.chain.needs_statistics and self.measured != image:
            self.chain.measure(lambda: self._checked_planes(image))
            self.measured = image
        self._image, self._row, self._counted = image, row, slice(*rows)

    def _checked_planes(self, image: int) -> Iterator[np.ndarray]:
        for start in range(0, self.image[0], self.group):
            begun = time.perf_counter()
            planes = self._read(image, start, min(start + self.group, self.image[0]))
            found = self._without_nan(planes, image, start, counts=False)
            self.seconds += time.perf_counter() - begun
            yield found

    def read(self, _: int, begin: tuple[int, ...], extent: tuple[int, ...]) -> np.ndarray:
        """What the sweep calls, in ascending order: [channel, planes, ...]."""
        begun = time.perf_counter()
        rows = (begin[1], begin[1] + extent[1]) if len(begin) > 1 else None
        raw = self._read(self._image, begin[0], begin[0] + extent[0], rows)
        self.bytes += raw.nbytes
        planes = self._without_nan(raw, self._image, begin[0], rows[0] if rows else 0)
        found = self.chain(planes) if self.chain.steps else np.ascontiguousarray(planes, self.dtype)
        self.seconds += time.perf_counter() - begun
        return found

    def _read(self, image: int, start: int, stop: int, rows: tuple[int, int] | None = None) -> np.ndarray:
        bounds = {'t': (image, image + 1), self.spatial[0]: (start, stop), **({self.spatial[1]: rows} if rows else {})}
        starts, stops = zip(*(bounds.get(axis, (0, extent)) for axis, extent in self._extent.items()))
        found = self.source.read(starts, stops)
        if self.sections:
            self.sections.add(starts, found)
        extents = [high - low for low, high in (bounds.get(axis, (0, self._extent[axis])) for axis in self.spatial)]
        return found.reshape(self.channels, *extents)

    def _without_nan(self, planes: np.ndarray, image: int, start: int, row: int = 0, counts: bool = True) -> np.ndarray:
        if planes.dtype.kind != 'f':
            return planes
        there = np.isnan(planes)
        number = int(there.sum())
        if not number:
            return planes
        if self.nan == 'fail':
            plane = start + int(np.argmax(there.any(axis=tuple(axis for axis in range(planes.ndim) if axis != 1))))
            where = f'time {image}, ' if 't' in self._extent else ''
            raise InvalidArgument(f'{self.source.path}: {where}{self.spatial[0]} {plane}: NaN, {number} of them in the planes {start} to '
                                  f'{start + planes.shape[1] - 1}; expected numbers: --nan=zero takes 0 for them, --nan=pass leaves them')
        if counts:   # rows that two bands read count in one of them
            own = there
            if there.ndim > 2:
                own = there[:, :, max(0, (self._counted.start or 0) - row):None if self._counted.stop is None else self._counted.stop - row]
            self._nans += [(image, self._row, start + plane, int(own[:, plane].sum())) for plane in range(planes.shape[1])]
        return np.where(there, planes.dtype.type(0), planes) if self.nan == 'zero' else planes

    def nans(self, image: int, row: int, planes: int) -> int:
        """In the planes before this one of a band, and in the bands before, each counted once."""
        return self.nans_before + sum(number for *at, number in self._nans if self.count_from <= tuple(at) < (image, row, planes))

    @property
    def all_nans(self) -> int:
        return self.nans(self.times, 0, 0)

    def close(self) -> None:
        self.source.close()


def order_of(axes: str, sweep: str) -> str:
    """Axes of the source for a sweep: time, channel, the sweep's axis, the rest."""
    return ''.join(axis for axis in 'tc' if axis in axes) + sweep + ''.join(axis for axis in 'zyx' if axis in axes and axis != sweep)


def choose_sweep(wanted: str, axes: str, shape: dict[str, int], roi: dict[str, int]) -> str:
    """The axis whose slab is smallest; of equal ones the first, in whose order files lie."""
    spatial = [axis for axis in 'zyx' if axis in axes]
    if wanted != 'auto':
        if wanted not in spatial:
            raise InvalidArgument(f'--sweep={wanted}: expected one of the axes of the image, {", ".join(spatial)}')
        return wanted
    part = {axis: min(1.0, roi[axis] / shape[axis]) for axis in spatial}
    best: Any = min(part.values())
    return next(axis for axis in spatial if part[axis] <= 1.5 * best)   # a little less memory is not worth slower files
