"""OME-Zarr's attributes: axes, scales and translations of each level, and what of ours has no name there (an affine)."""
from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.imaging.files._errors import refuse
from tenfold.imaging.files._metadata import Metadata, unit_name

OURS = 'tenfold'   # the attribute with the affine of a NIfTI image
TYPES = {'t': 'time', 'c': 'channel', 'z': 'space', 'y': 'space', 'x': 'space'}


def multiscales_in(attributes: dict[str, Any], path: str) -> list[dict[str, Any]]:
    multiscales = attributes['multiscales']
    valid = isinstance(multiscales, list) and all(isinstance(one, dict) and one.get('datasets') for one in multiscales)
    if not valid or not multiscales:
        refuse(path, '"multiscales" of its attributes has no datasets', 'expected OME-Zarr of version 0.1 to 0.5')
    return multiscales


def axes_in(multiscale: dict[str, Any], ndim: int) -> str | None:
    axes = multiscale.get('axes')
    if axes is None:   # versions 0.1 and 0.2
        return 'tczyx' if ndim == 5 else None
    names = [axis.get('name') if isinstance(axis, dict) else axis for axis in axes]
    kinds = [axis.get('type') if isinstance(axis, dict) else None for axis in axes]
    letters = [next((letter for letter in 'tc' if TYPES[letter] == kind), str(name).lower()) for name, kind in zip(names, kinds)]
    return ''.join(letters) if set(letters) <= set(TYPES) and len(letters) == ndim else None


def metadata_in(multiscale: dict[str, Any], dataset: dict[str, Any], axes: str | None, attributes: dict[str, Any]) -> Metadata:
    metadata = Metadata()
    if axes is None:
        return metadata
    scale, translation = np.ones(len(axes)), np.zeros(len(axes))
    scaled = False
    for step in (*(dataset.get('coordinateTransformations') or ()), *(multiscale.get('coordinateTransformations') or ())):
        if step.get('type') == 'scale' and len(step.get('scale', ())) == len(axes):
            scale, translation, scaled = scale * step['scale'], translation * step['scale'], True
        elif step.get('type') == 'translation' and len(step.get('translation', ())) == len(axes):
            translation = translation + step['translation']
    for place, axis in enumerate(axes):
        if axis != 'c' and scaled:
            metadata.spacing[axis] = float(scale[place])
            if translation[place]:
                metadata.origin[axis] = float(translation[place])
        axis_entry = (multiscale.get('axes') or [None] * len(axes))[place]
        unit = unit_name(axis_entry.get('unit')) if isinstance(axis_entry, dict) else None
        if unit:
            metadata.units[axis] = unit
    names = [channel.get('label') for channel in (attributes.get('omero') or {}).get('channels', []) if isinstance(channel, dict)]
    metadata.channels = [str(name) for name in names] if names and all(names) else None
    return metadata


def ours_in(attributes: Any) -> Metadata:
    """What a plain array of ours, or an image with an affine, has under our name."""
    stored = attributes.get(OURS)
    if not isinstance(stored, dict):
        return Metadata()
    affine = np.array(stored['affine'], float) if stored.get('affine') is not None else None
    return Metadata(dict(stored.get('spacing', {})), dict(stored.get('origin', {})), dict(stored.get('units', {})),
                    affine if affine is not None and affine.shape == (4, 4) else None, stored.get('channels'))


def ours_of(metadata: Metadata) -> dict[str, Any]:
    stored = {'spacing': metadata.spacing, 'origin': metadata.origin, 'units': metadata.units, 'channels': metadata.channels,
              'affine': None if metadata.affine is None else np.asarray(metadata.affine, float).tolist()}
    return {name: value for name, value in stored.items() if value}


def transformations(metadata: Metadata, axes: str, ratios: dict[str, float]) -> list[dict[str, Any]]:
    """Of a level whose voxels are `ratios` times as long as those of the image; `metadata` is of the image."""
    there = metadata.resampled(ratios)
    scale = [there.spacing.get(axis, ratios.get(axis, 1.0)) for axis in axes]
    translation = [there.origin.get(axis, 0.0 if axis in metadata.spacing else (ratios.get(axis, 1.0) - 1) / 2) for axis in axes]
    steps: list[dict[str, Any]] = [{'type': 'scale', 'scale': [float(one) for one in scale]}]
    if any(translation):
        steps.append({'type': 'translation', 'translation': [float(one) for one in translation]})
    return steps


def image_attributes(name: str, metadata: Metadata, axes: str, levels: list[tuple[str, list[dict[str, Any]]]], version: str,
                     dtype: np.dtype[Any], label_of: str | None) -> dict[str, Any]:
    """The attributes of the group: `levels` are (path, transformations)."""
    described = [{'name': axis, 'type': TYPES[axis], **({'unit': metadata.units[axis]} if axis in metadata.units and axis != 'c' else {})}
                 for axis in axes]
    multiscale: dict[str, Any] = {'name': name, 'axes': described,
                                  'datasets': [{'path': path, 'coordinateTransformations': steps} for path, steps in levels],
                                  'type': 'nearest' if dtype.kind in 'bui' else 'mean'}
    attributes: dict[str, Any] = {'multiscales': [multiscale]}
    if metadata.channels and 'c' in axes:
        top = float(np.iinfo(dtype).max) if dtype.kind in 'ui' else 1.0
        window = {'start': 0.0, 'end': top, 'min': 0.0, 'max': top}
        shown = [{'label': name, 'color': 'FFFFFF', 'active': True, 'window': window} for name in metadata.channels]
        attributes['omero'] = {'channels': shown}
    if label_of:
        attributes['image-label'] = {'source': {'image': label_of}}
    if version == '0.5':
        group = {'ome': {'version': version, **attributes}}
    else:
        for part in (multiscale, attributes.get('image-label', {}), attributes.get('omero', {})):
            if part:
                part['version'] = version
        group = attributes
    ours = {key: value for key, value in ours_of(metadata).items() if key == 'affine'}
    return {**group, **({OURS: ours} if ours else {})}
