"""Calibration images: order, gray, extents and values; by Pillow and tifffile where they are installed."""
import importlib.util
import unittest

import numpy as np
import tenfold
from cyto_case import CytoCase
from tenfold.export_to_tensorrt._images import Images, resized

PILLOW, TIFFFILE = (importlib.util.find_spec(name) for name in ('PIL', 'tifffile'))


class Files(CytoCase):
    def images(self, *shape, count=100):
        return Images(self.folder, count, shape)

    def test_values_of_integers_and_floats(self):
        for dtype, low, high in ((np.uint8, 0, 255), (np.uint16, 0, 65535), (np.float32, 0, 1), (bool, False, True)):
            np.save(self.path('a.npy'), np.array([[low, high]] * 2, dtype))
            np.testing.assert_allclose(self.images(1, 1, 2, 2)[0], [[[[-1, 1]] * 2]], atol=1e-6)

    def test_names_in_order_and_no_others(self):
        for i, name in enumerate(('b.npy', 'a.npy', 'C.NPY', 'd.txt', 'e.npz')):
            with open(self.path(name), 'wb') as file:
                np.save(file, np.full((2, 2), i / 4, np.float32))
        found = self.images(1, 1, 2, 2)
        self.assertEqual([round(float(found[i].mean()), 4) for i in range(len(found))], [0, -0.5, -1])
        self.assertEqual(len(self.images(1, 1, 2, 2, count=2)), 2)

    def test_batches_take_the_next_images(self):
        for i in range(3):
            np.save(self.path(f'{i}.npy'), np.full((2, 2), i / 4, np.float32))
        found = self.images(2, 1, 2, 2)
        self.assertEqual([found[i][:, 0, 0, 0].tolist() for i in range(3)], [[-1, -0.5], [-0.5, 0], [0, -1]])

    def test_colors_become_gray_where_the_network_has_one_channel(self):
        np.save(self.path('a.npy'), np.broadcast_to(np.array([255, 0, 0], np.uint8), (4, 4, 3)))
        np.testing.assert_allclose(self.images(1, 1, 4, 4)[0], 0.299 * 2 - 1, atol=1e-6)
        self.assertEqual(self.images(1, 3, 4, 4)[0][0, :, 0, 0].tolist(), [1, -1, -1])
        self.refused(tenfold.InvalidInput, ['a.npy', 'channels'], self.images(1, 2, 4, 4).__getitem__, 0)

    def test_wrong_arrays(self):
        for array, words in ((np.array(['a']), 'expected an image of integers or floats'), (np.full((2, 2), np.nan), 'NaN'),
                             (np.zeros((0, 2)), 'of shape [0, 2]'), (np.array([{}]), 'cannot be read')):
            np.save(self.path('a.npy'), array, allow_pickle=True)
            self.refused(tenfold.InvalidInput, ['a.npy', words], self.images(1, 1, 2, 2).__getitem__, 0)

    @unittest.skipUnless(PILLOW, 'Pillow is not installed')
    def test_pictures(self):
        from PIL import Image
        array = np.random.default_rng(1).integers(0, 255, (30, 40, 3), dtype=np.uint8)
        for name, mode in (('a.png', 'RGB'), ('b.png', 'L'), ('c.jpg', 'L'), ('d.png', 'P'), ('e.jpeg', 'CMYK'), ('f.png', '1')):
            Image.fromarray(array).convert(mode).save(self.path(name), quality=100)
        found = self.images(1, 1, 20, 16)
        self.assertEqual(len(found), 6)
        for i, mode in enumerate(('RGB', 'L', 'L')):
            gray = Image.fromarray(array).convert('L').resize((16, 20), Image.Resampling.BILINEAR)
            np.testing.assert_allclose(found[i][0, 0] / 2 + 0.5, np.asarray(gray) / 255, atol=0.02)
        for i in range(6):
            self.assertEqual((found[i].shape, found[i].dtype), ((1, 1, 20, 16), np.float32))

    @unittest.skipUnless(PILLOW, 'Pillow is not installed')
    def test_pictures_of_16_bits(self):
        from PIL import Image
        Image.fromarray(np.array([[0, 65535], [32768, 65535]], np.uint16)).save(self.path('a.png'))
        np.testing.assert_allclose(self.images(1, 1, 2, 2)[0][0, 0], [[-1, 1], [0, 1]], atol=1e-4)

    @unittest.skipUnless(PILLOW, 'Pillow is not installed')
    def test_damaged_pictures(self):
        with open(self.path('a.png'), 'wb') as file:
            file.write(b'\x89PNG\r\n\x1a\n')
        self.refused(tenfold.InvalidInput, ['a.png', 'cannot be read'], self.images(1, 1, 2, 2).__getitem__, 0)

    @unittest.skipUnless(TIFFFILE, 'tifffile is not installed')
    def test_volumes(self):
        import tifffile
        tifffile.imwrite(self.path('a.tif'), (np.arange(24, dtype=np.uint16) * 2849).reshape(2, 3, 4))
        np.testing.assert_allclose(self.images(1, 1, 2, 3, 4)[0].ravel(), np.linspace(-1, 1, 24), atol=1e-3)
        self.assertEqual(self.images(1, 1, 8, 8, 8)[0].shape, (1, 1, 8, 8, 8))

    @unittest.skipIf(PILLOW, 'Pillow is installed')
    def test_a_package_that_is_not_installed(self):
        open(self.path('a.png'), 'wb').close()
        self.refused(tenfold.Unsupported, ['a.png', 'pip install pillow'], self.images(1, 1, 2, 2).__getitem__, 0)


class Sizes(CytoCase):
    def test_linear_between_and_mean_over(self):
        np.testing.assert_allclose(resized(np.array([0, 1], np.float32), 0, 4), [0, 0.25, 0.75, 1], atol=1e-6)
        ramp = np.arange(64, dtype=np.float32)
        np.testing.assert_allclose(resized(ramp, 0, 16)[1:-1], (ramp.reshape(16, 4).mean(1))[1:-1], atol=1e-4)
        np.testing.assert_allclose(resized(np.full((5, 7), 3, np.float32), 1, 3), np.full((5, 3), 3), atol=1e-6)


if __name__ == '__main__':
    unittest.main()
