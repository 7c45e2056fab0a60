"""Pinned memory and registered arrays where there is no GPU: ordinary arrays, and errors that name what was given."""
import gc
import os
import unittest
import weakref

import ml_dtypes
import numpy as np
from case import Case, batch, tanh_engine, truth

import tenfold


class Pinned(Case):
    def test_arrays_of_any_shape_and_type(self):
        for shape, dtype in (((3, 4), 'float32'), (7, np.uint8), ((), np.int64), ([2, 0], 'float16'), ((5,), ml_dtypes.bfloat16)):
            a = tenfold.pinned_empty(shape, dtype, device='cpu')
            self.assertEqual((a.shape, a.dtype), (np.empty(shape, dtype).shape, np.dtype(dtype)))
            self.assertTrue(a.flags.writeable and a.flags.c_contiguous)
            self.assertTrue(a.size == 0 or a.ctypes.data % 64 == 0, 'alignment')
            a[...] = 1
            self.assertEqual(np.asarray(a, np.float64).sum(), a.size)

    def test_an_engine_reads_and_writes_them(self):
        x, y = (tenfold.pinned_empty(shape, device='cpu') for shape in ((4, 6), (4, 4)))
        x[...] = batch()
        self.assertIs(tanh_engine()(x, out=y), y)
        self.near(y, truth(batch()))

    def test_memory_lives_as_long_as_a_view_of_it(self):
        view = tenfold.pinned_empty((1000, 1000), device='cpu')[3:4]
        view[...] = 5
        gc.collect()
        self.assertEqual(view.sum(), 5000)

    def test_refusals(self):
        self.refused(TypeError, 'numbers', tenfold.pinned_empty, (2,), object)
        self.refused(ValueError, 'extents from 0', tenfold.pinned_empty, (2, -1))
        self.refused(tenfold.Error, 'gpu', tenfold.pinned_empty, (2,), device='gpu')

    @unittest.skipUnless(tenfold.why_no_gpu(), 'there is a GPU')
    def test_without_a_gpu(self):
        self.refused(tenfold.DeviceError, 'GPU', tenfold.pinned_empty, (2,), device='cuda')
        if not os.environ.get('TENFOLD_DEVICE'):
            self.assertEqual(tenfold.pinned_empty((2,)).shape, (2,))


class Registered(Case):
    def test_keeps_the_array_and_lets_it_go(self):
        array = np.ones((3, 4), np.float32)
        alive = weakref.ref(array)
        with tenfold.register_memory(array, device='cpu') as registered:
            self.assertIs(registered.array, array)
            self.assertFalse(registered.pinned, 'of a CPU')
            del array
            gc.collect()
            self.assertIsNotNone(alive())
        gc.collect()
        self.assertIsNone(alive())
        self.assertFalse(registered.pinned)
        registered.close()

    def test_refusals(self):
        array = np.ones((4, 4), np.float32)
        fixed = array.copy()
        fixed.flags.writeable = False
        for error, words, given in ((TypeError, 'pin_memory', [1.0]), (ValueError, 'not contiguous', array[:, ::2]),
                                    (ValueError, 'read-only', fixed), (ValueError, 'no elements', array[:0])):
            self.refused(error, words, tenfold.register_memory, given, device='cpu')


if __name__ == '__main__':
    unittest.main()
