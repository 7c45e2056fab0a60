"""tenfold.imaging beside MONAI 1.6.1 on generated configurations."""
import os
import unittest

import window_cases
from monai_case import MODULES, TOLERANCE, TORCH, MonaiCase
from window_cases import relative_difference

COUNT = 200 if os.environ.get('TENFOLD_TORCH_SHORT') else 2000
OURS, MONAI = (module.sliding_window_inference for module in MODULES)


def configurations():
    """Those that MONAI computes."""
    found = seed = 0
    while found < COUNT:
        case = window_cases.Configuration(seed)
        if case.monai_computes():
            yield case
            found += 1
        seed += 1


class Generated(MonaiCase):
    def test_configurations(self):
        to_monai, to_truth = [0], [0]
        for case in configurations():
            with self.subTest(seed=case.seed):
                ours = case.call(OURS, TORCH if case.seed % 2 else window_cases.NUMPY)
                theirs = case.call(MONAI, TORCH)
                self.assertEqual(len(theirs), case.monai_computes())
                self.assertEqual([y.dtype for y in ours[:len(theirs)]], [y.dtype for y in theirs])
                to_monai.extend(map(relative_difference, ours, theirs))
                to_truth.extend(relative_difference(*pair) for pair in zip(ours, case.truth(), strict=True))
                self.assertLess(max(to_monai), TOLERANCE)
                self.assertLess(max(to_truth), TOLERANCE)
        print(f'{COUNT} configurations: within {max(to_monai):.1e} of MONAI, {max(to_truth):.1e} of float64')


if __name__ == '__main__':
    unittest.main()
