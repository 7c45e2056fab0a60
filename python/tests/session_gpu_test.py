"""Sessions on a GPU that are tuned in the background by another process on the same one; left out where there is none. Truth: NumPy."""
import unittest

import numpy as np
from case import Case, batch, tanh_model, truth
from gpu_case import ON_GPU, torch

import tenfold

GPU = dict(providers=['CUDAExecutionProvider'], tune='background', tf32=False, optimization_level=1)


@unittest.skipUnless(ON_GPU, tenfold.why_no_gpu())
class OnAGpu(Case):
    def served(self, session):
        return [(tuned, pending, failure) for _, tuned, pending, failure, _ in session._engines.served()]

    def test_a_tuned_plan_takes_over(self):
        with self.assertLogs('tenfold', 'WARNING') as seen:
            s = tenfold.Session(tanh_model(), **GPU)
            self.near(s.run(None, {'x': batch(3)})[0], truth(batch(3)), 1e-4)
            self.assertEqual(self.served(s), [(False, True, '')])
            for i in range(1000):   # during
                if s.wait_for_tuning(0.01):
                    break
                self.near(s.run(None, {'x': batch(3, seed=i)})[0], truth(batch(3, seed=i)), 1e-4)
            self.assertTrue(s.wait_for_tuning(300))
            self.assertEqual(self.served(s), [(True, False, '')], seen.output)
            for rows in (2, 3, 4):
                self.near(s.run(None, {'x': batch(rows)})[0], truth(batch(rows)), 1e-4)
            self.assertTrue(s._engines.engine_of({'x': batch(3)}, frozenset())[0].info.on_gpu)
        self.assertEqual(len([line for line in seen.output if 'last bits' in line]), 1, seen.output)
        self.assertEqual([line for line in seen.output if 'thread of this process' in line], [])

    def test_the_next_session_finds_it(self):
        for tuner in (None, '/no/such/program'):
            s = tenfold.Session(tanh_model(), cache_dir=self.path('cache'), tuner=tuner, **GPU)
            self.near(s.run(None, {'x': batch(5)})[0], truth(batch(5)), 1e-4)
            self.assertTrue(s.wait_for_tuning(300))
            self.assertEqual(self.served(s), [(True, False, '')])

    @unittest.skipUnless(torch, 'torch is not installed')
    def test_tensors_where_they_lie(self):
        s = tenfold.Session(tanh_model(), **GPU)
        x = torch.from_numpy(batch(6)).cuda()
        for _ in range(2):
            (y,) = s.run(None, {'x': x})
            self.near(np.asarray(y.cpu() if hasattr(y, 'cpu') else y), truth(batch(6)), 1e-4)
            self.assertTrue(s.wait_for_tuning(300))


if __name__ == '__main__':
    unittest.main()
