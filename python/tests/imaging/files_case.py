"""What the tests of tenfold.imaging.files share: which packages there are, images, and regions at random."""
import importlib.util
import os
import random
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from case import Case  # noqa: E402

from tenfold.imaging.files import Metadata, open_sink, open_source  # noqa: E402

TYPES = ('uint8', 'uint16', 'int16', 'float32', 'float64')
MICRONS = {axis: 'micrometer' for axis in 'zyx'}
GIVEN = Metadata({'z': 2.0, 'y': 0.5, 'x': 0.25}, {'z': 1.0, 'y': 5.0, 'x': -3.0}, MICRONS)


def needs(*packages):
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    return unittest.skipIf(missing, f'not installed: {", ".join(missing)}')


def image(shape, dtype='uint16', seed=0):
    """Each voxel differs from its neighbors, and both bytes of 16 bits are used."""
    values = np.random.default_rng(seed).integers(0, 60000, shape)
    dtype = np.dtype(dtype)
    if dtype.kind == 'f':
        return (values / 7 - 3000).astype(dtype)
    return (values % (2 if dtype == bool else 1 << min(16, 8 * dtype.itemsize))).astype(dtype)


def write(path, array, axes, step=3, along=None, **options):
    """By slabs of `step` planes, as a sweep does."""
    along = (1 if axes[0] == 'c' else 0) if along is None else along
    with open_sink(path, array.shape, array.dtype, axes=axes, **options) as sink:
        for start in range(0, array.shape[along], step):
            part = tuple(slice(start, start + step) if axis == along else slice(None) for axis in range(array.ndim))
            sink.write(tuple(start if axis == along else 0 for axis in range(array.ndim)), array[part])
    return path


def regions(shape, count=12, seed=0):
    """(starts, stops): a voxel, all of it, and some at random."""
    found, rng = [((0,) * len(shape), shape), (tuple(extent - 1 for extent in shape), shape)], random.Random(seed)
    for _ in range(count):
        starts = tuple(rng.randrange(extent) for extent in shape)
        found.append((starts, tuple(rng.randrange(start, extent) + 1 for start, extent in zip(starts, shape))))
    return found


class FilesCase(Case):
    def skip_without(self, package):
        """Of a part of a test."""
        if importlib.util.find_spec(package) is None:
            self.skipTest(f'not installed: {package}')

    def same_regions(self, source, expected):
        self.assertEqual(source.shape, expected.shape)
        self.assertEqual(source.dtype, expected.dtype.newbyteorder('='))
        for starts, stops in regions(expected.shape):
            found = source.read(starts, stops)
            self.assertTrue(found.flags.c_contiguous)
            np.testing.assert_array_equal(found, expected[tuple(slice(*both) for both in zip(starts, stops))])

    def reads(self, path, expected, **options):
        with open_source(path, **options) as source:
            self.same_regions(source, expected)
            return source


__all__ = ['FilesCase', 'GIVEN', 'MICRONS', 'Metadata', 'TYPES', 'image', 'needs', 'open_sink', 'open_source', 'regions', 'write']
