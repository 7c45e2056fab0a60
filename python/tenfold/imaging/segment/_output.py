"""Planes of results on their way to the file, and how many of them a killed process would leave there."""
from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.imaging.files import Sections, Sink, Source, open_sink
from tenfold.imaging.files._replace import remove
from tenfold.imaging.segment._options import Options, check_output_type
from tenfold.imaging.segment._resume import State

SAVE_SECONDS = 0.1   # a killed run loses so much, and a slab


class Output:
    """`axes`: the sweep's, spatial ones only, and `extents` those of the results. `channels`: of the network. Opens the sink: what does
    not fit is refused here."""

    def __init__(self, options: Options, source: Source, axes: str, extents: tuple[int, ...], channels: int, state: State, resume: bool,
                 overwrite: bool):
        self.channels = 1 if options.reduce == 'argmax' else channels
        labels = channels if options.reduce == 'argmax' else 2
        stored = np.dtype('float32' if options.reduce == 'none' else 'uint8' if labels <= 256 else 'uint16')
        self.dtype = check_output_type(options, stored, labels)
        self._extent = {**dict(zip(source.axes, source.shape)), **dict(zip(axes, extents))}
        names = ('t' if 't' in source.axes else '') + ('c' if self.channels > 1 else '') + ''.join(sorted(axes, key='zyx'.index))
        self._extent['c'] = self.channels
        shape = [self._extent[axis] for axis in names]
        self.sink: Sink = open_sink(options.output, shape, self.dtype, axes=names, like=source, compress=options.compress,
                                    chunks=options.chunks, overwrite=overwrite, resume=resume)
        self.sections = Sections(names, tuple(shape), self.dtype) if options.preview else None
        self._axes, self._state = axes, state
        self.bands: list[tuple[int, int]] = []   # rows of each, once they are known
        given = ('c', *axes)   # of the planes that write() gets
        self._to = [given.index(axis) for axis in ('c', *sorted(axes, key='zyx'.index))]
        self.seconds = 0.0
        self.bytes = 0
        self._rows = extents[1] if len(extents) > 1 else 1
        self._written = 0              # rows of planes
        self._image = 0
        self._done: list[int] = []     # planes of the bands of this time point
        self.nans: Callable[[int, list[int]], int] = lambda image, planes: 0   # before these planes of the bands
        self._there: tuple[int, list[int], int] | None = None   # what a killed process would leave: State.save() takes it
        self._lock = threading.Lock()  # several devices write at the same time
        self._saved = 0.0

    @property
    def planes(self) -> int:
        """That were written; several bands make one."""
        return self._written // self._rows

    @property
    def chunk_rows(self) -> int:
        """Rows that the file stores together: bands end with them."""
        return self.sink.chunk(self._axes[1]) if len(self._axes) > 1 else 1

    def begin(self, image: int, done: list[int]) -> None:
        """Sweeps over a time point begin, whose bands have so many planes already."""
        self._image, self._done = image, list(done)

    def of_band(self, band: int) -> Callable[[int, Any, Any], Any]:
        """What the sweep of a band opens outputs by; all but the first are not asked for."""
        def write(_: int, begin: tuple[int, ...], planes: np.ndarray) -> None:
            self.write(band, begin, planes)

        def drop(*_: Any) -> None:
            pass
        return lambda number, dtype, shape: write if number == 0 else drop

    def write(self, band: int, begin: tuple[int, ...], planes: np.ndarray) -> None:
        with self._lock:
            begun = time.perf_counter()
            found = np.ascontiguousarray(planes.transpose(self._to), self.dtype)
            places = {'t': self._image, **dict(zip(self._axes, begin))}
            starts = tuple(places.get(axis, 0) for axis in self.sink.axes)
            found = found.reshape([dict(zip('czyx', self._box(found))).get(axis, 1) for axis in self.sink.axes])
            self.sink.write(starts, found)
            if self.sections:
                self.sections.add(starts, found)
            self.bytes += found.nbytes
            self._written += planes.shape[1] * (planes.shape[2] if planes.ndim > 2 else 1)
            self._done[band] = begin[0] + planes.shape[1]
            self._save()
            self.seconds += time.perf_counter() - begun

    def _box(self, found: np.ndarray) -> list[int]:
        """Extents by axis c, z, y, x."""
        there = dict(zip(('c', *sorted(self._axes, key='zyx'.index)), found.shape))
        return [there.get(axis, 1) for axis in 'czyx']

    def _save(self) -> None:
        """What waits for the rest of a chunk is not in the file yet."""
        image, done = self._image, list(self._done)
        pending = self.sink.pending('t') if 't' in self.sink.axes else None
        if pending is not None and pending < image:
            image, done = pending, [0] * len(done)
        for band, (begin, end) in enumerate(self.bands):
            waiting = self.sink.pending(self._axes[0], (self._axes[1], begin, end) if len(self._axes) > 1 else None)
            done[band] = done[band] if waiting is None else min(done[band], waiting)
        self._there = image, done, self.nans(image, done)
        now = time.monotonic()
        if now - self._saved >= SAVE_SECONDS:
            self._saved = now
            self._state.save(*self._there)

    def abandon(self) -> None:
        """Stops; --resume goes on with what is there."""
        if self._there:
            self._state.save(*self._there)
        self.sink.abandon()

    def remove(self) -> None:
        """Nothing of it stays."""
        self.sink.abandon()
        for ending in ('.partial', '.partial.npy'):
            if os.path.lexists(self.sink.path + ending):
                remove(self.sink.path + ending)
        self._state.remove()
