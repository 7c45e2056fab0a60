"""tenfold.quantize(): files with Q/DQ and with weights of few bits, from samples that Python gives. ONNX Runtime runs them."""
import os
import unittest

import numpy as np
from case import PROFILE, QUICK, Case, batch, tanh_model, truth

import tenfold


def samples(count=60):
    random = np.random.default_rng(3)
    return [{'x': random.standard_normal((2, 6)).astype(np.float32)} for _ in range(count)]


class Quantize(Case):
    def setUp(self):
        super().setUp()
        self.model, self.out = self.path('m.onnx'), self.path('q.onnx')
        with open(self.model, 'wb') as f:
            f.write(tanh_model().SerializeToString())

    def test_int8_and_fp8(self):
        for kind, maximum in (('int8', 0.05), ('fp8', 0.1)):
            report = tenfold.quantize(self.model, self.out, samples(), type=kind, reader='onnxruntime')
            self.assertEqual((report.layers, report.quantized, report.samples, report.compared), (1, 1, 30, 30))
            (error,) = report.errors.values()
            self.assertTrue(1e-5 < error < maximum, error)
            engine = tenfold.build(self.out, profiles=PROFILE, **QUICK)
            x = batch()
            self.assertLess(np.linalg.norm(engine(x) - truth(x)) / np.linalg.norm(truth(x)), 2 * maximum)
            self.assertEqual(report.bytes_after, os.path.getsize(self.out))

    def test_weights_alone(self):
        report = tenfold.quantize(self.model, self.out, type='int4', group=2)
        self.assertEqual((report.method, report.samples, report.errors), ('nearest', 0, {}))
        report = tenfold.quantize(self.model, self.out, samples(), type='int4', group=2)
        self.assertEqual(report.samples, 30)

    def test_a_bound(self):
        self.refused(tenfold.Unsupported, 'within an error of', tenfold.quantize, self.model, self.out, samples(), max_error=1e-9)
        tenfold.quantize(self.model, self.out, samples(), max_error=dict(max_error=0.1, metric='cosine'))

    def test_wrong_arguments(self):
        self.refused(ValueError, "'type' is one of 'fp8', 'int4', 'int8', 'nbits4', 'nbits8'", tenfold.quantize, self.model, self.out,
                     samples(), type='int3')
        self.refused(ValueError, "'reader' is one of", tenfold.quantize, self.model, self.out, samples(), reader='tensorrt')
        self.refused(TypeError, 'sequence of names', tenfold.quantize, self.model, self.out, samples(), exclude='head')
        self.refused(ValueError, 'it gives ranges', tenfold.quantize, self.model, self.out)
        self.refused(TypeError, 'did you mean', tenfold.quantize, self.model, self.out, samples(), thread=1)
        self.assertFalse(os.path.exists(self.out))


if __name__ == '__main__':
    unittest.main()
