"""NIfTI and NPY: written by us and read by nibabel and NumPy, and the other way round; affines, scales, order of axes."""
import unittest

import numpy as np
from files_case import GIVEN, TYPES, FilesCase, image, needs, open_sink, open_source, regions, write

AFFINE = np.array([[0.0, -1.5, 0.1, 10], [0.9, 0, 0, -20], [0, 0.2, 3, 30], [0, 0, 0, 1]])   # permuted, sheared, flipped


@needs('nibabel')
class Nifti(FilesCase):
    def test_nibabel_reads_what_we_wrote(self):
        import nibabel
        for name in ('a.nii', 'a.nii.gz'):
            for dtype in TYPES:
                with self.subTest(file=name, dtype=dtype):
                    array = image((7, 20, 30), dtype)
                    write(self.path(name), array, 'zyx', like=GIVEN, overwrite=True)
                    found = nibabel.load(self.path(name))
                    self.assertEqual(found.get_data_dtype(), array.dtype)
                    np.testing.assert_array_equal(np.asarray(found.dataobj), array.T)   # (x, y, z)
                    np.testing.assert_allclose(found.affine, [[0.25, 0, 0, -3], [0, 0.5, 0, 5], [0, 0, 2, 1], [0, 0, 0, 1]])
                    self.assertEqual(found.header.get_xyzt_units()[0], 'micron')
                    source = self.reads(self.path(name), array)
                    self.assertEqual((source.axes, source.spacing, source.origin), ('zyx', (2.0, 0.5, 0.25), (1.0, 5.0, -3.0)))

    def test_we_read_what_nibabel_wrote(self):
        import nibabel
        for name in ('b.nii', 'b.nii.gz'):
            for endian in '<>':
                for dtype in TYPES:
                    with self.subTest(file=name, endian=endian, dtype=dtype):
                        array = image((11, 12, 13), dtype)
                        header = nibabel.Nifti1Header(endianness=endian)
                        header.set_data_dtype(array.dtype)
                        nibabel.save(nibabel.Nifti1Image(array, AFFINE, header, dtype=array.dtype), self.path(name))
                        self.assertEqual(nibabel.load(self.path(name)).header.endianness, endian)
                        source = self.reads(self.path(name), array.T)
                        np.testing.assert_allclose(source.affine, AFFINE, atol=1e-5)
                        self.reads(self.path(name), array, order='xyz')   # as MONAI has them

    def test_slopes_and_time_and_channels(self):
        import nibabel
        array = image((5, 6, 7, 3), 'int16')
        made = nibabel.Nifti1Image(array, np.eye(4))
        made.header.set_slope_inter(0.5, 10)
        made.header.set_zooms((1, 2, 3, 4.5))
        made.header.set_xyzt_units('mm', 'sec')
        nibabel.save(made, self.path('s.nii'))
        expected = np.asarray(nibabel.load(self.path('s.nii')).dataobj)
        self.assertEqual(expected.dtype, np.float64)
        source = self.reads(self.path('s.nii'), expected.T)
        self.assertEqual((source.axes, source.spacing, source.units[0]), ('tzyx', (4.5, 3.0, 2.0, 1.0), 'second'))
        self.reads(self.path('s.nii'), expected.T[2], time=2)
        self.reads(self.path('s.nii'), expected.T, axes='xyzc')   # nnU-Net and MONAI store channels so
        channels = image((3, 7, 6, 5), 'float32')
        write(self.path('c.nii'), channels, 'czyx')
        found = nibabel.load(self.path('c.nii'))
        self.assertEqual(found.shape, (5, 6, 7, 1, 3))
        self.assertEqual(found.header.get_intent()[0], 'vector')
        np.testing.assert_array_equal(np.asarray(found.dataobj)[:, :, :, 0].T, channels)
        self.assertEqual(self.reads(self.path('c.nii'), channels).axes, 'czyx')

    def test_affine_and_codes_are_kept(self):
        import nibabel
        array = image((5, 6, 7), 'int16')
        made = nibabel.Nifti1Image(array, AFFINE)
        made.set_sform(AFFINE, code=4)
        made.set_qform(AFFINE, code=3, strip_shears=True)
        made.header.set_xyzt_units('mm', 'sec')
        nibabel.save(made, self.path('like.nii.gz'))
        with open_source(self.path('like.nii.gz')) as source:
            labels = (source.read((0, 0, 0), source.shape) > 0).astype(np.uint8)
            for name in ('l.nii', 'l.nii.gz', 'l.zarr'):
                write(self.path(name), labels, 'zyx', like=source)
        for name in ('l.nii', 'l.nii.gz'):
            found = nibabel.load(self.path(name))
            np.testing.assert_allclose(found.get_sform(), AFFINE, atol=1e-6)
            np.testing.assert_allclose(found.get_qform(), made.get_qform(), atol=1e-5)
            self.assertEqual((int(found.header['sform_code']), int(found.header['qform_code'])), (4, 3))
            np.testing.assert_array_equal(np.asarray(found.dataobj), (array > 0).astype(np.uint8))
        with open_source(self.path('l.zarr')) as zarr:
            write(self.path('back.nii'), labels, 'zyx', like=zarr)
        np.testing.assert_allclose(nibabel.load(self.path('back.nii')).affine, AFFINE, atol=1e-6)

    def test_another_grid_has_the_same_field_of_view(self):
        import nibabel
        nibabel.save(nibabel.Nifti1Image(image((10, 12, 14), 'int16'), AFFINE), self.path('like.nii'))
        with open_source(self.path('like.nii')) as source:
            write(self.path('half.nii'), image((7, 6, 5), 'uint8'), 'zyx', like=source)
        found = nibabel.load(self.path('half.nii')).affine
        for corner, there in (((-0.5, -0.5, -0.5), (-0.5, -0.5, -0.5)), ((4.5, 5.5, 6.5), (9.5, 11.5, 13.5))):
            np.testing.assert_allclose(found @ [*corner, 1], AFFINE @ [*there, 1], atol=1e-4)

    def test_large_extents_are_nifti_2(self):
        import nibabel
        array = image((2, 3, 40000), 'uint8')
        write(self.path('wide.nii'), array, 'zyx')
        found = nibabel.load(self.path('wide.nii'))
        self.assertIsInstance(found, nibabel.Nifti2Image)
        np.testing.assert_array_equal(np.asarray(found.dataobj).T, array)

    def test_units_that_nifti_lacks(self):
        import nibabel
        given = type(GIVEN)({'z': 40.0, 'y': 4.0, 'x': 4.0}, {}, {axis: 'nanometer' for axis in 'zyx'})
        write(self.path('nm.nii'), image((3, 4, 5)), 'zyx', like=given)
        found = nibabel.load(self.path('nm.nii'))
        self.assertEqual(found.header.get_xyzt_units()[0], 'micron')
        np.testing.assert_allclose(found.header.get_zooms(), [0.004, 0.004, 0.04], rtol=1e-6)

    def test_cut_files(self):
        import nibabel
        for name in ('a.nii', 'a.nii.gz'):
            nibabel.save(nibabel.Nifti1Image(image((20, 20, 20)), np.eye(4)), self.path(name))
            with open(self.path(name), 'rb') as file:
                data = file.read()
            for share in (0.01, 0.5, 0.98):
                with self.subTest(file=name, share=share):
                    with open(self.path('cut' + name), 'wb') as file:
                        file.write(data[:int(len(data) * share)])
                    self.refused(OSError, ['cut'], self.read_all, self.path('cut' + name))

    def read_all(self, path):
        with open_source(path) as source:
            source.read((0, 0, 0), source.shape)

    def test_refuses(self):
        self.refused(ValueError, ['float16', 'float32'], open_sink, self.path('a.nii'), (4, 4, 4), 'float16', axes='zyx')
        self.refused(ValueError, ['compress', '.nii.gz'], open_sink, self.path('a.nii'), (4, 4, 4), 'uint8', axes='zyx', compress='zlib')


