"""Planes of the input as the sweep asks for them: read ahead by a thread, normalized, NaN counted."""
from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
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
        self.nans_before = 0           # that a killed run has counted, in front of `count_from`: (time point, plane)
        self.count_from = (0, 0)
        self._nans: list[tuple[int, int, int]] = []   # time point, plane, how many
        self.seconds = self.waited = 0.0   # of reading, and of those the sweep stood still
        self.bytes = 0
        self._pool = ThreadPoolExecutor(1)
        self._ahead: tuple[tuple[int, int, int], Future[np.ndarray]] | None = None
        self._image = 0                # the time point that is swept, and its first plane
        self._first = 0

    @property
    def group(self) -> int:
        """Planes that are read together: whole chunks."""
        plane = self.channels * int(np.prod(self.image[1:], dtype=np.int64)) * max(self.source.dtype.itemsize, self.dtype.itemsize)
        chunk = self.source.chunks[self.source.axes.index(self.spatial[0])] if self.source.chunks else 1
        groups = max(1, GROUP_BYTES // max(1, plane * chunk))
        return min(self.image[0], chunk * groups)

    def begin(self, image: int, first: int) -> None:
        """The sweep over a time point begins, `first` is its plane 0."""
        self._drop_ahead()
        self._image, self._first = image, first
        if self.chain.needs_statistics:
            self.chain.measure(lambda: self._checked_planes(image))

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
        start, stop = begin[0] + self._first, begin[0] + self._first + extent[0]
        wanted = (self._image, start, stop)
        ahead, self._ahead = self._ahead, None
        future = ahead[1] if ahead and ahead[0] == wanted else self._pool.submit(self._prepared, *wanted)
        planes = future.result()
        if stop < self.image[0]:
            after = (self._image, stop, min(stop + extent[0], self.image[0]))
            self._ahead = after, self._pool.submit(self._prepared, *after)
        self.waited += time.perf_counter() - begun
        return planes

    def _prepared(self, image: int, start: int, stop: int) -> np.ndarray:
        begun = time.perf_counter()
        raw = self._read(image, start, stop)
        self.bytes += raw.nbytes
        planes = self._without_nan(raw, image, start)
        found = self.chain(planes) if self.chain.steps else np.ascontiguousarray(planes, self.dtype)
        self.seconds += time.perf_counter() - begun
        return found

    def _read(self, image: int, start: int, stop: int) -> np.ndarray:
        bounds = {'t': (image, image + 1), self.spatial[0]: (start, stop)}
        starts, stops = zip(*(bounds.get(axis, (0, extent)) for axis, extent in self._extent.items()))
        found = self.source.read(starts, stops)
        if self.sections:
            self.sections.add(starts, found)
        return found.reshape(self.channels, stop - start, *self.image[1:])

    def _without_nan(self, planes: np.ndarray, image: int, start: int, counts: bool = True) -> np.ndarray:
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
        if counts:
            self._nans += [(image, start + plane, int(there[:, plane].sum())) for plane in range(planes.shape[1])]
        return np.where(there, planes.dtype.type(0), planes) if self.nan == 'zero' else planes

    def nans(self, image: int, planes: int) -> int:
        """In the planes before this one, each counted once."""
        return self.nans_before + sum(number for at, plane, number in self._nans if self.count_from <= (at, plane) < (image, planes))

    @property
    def all_nans(self) -> int:
        return self.nans(self.times, 0)

    def _drop_ahead(self) -> None:
        if self._ahead:
            self._ahead[1].exception()   # it may be reading still
            self._ahead = None

    def close(self) -> None:
        self._drop_ahead()
        self._pool.shutdown()
        self.source.close()

    def memory(self, planes: int) -> int:
        """Bytes of the ring of planes in the sweep, of the group behind it and of the one that is read ahead."""
        plane = self.channels * int(np.prod(self.image[1:], dtype=np.int64))
        ring = min(self.image[0], planes + self.group - 1)
        return plane * (self.dtype.itemsize * (ring + 2 * self.group) + self.source.dtype.itemsize * self.group)


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
