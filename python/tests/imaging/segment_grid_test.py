"""--grid: results of segment on another grid beside the means, resampled in float64."""
import unittest

import numpy as np
from files_case import GIVEN, needs, write
from segment_case import SegmentCase, image
from window_truth import resampled

from tenfold.imaging.files import open_source


class Grid(SegmentCase):
    def setUp(self):
        super().setUp()
        self.array = image(2, 30, 21, 17)
        self.source = self.save('x.npy', self.array)
        self.means = self.by_hand(self.array)

    def found(self, *flags):
        self.segment(self.source, 'y.npy', '--overwrite', *flags)
        return np.load(self.path('y.npy'))

    def test_values_and_labels(self):
        for grid, modes in (((41, 50, 9), ['linear'] * 3), ((7, 21, 40), ['nearest', 'linear', 'linear'])):
            expected = resampled(self.means, grid, modes)
            for sweep in 'zyx':
                flags = (f'--grid={",".join(map(str, grid))}', f'--gridMode={",".join(modes)}', f'--sweep={sweep}')
                values = self.found(*flags)
                self.near_all(values, expected)
                np.testing.assert_array_equal(self.found(*flags, '--reduce=argmax'), values.argmax(0))

    def test_planes_of_a_network_of_two_axes(self):
        movie = image(2, 2, 30, 21, 17)
        self.segment(self.save('t.npy', movie), 't_y.npy', '--grid=12,30,11')
        for found, frame in zip(np.load(self.path('t_y.npy')), movie):
            self.near_all(found, resampled(self.by_hand(frame), (12, 30, 11), ['linear'] * 3))

    @needs('zarr')
    def test_files_say_so(self):
        write(self.path('i.ome.zarr'), self.array, 'czyx', like=GIVEN)
        self.segment(self.path('i.ome.zarr'), 'y.ome.zarr', '--grid=60,21,34', '--reduce=argmax')
        with open_source(self.path('i.ome.zarr')) as image_, open_source(self.path('y.ome.zarr')) as labels:
            self.assertEqual(labels.shape, (60, 21, 34))
            np.testing.assert_allclose(labels.spacing, np.divide(image_.spacing[1:] if len(image_.spacing) > 3 else image_.spacing,
                                                                 (2, 1, 2)))

    @needs('PIL')
    def test_a_preview(self):
        self.segment(self.source, 'y.npy', '--grid=60,42,34', '--reduce=argmax', f'--preview={self.path("y.png")}')
        self.segment(self.source, 'w.npy', '--reduce=argmax', f'--preview={self.path("w.png")}')
        with open(self.path('y.png'), 'rb') as one, open(self.path('w.png'), 'rb') as other:
            self.assertEqual(one.read(24), other.read(24))   # signature and extents


if __name__ == '__main__':
    unittest.main()
