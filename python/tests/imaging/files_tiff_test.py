"""TIFF, BigTIFF, OME-TIFF and ImageJ: written by us and read by tifffile, written by tifffile and read by us."""
import unittest
from unittest import mock
from xml.etree import ElementTree

import numpy as np
from files_case import GIVEN, TYPES, FilesCase, image, needs, open_sink, open_source, write


@needs('tifffile', 'zarr', 'imagecodecs')
class Tiff(FilesCase):
    def test_tifffile_reads_what_we_wrote(self):
        import tifffile
        tried = 0
        for name, types in (('a.tif', TYPES), ('a.btf', TYPES), ('a.ome.tif', TYPES), ('a.ij.tif', ('uint8', 'uint16', 'float32'))):
            for dtype in types:
                with self.subTest(file=name, dtype=dtype):
                    array = image((6, 33, 47), dtype)
                    path = write(self.path(name), array, 'zyx', overwrite=True)
                    found = tifffile.imread(path)
                    self.assertEqual(found.dtype, array.dtype)
                    np.testing.assert_array_equal(found, array)
                    with tifffile.TiffFile(path) as file:
                        self.assertEqual((file.is_bigtiff, file.is_ome, file.is_imagej),
                                         (name == 'a.btf', name == 'a.ome.tif', name == 'a.ij.tif'))
                    self.reads(path, array)
                    tried += 1
        self.assertEqual(tried, 18)

    def test_compressions_and_tiles(self):
        import tifffile
        array = image((2, 5, 70, 90))
        for compress in (None, 'zlib', 'deflate', 'lzw', 'zstd', 'none'):
            for chunks in (None, (1, 1, 32, 48)):
                for name in ('a.ome.tif', 'a.tif'):
                    with self.subTest(compress=compress, chunks=chunks, file=name):
                        path = write(self.path(name), array, 'czyx', compress=compress, chunks=chunks, overwrite=True)
                        np.testing.assert_array_equal(tifffile.imread(path), array)
                        with tifffile.TiffFile(path) as file:
                            self.assertEqual(file.pages[0].is_tiled, chunks is not None)
                        source = self.reads(path, array)
                        self.assertEqual(source.chunks[-2:], (70, 90) if chunks is None else (32, 48))

    def test_we_read_what_tifffile_wrote(self):
        import tifffile
        for byteorder in '<>':
            for dtype in TYPES:
                for options in (
                    {},
                    {'compression': 'zlib', 'rowsperstrip': 7},
                    {'tile': (16, 32), 'bigtiff': True},
                    {'compression': 'lzw'},
                ):
                    with self.subTest(byteorder=byteorder, dtype=dtype, **{name: str(value) for name, value in options.items()}):
                        array = image((5, 40, 50), dtype)
                        tifffile.imwrite(self.path('b.tif'), array, byteorder=byteorder, photometric='minisblack', **options)
                        self.assertEqual(self.reads(self.path('b.tif'), array).axes, 'zyx')

    def test_colors_are_channels(self):
        import tifffile
        array = image((24, 31, 3), 'uint8')
        tifffile.imwrite(self.path('rgb.tif'), array, photometric='rgb')
        self.assertEqual(self.reads(self.path('rgb.tif'), array.transpose(2, 0, 1)).axes, 'cyx')
        self.reads(self.path('rgb.tif'), array[:, :, 1], channel=1)

    def test_orders_of_axes(self):
        import tifffile
        array = image((2, 3, 4, 20, 30))
        tifffile.imwrite(self.path('ij.tif'), array, imagej=True, metadata={'axes': 'TZCYX'})
        source = self.reads(self.path('ij.tif'), array.transpose(0, 2, 1, 3, 4))
        self.assertEqual(source.axes, 'tczyx')
        self.reads(self.path('ij.tif'), array[1:, :, 2], time='1:2', channel=2)
        self.reads(self.path('ij.tif'), array[1].transpose(3, 2, 0, 1), time=1, order='xyzc')
        tifffile.imwrite(self.path('o.ome.tif'), array, metadata={'axes': 'CTZYX'})
        self.reads(self.path('o.ome.tif'), array.transpose(1, 0, 2, 3, 4))
        write(self.path('w.ij.tif'), array.transpose(0, 2, 1, 3, 4), 'tczyx')
        np.testing.assert_array_equal(tifffile.imread(self.path('w.ij.tif')), array)
        self.assertEqual(self.reads(self.path('ij.tif'), array, axes='tczyx').axes, 'tczyx')   # the caller knows better

    def test_levels_and_scenes(self):
        import tifffile
        array, other = image((64, 80)), image((30, 20), seed=1)
        with tifffile.TiffWriter(self.path('p.ome.tif'), ome=True) as writer:
            writer.write(array, subifds=1, tile=(16, 16), metadata={'axes': 'YX', 'PhysicalSizeX': 0.5, 'PhysicalSizeY': 0.25})
            writer.write(array[::2, ::2], subfiletype=1, tile=(16, 16))
            writer.write(other, metadata={'axes': 'YX', 'PhysicalSizeX': 7.0, 'PhysicalSizeY': 7.0})
        self.assertEqual(self.reads(self.path('p.ome.tif'), array).spacing, (0.25, 0.5))
        self.assertEqual(self.reads(self.path('p.ome.tif'), array[::2, ::2], level=1).spacing, (0.5, 1.0))
        self.assertEqual(self.reads(self.path('p.ome.tif'), other, scene=1).spacing, (7.0, 7.0))
        self.refused(ValueError, ['level=2', '2 levels', '0 to 1'], open_source, self.path('p.ome.tif'), level=2)
        self.refused(ValueError, ['scene=2', '2 scenes'], open_source, self.path('p.ome.tif'), scene=2)

    def test_ome_metadata(self):
        import tifffile
        write(self.path('m.ome.tif'), image((4, 20, 30)), 'zyx', like=GIVEN)
        with tifffile.TiffFile(self.path('m.ome.tif')) as file:
            root = ElementTree.fromstring(file.ome_metadata)
        pixels = next(element for element in root.iter() if element.tag.endswith('Pixels'))
        self.assertEqual([float(pixels.get(f'PhysicalSize{axis}')) for axis in 'ZYX'], [2.0, 0.5, 0.25])
        self.assertEqual([pixels.get(f'PhysicalSize{axis}Unit') for axis in 'ZYX'], ['\u00b5m'] * 3)
        plane = next(element for element in root.iter() if element.tag.endswith('Plane'))
        self.assertEqual([float(plane.get(f'Position{axis}')) for axis in 'ZYX'], [1.0, 5.0, -3.0])
        self.kept('m.ome.tif')

    def test_imagej_metadata(self):
        import tifffile
        write(self.path('m.ij.tif'), image((4, 20, 30)), 'zyx', like=GIVEN)
        with tifffile.TiffFile(self.path('m.ij.tif')) as file:
            said, tags = file.imagej_metadata, file.pages[0].tags
            self.assertEqual((said['spacing'], said['unit'], said['slices']), (2.0, 'micron', 4))
            self.assertEqual([tags[name].value for name in ('XResolution', 'YResolution')], [(4, 1), (2, 1)])
        self.kept('m.ij.tif')

    def test_plain_metadata(self):
        write(self.path('m.tif'), image((4, 20, 30)), 'zyx', like=GIVEN)
        self.kept('m.tif')

    def kept(self, name):
        with open_source(self.path(name)) as source:
            found = source.metadata
        self.assertEqual((found.spacing, found.origin, found.units), (GIVEN.spacing, GIVEN.origin, GIVEN.units))

    def test_large_outputs_are_bigtiff(self):
        import tifffile
        from tenfold.imaging.files import _tiff_out
        for name in ('l.tif', 'l.ome.tif'):
            for limit in (1000, 1 << 20):
                with mock.patch.object(_tiff_out, 'CLASSIC_LIMIT', limit):   # a real one would be of 4 GiB
                    write(self.path(name), image((4, 20, 30)), 'zyx', overwrite=True)
                with tifffile.TiffFile(self.path(name)) as file:
                    self.assertEqual(file.is_bigtiff, limit == 1000)
                self.reads(self.path(name), image((4, 20, 30)))

    def test_cut_files(self):
        import tifffile
        array = image((8, 60, 70))
        for options in ({}, {'compression': 'zlib'}, {'bigtiff': True}, {'tile': (16, 16)}):
            tifffile.imwrite(self.path('whole.tif'), array, photometric='minisblack', **options)
            with open(self.path('whole.tif'), 'rb') as file:
                data = file.read()
            for share in (0.1, 0.5, 0.97):
                with self.subTest(share=share, **{name: str(value) for name, value in options.items()}):
                    with open(self.path('cut.tif'), 'wb') as file:
                        file.write(data[:int(len(data) * share)])
                    self.refused(OSError, ['cut.tif', 'copy'], self.read_all, self.path('cut.tif'))
        for text in (b'not a TIFF at all', b'II*\0'):
            with open(self.path('cut.tif'), 'wb') as file:
                file.write(text)
            self.refused(OSError, ['cut.tif'], self.read_all, self.path('cut.tif'))

    def read_all(self, path):
        with open_source(path) as source:
            if source.shape != (8, 60, 70):
                raise AssertionError(f'a cut file passes as one of {source.shape}')
            source.read((0, 0, 0), source.shape)

    def test_types_that_a_format_lacks(self):
        self.refused(ValueError, ['ImageJ', 'int16', 'uint16'], open_sink, self.path('a.ij.tif'), (4, 4), 'int16', axes='yx')
        self.refused(ValueError, ['OME-TIFF', 'float16', 'float32'], open_sink, self.path('a.ome.tif'), (4, 4), 'float16', axes='yx')
        self.refused(ValueError, ['4 GiB', '.ome.tif'], open_sink, self.path('a.ij.tif'), (5, 1 << 15, 1 << 15), 'uint8', axes='zyx')
        self.refused(ValueError, ['compress', 'zlib'], open_sink, self.path('a.tif'), (4, 4), 'uint8', axes='yx', compress='rar')
        self.refused(ValueError, ['chunks', '16'], open_sink, self.path('a.tif'), (40, 40), 'uint8', axes='yx', chunks=(10, 10))


if __name__ == '__main__':
    unittest.main()
