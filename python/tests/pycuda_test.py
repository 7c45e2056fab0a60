"""Scripts of 8.x with PyCUDA's buffers, where PyCUDA is not installed, with the host's memory below them."""
import unittest

import numpy as np
import pycuda_case


class PyCudaOnTheHost(pycuda_case.PyCuda):
    def test_pinned_arrays_live_as_long_as_somebody_looks(self):
        from tenfold.pycuda import _host, driver
        before = len(_host._pieces)
        row = driver.pagelocked_zeros((3, 4), np.float32)[1]
        self.assertEqual(len(_host._pieces), before + 1)
        row[:] = 2
        np.testing.assert_array_equal(row, [2] * 4)
        del row
        self.assertEqual(len(_host._pieces), before)


if __name__ == '__main__':
    unittest.main()
