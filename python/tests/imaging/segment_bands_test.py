"""--memory cuts bands of rows: the bytes are those of one sweep, whatever is swept and written."""
import json
import os
import re
import unittest

import numpy as np
from files_case import needs
from segment_case import SegmentCase, image, network, sha256

from tenfold.imaging.files import open_source


class Bands(SegmentCase):
    def setUp(self):
        super().setUp()
        self.array = image(2, 20, 90, 17)
        self.source = self.save('x.npy', self.array)

    def banded(self, out, *flags, **options):
        """(summary, the line that says so)"""
        code, text, told = self.call(self.words(self.source, out, '--sweep=z', '--overwrite', *flags, **options))
        self.assertEqual(code, 0, told)
        return json.loads(text), told

    def least(self, out, *flags, **options):
        """--memory of the least that is named, and a fifth more."""
        code, _, told = self.call(self.words(self.source, out, '--sweep=z', '--overwrite', '--memory=1K', *flags, **options))
        self.assertEqual((code, told.count('\n')), (2, 1))
        return f'--memory={int(re.search(r"--memory=1K: .*expected at least ([0-9]+), or [0-9]+ with a batch of 1", told)[1]) * 6 // 5}'

    def test_the_bytes_of_one_sweep(self):
        for flags in ((), ('--overlap=0.6', '--reduce=argmax'), ('--mode=halo', '--halo=2,2,1', '--placement=even'), ('--sweep=x',),
                      ('--sweep=y', '--overlap=0.5'), ('--grid=31,120,9', '--overlap=0.5'), ('--grid=9,40,40', '--reduce=argmax'),
                      ('--normalize=zscore', '--mirror=1')):
            with self.subTest(flags):
                one, told = self.banded('w.npy', *flags)
                self.assertEqual((one['bands'], told), (1, ''))
                memory = self.least('y.npy', *flags)
                found, told = self.banded('y.npy', memory, *flags)
                self.assertGreater(found['bands'], 1)
                self.assertEqual(sha256(self.path('y.npy')), sha256(self.path('w.npy')))
                axis = 'z' if '--sweep=y' in flags or '--sweep=x' in flags else 'y'
                windows = f"{found['windows']:,}"
                self.assertRegex(told, rf'^tenfold: {memory}: {axis} is cut into {found["bands"]} bands, and [\d,]+ windows are '
                                       rf'computed, {one["windows"]:,} would do in one\n$')
                if 'grid' not in str(flags):
                    self.assertIn(f'and {windows} windows', told)
                self.assertEqual(found['planes'], one['planes'])

    def test_the_least_that_is_named_would_do(self):
        _, _, told = self.call(self.words(self.source, 'y.npy', '--sweep=z', '--memory=3K'))
        least = int(re.search(r'expected at least ([0-9]+)', told)[1])
        self.fails(2, ['expected at least', '--swBatch=1'], self.words(self.source, 'y.npy', '--sweep=z', f'--memory={least - 1}'))
        found, _ = self.banded('y.npy', f'--memory={least}')
        self.assertGreater(found['bands'], 3)
        self.banded('w.npy')
        self.assertEqual(sha256(self.path('y.npy')), sha256(self.path('w.npy')))
        self.assertEqual(self.banded('w.npy', '--memory=64M')[0]['bands'], 1)

    def test_time_points_and_nan(self):
        movie = image(3, 2, 12, 90, 17, dtype='float32')
        for place in ((0, 0, 3, 5, 2), (1, 1, 11, 44, 3), (2, 0, 0, 89, 0), (2, 1, 5, 30, 9)):
            movie[place] = np.nan
        self.source = self.save('x.npy', movie)
        flags = ('--nan=zero', '--normalize=percentile:1,99.8', '--reduce=argmax')
        one, _ = self.banded('w.npy', *flags)
        found, _ = self.banded('y.npy', self.least('y.npy', *flags), *flags)
        self.assertGreater(found['bands'], 2)
        self.assertEqual((one['nan'], found['nan']), (4, 4))
        self.assertEqual(sha256(self.path('y.npy')), sha256(self.path('w.npy')))

    @needs('zarr', 'tifffile', 'nibabel')
    def test_files(self):
        for name, flags in (('ome.zarr', ('--chunks=1,7,16,8',)), ('ome.tif', ()), ('nii.gz', ()), ('zarr', ('--chunks=3,20,32,17',))):
            with self.subTest(name):
                self.banded(f'w.{name}', *flags)
                found, _ = self.banded(f'y.{name}', self.least(f'y.{name}', *flags), *flags)
                self.assertGreater(found['bands'], 1)
                with open_source(self.path(f'w.{name}')) as whole, open_source(self.path(f'y.{name}')) as banded:
                    np.testing.assert_array_equal(*(one.read((0,) * one.ndim, one.shape) for one in (whole, banded)))
                if os.path.isdir(self.path(f'w.{name}')):
                    continue
                self.assertEqual(sha256(self.path(f'y.{name}')), sha256(self.path(f'w.{name}')))

    @needs('zarr')
    def test_chunks_that_are_too_tall_are_named(self):
        words = self.words(self.source, 'y.zarr', '--sweep=z', '--memory=64K', '--chunks=1,7,64,8')
        self.fails(2, 'or --chunks of less than 64 rows', words)

    @needs('PIL')
    def test_a_preview(self):
        for name, memory in (('w', '--memory=64M'), ('y', self.least('y.npy', '--reduce=argmax'))):
            self.banded(f'{name}.npy', '--reduce=argmax', memory, f'--preview={self.path(name + ".png")}')
        self.assertEqual(sha256(self.path('y.png')), sha256(self.path('w.png')))

    def test_images_of_two_axes(self):
        flat = self.save_model('f.onnx', network(roi=(8, 6)))
        self.source = self.save('x.npy', self.array[:, 0])
        flags = ('--axes=cyx', '--sweep=y')
        self.banded('w.npy', *flags, models=[flat])
        found, _ = self.banded('y.npy', self.least('y.npy', *flags, models=[flat]), *flags, models=[flat])
        self.assertGreater(found['bands'], 1)
        self.assertEqual(sha256(self.path('y.npy')), sha256(self.path('w.npy')))


if __name__ == '__main__':
    unittest.main()
