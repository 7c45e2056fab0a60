#!/usr/bin/env python3
"""tenfold compare on samples, by a metric: compare_data_test.py TENFOLD. NumPy is the truth."""

import json
import os

import cli_case
from cli_case import CliCase, FLOAT, helper, make_model, np, numpy_helper, onnx


class CompareData(CliCase):
    def setUp(self):
        super().setUp()
        self.x = np.random.default_rng(4).standard_normal((40, 6)).astype(np.float32)
        np.save(self.path('x.npy'), self.x)
        other = self.weights + np.random.default_rng(5).standard_normal((6, 4)).astype(np.float32) * 0.3
        nodes = [helper.make_node('MatMul', ['x:0', 'w'], ['t']), helper.make_node('Tanh', ['t'], ['y'])]
        self.other = self.path('other.onnx')
        onnx.save(make_model(nodes, [('x:0', FLOAT, ['batch', 6])], [('y', FLOAT, ['batch', 4])], [numpy_helper.from_array(other, 'w')]),
                  self.other)
        self.got, self.want = np.tanh(self.x @ other), np.tanh(self.x @ self.weights)
        self.data = f"--data={self.path('x.npy')}"

    def compare(self, *flags, a=None, b=None, code=0):
        return json.loads(self.tenfold('compare', a or self.other, b or self.model, self.data, '--json', *flags, code=code).stdout)

    def test_metrics(self):
        cosines = (self.got * self.want).sum(1) / np.linalg.norm(self.got, axis=1) / np.linalg.norm(self.want, axis=1)
        for metric, expected in (('l2', np.linalg.norm(self.got - self.want) / np.linalg.norm(self.want)), ('cosine', 1 - cosines.mean()),
                                 ('linf', np.abs(self.got - self.want).max() / np.abs(self.want).max()),
                                 ('top1', (self.got.argmax(1) != self.want.argmax(1)).mean())):
            reported = self.compare(f'--metric={metric}')
            self.assertEqual((reported['metric'], reported['samples']), (metric, 40))
            (one,) = reported['outputs']
            self.assertAlmostEqual(one['error'], expected, delta=1e-4, msg=metric)
            self.assertTrue(one['low'] <= one['error'] <= one['high'])
        self.assertEqual(self.compare('--samples=7')['samples'], 7)

    def test_plans_and_labels(self):
        self.make_plan('o.plan', self.other)
        labels = self.want.argmax(1)
        labels[:4] = (labels[:4] + 1) % 4
        self.write('labels.txt', '\n'.join(map(str, labels)).encode())
        reported = self.compare('--metric=top1', f"--labels={self.path('labels.txt')}", a=self.path('o.plan'))
        self.assertEqual(reported['right'], {'rows': 40, 'first': int((self.got.argmax(1) == labels).sum()), 'second': 36})
        output = self.tenfold('compare', self.path('o.plan'), self.model, self.data, f"--labels={self.path('labels.txt')}").stdout
        self.assertIn('the second 90.0 %', output)

    def test_a_tolerance(self):
        self.compare('--tolerance=0.9')
        self.compare('--tolerance=0.01', code=5)
        self.compare('--tolerance=1e-6', a=self.model)

    def test_bad_input(self):
        self.write('few.txt', b'1\n2\n')
        os.mkdir(self.path('empty'))
        for code, words, flags in (
            (2, 'cosine, l2, linf, top1, top5', [self.data, '--metric=l3']),
            (2, '--metric is for --data', ['--metric=l2']),
            (1, 'too few', [self.data, f"--labels={self.path('few.txt')}"]),
            (1, 'no images in', [f"--data={self.path('empty')}"]),
            (2, 'leave out --reference', [self.data, '--reference']),
        ):
            models = [self.other] if '--reference' in flags else [self.other, self.model]
            self.refused(code, words, 'compare', *models, *flags)


if __name__ == '__main__':
    cli_case.main()
