"""NIfTI-1 and -2 by nibabel. Axes are (x, y, z, t, c) in the file, x the fastest; the affine is kept as it is.

`.nii.gz` has no index: its voxels are read in order, and a step back begins anew. It is written from an NPY file.
"""
from __future__ import annotations

import gzip
import os
import shutil
from typing import Any

import numpy as np

from tenfold.imaging.files._errors import need, refuse, refuse_argument, unreadable
from tenfold.imaging.files._metadata import METERS, Metadata
from tenfold.imaging.files._npy import Staged
from tenfold.imaging.files._raw import RawFile, RawWriter
from tenfold.imaging.files._sink import Target, Writer, check_partial, refuse_option
from tenfold.imaging.files._source import Stored, check_array

AXES = 'xyztc'
LENGTHS = {'meter': 'meter', 'mm': 'millimeter', 'micron': 'micrometer'}   # NIfTI has these
TIMES = {'sec': 'second', 'msec': 'millisecond', 'usec': 'microsecond'}
MAX_NIFTI1 = 32767   # its extents are of 16 bits


def open_nifti(path: str, level: int, scene: int) -> Stored:
    nibabel = need('nibabel', path)
    try:
        image = nibabel.load(path, mmap=False, keep_file_open=True)
        header, proxy = image.header, image.dataobj
        shape = tuple(int(extent) for extent in header.get_data_shape())
        check_array(path, shape, header.get_data_dtype())
        if not path.endswith('.gz'):
            RawFile(path, proxy.offset, shape, header.get_data_dtype()).check_size()
        first = np.asarray(proxy[tuple(slice(0, 1) for _ in shape)])   # a slope makes floats of integers
    except Exception as error:
        unreadable(path, 'opening it as NIfTI', error)
    if len(shape) > 5:
        refuse(path, f'its shape is {list(shape)}', 'expected 5 axes at most: x, y, z, t, c')
    axes, single_time = AXES[:len(shape)], len(shape) == 5 and shape[3] == 1
    if single_time:   # how NIfTI stores channels without time
        axes, shape = 'xyzc', (*shape[:3], shape[4])

    def read(parts: tuple[slice, ...]) -> Any:
        if single_time:
            return np.asarray(proxy[(*parts[:3], slice(0, 1), parts[3])])[:, :, :, 0]
        return proxy[parts]
    return Stored(path, shape, first.dtype, read, axes, metadata=metadata_of(header, image.affine, axes))


def metadata_of(header: Any, affine: np.ndarray, axes: str) -> Metadata:
    length, time = (LENGTHS.get(header.get_xyzt_units()[0]), TIMES.get(header.get_xyzt_units()[1]))
    zooms = [float(zoom) for zoom in header.get_zooms()]
    spacing = {axis: zoom for axis, zoom in zip(AXES, zooms) if axis in axes and axis != 'c' and zoom > 0}
    units = {axis: unit for axis in spacing if (unit := time if axis == 't' else length)}
    origin = {axis: float(affine[place, 3]) for place, axis in enumerate('xyz') if axis in axes}
    return Metadata(spacing, origin, units, affine, header=header)


def header_of(target: Target) -> tuple[Any, str]:
    """(the header, the axes of the file)"""
    nibabel = need('nibabel', target.path)
    axes = AXES if 'c' in target.axes else AXES[:4] if 't' in target.axes else AXES[:3] if 'z' in target.axes else AXES[:2]
    shape = target.in_order(axes)
    kind = nibabel.Nifti2Header if max(shape) > MAX_NIFTI1 else nibabel.Nifti1Header
    like = target.metadata.header
    header = kind.from_header(like) if like is not None else kind()
    header['scl_slope'], header['scl_inter'] = 1, 0
    header['cal_min'] = header['cal_max'] = 0
    header.set_intent('vector' if 'c' in target.axes else 'none')
    try:
        header.set_data_dtype(target.dtype.newbyteorder('<') if target.dtype != bool else np.uint8)
    except nibabel.spatialimages.HeaderDataError:
        refuse_argument(target.path, f'NIfTI has no type for {target.dtype}', 'write float32, or an integer')
    header.set_data_shape(shape)
    _set_places(header, target, axes)
    return header, axes


def _set_places(header: Any, target: Target, axes: str) -> None:
    metadata = target.metadata
    names = {value: name for name, value in LENGTHS.items()}
    length = next((metadata.units[axis] for axis in 'xyz' if axis in metadata.units), None)
    unit = None if length is None else length if length in names else 'micrometer'
    factor = {axis: METERS[metadata.units[axis]] / METERS[unit] if unit and metadata.units.get(axis) in METERS else 1.0 for axis in 'xyz'}
    if metadata.affine is not None:
        affine = np.diag([factor['x']] * 3 + [1.0]) @ metadata.affine
    else:
        affine = np.diag([metadata.spacing.get(axis, 1.0) * factor[axis] for axis in 'xyz'] + [1.0])
        affine[:3, 3] = [metadata.origin.get(axis, 0.0) * factor[axis] for axis in 'xyz']
    lengths = np.sqrt((affine[:3, :3] ** 2).sum(axis=0))
    zooms = {**dict(zip('xyz', lengths)), 't': metadata.spacing.get('t', 1.0), 'c': 1.0}
    header.set_zooms([zooms[axis] for axis in axes])
    like = metadata.header is not None
    header.set_sform(affine, code=int(header['sform_code']) or 2 if like else 2)
    header.set_qform(affine, code=int(header['qform_code']) if like else 1, strip_shears=True)
    times = {value: name for name, value in TIMES.items()}
    header.set_xyzt_units(names.get(unit or ''), times.get(metadata.units.get('t', '')))


def front_of(header: Any) -> bytes:
    """All bytes before the first voxel: no extension follows the header."""
    offset = 352 if header.sizeof_hdr == 348 else 544
    header['vox_offset'] = offset
    front = header.binaryblock + bytes(4)
    assert len(front) == offset
    return front


class NiftiWriter(RawWriter):
    def __init__(self, target: Target):
        header, self.axes = header_of(target)
        shape, dtype = target.in_order(self.axes), header.get_data_dtype()
        front = front_of(header)
        self.raw = RawFile(target.partial, len(front), shape, dtype, 'F')
        self.resumed = target.resume and os.path.exists(target.partial)
        if self.resumed:
            with open(target.partial, 'rb') as file:
                present = file.read(len(front))
            check_partial(target.partial, {'header': present}, {'header': front})
            self.raw.check_size()
        else:
            self.raw.create(front)


def create_nifti(target: Target) -> Writer:
    for name in ('chunks', 'shards'):
        refuse_option(target, name, getattr(target, name), 'leave it out, or write .zarr')
    if not target.path.endswith('.gz'):
        refuse_option(target, 'compress', target.compress, 'name the output .nii.gz')
        return NiftiWriter(target)
    if target.compress not in (None, 'gzip', 'zlib'):
        refuse_option(target, 'compress', target.compress, 'leave it out: .nii.gz is gzip')
    header, axes = header_of(target)
    # The NPY file has the voxels in the order in which the output has them: what is the fastest axis there is the last one here.
    backwards = axes[::-1]

    def convert(raw: RawFile) -> None:
        with open(target.partial, 'wb') as file:
            with gzip.GzipFile(filename='', fileobj=file, mode='wb', compresslevel=6, mtime=0) as out, open(raw.path, 'rb') as voxels:
                out.write(front_of(header))
                voxels.seek(raw.offset)
                shutil.copyfileobj(voxels, out, 1 << 22)
            os.fsync(file.fileno())
    return Staged(target, backwards, convert)
