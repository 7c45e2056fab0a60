"""Windows of an image in the sweep's order of axes, and where a run that goes on begins."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tenfold import _native
from tenfold.errors import InvalidArgument
from tenfold.imaging.segment._options import Options


def per_axis(flag: str, values: list[Any], rank: int) -> list[Any]:
    if len(values) not in (1, rank):
        raise InvalidArgument(f'--{flag} has {len(values)} values; the network has {rank} spatial axes: give one or {rank}')
    return values * rank if len(values) == 1 else values


@dataclass
class Grid:
    """`roi` and the options of windows, for axes in the sweep's order."""

    image: tuple[int, ...]
    roi: tuple[int, ...]
    options: dict[str, Any]

    def windows(self, first: int = 0) -> Any:
        """Of the image from plane `first` on."""
        return _native.SlidingWindow((self.image[0] - first, *self.image[1:]), self.roi, **self.options)

    def first_plane(self, planes: int, batch: int) -> int:
        """Where a sweep begins so that all planes from `planes` on get the bits of a whole one: all windows of these planes are there, in
        the batches of the whole sweep, and at the same places."""
        whole = self.windows()
        starts = whole.starts[0]
        if whole.padded_shape[0] != self.image[0] or planes == 0:
            return 0
        group = len(whole) // len(starts)
        fitting = [row for row, start in enumerate(starts) if start <= planes and start + self.roi[0] > planes]
        for row in range(min(fitting), -1, -1):
            first = starts[row]
            if row * group % batch == 0 and self.windows(first).starts[0] == tuple(start - first for start in starts[row:]):
                return int(first)
        return 0


def make_grid(options: Options, image: dict[str, int], roi: dict[str, int], axes: str, rank: int) -> Grid:
    """`axes`: of the sweep; those that the network lacks have windows of extent 1."""
    own = sorted(axes, key='zyx'.index)[len(axes) - rank:]   # the network's
    order = [own.index(axis) if axis in own else None for axis in axes]

    def ordered(flag: str, values: list[Any], lacking: Any) -> list[Any]:
        given = per_axis(flag, values, rank)
        return [lacking if place is None else given[place] for place in order]
    found: dict[str, Any] = {
        'overlap': ordered('overlap', options.overlap, 0.0), 'mode': options.mode, 'placement': options.placement,
        'sigma_scale': ordered('sigmaScale', options.sigma_scale, 0.125), 'padding_mode': options.padding, 'cval': options.cval,
    }
    if options.halo is not None:
        found['halo'] = ordered('halo', options.halo, 0)
    return Grid(tuple(image[axis] for axis in axes), tuple(roi[axis] for axis in axes), found)


def memory_of_sums(grid: Grid, channels: int, of_result: int) -> int:
    """Sums and divisors of one window's extent of the sweep's axis, and the planes that are handed on."""
    section = math.prod(max(extent, window) for extent, window in zip(grid.image[1:], grid.roi[1:]))
    return grid.roi[0] * section * (4 * (channels + 1) + of_result)
