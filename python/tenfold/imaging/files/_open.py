"""open_source() and open_sink()."""
from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from tenfold.imaging.files._arrays import create_array, is_array, name_of, open_array
from tenfold.imaging.files._axes import check_axes
from tenfold.imaging.files._errors import refuse_argument, unreadable, unwritable
from tenfold.imaging.files._formats import by_name, format_to_read, format_to_write
from tenfold.imaging.files._metadata import Metadata
from tenfold.imaging.files._sink import Sink, Target
from tenfold.imaging.files._source import Source, check_array


def open_source(path_or_array: Any, *, axes: str | None = None, channel: Any = None, level: int = 0, scene: int = 0, time: Any = None,
                order: str | None = None, format: str | None = None) -> Source:
    """An image to be read by region.

    `axes`: what the axes of the file are, in its own order, where it does not say. `channel`: a number takes that channel and its axis
    away; a list keeps the axis. `time`: a number, or a range as "0:10". `order`: of axes in the regions that are read; "tczyx" otherwise,
    without those that are not there ("xyz" reads NIfTI as MONAI does).
    """
    if not isinstance(path_or_array, (str, os.PathLike)):
        if isinstance(path_or_array, Source):
            refuse_argument(path_or_array.path, 'a source already', 'use it, or open its path')
        if not is_array(path_or_array):
            refuse_argument(repr(path_or_array)[:80], f'an object of {type(path_or_array).__name__}',
                            'expected a path, or an array with shape, dtype and slices')
        return Source(open_array(path_or_array), axes, channel, time, order)
    path = os.fspath(path_or_array)
    form = format_to_read(path) if format is None else by_name(format, path)
    if (level or scene) and not form.leveled:
        refuse_argument(path, f'level={level}, scene={scene}, and {form.name} has one level and one scene', 'leave both out')
    assert form.open is not None
    try:
        stored = form.open(path, level, scene)
    except OSError as error:
        unreadable(path, f'opening it as {form.name}', error)
    try:
        return Source(stored, axes, channel, time, order)
    except BaseException:
        stored.close()
        raise


def open_sink(path: Any, shape: Any, dtype: Any, *, axes: str, like: Source | Metadata | None = None, compress: str | None = None,
              chunks: Any = None, shards: Any = None, overwrite: bool = False, resume: bool = False, format: str | None = None) -> Sink:
    """An output of this shape, to be written by region. It is `PATH.partial` until it is closed, and then takes its name in one step.

    `like`: the source whose spacing, origin, affine and units the output keeps. Where its extents differ from the output's, both are taken
    as grids of one field of view. `resume` goes on with the `.partial` that a killed run left, if there is one (`Sink.resumed` tells).
    """
    shape, dtype = tuple(int(extent) for extent in shape), np.dtype(dtype).newbyteorder('=')
    name = name_of(path) if is_array(path) else os.fspath(path).rstrip('/')
    check_array(name, shape, dtype)
    axes = check_axes(axes, len(shape), name, shape)
    metadata = metadata_like(like, axes, shape)
    target = Target(name, shape, dtype, axes, metadata, compress, pieces(chunks), pieces(shards), resume)
    if is_array(path):
        return Sink(target, create_array(path, target))
    form = format_to_write(name) if format is None else by_name(format, name)
    if form.create is None:
        refuse_argument(name, f'format={format!r} is read only', 'write another format')
    check_place(name, like, overwrite)
    try:
        return Sink(target, form.create(target))
    except OSError as error:
        unwritable(name, 'creating the output', error)


def pieces(given: Any) -> tuple[int, ...] | None:
    return None if given is None else tuple(int(extent) for extent in given)


def metadata_like(like: Source | Metadata | None, axes: str, shape: tuple[int, ...]) -> Metadata:
    if like is None:
        return Metadata()
    if isinstance(like, Metadata):
        return like.along(axes)
    there = dict(zip(like.axes, like.shape))
    metadata = like.metadata.along(axes)
    if metadata.channels and there.get('c') != dict(zip(axes, shape)).get('c'):
        metadata = replace(metadata, channels=None)
    return metadata.resampled({axis: there[axis] / extent for axis, extent in zip(axes, shape) if axis in 'zyx' and axis in there})


def check_place(path: str, like: Source | Metadata | None, overwrite: bool) -> None:
    if '://' in path:
        refuse_argument(path, 'an address', 'write to a disk: a file there can be renamed in one step')
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder) and os.path.basename(folder) != 'labels':
        refuse_argument(path, f'there is no folder {folder}', 'make it')
    if isinstance(like, Source):
        for file in like.files:
            if same(file, path):
                refuse_argument(path, 'the output is the input', 'give it another name')
            if os.path.isdir(file) and inside(path, file) and os.path.basename(folder) != 'labels':
                refuse_argument(path, f'it lies inside the input {file}', 'write beside it, or to labels/NAME of an OME-Zarr')
    if os.path.lexists(path) and not overwrite:
        refuse_argument(path, 'it is there already', 'give overwrite=True, or another name')


def same(one: str, other: str) -> bool:
    both = os.path.exists(one) and os.path.exists(other)
    return os.path.realpath(one) == os.path.realpath(other) or (both and os.path.samefile(one, other))


def inside(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(folder).rstrip('/') + '/')
