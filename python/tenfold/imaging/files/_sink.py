"""A sink: an array that is written by region into a file, which appears under its name when it is whole."""
from __future__ import annotations

import math
import os
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from tenfold.imaging.files._errors import refuse, refuse_argument, unwritable
from tenfold.imaging.files._metadata import Metadata
from tenfold.imaging.files._replace import remove, replace

PARTIAL = '.partial'


@dataclass
class Target:
    """What is to be written, for the format that writes it."""

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    axes: str
    metadata: Metadata
    compress: str | None = None
    chunks: tuple[int, ...] | None = None
    shards: tuple[int, ...] | None = None
    resume: bool = False
    like_path: str | None = None

    @property
    def partial(self) -> str:
        return self.path + PARTIAL

    def extent(self, axis: str, otherwise: int = 1) -> int:
        return self.shape[self.axes.index(axis)] if axis in self.axes else otherwise

    def in_order(self, axes: str) -> tuple[int, ...]:
        """The shape with its axes in this order; an axis that is not there has extent 1."""
        return tuple(self.extent(axis) for axis in axes)


class Writer:
    """What a format gives: writes regions in the order of axes of its own, and finishes `target.partial`."""

    axes: str
    resumed = False          # whether it goes on with what a killed process left
    helpers: tuple[str, ...] = ()   # files beside the partial one, deleted when that has got its name

    def write(self, starts: tuple[int, ...], array: np.ndarray) -> None:
        raise NotImplementedError

    def pending(self, axis: str, within: tuple[str, int, int] | None = None) -> int | None:
        """The lowest index along an axis of what a killed process would lose; None: nothing. `within`: (axis, begin, end), of that."""
        return None

    def chunk(self, axis: str) -> int:
        """Indices along an axis that are stored together."""
        return 1

    def finish(self) -> None:
        raise NotImplementedError

    def publish(self) -> None:
        """Behind the rename: what points at the new output."""

    def abandon(self) -> None:
        """Closes what is open; the partial file stays."""


class Sink:
    """`write(starts, array)` in the order of `axes`, each voxel once; `close()` gives the output its name. Also a context manager."""

    def __init__(self, target: Target, writer: Writer):
        self.path, self.shape, self.dtype, self.axes = target.path, target.shape, target.dtype, target.axes
        self.resumed = writer.resumed
        self._target, self._writer, self._written, self._open = target, writer, 0, True
        self._places = [self.axes.index(letter) for letter in writer.axes if letter in self.axes]
        self._wider = tuple(letter in self.axes for letter in writer.axes)   # the file may have axes of extent 1 besides

    def write(self, starts: Any, array: Any) -> None:
        starts = tuple(int(start) for start in starts)
        array = np.asarray(array)
        if not self._open:
            refuse_argument(self.path, 'written to after it was closed', 'open it again')
        if len(starts) != len(self.shape) or array.ndim != len(self.shape):
            refuse_argument(self.path, f'{len(starts)} starts and an array of {array.ndim} axes',
                            f'give {len(self.shape)}, for {self.axes!r}')
        for letter, start, extent, whole in zip(self.axes, starts, array.shape, self.shape):
            if not 0 <= start <= start + extent <= whole:
                refuse_argument(self.path, f'a region from {start} to {start + extent} along {letter}, whose extent is {whole}',
                                'stay inside of it')
        if array.dtype.newbyteorder('=') != self.dtype:
            refuse_argument(self.path, f'an array of {array.dtype} for an output of {self.dtype}',
                            f'convert it: array.astype("{self.dtype}")')
        moved = array.transpose(self._places)
        places = iter(self._places)
        extents = iter(moved.shape)
        try:
            self._writer.write(tuple(starts[next(places)] if ours else 0 for ours in self._wider),
                               moved.reshape([next(extents) if ours else 1 for ours in self._wider]))
        except Exception as error:
            unwritable(self.path, 'writing', error)
        self._written += array.size

    def pending(self, axis: str, within: tuple[str, int, int] | None = None) -> int | None:
        """The lowest index along `axis` that a killed process would lose, as it is not in a file yet; None: nothing is.

        `within`: (axis, begin, end): of what is stored together with something of this range.
        """
        return self._writer.pending(axis, within)

    def chunk(self, axis: str) -> int:
        """Indices along `axis` that the file stores together: regions that end with them leave nothing pending there."""
        return self._writer.chunk(axis)

    def close(self) -> None:
        """Finishes the file and gives it its name. An output of which regions are missing keeps the name `.partial`."""
        if not self._open:
            return
        whole = math.prod(self.shape)
        if self._written < whole and not self.resumed:
            self.abandon()
            refuse(self.path, f'{whole - self._written:,} of {whole:,} voxels were not written', f'the rest is {self._target.partial}')
        self._open = False
        try:
            self._writer.finish()
            if os.path.lexists(self._target.partial):
                replace(self._target.partial, self.path)
            for helper in self._writer.helpers:
                remove(helper)
            self._writer.publish()
        except Exception as error:
            self._writer.abandon()
            unwritable(self.path, 'finishing the output', error)

    def abandon(self) -> None:
        """Stops here. What was written so far stays as `.partial`, to go on with `resume=True`."""
        if self._open:
            self._open = False
            self._writer.abandon()

    def __enter__(self) -> Sink:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def __repr__(self) -> str:
        return f'<Sink {self.path}: {self.dtype}[{", ".join(map(str, self.shape))}] {self.axes}>'


def check_partial(path: str, found: dict[str, Any], expected: dict[str, Any]) -> None:
    """What a killed process left is of the same output: names what is not."""
    for name, value in expected.items():
        if found.get(name) != value:
            refuse(path, f'resume: its {name} is {found.get(name)}, this run writes {value}',
                   'run it with the options of the killed run, or without resume')


def refuse_option(target: Target, name: str, value: object, do: str) -> None:
    if value is not None:
        refuse_argument(target.path, f'{name}={value!r}, which this format does not have', do)
