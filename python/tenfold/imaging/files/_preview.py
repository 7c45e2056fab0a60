"""A picture of a result: three orthogonal sections with the labels laid over in colors, and a scale bar. PNG, by Pillow."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from tenfold.imaging.files._errors import need, refuse_argument, unwritable
from tenfold.imaging.files._replace import remove
from tenfold.imaging.files._sink import PARTIAL

GAP, MARGIN, MAX_SIDE = 8, 28, 1024   # pixels; the longest section has so many at most
OPACITY = 0.45
# Pillow's font has no mu.
SHORT = {'micrometer': 'um', 'millimeter': 'mm', 'nanometer': 'nm', 'centimeter': 'cm', 'meter': 'm', None: 'px'}
SECTIONS = ('xy', 'xz', 'yz')   # (columns, rows) but yz, whose columns are z so that it stands beside xy


class Sections:
    """Gathers the middle sections from the regions of a sweep, so that nothing is read twice. 2-D images have one, XY.

    Of axes longer than a picture shows, it keeps every second voxel, or every third: `strides` of z, y, x.
    """

    def __init__(self, axes: str, shape: tuple[int, ...], dtype: Any):
        """Of the spatial axes of `axes`; of the others the first index."""
        self.axes, extents = axes, [dict(zip(axes, shape)).get(axis, 1) for axis in 'zyx']
        self.strides = tuple(-(-extent // (2 * MAX_SIDE)) for extent in extents)
        z, y, x = (-(-extent // stride) for extent, stride in zip(extents, self.strides))
        self.xy, self.xz, self.yz = np.zeros((y, x), dtype), np.zeros((z, x), dtype), np.zeros((y, z), dtype)
        self._middle = [extent // 2 for extent in extents]

    def add(self, starts: Any, array: np.ndarray) -> None:
        begin = dict(zip(self.axes, (int(start) for start in starts)))
        if any(begin[axis] > 0 for axis in self.axes if axis not in 'zyx'):
            return
        spatial = [axis for axis in 'zyx' if axis in self.axes]
        volume = array[tuple(slice(None) if axis in 'zyx' else 0 for axis in self.axes)]
        given = [axis for axis in self.axes if axis in 'zyx']
        block = volume.transpose([given.index(axis) for axis in spatial])
        block = block.reshape([1] * (3 - block.ndim) + list(block.shape))
        first = [begin.get(axis, 0) for axis in 'zyx']
        at = [middle - start for middle, start in zip(self._middle, first)]
        skip = [-start % stride for start, stride in zip(first, self.strides)]   # voxels in front of the first one that is kept
        z, y, x = (slice(-(-start // stride), -(-(start + extent) // stride))
                   for start, extent, stride in zip(first, block.shape, self.strides))
        kz, ky, kx = (slice(begin, None, stride) for begin, stride in zip(skip, self.strides))
        if 0 <= at[0] < block.shape[0]:
            self.xy[y, x] = block[at[0], ky, kx]
        if 0 <= at[1] < block.shape[1]:
            self.xz[z, x] = block[kz, at[1], kx]
        if 0 <= at[2] < block.shape[2]:
            self.yz[y, z] = block[kz, ky, at[2]].T

    @property
    def all(self) -> tuple[np.ndarray, ...]:
        return (self.xy, self.xz, self.yz) if 'z' in self.axes else (self.xy,)


def gray(sections: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """0 to 1, stretched between the percentiles 0.5 and 99.5 of all sections."""
    values = np.concatenate([section.ravel() for section in sections]).astype(np.float64)
    values = values[np.isfinite(values)]
    low, high = np.percentile(values, (0.5, 99.5)) if values.size else (0.0, 1.0)
    if high <= low:
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    scale = 1 / (high - low) if high > low else 0.0
    return [np.clip(np.nan_to_num(section.astype(np.float64) - low) * scale, 0, 1) for section in sections]


def colors_of(labels: np.ndarray) -> np.ndarray:
    """A hue for each label by the golden angle, so that neighbors in number differ: (..., 3) from 0 to 1."""
    hue = (labels.astype(np.float64) * 0.618033988749895) % 1.0
    wheel = np.abs((hue[..., None] * 6 + np.array([0.0, 4.0, 2.0])) % 6 - 3) - 1
    return np.clip(wheel, 0, 1) * 0.85 + 0.15


def overlaid(image: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
    found = np.repeat(image[..., None], 3, axis=-1)
    if labels is not None:
        painted = found * (1 - OPACITY) + colors_of(labels) * OPACITY
        found = np.where((labels != 0)[..., None], painted, found)
    return np.asarray((found * 255 + 0.5).astype(np.uint8))


def round_length(length: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is no longer."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(next(step * power for step in (5, 2, 1) if step * power <= length * (1 + 1e-9)))


def length_text(length: float, unit: str | None) -> str:
    if unit == 'micrometer' and length >= 1000:
        length, unit = length / 1000, 'millimeter'
    return f'{length:g} {SHORT.get(unit, unit)}'


def preview(path_png: Any, image_sections: Any, labels: Any = None, spacing: Any = (1.0, 1.0, 1.0), unit: str | None = None) -> str:
    """Writes the picture; gives the text of the scale bar.

    `image_sections` and `labels`: arrays (y, x), (z, x), (y, z), or the first alone; also a `Sections`. `spacing`: of z, y, x. Voxels are
    drawn in their proportions. A label of 0 is background. `unit`: of the spacing, as OME-Zarr names it; None: pixels.
    """
    path = os.fspath(path_png)
    images = image_sections.all if isinstance(image_sections, Sections) else tuple(np.asarray(one) for one in image_sections)
    found = labels.all if isinstance(labels, Sections) else None if labels is None else tuple(np.asarray(one) for one in labels)
    if len(images) not in (1, 3) or any(one.ndim != 2 or one.size == 0 for one in images):
        refuse_argument(path, f'sections of shapes {[list(one.shape) for one in images]}', 'give XY, XZ and YZ as 2-D arrays, or XY alone')
    if found is not None and [one.shape for one in found] != [one.shape for one in images]:
        refuse_argument(path, f'labels of shapes {[list(one.shape) for one in found]} over {[list(one.shape) for one in images]}',
                        'give sections of the same places')
    spacing = tuple(float(step) for step in spacing)
    if len(spacing) != 3 or not all(np.isfinite(step) and step > 0 for step in spacing):
        refuse_argument(path, f'spacing={list(spacing)}', 'give the positive lengths of a voxel along z, y, x')
    pillow = need('PIL.Image', path)
    dz, dy, dx = (step * stride for step, stride in zip(spacing, getattr(image_sections, 'strides', (1, 1, 1))))
    steps = ((dy, dx), (dz, dx), (dy, dz))
    longest = max(extent * step for image, pair in zip(images, steps) for extent, step in zip(image.shape, pair))
    scale = min(1 / min(dy, dx), MAX_SIDE / longest)   # pixels in a unit of length
    panels = []
    for image, label, pair in zip(gray(images), found or [None] * len(images), steps):
        size = [max(1, round(extent * step * scale)) for extent, step in zip(image.shape, pair)]
        painted = pillow.fromarray(overlaid(image, label))
        panels.append(painted.resize((size[1], size[0]), pillow.Resampling.NEAREST))
    return save(path, panels, scale, unit)


def save(path: str, panels: list[Any], scale: float, unit: str | None) -> str:
    pillow, draw = need('PIL.Image', path), need('PIL.ImageDraw', path)
    xy = panels[0]
    width = max(xy.width + (GAP + panels[2].width if len(panels) == 3 else 0), 100)
    height = xy.height + (GAP + panels[1].height if len(panels) == 3 else 0) + MARGIN
    canvas = pillow.new('RGB', (width, height))
    for panel, place in zip(panels, ((0, 0), (0, xy.height + GAP), (xy.width + GAP, 0))):
        canvas.paste(panel, place)
    length = round_length(max(xy.width, 40) / 4 / scale)
    text = length_text(length, unit)
    pen, bottom = draw.Draw(canvas), height - MARGIN
    pen.rectangle((4, bottom + 6, 4 + max(1, round(length * scale)) - 1, bottom + 9), fill='white')
    pen.text((4, bottom + 12), text, fill='white')
    try:
        canvas.save(path + PARTIAL, 'PNG')
        os.replace(path + PARTIAL, path)
    except OSError as error:
        remove(path + PARTIAL)
        unwritable(path, 'writing the preview', error)
    return text
