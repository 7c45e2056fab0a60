"""NPY: regions by memory map; written in place, so that a killed run goes on in the same file."""
from __future__ import annotations

import io
import os

import numpy as np

from tenfold.imaging.files._errors import refuse, unwritable
from tenfold.imaging.files._raw import RawFile, RawWriter
from tenfold.imaging.files._sink import Target, Writer, check_partial, refuse_option
from tenfold.imaging.files._source import Stored, check_array


def raw_of(path: str) -> RawFile:
    """By its header; without mapping it, so that what it claims is checked first."""
    with open(path, 'rb') as file:
        try:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(file)
        except (ValueError, EOFError) as error:
            refuse(path, f'not an NPY file, or its header is cut ({error})', 'save it by numpy.save', cause=error)
        raw = RawFile(path, file.tell(), shape, dtype, 'F' if fortran else 'C')
    check_array(path, shape, dtype)
    raw.check_size()
    return raw


def open_npy(path: str, level: int, scene: int) -> Stored:
    raw = raw_of(path)
    return Stored(path, raw.shape, raw.dtype, raw.read)


class NpyWriter(RawWriter):
    def __init__(self, path: str, shape: tuple[int, ...], dtype: np.dtype, axes: str, resume: bool):
        self.axes = axes
        self.resumed = resume and os.path.exists(path)
        if self.resumed:
            self.raw = raw_of(path)
            check_partial(path, {'shape': self.raw.shape, 'type': str(self.raw.dtype)}, {'shape': shape, 'type': str(dtype)})
            return
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {'descr': np.lib.format.dtype_to_descr(dtype), 'fortran_order': False, 'shape': shape})
        self.raw = RawFile(path, header.tell(), shape, dtype)
        self.raw.create(header.getvalue())


def create_npy(target: Target) -> Writer:
    for name in ('compress', 'chunks', 'shards'):
        refuse_option(target, name, getattr(target, name), 'leave it out, or write .zarr')
    return NpyWriter(target.partial, target.shape, target.dtype, target.axes, target.resume)


class Staged(Writer):
    """For formats whose files are written from front to end: the voxels go to an NPY file, and `convert(raw)` writes the output from it."""

    def __init__(self, target: Target, axes: str, convert: object):
        self.axes, self._convert, self._target = axes, convert, target
        staged = target.partial + '.npy'
        self.helpers = (staged,)
        self._npy = NpyWriter(staged, target.in_order(axes), target.dtype, axes, target.resume)
        self.resumed = self._npy.resumed
        self.write, self.abandon = self._npy.write, self._npy.abandon   # type: ignore[method-assign]

    def finish(self) -> None:
        self._npy.finish()
        try:
            self._convert(self._npy.raw)   # type: ignore[operator]
        except Exception as error:
            unwritable(self._target.path, 'writing it from its .partial.npy', error)
