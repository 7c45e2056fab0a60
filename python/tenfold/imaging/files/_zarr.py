"""Zarr of versions 2 and 3, and OME-Zarr 0.1 to 0.5, read by zarr-python; with the codecs of `zarrs` where it is installed."""
from __future__ import annotations

import importlib.util
import os
from typing import Any

from tenfold.imaging.files._errors import need, refuse, refuse_argument, unreadable
from tenfold.imaging.files._metadata import Metadata
from tenfold.imaging.files._ome_zarr import axes_in, metadata_in, multiscales_in, ours_in
from tenfold.imaging.files._source import Stored

WORDS = {'time': 't', 'channel': 'c', 'channels': 'c', 'depth': 'z', 'height': 'y', 'width': 'x', 'plane': 'z', 'row': 'y', 'col': 'x'}


def with_zarrs(zarr: Any) -> Any:
    """A context in which arrays are opened with the pipeline of `zarrs`, 4 to 7 times as quick."""
    if importlib.util.find_spec('zarrs') is None:
        return zarr.config.set({})
    import zarrs   # registers the pipeline  # noqa: F401
    return zarr.config.set({'codec_pipeline.path': 'zarrs.ZarrsCodecPipeline'})


def quickest(array: Any, zarr: Any) -> Any:
    """The array, by `zarrs` where that reads it: files on disks, but neither the other byte order nor Fortran's, and not all codecs."""
    if not isinstance(array.store, zarr.storage.LocalStore) or not array.dtype.isnative or array.order == 'F':
        return array
    try:
        with with_zarrs(zarr):
            quick = zarr.open_array(array.store_path, mode='r')
        quick[(slice(0, 1),) * array.ndim]
        return quick
    except Exception:
        return array   # where the chunk itself is damaged, reading it says so


def open_zarr(path: str, level: int, scene: int) -> Stored:
    zarr = need('zarr', path)
    try:
        node = zarr.open(path, mode='r')
        if isinstance(node, zarr.Array):
            return plain(path, node, zarr, level, scene)
        return from_group(path, node, zarr, level, scene)
    except (FileNotFoundError, KeyError) as error:
        refuse(path, f'no Zarr array or group ({error})', 'it may be cut: .zarray, .zgroup or zarr.json is missing', cause=error)
    except Exception as error:
        unreadable(path, 'opening it as Zarr', error)


def plain(path: str, array: Any, zarr: Any, level: int, scene: int) -> Stored:
    if level or scene:
        refuse_argument(path, f'level={level}, scene={scene}, and it is one array', 'leave both out, or open the OME-Zarr group above it')
    names = getattr(array.metadata, 'dimension_names', None) or array.attrs.get('_ARRAY_DIMENSIONS')
    return stored(path, quickest(array, zarr), letters(names), ours_in(array.attrs))


def letters(names: Any) -> str | None:
    """Names of dimensions as letters, where each is one that is known."""
    if not names or not all(isinstance(name, str) for name in names):
        return None
    found = [WORDS.get(name.lower(), name.lower()) for name in names]
    return ''.join(found) if set(found) <= set('tczyx') and len(set(found)) == len(found) else None


def stored(path: str, array: Any, axes: str | None, metadata: Metadata) -> Stored:
    return Stored(path, array.shape, array.dtype, lambda parts: array[parts], axes, array.shards or array.chunks, metadata)


def from_group(path: str, group: Any, zarr: Any, level: int, scene: int) -> Stored:
    attributes = dict(group.attrs)
    attributes = {**attributes, **attributes.get('ome', {})}
    if 'bioformats2raw.layout' in attributes and 'multiscales' not in attributes:
        scenes = sorted((name for name in group.group_keys() if name.isdigit()), key=int)
        if not 0 <= scene < len(scenes):
            refuse_argument(path, f'scene={scene}, it has {len(scenes)} scenes', f'give a number from 0 to {len(scenes) - 1}')
        return from_group(f'{path.rstrip("/")}/{scenes[scene]}', group[scenes[scene]], zarr, level, 0)
    if 'plate' in attributes:
        wells = [well.get('path') for well in attributes['plate'].get('wells', [])][:3]
        refuse(path, 'a plate of many images', f'open a field of a well: {path}/{wells[0] if wells else "A/1"}/0')
    if 'multiscales' not in attributes:
        arrays = sorted(group.array_keys())
        if len(arrays) == 1:
            return plain(f'{path.rstrip("/")}/{arrays[0]}', group[arrays[0]], zarr, level, scene)
        refuse(path, f'a group without "multiscales", with the arrays {arrays}',
               'open an array of it' if arrays else 'expected OME-Zarr, or an array')
    return from_multiscales(path, group, zarr, attributes, level, scene)


def from_multiscales(path: str, group: Any, zarr: Any, attributes: dict[str, Any], level: int, scene: int) -> Stored:
    multiscales = multiscales_in(attributes, path)
    if not 0 <= scene < len(multiscales):
        refuse_argument(path, f'scene={scene}, it has {len(multiscales)} images', f'give a number from 0 to {len(multiscales) - 1}')
    multiscale = multiscales[scene]
    datasets = multiscale['datasets']
    if not 0 <= level < len(datasets):
        refuse_argument(path, f'level={level}, its pyramid has {len(datasets)} levels', f'give a number from 0 to {len(datasets) - 1}')
    name = datasets[level].get('path')
    try:
        array = group[name]
    except KeyError as error:
        refuse(path, f'"multiscales" names the array {name!r}, which is not there', 'copy it again', cause=error)
    if not isinstance(array, zarr.Array):
        refuse(path, f'{name!r} of "multiscales" is a group', 'expected an array')
    axes = axes_in(multiscale, array.ndim)
    metadata = metadata_in(multiscale, datasets[level], axes, attributes)
    ours = ours_in(group.attrs)
    if ours.affine is not None:
        first = group[datasets[0]['path']].shape
        ratios = {axis: full / part for axis, full, part in zip(axes or '', first, array.shape) if axis in 'zyx'}
        metadata.affine = ours.resampled(ratios).affine
    return stored(path, quickest(array, zarr), axes, metadata)


def is_zarr(path: str) -> bool:
    """A folder that Zarr made, whatever its name."""
    return any(os.path.exists(os.path.join(path, name)) for name in ('zarr.json', '.zarray', '.zgroup'))
