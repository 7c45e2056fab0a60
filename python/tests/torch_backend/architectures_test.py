"""Architectures as eager mode computes them: eight in the short form, all of architectures_case otherwise."""
import os

from architectures_case import ARCHITECTURES, SHORT, tried
from torch_case import QUICK, TorchCase, unittest

IN_ONE = 57       # at least so many of all are one engine, and nothing is left to torch


class Architectures(TorchCase):
    def test_as_eager_and_in_one_engine(self):
        names = SHORT if os.environ.get('TENFOLD_TORCH_SHORT') else list(ARCHITECTURES)
        whole = 0
        for name in names:
            with self.subTest(name):
                worst, own, engines, breaks = tried(name, QUICK)
                self.assertLess(worst, max(1e-4, 3 * own))
                whole += engines == 1 and not breaks
                reported = f'{name}: {engines} engines, off by {worst:.1e} (eager itself {own:.1e})'
                print(reported + ''.join(f', torch: {o} ({w})' for o, w in breaks), flush=True)
        self.assertGreaterEqual(whole, min(IN_ONE, len(names)))


if __name__ == '__main__':
    unittest.main()
