"""Axes, orders, types, chunks and slabs at random, through every format: what is written is read, whatever their combination."""
import os
import random
import shutil
import unittest
from unittest import mock

import numpy as np
from files_case import FilesCase, image, open_sink, open_source, regions

CASES = 12 if 'TENFOLD_TORCH_SHORT' in os.environ else 60   # of each format
FORMATS = {   # (file, packages, axes that it needs, types that it has)
    'npy': ('a.npy', 'numpy', '', ('bool', 'uint8', 'int8', 'uint16', 'float16', 'int64', 'float64')),
    'nifti': ('a.nii', 'nibabel', '', ('uint8', 'int8', 'uint16', 'int32', 'int64', 'float32', 'float64')),
    'nifti.gz': ('a.nii.gz', 'nibabel', '', ('uint8', 'int16', 'float32')),
    'ome-zarr': ('a.zarr', 'zarr', '', ('bool', 'uint8', 'uint16', 'int64', 'float16', 'float32')),
    'ome-zarr-0.4': ('a.zarr', 'zarr', '', ('bool', 'uint8', 'uint16', 'float32')),
    'zarr': ('a.zarr', 'zarr', '', ('bool', 'uint8', 'int32', 'float64')),
    'zarr-2': ('a.zarr', 'zarr', '', ('uint8', 'int32', 'float64')),
    'tiff': ('a.tif', 'tifffile', 'yx', ('uint8', 'int8', 'uint16', 'int32', 'float16', 'float32', 'float64')),
    'ome-tiff': ('a.ome.tif', 'tifffile', 'yx', ('uint8', 'int16', 'uint32', 'float32')),
    'imagej': ('a.tif', 'tifffile', 'yx', ('uint8', 'uint16', 'float32')),
}


def slabs(shape, rng):
    """Regions that cover the array once: slabs along one axis, each perhaps cut into bands along another."""
    along, across = rng.randrange(len(shape)), rng.randrange(len(shape))
    start = 0
    while start < shape[along]:
        stop = min(shape[along], start + rng.randint(1, 4))
        middle = rng.randrange(shape[across] + 1) if across != along else 0
        for first, last in ((0, middle), (middle, shape[across])) if 0 < middle < shape[across] else ((None, None),):
            parts = [slice(0, extent) for extent in shape]
            if first is not None:
                parts[across] = slice(first, last)
            parts[along] = slice(start, stop)
            yield tuple(parts)
        start = stop


class Random(FilesCase):
    def test_round_trips(self):
        for name, (file, package, needed, types) in FORMATS.items():
            for seed in range(CASES):
                rng = random.Random(seed)
                letters = sorted({*needed, *rng.sample('tczyx', rng.randint(2, 5))})
                rng.shuffle(letters)
                axes, dtype = ''.join(letters), rng.choice(types)
                shape = tuple(rng.choice((1, 2, 3, 5, 9, 17)) for _ in axes)
                with self.subTest(format=name, seed=seed, axes=axes, dtype=dtype, shape=str(shape)):
                    self.skip_without(package)
                    with mock.patch('os.fsync'):   # which takes most of the time, and is for power failures
                        self.round_trip(name.partition('.gz')[0], self.path(file), axes, shape, dtype, rng)

    def round_trip(self, name, path, axes, shape, dtype, rng):
        array = image(shape, dtype, rng.random().__hash__() % 1000)
        options = {}
        if 'zarr' in name and rng.random() < 0.7:
            options['chunks'] = tuple(rng.randint(1, 6) for _ in shape)
            if name in ('zarr', 'ome-zarr') and rng.random() < 0.5:
                options['shards'] = tuple(chunk * rng.randint(1, 3) for chunk in options['chunks'])
        with open_sink(path, shape, dtype, axes=axes, format=name, overwrite=True, **options) as sink:
            for parts in slabs(shape, rng):
                sink.write([part.start for part in parts], array[parts])
        with open_source(path, axes=axes if name in ('npy',) else None) as source:
            # What formats drop or add are axes of extent 1.
            self.assertEqual([source.shape[source.axes.index(axis)] for axis in axes if axis in source.axes],
                             [extent for axis, extent in zip(axes, shape) if axis in source.axes])
            for axis, extent in (*zip(axes, shape), *zip(source.axes, source.shape)):
                self.assertTrue(extent == 1 or (axis in axes and axis in source.axes), (axis, source))
            shared = [axis for axis in source.axes if axis in axes]
            expected = array.transpose([axes.index(axis) for axis in (*shared, *(axis for axis in axes if axis not in shared))])
            expected = expected.reshape(source.shape).astype(source.dtype)
            for starts, stops in regions(source.shape, 3, rng.random()):
                np.testing.assert_array_equal(source.read(starts, stops), expected[tuple(slice(*both) for both in zip(starts, stops))])
        self.assertEqual(source.dtype, np.dtype(dtype))
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == '__main__':
    unittest.main()
