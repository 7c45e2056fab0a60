"""Writing TIFF, OME-TIFF and ImageJ's hyperstacks: plane by plane from an NPY file, when all voxels are there."""
from __future__ import annotations

import hashlib
import os
import uuid
from typing import Any, Iterator

import numpy as np

from tenfold.imaging.files._errors import need, refuse_argument
from tenfold.imaging.files._npy import Staged
from tenfold.imaging.files._raw import RawFile
from tenfold.imaging.files._sink import Target, Writer, refuse_option

COMPRESSIONS = {'zlib': 'zlib', 'deflate': 'zlib', 'lzw': 'lzw', 'zstd': 'zstd', 'none': None}
OME_AXES, IMAGEJ_AXES = 'tczyx', 'tzcyx'
OME_TYPES = ('int8', 'int16', 'int32', 'uint8', 'uint16', 'uint32', 'float32', 'float64')   # of the schema, without complex ones and bits
IMAGEJ_TYPES = ('uint8', 'uint16', 'float32')
SHORT = {'micrometer': '\u00b5m', 'millimeter': 'mm', 'nanometer': 'nm', 'centimeter': 'cm', 'meter': 'm', 'angstrom': '\u00c5',
         'inch': 'in', 'second': 's', 'millisecond': 'ms', 'microsecond': '\u00b5s', 'minute': 'min', 'hour': 'h'}
CLASSIC_LIMIT = (1 << 32) - (1 << 25)   # offsets have 32 bits; tifffile leaves as much for what is not voxels


def create_tiff(target: Target) -> Writer:
    """Plain TIFF: axes, spacing, origin and units as JSON in its description, as tifffile has them."""
    axes = target.axes if target.axes.endswith('yx') else ''.join(axis for axis in OME_AXES if axis in target.axes)
    metadata = target.metadata
    tags = {'axes': axes.upper(), 'spacing': metadata.spacing, 'origin': metadata.origin, 'units': metadata.units}
    if metadata.channels:
        tags['channels'] = metadata.channels
    return staged(target, axes, {'metadata': tags, **resolution(target)})


def create_ome_tiff(target: Target) -> Writer:
    if target.dtype.name not in OME_TYPES:
        refuse_argument(target.path, f'OME-TIFF has no type for {target.dtype}', f'convert to one of {", ".join(OME_TYPES)}')
    metadata = target.metadata
    tags: dict[str, Any] = {'axes': OME_AXES.upper()}
    for axis in 'xyz':
        if axis in metadata.spacing:
            tags[f'PhysicalSize{axis.upper()}'] = metadata.spacing[axis]
            if axis in metadata.units:
                tags[f'PhysicalSize{axis.upper()}Unit'] = SHORT[metadata.units[axis]]
    if 't' in metadata.spacing:
        tags['TimeIncrement'] = metadata.spacing['t']
        tags['TimeIncrementUnit'] = SHORT[metadata.units.get('t', 'second')]
    if metadata.channels:
        tags['Channel'] = {'Name': metadata.channels}
    if metadata.origin:
        planes = int(np.prod(target.in_order('tcz')))
        tags['Plane'] = {f'Position{axis.upper()}': [metadata.origin[axis]] * planes for axis in 'xyz' if axis in metadata.origin}
        for axis in 'xyz':
            if axis in metadata.origin and axis in metadata.units:
                tags['Plane'][f'Position{axis.upper()}Unit'] = [SHORT[metadata.units[axis]]] * planes
    return staged(target, OME_AXES, {'metadata': tags}, ome=True)


def create_imagej(target: Target) -> Writer:
    if target.dtype.name not in IMAGEJ_TYPES:
        refuse_argument(target.path, f'ImageJ has no type for {target.dtype}',
                        f'convert to one of {", ".join(IMAGEJ_TYPES)}, or write .ome.tif')
    if size_of(target) > CLASSIC_LIMIT:
        refuse_argument(target.path, f'{size_of(target):,} bytes, ImageJ reads up to 4 GiB', 'write .ome.tif')
    if target.compress not in (None, 'none'):
        refuse_option(target, 'compress', target.compress, 'write .ome.tif or plain .tif')
    metadata = target.metadata
    # Of an image one pixel wide tifffile would take X for the samples of a pixel, so that these are named.
    tags: dict[str, Any] = {'axes': IMAGEJ_AXES.upper() + ('S' if target.extent('x') == 1 else '')}
    if 'z' in metadata.spacing:
        tags['spacing'] = metadata.spacing['z']
    unit = next((metadata.units[axis] for axis in 'xyz' if axis in metadata.units), None)
    if unit:
        tags['unit'] = {'micrometer': 'micron'}.get(unit, SHORT.get(unit, unit))   # ASCII, as ImageJ spells it
    for axis in 'xyz':
        if axis in metadata.origin and metadata.spacing.get(axis):
            tags[f'{axis}origin'] = -metadata.origin[axis] / metadata.spacing[axis]
    if 't' in metadata.spacing:
        tags['finterval'] = metadata.spacing['t']
    return staged(target, IMAGEJ_AXES, {'metadata': tags, **resolution(target)}, imagej=True)


