"""What TIFF files say of their voxels, by OME's XML, ImageJ's description, or JSON as tifffile writes it."""
from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree

from tenfold.imaging.files._metadata import Metadata, unit_name


def metadata_of(file: Any, series: Any, scene: int, axes: str | None) -> Metadata:
    if file.is_ome and file.ome_metadata:
        return from_ome(file.ome_metadata, scene)
    if file.is_imagej and file.imagej_metadata is not None:
        return from_imagej(file.imagej_metadata, file.pages[0])
    shaped = next(iter(file.shaped_metadata or ()), None) or {}
    spacing, origin, units = (dict(given) if isinstance(given := shaped.get(name), dict) else {} for name in ('spacing', 'origin', 'units'))
    metadata = Metadata(spacing, origin, units, channels=shaped.get('channels'))
    page = file.pages[0]
    unit = page.tags.get('ResolutionUnit')
    if not spacing and unit and int(unit.value) == 3:
        metadata.spacing = {axis: step for axis in 'xy' if (step := resolution(page, f'{axis.upper()}Resolution'))}
        metadata.units = {axis: 'centimeter' for axis in metadata.spacing}   # inches are left out: 72 of them are nearly always a default
    return metadata


def resolution(page: Any, tag: str) -> float | None:
    """The length of a pixel, of a tag that says how many a unit has."""
    value = page.tags.get(tag)
    numerator, denominator = value.value if value else (0, 0)
    return denominator / numerator if numerator and denominator else None


def from_ome(text: str, scene: int) -> Metadata:
    metadata = Metadata()
    root = ElementTree.fromstring(text)
    space = root.tag.partition('}')[0] + '}' if root.tag.startswith('{') else ''
    pixels = [image.find(f'{space}Pixels') for image in root.iter(f'{space}Image')]
    if scene >= len(pixels) or pixels[scene] is None:
        return metadata
    element = pixels[scene]
    assert element is not None
    for axis in 'xyzt':
        name = 'TimeIncrement' if axis == 't' else f'PhysicalSize{axis.upper()}'
        value = number(element.get(name))
        if value:
            metadata.spacing[axis] = value
            usual = 'second' if axis == 't' else 'micrometer'   # the schema's defaults
            metadata.units[axis] = unit_name(element.get(name + 'Unit')) or usual
    names = [channel.get('Name') for channel in element.iter(f'{space}Channel')]
    if names and all(names):
        metadata.channels = [str(name) for name in names]
    plane = element.find(f'{space}Plane')
    for axis in 'xyz':
        value = number(plane.get(f'Position{axis.upper()}')) if plane is not None else None
        if value is not None:
            metadata.origin[axis] = value
    return metadata


def from_imagej(description: dict[str, Any], page: Any) -> Metadata:
    metadata = Metadata()
    unit = unit_name(description.get('unit'))
    steps = {'x': resolution(page, 'XResolution'), 'y': resolution(page, 'YResolution'), 'z': number(description.get('spacing'))}
    for axis, step in steps.items():
        if step:
            metadata.spacing[axis] = step
            if unit:
                metadata.units[axis] = unit_name(description.get(f'{axis}unit')) or unit
            pixel = number(description.get(f'{axis}origin'))   # the index at which ImageJ counts from zero
            if pixel is not None:
                metadata.origin[axis] = -pixel * step
    interval = number(description.get('finterval'))
    if interval:
        metadata.spacing['t'], metadata.units['t'] = interval, unit_name(description.get('tunit')) or 'second'
    labels = description.get('Labels')
    if isinstance(labels, list) and labels and len(labels) == description.get('channels'):
        metadata.channels = [str(label) for label in labels]
    return metadata


def number(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None
