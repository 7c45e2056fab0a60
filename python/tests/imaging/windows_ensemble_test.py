"""Ensembles: beside the mean of what each predictor gives by itself."""
import os
import sys
import unittest

import numpy as np
import window_cases
from window_engines import engine, noise

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from case import QUICK, TensorProto, helper, model, numpy_helper  # noqa: E402

import tenfold  # noqa: E402
from tenfold import imaging  # noqa: E402
from tenfold.imaging import Ensemble, SlidingWindowInferer, sliding_window_inference  # noqa: E402

ROI = (8, 6)
IMAGE = noise(2, 2, 30, 23)


def other(names=('y',), channels=3, batch=4):
    """A factor for each voxel, which differs from that of windows_engine_test."""
    masks = {f'mask {name}': noise(1, channels, *ROI, seed=7 + i) for i, name in enumerate(names)}
    nodes = [helper.make_node('ReduceMean', ['x'], ['m'], axes=[1], keepdims=1)]
    nodes += [helper.make_node('Mul', ['m', f'mask {name}'], [name]) for name in names]
    made = model(nodes, [('x', TensorProto.FLOAT, ['n', 2, *ROI])],
                 [(name, TensorProto.FLOAT, ['n', channels, *ROI]) for name in names],
                 [numpy_helper.from_array(array, name) for name, array in masks.items()], opset=13)
    return tenfold.build(made, profiles={'x': [[n, 2, *ROI] for n in (1, batch, batch)]}, **QUICK)


def ramp(windows, *args):
    """A function whose answer depends on the place in the window."""
    return windows.mean(1, keepdims=True) * np.arange(3 * 8 * 6, dtype=np.float32).reshape(1, 3, 8, 6) / 100


class Ensembles(unittest.TestCase):
    def near(self, found, expected, tolerance=1e-6):
        self.assertLess(window_cases.relative_difference(found, expected), tolerance)

    def infer(self, predictor, image=IMAGE, **options):
        return sliding_window_inference(image, ROI, 4, predictor, 0.5, 'gaussian', **options)

    def mean(self, *predictors):
        return sum(np.float64(self.infer(one)) for one in predictors) / len(predictors)

    def test_engines(self):
        one, two = engine(), other(batch=3)
        self.near(self.infer(Ensemble([one, two])), self.mean(one, two))
        self.near(self.infer(Ensemble(iter([one, two, one]))), self.mean(one, two, one))
        np.testing.assert_array_equal(self.infer(Ensemble([two])), self.infer(two))

    def test_engines_run_without_python(self):
        calls = []

        class Watched(Ensemble):
            def __call__(self, *args, **kwargs):
                calls.append(args)
                return super().__call__(*args, **kwargs)
        self.infer(Watched([engine(), other()]))
        self.assertEqual(calls, [])
        self.infer(Watched([engine(), ramp]))
        self.assertNotEqual(calls, [])

    def test_engines_and_functions(self):
        one = engine()
        self.near(self.infer(Ensemble([one, ramp])), self.mean(one, ramp))
        self.near(self.infer(Ensemble([ramp, lambda x: np.float16(2) * ramp(x)])), 1.5 * np.float64(self.infer(ramp)), 2e-3)

    def test_arguments_go_to_functions(self):
        seen = []

        def watching(windows, coordinates, scale, condition=None):
            seen.append((len(coordinates), condition.shape))
            return ramp(windows) * scale
        self.infer(Ensemble([watching, lambda x, *_, **__: ramp(x), engine()]), with_coord=True, condition=IMAGE[:, :1], scale=2)
        self.assertEqual(set(seen), {(4, (4, 1, *ROI)), (2, (2, 1, *ROI))})   # the last batch is smaller
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'takes windows alone'):
            self.infer(Ensemble([engine(), other()]), with_coord=True)

    def test_dicts_and_tuples(self):
        both = self.infer(Ensemble([lambda x: {'b': ramp(x), 'a': x}, lambda x: {'a': 3 * x, 'b': ramp(x)}]))
        self.assertEqual(list(both), ['a', 'b'])
        self.near(both['a'], 2 * IMAGE)
        pair = self.infer(Ensemble([lambda x: (ramp(x), x), lambda x: [ramp(x), -x]]))
        self.near(pair[0], self.infer(ramp))
        self.assertLess(abs(pair[1]).max(), 1e-6)

    def test_several_outputs_of_engines(self):
        one, two = other(('y', 'a')), other(('y', 'a'))
        found, expected = self.infer(Ensemble([one, two])), self.infer(one)
        self.assertEqual(list(found), ['a', 'y'])
        for name in found:
            self.near(found[name], expected[name])
        with self.assertRaisesRegex(tenfold.InvalidArgument, "engine 1 of the ensemble: output 0 is 'a', of engine 0 'y': expected the "
                                                            'same outputs in the same order'):
            self.infer(Ensemble([one, other(('a', 'y'))]))

    def test_inferer_and_native_names(self):
        ensemble = Ensemble([engine(), other()])
        found = SlidingWindowInferer(ROI, 4, 0.5, 'gaussian')(IMAGE, ensemble)
        np.testing.assert_array_equal(found, self.infer(ensemble))
        windows = imaging.SlidingWindow(IMAGE.shape[2:], ROI, 0.5, 'gaussian')
        np.testing.assert_array_equal(imaging.infer(windows, IMAGE, ensemble)[0], found)
        mixed = imaging.infer(windows, IMAGE, Ensemble([ensemble[0], ramp]))[0]
        self.near(mixed, self.mean(ensemble[0], ramp))

    def test_process_fn(self):
        ensemble = Ensemble([engine(), other()])
        found = self.infer(ensemble, process_fn=lambda outputs, windows, weights: (tuple(2 * one for one in outputs), weights))
        self.near(found, 2 * np.float64(self.infer(ensemble)))

    def test_what_does_not_fit(self):
        def refuse(text, predictors):
            with self.assertRaisesRegex(tenfold.InvalidArgument, text):
                self.infer(Ensemble(predictors))
        refuse('expected at least one predictor', [])
        refuse('predictor 1 of the ensemble is a int; expected a function', [ramp, 5])
        refuse(r'output 0 of predictor 1 of the ensemble is \[4, 2, 8, 6\], of predictor 0 \[4, 3, 8, 6\]', [ramp, lambda x: x])
        refuse("returned the outputs .'y'., predictor 0 1 outputs; expected the same outputs", [ramp, lambda x: {'y': ramp(x)}])
        refuse(r'output 0 of engine 1 of the ensemble is \[4x2', [engine(), other(channels=2)])


if __name__ == '__main__':
    unittest.main()
