"""Windows of an image, the grid of its results, and bands of rows, in the sweep's order of axes."""
from __future__ import annotations

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
    """`roi` and the options of windows, and the extents of results, for axes in the sweep's order."""

    image: tuple[int, ...]
    roi: tuple[int, ...]
    options: dict[str, Any]
    results: tuple[int, ...]
    resampling: dict[str, Any]   # for the sweep: grid and interpolation, if results have a grid of their own

    def windows(self) -> Any:
        return _native.SlidingWindow(self.image, self.roi, **self.options)

    @property
    def rows(self) -> int:
        """Of results, along the axis that bands are cut from; an image of one axis has none."""
        return self.results[1] if len(self.results) > 1 else 1

    def image_rows(self, begin: int, end: int) -> tuple[int, int]:
        """The share of the image's rows that those of the results have."""
        rows = self.image[1] if len(self.image) > 1 else 1
        return begin * rows // self.rows, end * rows // self.rows

    def rows_of_windows(self, begin: int, end: int) -> int:
        """How many there are in a band, nearly."""
        if len(self.image) < 2:
            return 1
        first, last = self.image_rows(begin, end)
        starts, halo = self.windows().starts[1], self.options['halo'][1] if 'halo' in self.options else 0
        lows = [start + (halo if start else 0) for start in starts]
        highs = [start + self.roi[1] - (0 if start == starts[-1] else halo) for start in starts]
        return sum(1 for low, high in zip(lows, highs) if low < max(last, first + 1) and high > first)


def make_grid(options: Options, image: dict[str, int], roi: dict[str, int], axes: str, rank: int) -> Grid:
    """`axes`: of the sweep; those that the network lacks have windows of extent 1."""
    spatial = sorted(axes, key='zyx'.index)
    own = spatial[len(axes) - rank:]   # the network's
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
    extents, resampling = tuple(image[axis] for axis in axes), {}
    results = extents
    if options.grid is None and 'gridMode' in options.given:
        raise InvalidArgument(f'--gridMode={options.given["gridMode"]}: expected --grid=N,N,..., the extents of the results, beside it')
    if options.grid is not None:
        if len(options.grid) != len(axes):
            raise InvalidArgument(f'--grid has {len(options.grid)} extents; the image has {len(axes)} spatial axes: give one for each of '
                                  + ', '.join(spatial))
        modes = options.grid_mode * len(axes) if len(options.grid_mode) == 1 else options.grid_mode
        if len(modes) != len(axes):
            raise InvalidArgument(f'--gridMode has {len(modes)} values; the image has {len(axes)} spatial axes: give one or {len(axes)}')
        results = tuple(options.grid[spatial.index(axis)] for axis in axes)
        resampling = {'grid': results, 'interpolation': [modes[spatial.index(axis)] for axis in axes]}
    return Grid(extents, tuple(roi[axis] for axis in axes), found, results, resampling)
