"""What a file says about its voxels besides their values: spacing, origin, units by axis, an affine, names of channels."""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

METERS = {'meter': 1.0, 'centimeter': 1e-2, 'millimeter': 1e-3, 'micrometer': 1e-6, 'nanometer': 1e-9, 'angstrom': 1e-10, 'inch': 0.0254}
SECONDS = {'second': 1.0, 'millisecond': 1e-3, 'microsecond': 1e-6, 'minute': 60.0, 'hour': 3600.0}
SAME = {'m': 'meter', 'cm': 'centimeter', 'mm': 'millimeter', 'um': 'micrometer', '\u00b5m': 'micrometer', '\u03bcm': 'micrometer',
        '\\u00b5m': 'micrometer', 'micron': 'micrometer', 'microns': 'micrometer', 'nm': 'nanometer', '\u00c5': 'angstrom', 's': 'second',
        'sec': 'second', 'ms': 'millisecond', 'msec': 'millisecond', 'us': 'microsecond', '\u00b5s': 'microsecond', 'min': 'minute',
        'h': 'hour'}


def unit_name(text: object) -> str | None:
    """The name that OME-Zarr has for a unit as another format spells it; None for pixels and what is not known."""
    word = str(text or '').strip().rstrip('.')
    name = SAME.get(word) or SAME.get(word.lower()) or word.lower()
    return name if name in METERS or name in SECONDS else None


@dataclass
class Metadata:
    """By letter of axis (`t`, `c`, `z`, `y`, `x`); what a file does not say is not there.

    `affine` is NIfTI's: it takes the index (x, y, z, 1) to a position in the units of x.
    """

    spacing: dict[str, float] = field(default_factory=dict)
    origin: dict[str, float] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    affine: np.ndarray | None = None
    channels: list[str] | None = None
    header: Any = None   # a NIfTI header, for NIfTI files written like this one

    def along(self, axes: str) -> Metadata:
        """Of these axes only."""
        def keep(given: dict[str, Any]) -> dict[str, Any]:
            return {axis: given[axis] for axis in axes if axis in given}
        return replace(self, spacing=keep(self.spacing), origin=keep(self.origin), units=keep(self.units),
                       channels=self.channels if 'c' in axes else None)

    def resampled(self, ratios: dict[str, float]) -> Metadata:
        """On a grid of the same field of view whose voxels are `ratios` times as long."""
        ratios = {axis: ratio for axis, ratio in ratios.items() if ratio != 1}
        if not ratios:
            return self
        spacing, origin, affine = dict(self.spacing), dict(self.origin), self.affine
        for axis, ratio in ratios.items():
            if axis in spacing:
                origin[axis] = origin.get(axis, 0.0) + (ratio - 1) / 2 * spacing[axis]
                spacing[axis] *= ratio
        if affine is not None:
            step = np.eye(4)
            for place, axis in enumerate('xyz'):
                step[place, place] = ratios.get(axis, 1.0)
                step[place, 3] = (ratios.get(axis, 1.0) - 1) / 2
            affine = affine @ step
        return replace(self, spacing=spacing, origin=origin, affine=affine)

    def shifted(self, starts: dict[str, int]) -> Metadata:
        """Of a region that begins at these indices."""
        origin = dict(self.origin)
        for axis, start in starts.items():
            if start and axis in self.spacing:
                origin[axis] = origin.get(axis, 0.0) + start * self.spacing[axis]
        return replace(self, origin=origin)
