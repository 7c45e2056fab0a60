"""Builds within an error budget from Python: what max_error, metric and classes mean, and metrics that raise."""
import unittest

import numpy as np
from case import PROFILE, QUICK, Case, tanh_model, truth

import tenfold

OPTIONS = dict(device='cpu', profiles=PROFILE, **{k: v for k, v in QUICK.items() if k != 'device'})


def samples(count=60):
    random = np.random.default_rng(3)
    return [{'x': random.standard_normal((2, 6)).astype(np.float32)} for _ in range(count)]


def integers(engine):
    return sum('Integer' in step.op for program in tenfold.inspect(engine).programs for step in program.steps)


class Budget(Case):
    def build(self, **options):
        return tenfold.build(tanh_model(), data=samples(), **options, **OPTIONS)

    def error(self, engine):
        pairs = [(engine(s['x']), truth(s['x'])) for s in samples()[1::2]]
        got, want = (np.concatenate(list(side)) for side in zip(*pairs))
        return np.linalg.norm(got - want) / np.linalg.norm(want)

    def test_plans_stay_within(self):
        self.assertLess(self.error(self.build(max_error=0.05)), 0.05)
        exact = self.build(max_error={'y': 1e-6})
        self.assertLess(self.error(exact), 1e-6)
        self.assertEqual(integers(exact), 0)

    def test_a_metric_of_ones_own(self):
        seen = []

        def strict(reference, candidate):
            seen.append(len(reference))
            worst = max(np.abs(a['y'] - b['y']).max() for a, b in zip(reference, candidate))
            return 1.0 if worst > 1e-5 else 0.0
        self.assertEqual(integers(self.build(max_error=0.5, metric=strict)), 0)
        self.assertEqual(set(seen), {30})

        def broken(reference, candidate):
            raise KeyError('no such answer')
        self.refused(KeyError, 'no such answer', self.build, max_error=0.5, metric=broken)
        self.refused(TypeError, 'real number', self.build, max_error=0.5, metric=lambda a, b: 'far')

    def test_labels_make_it_accuracy(self):
        labels = np.concatenate([truth(s['x']).argmax(1) for s in samples()])
        self.build(max_error=0.01, metric='top1', classes=labels)
        self.refused(ValueError, 'too few', self.build, max_error=0.01, metric='top1', classes=labels[:9])
        self.refused(ValueError, 'top1 and top5', self.build, max_error=0.01, classes=labels)
        self.assertEqual(tenfold.build(tanh_model(), labels={'a': 'b'}, **OPTIONS).labels, {'a': 'b'})

    def test_what_belongs_together(self):
        refused = lambda words, **given: self.refused(TypeError, words, tenfold.build, tanh_model(), **given, **OPTIONS)
        refused('samples to measure the error on', max_error=0.1)
        refused("'metric' needs max_error", metric='l2')
        refused("'classes' needs max_error", classes=[1])

    def test_a_build_can_be_cancelled_while_it_searches(self):
        phases = []

        def until(phase, done, total):
            phases.append(phase)
            return phase != 'budget'
        self.refused(tenfold.Cancelled, 'cancelled', self.build, max_error=0.05, progress=until)
        self.assertIn('budget', phases)


if __name__ == '__main__':
    unittest.main()
