#!/usr/bin/env python3
"""Plans within an error budget: budget_test.py TENFOLD. The errors that are told are judged by NumPy, on samples that gave no ranges."""

import re
import unittest

import cli_case
from cli_case import ONCE, np
from residual_net import ResidualNet


class Budget(ResidualNet):
    def searched(self, *flags, code=0, data=None):
        result = self.tenfold(
            'exec', f'--onnx={self.net}', '--best', f"--data={data or self.path('samples.npy')}", *flags, *self.shapes(),
            f"--saveEngine={self.path('n.plan')}", '--buildOnly', code=code,
        )  # fmt: skip
        return result.stdout + result.stderr

    def rows(self, said):
        found = re.findall(r'^([* ]) (.+?)  +(\d\.\d+)  +(\d\.\d+) - (\d\.\d+)  +(\S+)  +(\d+\.\d+)(  over the budget)?$', said, re.M)
        self.assertTrue(found, said)
        return [dict(taken=t == '*', name=n, error=float(e), low=float(a), high=float(b), over=bool(o)) for t, n, e, a, b, _, _, o in found]

    def error(self, metric):
        want = np.concatenate([self.truth(x[None]) for x in self.samples[1::2]])
        got = np.concatenate([self.answers(x[None]) for x in self.samples[1::2]])
        if metric == 'l2':
            return np.linalg.norm(got - want) / np.linalg.norm(want)
        if metric == 'linf':
            return np.abs(got - want).max() / np.abs(want).max()
        if metric == 'cosine':
            return 1 - np.mean((got * want).sum(1) / np.linalg.norm(got, axis=1) / np.linalg.norm(want, axis=1))
        return np.mean(got.argmax(1) != want.argmax(1))

    def test_what_is_told_is_what_numpy_measures(self):
        for metric, bound in (('l2', 0.02), ('linf', 0.03), ('cosine', 2e-4), ('top1', 0.2)):
            said = self.searched(f'--max-error={bound}', f'--metric={metric}')
            taken = [row for row in self.rows(said) if row['taken']]
            self.assertEqual(len(taken), 1)
            self.assertLessEqual(taken[0]['error'], bound)
            self.assertAlmostEqual(taken[0]['error'], self.error(metric), delta=2e-5 + 0.01 * bound, msg=metric)
            self.assertTrue(taken[0]['low'] <= taken[0]['error'] <= taken[0]['high'])

    def test_a_tight_budget_keeps_layers_wide(self):
        everything = self.rows(self.searched('--max-error=1'))[0]
        self.assertFalse(everything['over'])
        said = self.searched(f"--max-error={everything['error'] * 0.8}")
        rows = self.rows(said)
        self.assertTrue(rows[0]['over'])
        self.assertIn('Layers that cost most in 8 bits, each alone:', said)
        self.assertTrue(any(' layers in ' in row['name'] for row in rows), rows)
        taken = [row for row in self.rows(self.searched('--max-error=1e-5')) if row['taken']]
        self.assertEqual([row['name'] for row in taken], ['fp32'])

    def test_wrong_budgets(self):
        for flags, words in (
            (['--max-error=0'], 'is not above 0'),
            (['--max-error=-1'], 'is not above 0'),
            (['--max-error=nan'], 'not'),
            (['--max-error=a:b'], "'b'"),
            (['--max-error=y'], "'y'"),
            (['--max-error=0.1', '--metric=l3'], 'there is no metric'),
            (['--max-error=z:0.1'], "no output 'z'"),
            (['--metric=l2'], 'are for --max-error'),
        ):
            self.assertIn(words, self.searched(*flags, code=2), flags)
        said = self.tenfold('exec', f'--onnx={self.net}', '--best', '--max-error=0.1', *ONCE, code=2).stderr
        self.assertIn('--max-error needs --data', said)
        said = self.tenfold('exec', f'--onnx={self.net}', '--max-error=0.1', f"--data={self.path('samples.npy')}", *ONCE, code=2).stderr
        self.assertIn('say --best', said)


if __name__ == '__main__':
    cli_case.main()
