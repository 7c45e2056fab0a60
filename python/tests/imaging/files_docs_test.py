"""The block of docs/guides/imaging-files.md as it stands there, and its table beside the formats that there are."""
import os
import pathlib
import re
import unittest

import numpy as np
from files_case import GIVEN, FilesCase, image, needs, write

from tenfold.imaging.files import FORMATS

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent.parent / 'docs' / 'guides' / 'imaging-files.md'


class Page(FilesCase):
    @needs('zarr', 'nibabel')
    def test_the_block(self):
        import nibabel
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        array = image((2, 70, 20, 30))
        write('brain.ome.zarr', array, 'czyx', like=GIVEN)
        blocks = re.findall(r'^```python\n(.*?)^```', PAGE.read_text(), re.M | re.S)
        self.assertEqual(len(blocks), 1)
        exec(compile(blocks[0], str(PAGE), 'exec'), {})
        found = nibabel.load('mask.nii.gz')
        np.testing.assert_array_equal(np.asarray(found.dataobj).T, array[0] > 1000)
        np.testing.assert_allclose(found.header.get_zooms(), [0.25, 0.5, 2])

    def test_the_table(self):
        text = PAGE.read_text()
        for format in FORMATS:
            for name in format.extensions or ((f'"{format.name}"',) if format.create else ()):
                if name not in ('.imagej.tif', '.tf2', '.tf8', '.ome.tf2', '.ome.tf8'):   # the same by a rarer name
                    self.assertIn(f'{name}`', text)


if __name__ == '__main__':
    unittest.main()
