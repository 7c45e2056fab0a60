"""OME-Zarr's attributes: axes, scales and translations of each level, and what of ours has no name there (an affine)."""
from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.imaging.files._errors import refuse
from tenfold.imaging.files._metadata import Metadata, unit_name

OURS = 'tenfold'   # the attribute with the affine of a NIfTI image
TYPES = {'t': 'time', 'c': 'channel', 'z': 'space', 'y': 'space', 'x': 'space'}


def multiscales_in(attributes: dict[str, Any], path: str) -> list[dict[str, Any]]:
    found = attributes['multiscales']
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) and one.get('datasets') for one in found):
        refuse(path, '"multiscales" of its attributes has no datasets', 'expected OME-Zarr of version 0.1 to 0.5')
    return found


def axes_in(said: dict[str, Any], ndim: int) -> str | None:
    axes = said.get('axes')
    if axes is None:   # versions 0.1 and 0.2
        return 'tczyx' if ndim == 5 else None
    names = [axis.get('name') if isinstance(axis, dict) else axis for axis in axes]
    kinds = [axis.get('type') if isinstance(axis, dict) else None for axis in axes]
    found = [next((letter for letter in 'tc' if TYPES[letter] == kind), str(name).lower()) for name, kind in zip(names, kinds)]
    return ''.join(found) if set(found) <= set(TYPES) and len(found) == ndim else None


def metadata_in(said: dict[str, Any], dataset: dict[str, Any], axes: str | None, attributes: dict[str, Any]) -> Metadata:
    found = Metadata()
    if axes is None:
        return found
    scale, translation = np.ones(len(axes)), np.zeros(len(axes))
    given = False
    for step in (*(dataset.get('coordinateTransformations') or ()), *(said.get('coordinateTransformations') or ())):
        if step.get('type') == 'scale' and len(step.get('scale', ())) == len(axes):
            scale, translation, given = scale * step['scale'], translation * step['scale'], True
        elif step.get('type') == 'translation' and len(step.get('translation', ())) == len(axes):
            translation = translation + step['translation']
    for place, axis in enumerate(axes):
        if axis != 'c' and given:
            found.spacing[axis] = float(scale[place])
            if translation[place]:
                found.origin[axis] = float(translation[place])
        axis_said = (said.get('axes') or [None] * len(axes))[place]
        unit = unit_name(axis_said.get('unit')) if isinstance(axis_said, dict) else None
        if unit:
            found.units[axis] = unit
    names = [channel.get('label') for channel in (attributes.get('omero') or {}).get('channels', []) if isinstance(channel, dict)]
    found.channels = [str(name) for name in names] if names and all(names) else None
    return found


def ours_in(attributes: Any) -> Metadata:
    """What a plain array of ours, or an image with an affine, has under our name."""
    said = attributes.get(OURS)
    if not isinstance(said, dict):
        return Metadata()
    affine = np.array(said['affine'], float) if said.get('affine') is not None else None
    return Metadata(dict(said.get('spacing', {})), dict(said.get('origin', {})), dict(said.get('units', {})),
                    affine if affine is not None and affine.shape == (4, 4) else None, said.get('channels'))


def ours_of(given: Metadata) -> dict[str, Any]:
    said = {'spacing': given.spacing, 'origin': given.origin, 'units': given.units, 'channels': given.channels,
            'affine': None if given.affine is None else np.asarray(given.affine, float).tolist()}
    return {name: value for name, value in said.items() if value}


def transformations(given: Metadata, axes: str, ratios: dict[str, float]) -> list[dict[str, Any]]:
    """Of a level whose voxels are `ratios` times as long as those of the image; `given` is of the image."""
    there = given.resampled(ratios)
    scale = [there.spacing.get(axis, ratios.get(axis, 1.0)) for axis in axes]
    translation = [there.origin.get(axis, 0.0 if axis in given.spacing else (ratios.get(axis, 1.0) - 1) / 2) for axis in axes]
    found: list[dict[str, Any]] = [{'type': 'scale', 'scale': [float(one) for one in scale]}]
    if any(translation):
        found.append({'type': 'translation', 'translation': [float(one) for one in translation]})
    return found


def image_attributes(name: str, given: Metadata, axes: str, levels: list[tuple[str, list[dict[str, Any]]]], version: str,
                     dtype: np.dtype[Any], label_of: str | None) -> dict[str, Any]:
    """The attributes of the group: `levels` are (path, transformations)."""
    described = [{'name': axis, 'type': TYPES[axis], **({'unit': given.units[axis]} if axis in given.units and axis != 'c' else {})}
                 for axis in axes]
    multiscale: dict[str, Any] = {'name': name, 'axes': described,
                                  'datasets': [{'path': path, 'coordinateTransformations': steps} for path, steps in levels],
                                  'type': 'nearest' if dtype.kind in 'bui' else 'mean'}
    said: dict[str, Any] = {'multiscales': [multiscale]}
    if given.channels and 'c' in axes:
        top = float(np.iinfo(dtype).max) if dtype.kind in 'ui' else 1.0
        window = {'start': 0.0, 'end': top, 'min': 0.0, 'max': top}
        said['omero'] = {'channels': [{'label': name, 'color': 'FFFFFF', 'active': True, 'window': window} for name in given.channels]}
    if label_of:
        said['image-label'] = {'source': {'image': label_of}}
    if version == '0.5':
        found = {'ome': {'version': version, **said}}
    else:
        for part in (multiscale, said.get('image-label', {}), said.get('omero', {})):
            if part:
                part['version'] = version
        found = said
    ours = {key: value for key, value in ours_of(given).items() if key == 'affine'}
    return {**found, **({OURS: ours} if ours else {})}