class Npy(FilesCase):
    def test_numpy_reads_what_we_wrote(self):
        for dtype in (*TYPES, 'bool', 'float16', 'int64'):
            for along in (0, 1, 2):
                with self.subTest(dtype=dtype, along=along):
                    array = image((7, 20, 30), dtype)
                    write(self.path('a.npy'), array, 'zyx', along=along, overwrite=True)
                    found = np.load(self.path('a.npy'))
                    self.assertEqual(found.dtype, array.dtype)
                    np.testing.assert_array_equal(found, array)

    def test_regions_at_random_are_written_where_they_belong(self):
        for name in ('r.npy', 'r.nii'):
            with self.subTest(name):
                self.skip_without('nibabel' if name == 'r.nii' else 'numpy')
                expected = np.zeros((5, 6, 7, 8), np.float32)
                sink = open_sink(self.path(name), expected.shape, expected.dtype, axes='tzyx')
                sink.write((0, 0, 0, 0), expected)
                for number, (starts, stops) in enumerate(regions(expected.shape, 20)[1:]):
                    piece = image([stop - start for start, stop in zip(starts, stops)], 'float32', number)
                    expected[tuple(slice(*both) for both in zip(starts, stops))] = piece
                    sink.write(starts, piece)
                sink.close()
                self.reads(self.path(name), expected)

    def test_we_read_what_numpy_wrote(self):
        for dtype in ('>u2', '<i4', '>f8', 'u1'):
            for order in 'CF':
                with self.subTest(dtype=dtype, order=order):
                    array = np.asarray(image((5, 6, 7), 'uint8').astype(dtype), order=order)
                    np.save(self.path('b.npy'), array)
                    self.reads(self.path('b.npy'), array)


if __name__ == '__main__':
    unittest.main()
