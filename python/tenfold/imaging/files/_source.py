"""A source: an array in a file or of another library, read by region, in an order of axes that does not depend on the format."""
from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Callable

import numpy as np

from tenfold.imaging.files._axes import axes_of, channels_of, order_of, times_of
from tenfold.imaging.files._errors import refuse, refuse_argument, unreadable
from tenfold.imaging.files._metadata import Metadata


@dataclass
class Stored:
    """What a format gives: an array in the file's own order of axes. `read` takes a slice for each axis."""

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Callable[[tuple[slice, ...]], Any]
    axes: str | None = None
    chunks: tuple[int, ...] | None = None
    metadata: Metadata = field(default_factory=Metadata)
    close: Callable[[], None] = lambda: None
    files: tuple[str, ...] = ()   # that outputs must not be, beside `path`


class Source:
    """`shape`, `dtype`, `axes`, `chunks`, `metadata`, and `read(starts, stops)`. Axes are in the order of "tczyx" or as `order` says."""

    def __init__(self, stored: Stored, axes: str | None = None, channel: Any = None, time: Any = None, order: str | None = None):
        self.path = stored.path
        self._stored = stored
        shape = tuple(int(extent) for extent in stored.shape)
        check_array(stored.path, shape, stored.dtype)
        own = axes_of(axes, stored.axes, shape, stored.path)
        begins, ends, dropped = [0] * len(shape), list(shape), ''
        metadata = stored.metadata
        self._channels: list[int] | None = None
        for letter, given in (('c', channel), ('t', time)):
            if given is not None and letter not in own and given != 0:   # 0 is the only one that there is
                name = 'channel' if letter == 'c' else 'time'
                refuse_argument(stored.path, f'{name}={given!r}, but its axes are {own!r}',
                                f'leave {name} out, or name an axis {letter!r} by axes=')
        if channel is not None and 'c' in own:
            at = own.index('c')
            picked, stays = channels_of(channel, shape[at], stored.path)
            begins[at], ends[at] = min(picked), max(picked) + 1
            self._channels = picked if picked != list(range(begins[at], ends[at])) else None
            dropped += '' if stays else 'c'
            if metadata.channels and len(metadata.channels) == shape[at]:
                metadata = replace(metadata, channels=[metadata.channels[one] for one in picked])
        if time is not None and 't' in own:
            at = own.index('t')
            begins[at], ends[at], stays = times_of(time, shape[at], stored.path)
            dropped += '' if stays else 't'
            metadata = metadata.shifted({'t': begins[at]})
        self.axes = order_of(''.join(letter for letter in own if letter not in dropped), order, stored.path)
        self._places = [own.index(letter) for letter in self.axes]   # of each axis of ours in the file
        self._own, self._begins, self._dropped = own, begins, dropped
        extents = {letter: ends[at] - begins[at] for at, letter in enumerate(own)}
        if self._channels is not None:
            extents['c'] = len(self._channels)
        self.shape = tuple(extents[letter] for letter in self.axes)
        self.dtype = stored.dtype.newbyteorder('=')
        self.chunks = None if stored.chunks is None else tuple(
            min(int(stored.chunks[place]), extent) for place, extent in zip(self._places, self.shape))
        self.metadata = metadata.along(self.axes)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def _per_axis(self, values: dict[str, Any], otherwise: Any) -> tuple[Any, ...]:
        return tuple(values.get(letter, otherwise) for letter in self.axes)

    @property
    def spacing(self) -> tuple[float, ...]:
        """The extent of a voxel along each axis; 1 where the file does not say."""
        return self._per_axis(self.metadata.spacing, 1.0)

    @property
    def origin(self) -> tuple[float, ...]:
        return self._per_axis(self.metadata.origin, 0.0)

    @property
    def units(self) -> tuple[str | None, ...]:
        return self._per_axis(self.metadata.units, None)

    @property
    def affine(self) -> np.ndarray | None:
        return self.metadata.affine

    def read(self, starts: Any, stops: Any) -> np.ndarray:
        """The region from `starts` to `stops`, one number an axis each, as a contiguous array in the machine's byte order."""
        starts, stops = tuple(int(start) for start in starts), tuple(int(stop) for stop in stops)
        if len(starts) != self.ndim or len(stops) != self.ndim:
            refuse_argument(self.path, f'a region of {len(starts)} starts and {len(stops)} stops',
                            f'give {self.ndim} of each, for {self.axes!r}')
        for letter, start, stop, extent in zip(self.axes, starts, stops, self.shape):
            if not 0 <= start < stop <= extent:
                refuse_argument(self.path, f'a region from {start} to {stop} along {letter}, whose extent is {extent}',
                                'stay inside of it')
        parts = [(slice(begin, begin + 1)) for begin in self._begins]
        for place, start, stop in zip(self._places, starts, stops):
            parts[place] = slice(self._begins[place] + start, self._begins[place] + stop)
        if self._channels is not None and 'c' in self.axes:
            return self._read_channels(parts, starts[self.axes.index('c')], stops[self.axes.index('c')])
        return self._ordered(self._read(tuple(parts)))

    def _read_channels(self, parts: list[slice], start: int, stop: int) -> np.ndarray:
        """Of a list of channels that do not lie beside each other, each by itself: reading what lies between could be the whole file."""
        at = self._own.index('c')
        regions = [self._read((*parts[:at], slice(one, one + 1), *parts[at + 1:])) for one in (self._channels or [])[start:stop]]
        return self._ordered(np.concatenate(regions, axis=at))

    def _read(self, parts: tuple[slice, ...]) -> np.ndarray:
        try:
            region = np.asarray(self._stored.read(parts))
        except Exception as error:
            region = ', '.join(f'{letter} {part.start}:{part.stop}' for letter, part in zip(self._own, parts))
            unreadable(self.path, f'reading {region}', error)
        expected = tuple(part.stop - part.start for part in parts)
        if region.shape != expected:
            refuse(self.path, f'asked for a region of {list(expected)}, it gave {list(region.shape)}',
                   'a source gives what slices select, with every axis kept: mend its __getitem__, or whatever cut the file')
        if region.dtype.newbyteorder('=') != self.dtype:
            refuse(self.path, f'it says that it holds {self.dtype}, and gave {region.dtype}', "mend the source's dtype")
        return region

    def _ordered(self, region: np.ndarray) -> np.ndarray:
        left = [letter for letter in self._own if letter not in self._dropped]
        region = region.reshape([extent for extent, letter in zip(region.shape, self._own) if letter not in self._dropped])
        return np.ascontiguousarray(region.transpose([left.index(letter) for letter in self.axes]), dtype=self.dtype)

    @property
    def files(self) -> tuple[str, ...]:
        return (self.path, *self._stored.files)

    def close(self) -> None:
        self._stored.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f'<Source {self.path}: {self.dtype}[{", ".join(map(str, self.shape))}] {self.axes}>'


def check_array(path: object, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Numbers, some of them, and not more than addresses reach."""
    if dtype.hasobject:
        refuse(path, 'it holds Python objects, which only pickle reads, and pickle runs code',
               'save it as numbers: array.astype("float32")')
    if dtype.kind not in 'buif':
        refuse(path, f'its type is {dtype}', 'expected bool, an integer or a float: convert it')
    if any(extent < 0 for extent in shape):
        refuse(path, f'its shape is {list(shape)}', 'an extent is negative: the header is damaged')
    if not shape or 0 in shape:
        refuse(path, f'its shape is {list(shape)}', 'expected an image of one voxel at least')
    if math.prod(shape) * dtype.itemsize > 2**63 - 1:
        refuse(path, f'its shape is {list(shape)} of {dtype}, more than 2^63 bytes', 'the header is damaged')
