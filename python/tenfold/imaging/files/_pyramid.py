"""Coarser levels of an image: extents, and the voxels, chunk by chunk from the level below."""
from __future__ import annotations

import itertools
import math
from typing import Any, Iterator

import numpy as np

from tenfold.imaging.files._metadata import Metadata

SMALLEST = 64    # a level ends the pyramid when its longest spatial extent is no longer than this
MAX_LEVELS = 12
MAX_BATCH = 4 << 20   # bytes of a level that are computed at once; eight times as many are read


def level_shapes(shape: tuple[int, ...], axes: str, given: Metadata) -> list[tuple[int, ...]]:
    """Of all levels. Axes with the finest voxels are halved, so that voxels become cubes as they grow."""
    found, lengths = [shape], {axis: given.spacing.get(axis, 1.0) for axis in axes if axis in 'zyx'}
    while len(found) < MAX_LEVELS:
        last = found[-1]
        large = [axis for axis in lengths if last[axes.index(axis)] > 1]
        if max((last[axes.index(axis)] for axis in lengths), default=0) <= SMALLEST or not large:
            return found
        finest = min(lengths[axis] for axis in large)
        halved = [axis for axis in large if lengths[axis] < 1.5 * finest]
        for axis in halved:
            lengths[axis] *= 2
        found.append(tuple(-(-extent // 2) if axis in halved else extent for axis, extent in zip(axes, last)))
    return found


def places_below(start: int, stop: int, extent: int, below: int) -> np.ndarray:
    """The voxel below that lies under the middle of each of these; of two that do, the first."""
    return ((2 * np.arange(start, stop) + 1) * below - 1) // (2 * extent)


def nearest(array: np.ndarray, places: list[np.ndarray], first: list[int]) -> np.ndarray:
    return array[np.ix_(*(place - begin for place, begin in zip(places, first)))]


def mean(array: np.ndarray, halved: list[bool]) -> np.ndarray:
    """Of two voxels along each halved axis; one at an odd end stands for itself."""
    for axis, half in enumerate(halved):
        if half:
            array = np.moveaxis(array, axis, 0)
            if len(array) % 2:
                array = np.concatenate([array, array[-1:]])
            array = np.moveaxis((array[0::2] + array[1::2]) * array.dtype.type(0.5), 0, axis)
    return array


def fill_level(below: Any, level: Any, smooth: bool) -> None:
    """`smooth`: the mean, where each axis is halved or kept; else the nearest voxel, as labels need."""
    for region in regions(level.shape, batch(level)):
        places = [places_below(part.start, part.stop, extent, lower) for part, extent, lower in zip(region, level.shape, below.shape)]
        if smooth:
            halved = [lower != extent for extent, lower in zip(level.shape, below.shape)]
            parts = tuple(slice(2 * part.start, min(2 * part.stop, lower)) if half else part
                          for part, half, lower in zip(region, halved, below.shape))
            level[region] = mean(below[parts], halved)
        else:
            first = [int(place[0]) for place in places]
            parts = tuple(slice(begin, int(place[-1]) + 1) for begin, place in zip(first, places))
            level[region] = nearest(below[parts], places, first)


def batch(level: Any) -> tuple[int, ...]:
    """Whole chunks, as many as are worth a call."""
    found = list(level.shards or level.chunks)
    for axis in reversed(range(len(found))):
        while found[axis] < level.shape[axis] and 2 * math.prod(found) * level.dtype.itemsize <= MAX_BATCH:
            found[axis] *= 2
    return tuple(found)


def regions(shape: tuple[int, ...], chunks: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    for starts in itertools.product(*(range(0, extent, chunk) for extent, chunk in zip(shape, chunks))):
        yield tuple(slice(start, min(start + chunk, extent)) for start, chunk, extent in zip(starts, chunks, shape))
