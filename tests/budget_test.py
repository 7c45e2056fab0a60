#!/usr/bin/env python3
"""Plans within an error budget: budget_test.py TENFOLD. The errors that are told are judged by NumPy, on samples that gave no ranges."""

import json
import os
import re
import sys
import xml.dom.minidom

import cli_case
from cli_case import ONCE, np
from residual_net import ResidualNet


class Budget(ResidualNet):
    def searched(self, *flags, code=0, data=None):
        result = self.tenfold(
            'exec', f'--onnx={self.net}', '--best', f"--data={data or self.path('samples.npy')}", *flags, *self.shapes(),
            '--builderOptimizationLevel=1',
            f"--saveEngine={self.path('n.plan')}", '--buildOnly', code=code,
        )  # fmt: skip
        return result.stdout + result.stderr

    def rows(self, said):
        found = re.findall(
            r'^([* ]) (.+?)  +(-?\d+\.\d+)  +(-?\d+\.\d+) - (-?\d+\.\d+)  +(\S+)  +(\d+\.\d+)  (\w+ [\d.]+ %(?:, \w+ [\d.]+ %)*)'
            r'(  over the budget)?$',
            said,
            re.M,
        )
        self.assertTrue(found, said)
        return [
            dict(taken=t == '*', name=n, error=float(e), low=float(a), high=float(b), ms=float(ms), work=w, over=bool(o))
            for t, n, e, a, b, ms, _, w, o in found
        ]

    def error(self, metric):
        expected = np.concatenate([self.truth(x[None]) for x in self.samples[1::2]])
        got = np.concatenate([self.answers(x[None]) for x in self.samples[1::2]])
        if metric == 'l2':
            return np.linalg.norm(got - expected) / np.linalg.norm(expected)
        if metric == 'linf':
            return np.abs(got - expected).max() / np.abs(expected).max()
        if metric == 'cosine':
            return 1 - np.mean((got * expected).sum(1) / np.linalg.norm(got, axis=1) / np.linalg.norm(expected, axis=1))
        return np.mean(got.argmax(1) != expected.argmax(1))

    def test_what_is_told_is_what_numpy_measures(self):
        for metric, bound in (('l2', 0.02), ('linf', 0.03), ('cosine', 2e-4), ('top1', 0.2)):
            said = self.searched(f'--max-error={bound}', f'--metric={metric}')
            taken = [row for row in self.rows(said) if row['taken']]
            self.assertEqual(len(taken), 1)
            self.assertLessEqual(taken[0]['error'], bound)
            self.assertAlmostEqual(taken[0]['error'], self.error(metric), delta=2e-5 + 0.01 * bound, msg=metric)
            self.assertTrue(taken[0]['low'] <= taken[0]['error'] <= taken[0]['high'])

    def test_a_tight_budget_leaves_8_bits(self):
        of_all = lambda rows: next(row for row in rows if row['name'] == 'everything permitted')
        everything = of_all(self.rows(self.searched('--max-error=1')))
        self.assertFalse(everything['over'])
        said = self.searched(f"--max-error={everything['error'] * 0.8}")
        rows = self.rows(said)
        self.assertTrue(of_all(rows)['over'])
        self.assertIn('Layers that cost most, each alone in its narrowest type', said)
        order = ['fp32, unfused, level 0', 'fp32, fused, level 0', 'fp32', 'everything permitted']
        names = [row['name'] for row in rows if row['name'] != 'bf16']   # which CPUs with AMX may have where 8 bits are not chosen
        self.assertEqual(names[:4], order)
        self.assertRegex(of_all(rows)['work'], r'^i8 \d+ %')
        self.assertTrue(all(row['ms'] > 0 for row in rows))
        taken = [row for row in rows if row['taken']]
        self.assertTrue(len(taken) == 1 and not taken[0]['over'] and taken[0]['name'] != 'everything permitted', rows)
        taken = [row for row in self.rows(self.searched('--max-error=1e-5')) if row['taken']]
        self.assertLessEqual(taken[0]['error'], 1e-5)
        self.assertNotIn('i8', taken[0]['work'])   # a layer in bf16 may lose nothing on these samples

    def test_a_command_may_be_the_metric(self):
        script = self.write('metric.py', b"""import sys, numpy as np
a, b = (np.load(p)['y'].astype(float) for p in sys.argv[1:3])
assert a.shape == b.shape == (30, 10), a.shape
print('the error is')
print(np.linalg.norm(a - b) / np.linalg.norm(a))
""")
        command = f"'{sys.executable}' '{script}' {{reference}} {{candidate}}"
        said = self.searched('--max-error=0.02', f'--metric={command}')
        taken = [row for row in self.rows(said) if row['taken']]
        self.assertAlmostEqual(taken[0]['error'], self.error('l2'), delta=1e-4)
        os.remove(self.path('n.plan'))
        for command, words in (
            ('true {reference} {candidate}', 'printed nothing'),
            ('echo far {reference} {candidate} >&2; echo far', "printed 'far'"),
            ('echo nan {reference} {candidate} | cut -c1-3', "printed 'nan'"),
            ('cat {reference} {candidate} > /dev/null; exit 3', 'ended with status 3'),
            ('kill -SEGV $$; {reference} {candidate}', 'ended by signal 11'),
            ('sleep 60 & sleep 60; {reference} {candidate}', 'ran longer than 0.5 s (--searchTime) and was ended'),
        ):
            said = self.searched('--max-error=0.02', f'--metric={command}', '--searchTime=0.5', code=1)
            self.assertIn(words, said, command)
            self.assertFalse(os.path.exists(self.path('n.plan')))
        self.assertIn('{candidate}', self.searched('--max-error=0.02', '--metric=cat {reference}', code=2))

    def test_labels_make_it_accuracy_lost(self):
        labels = np.concatenate([self.truth(x[None]) for x in self.samples]).argmax(1)
        self.write('labels.txt', ''.join(f'{label}\n' for label in labels).encode())
        flags = ['--max-error=0.2', '--metric=top1', '--samples=60']
        rows = [self.rows(self.searched(*flags, *more)) for more in ([], [f"--labels={self.path('labels.txt')}"])]
        error = lambda rows: next(row['error'] for row in rows if row['name'] == 'everything permitted')
        self.assertEqual(error(rows[0]), error(rows[1]))   # where the model is right everywhere, what differs is lost
        self.write('labels.txt', b'1\n')
        self.assertIn('1 labels, too few', self.searched(*flags, f"--labels={self.path('labels.txt')}", code=1))

    def test_the_report_has_pictures_and_numbers(self):
        page, cache = self.path('r.html'), self.path('times')
        said = self.searched('--max-error=0.02', f'--precisionReport={page}', f'--timingCacheFile={cache}')
        with open(page) as f:
            html = f.read()
        self.assertNotIn('<script', html)
        self.assertNotRegex(html.replace('xmlns="http://www.w3.org/2000/svg"', ''), r'https?://')
        for svg in re.findall(r'<svg.*?</svg>', html, re.S):
            xml.dom.minidom.parseString(svg)
        self.assertEqual(html.count('<svg'), 3)
        with open(self.path('r.json')) as f:
            data = json.load(f)
        self.assertEqual([p['name'] for p in data['plans'] if p['taken']], [row['name'] for row in self.rows(said) if row['taken']])
        operators = [layer['op'] for layer in data['layers']]   # whether the pool is a layer of its own is the tuner's choice
        self.assertEqual([op for op in operators if op != 'GlobalAveragePool'], ['Conv', 'Conv', 'MatMul'])
        self.assertTrue(all(abs(sum(p['work'].values()) - 1) < 1e-9 for p in data['plans']))
        with open(self.path('n.plan'), 'rb') as f:
            plan = f.read()
        self.searched('--max-error=0.02', f'--timingCacheFile={cache}')   # everything is known
        with open(self.path('n.plan'), 'rb') as f:
            self.assertEqual(plan, f.read())

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
            (['--precisionReport=r.html'], 'is for --max-error'),
            (['--max-error=0.1', '--precisionReport=r.txt'], 'writes .html'),
        ):
            self.assertIn(words, self.searched(*flags, code=2), flags)
        said = self.tenfold('exec', f'--onnx={self.net}', '--best', '--max-error=0.1', *ONCE, code=2).stderr
        self.assertIn('--max-error needs --data', said)
        said = self.tenfold('exec', f'--onnx={self.net}', '--max-error=0.1', f"--data={self.path('samples.npy')}", *ONCE, code=2).stderr
        self.assertIn('say --best', said)


if __name__ == '__main__':
    cli_case.main()
