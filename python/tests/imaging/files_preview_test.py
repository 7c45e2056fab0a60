"""The picture of a result: where its sections lie, their proportions, colors of labels, the length of the bar; sections from a sweep."""
import importlib
import os
import unittest
from unittest import mock

import numpy as np
from files_case import FilesCase, image, needs

from tenfold.imaging.files import Sections, preview


def sections(volume):
    z, y, x = (extent // 2 for extent in volume.shape)
    return volume[z], volume[:, y], volume[:, :, x].T


class FromASweep(FilesCase):
    def test_middle_sections(self):
        volume = image((9, 20, 30))
        for axes, array in (('zyx', volume), ('xyz', volume.transpose(2, 1, 0)), ('tczyx', np.stack([volume, volume + 1])[None])):
            for along in range(array.ndim):
                found = Sections(axes, array.shape, array.dtype)
                for start in range(0, array.shape[along], 2):
                    part = tuple(slice(start, start + 2) if axis == along else slice(None) for axis in range(array.ndim))
                    found.add([start if axis == along else 0 for axis in range(array.ndim)], array[part])
                for one, expected in zip(found.all, sections(volume), strict=True):
                    np.testing.assert_array_equal(one, expected)
        flat = Sections('cyx', (2, 20, 30), 'u2')
        flat.add((0, 0, 0), np.stack([volume[0], volume[1]]))
        np.testing.assert_array_equal(flat.all, [volume[0]])


    def test_of_large_images_a_part_is_kept(self):
        volume = image((3, 5000, 2100))
        found = Sections('zyx', volume.shape, volume.dtype)
        for y in range(0, 5000, 7):
            found.add((0, y, 0), volume[:, y:y + 7])
        self.assertEqual(found.strides, (1, 3, 2))
        for one, expected in zip(found.all, sections(volume), strict=True):
            rows, columns = (next(step for extent, step in ((5000, 3), (2100, 2), (3, 1)) if extent == whole) for whole in expected.shape)
            np.testing.assert_array_equal(one, expected[::rows, ::columns])


@needs('PIL')
class Preview(FilesCase):
    def picture(self, *arguments, **options):
        pillow = importlib.import_module('PIL.Image')
        text = preview(self.path('p.png'), *arguments, **options)
        self.assertEqual(os.listdir(self.folder), ['p.png'])
        with pillow.open(self.path('p.png')) as found:
            self.assertEqual(found.format, 'PNG')
            return np.asarray(found), text

    def test_places_proportions_and_bar(self):
        volume = np.zeros((10, 120, 200), np.uint16)
        volume[5], volume[:, 60], volume[:, :, 100] = 100, 100, 100
        volume[5, :40], volume[:4, 60], volume[:, :20, 100] = 900, 900, 900
        found, text = self.picture(sections(volume), None, (2.0, 0.5, 0.5), unit='micrometer')
        self.assertEqual(found.shape, (120 + 8 + 40 + 28, 200 + 8 + 40, 3))   # a plane of z is four rows
        self.assertTrue((found[2:38, 2:90] == 255).all() and (found[45:58, 2:90] == found[45, 2]).all())
        self.assertTrue((found[128:144, 2:90] == 255).all() and (found[148:160, 2:90] < 255).all())
        self.assertTrue((found[2:18, 208:216] == 255).all())
        self.assertEqual(text, '20 um')
        bar = np.flatnonzero((found[120 + 8 + 40 + 7] == 255).all(axis=-1))
        self.assertEqual((bar[0], len(bar)), (4, 40))   # 20 micrometers are 40 pixels

    def test_labels_have_colors(self):
        gray = np.full((60, 60), 50, np.uint8)
        labels = np.zeros((60, 60), np.uint16)
        labels[:20], labels[20:40] = 1, 2
        found, _ = self.picture([gray], [labels])
        one, two, none = found[10, 10], found[30, 10], found[50, 10]
        self.assertTrue(len(set(none.tolist())) == 1)
        for color in (one, two):
            self.assertGreater(int(color.max()) - int(color.min()), 60)
        self.assertGreater(np.abs(one.astype(int) - two).sum(), 100)

    def test_large_and_odd_images(self):
        found, text = self.picture([image((300, 5000))], spacing=(1, 0.325, 0.325), unit='micrometer')
        self.assertEqual(found.shape[:2], (61 + 28, 1024))
        self.assertEqual(text, '200 um')
        odd = image((40, 50), 'float32')
        odd[3, 4], odd[5, 6] = np.nan, np.inf
        self.assertEqual(self.picture([odd])[1], '10 px')
        self.picture([np.zeros((1, 1), bool)])
        self.assertEqual(self.picture([image((64, 64))], spacing=(1, 200, 200), unit='micrometer')[1], '2 mm')

    def test_refuses(self):
        gray = np.zeros((4, 5), 'u1')
        for arguments, words in (
            (([gray, gray],), ['XY, XZ and YZ']),
            (([gray[0]],), ['[5]', '2-D']),
            (([gray], [gray.T]), ['labels', '[5, 4]']),
            (([gray], None, (0, 1, 1)), ['spacing', 'positive']),
        ):
            self.refused(ValueError, ['p.png', *words], preview, self.path('p.png'), *arguments)
        self.refused(OSError, ['no/p.png', 'writing the preview'], preview, self.path('no/p.png'), [gray])
        with mock.patch.dict('sys.modules', {'PIL.Image': None}):
            self.refused(OSError, ['PIL', 'tenfold[imaging]'], preview, self.path('p.png'), [gray])
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == '__main__':
    unittest.main()
