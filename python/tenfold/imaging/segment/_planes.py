"""Planes of the input as the sweep asks for them, in a thread of its own: normalized, NaN counted."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
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
        self.nans_before = 0           # that a killed run has counted
        self._nans: dict[tuple[int, int], list[tuple[int, int]]] = {}   # by time point and band: plane, how many
        self.seconds = 0.0
        self.bytes = 0
        self.group_bytes = GROUP_BYTES
        self.measured = -1             # the time point whose statistics there are
        self._lock = threading.Lock()  # sweeps of several devices read at the same time

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

    def begin(self, image: int) -> None:
        """Sweeps over a time point begin."""
        if self.chain.needs_statistics and self.measured != image:
            self.chain.measure(lambda: self._checked_planes(image))
            self.measured = image

    def _checked_planes(self, image: int) -> Iterator[np.ndarray]:
        for start in range(0, self.image[0], self.group):
            begun = time.perf_counter()
            planes = self._read(image, start, min(start + self.group, self.image[0]))
            found = self._without_nan(planes, self._find_nan(planes, image, start))
            self.seconds += time.perf_counter() - begun
            yield found

    def of_band(self, image: int, number: int, rows: tuple[int, int], first: int) -> Callable[..., np.ndarray]:
        """What the sweep of a band calls, in ascending order: [channel, planes, ...]. `rows` of the image, and planes from `first` on, are
        its own: their NaN count."""
        own = slice(*rows)

        def read(_: int, begin: tuple[int, ...], extent: tuple[int, ...]) -> np.ndarray:
            wanted = (begin[1], begin[1] + extent[1]) if len(begin) > 1 else None
            with self._lock:
                begun = time.perf_counter()
                raw = self._read(image, begin[0], begin[0] + extent[0], wanted)
                self.bytes += raw.nbytes
                there = self._find_nan(raw, image, begin[0])
                if there is not None:   # rows that two bands read count in one of them
                    low = wanted[0] if wanted else 0
                    counted = there if there.ndim < 3 else there[:, :, max(0, own.start - low):max(0, own.stop - low)]
                    self._nans.setdefault((image, number), []).extend(
                        (begin[0] + plane, int(counted[:, plane].sum())) for plane in range(raw.shape[1]) if begin[0] + plane >= first)
                planes = self._without_nan(raw, there)
                found = self.chain(planes) if self.chain.steps else np.ascontiguousarray(planes, self.dtype)
                self.seconds += time.perf_counter() - begun
            return found
        return read

    def _read(self, image: int, start: int, stop: int, rows: tuple[int, int] | None = None) -> np.ndarray:
        bounds = {'t': (image, image + 1), self.spatial[0]: (start, stop), **({self.spatial[1]: rows} if rows else {})}
        starts, stops = zip(*(bounds.get(axis, (0, extent)) for axis, extent in self._extent.items()))
        found = self.source.read(starts, stops)
        if self.sections:
            self.sections.add(starts, found)
        extents = [high - low for low, high in (bounds.get(axis, (0, self._extent[axis])) for axis in self.spatial)]
        return found.reshape(self.channels, *extents)

    def _find_nan(self, planes: np.ndarray, image: int, start: int) -> np.ndarray | None:
        """Where they are; None: nowhere. Throws where there are to be none."""
        if planes.dtype.kind != 'f':
            return None
        there = np.isnan(planes)
        number = int(there.sum())
        if number and self.nan == 'fail':
            plane = start + int(np.argmax(there.any(axis=tuple(axis for axis in range(planes.ndim) if axis != 1))))
            where = f'time {image}, ' if 't' in self._extent else ''
            raise InvalidArgument(f'{self.source.path}: {where}{self.spatial[0]} {plane}: NaN, {number} of them in the planes {start} to '
                                  f'{start + planes.shape[1] - 1}; expected numbers: --nan=zero takes 0 for them, --nan=pass leaves them')
        return there if number else None

    def _without_nan(self, planes: np.ndarray, there: np.ndarray | None) -> np.ndarray:
        return np.where(there, planes.dtype.type(0), planes) if there is not None and self.nan == 'zero' else planes

    def nans(self, image: int, planes: list[int]) -> int:
        """In the time points before, and of this one in as many planes of each band, each counted once."""
        return self.nans_before + sum(number for (at, band), found in list(self._nans.items()) for plane, number in list(found)
                                      if at < image or (at == image and plane < planes[band]))

    @property
    def all_nans(self) -> int:
        return self.nans(self.times, [])

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