def resolution(target: Target) -> dict[str, Any]:
    """Pixels in a unit of length, for programs that read no description."""
    steps = [target.metadata.spacing.get(axis) for axis in 'xy']
    return {'resolution': tuple(1 / step for step in steps if step)} if all(steps) else {}


def size_of(target: Target) -> int:
    return int(np.prod(target.shape, dtype=object)) * target.dtype.itemsize


def tile_of(target: Target) -> tuple[int, int] | None:
    if target.chunks is None:
        return None
    tile = target.chunks[-2:]
    if len(tile) != 2 or any(extent <= 0 or extent % 16 for extent in tile) or any(extent != 1 for extent in target.chunks[:-2]):
        refuse_argument(target.path, f'chunks={list(target.chunks)}',
                        'TIFF has tiles: the last two are multiples of 16, those before them 1')
    return int(tile[0]), int(tile[1])


def staged(target: Target, axes: str, options: dict[str, Any], **kind: Any) -> Writer:
    tifffile = need('tifffile', target.path)
    need('imagecodecs', target.path)
    refuse_option(target, 'shards', target.shards, 'leave it out, or write .zarr')
    if target.compress is not None and target.compress not in COMPRESSIONS:
        refuse_argument(target.path, f'compress={target.compress!r}', f'expected one of {", ".join(COMPRESSIONS)}')
    if 'y' not in target.axes or 'x' not in target.axes:
        refuse_argument(target.path, f'axes {target.axes!r}', 'a TIFF has y and x: write .npy or .zarr')
    tile = tile_of(target)
    big = not kind.get('imagej') and (size_of(target) > CLASSIC_LIMIT or target.path.lower().endswith(('.btf', '.tf2', '.tf8')))
    dtype = target.dtype if target.dtype != bool else np.dtype(np.uint8)

    def convert(raw: RawFile) -> None:
        if kind.get('ome'):   # tifffile would draw one, and each run would write other bytes
            options['metadata']['UUID'] = str(uuid.UUID(digest_of(raw)))
        with open(target.partial, 'wb') as file:
            with tifffile.TiffWriter(file, bigtiff=big, **kind) as writer:
                pieces = planes(raw, dtype) if tile is None else (piece for plane in planes(raw, dtype) for piece in tiles(plane, tile))
                shape = raw.shape + (1,) * (len(options['metadata']['axes']) - len(raw.shape))
                writer.write(pieces, shape=shape, dtype=dtype, tile=tile, photometric='minisblack',
                             compression=COMPRESSIONS[target.compress] if target.compress else None, software='tenfold', **options)
            os.fsync(file.fileno())
    return Staged(target, axes, convert)


def digest_of(raw: RawFile) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with open(raw.path, 'rb') as file:
        while piece := file.read(1 << 22):
            digest.update(piece)
    return digest.hexdigest()


def planes(raw: RawFile, dtype: np.dtype[Any]) -> Iterator[np.ndarray]:
    for index in np.ndindex(raw.shape[:-2]):
        plane = raw.read((*(slice(i, i + 1) for i in index), slice(None), slice(None)))
        yield plane.reshape(raw.shape[-2:]).astype(dtype, copy=False)


def tiles(plane: np.ndarray, tile: tuple[int, int]) -> Iterator[np.ndarray]:
    for top in range(0, plane.shape[0], tile[0]):
        for left in range(0, plane.shape[1], tile[1]):
            piece = plane[top:top + tile[0], left:left + tile[1]]
            yield piece if piece.shape == tile else np.pad(piece, [(0, whole - part) for whole, part in zip(tile, piece.shape)])
