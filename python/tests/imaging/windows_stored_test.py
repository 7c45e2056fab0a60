"""tenfold.imaging beside MONAI's stored answers and beside the restatement in float64."""
import unittest

import monai_answers
import numpy as np
import window_cases

from tenfold.imaging import sliding_window_inference

TOLERANCE = 1e-6   # of the largest value


class Stored(unittest.TestCase):
    def test_300_answers_of_monai(self):
        count = 0
        for case, answers in monai_answers.stored():
            with self.subTest(seed=case.seed):
                found = case.call(sliding_window_inference, window_cases.NUMPY)
                truth = case.truth()
                self.assertEqual(len(found), len(truth))
                for y, expected in zip(found, answers):
                    self.assertLess(window_cases.relative_difference(y, expected), TOLERANCE)
                for y, expected in zip(found, truth):   # all outputs, those too that MONAI does not compute
                    self.assertEqual(str(y.dtype), case.dtype)
                    self.assertLess(window_cases.relative_difference(y, expected), TOLERANCE)
            count += 1
        self.assertEqual(count, 300)

    def test_configurations_where_monai_fails(self):
        """Resolutions in any order and in 4-D, several outputs with buffers."""
        cases = [case for case in map(window_cases.Configuration, range(400)) if not case.monai_computes()]
        self.assertGreater(len(cases), 30)
        for case in cases:
            with self.subTest(seed=case.seed):
                found = case.call(sliding_window_inference, window_cases.NUMPY)
                for y, expected in zip(found, case.truth(), strict=True):
                    self.assertLess(window_cases.relative_difference(y, expected), TOLERANCE)

    def test_the_answers_tell_a_wrong_weight_map(self):
        """Constant weights in place of Gaussian ones, and results one voxel off, are seen."""
        case, answers = next((c, a) for c, a in monai_answers.stored()
                             if c.mode == 'gaussian' and not c.weights and c.windows() > 4 * c.batch)
        case.mode = 'constant'
        self.assertGreater(window_cases.relative_difference(case.truth()[0], answers[0]), 1e-3)
        shifted = np.roll(answers[0], 1, -1)
        self.assertGreater(window_cases.relative_difference(shifted, answers[0]), 1e-3)


if __name__ == '__main__':
    unittest.main()
