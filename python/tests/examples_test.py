"""examples/alexnet, as its README says it: built, run and timed; the truth is ONNX Runtime's. examples/plugin.py, whose truth is NumPy's.
mypy reads them strictly where there is one."""
import os
import re
import subprocess
import sys
import unittest

import numpy as np
import onnxruntime
from case import Case

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'examples')


class AlexNet(Case):
    def script(self, name, *words):
        done = subprocess.run([sys.executable, os.path.join(EXAMPLES, 'alexnet', name), *words], cwd=self.folder,
                              capture_output=True, text=True, env=dict(os.environ, TENFOLD_DEVICE='cpu'))
        return done.returncode, done.stdout + done.stderr

    def passes(self, name, *words):
        code, text = self.script(name, *words)
        self.assertEqual(code, 0, text)
        return text

    def test_build_infer_benchmark(self):
        images = np.random.default_rng(1).standard_normal((2, 3, 224, 224)).astype(np.float32)
        np.save(self.path('images.npy'), images)
        self.passes('make_onnx.py', 'a.onnx', '--width=0.1')
        for _ in range(2):   # the second build reads what the first one timed
            self.assertIn('input  images (-1, 3, 224, 224)',
                          self.passes('build_engine.py', 'a.onnx', 'a.engine', '--max-batch=2', '--level=0', '--timing-cache=times'))
        text = self.passes('infer.py', 'a.engine', 'images.npy', '--profile')
        expected = onnxruntime.InferenceSession(self.path('a.onnx')).run(None, {'images': images})[0]
        found = [re.findall(r'class (\d+): ([-.\d]+)', line) for line in text.splitlines() if 'class' in line]
        for row, line in zip(expected, found, strict=True):
            best = row.argsort()[::-1][:5]
            self.assertEqual([int(c) for c, _ in line], best.tolist())
            self.near([float(score) for _, score in line], row[best], 1e-3)
        self.assertRegex(text, r'\d ms  conv0')
        self.assertRegex(self.passes('benchmark.py', 'a.engine', '--batch=2', '--seconds=0.1'),
                         r'runs of 2: median [\d.]+ ms, p99 [\d.]+ ms, [\d.]+ images/s')

    def test_benchmark_alone(self):
        """Without an engine it makes the model, builds it, times it, and leaves nothing."""
        before = set(os.listdir(self.folder))
        self.assertRegex(self.passes('benchmark.py', '--seconds=0.1', '--width=0.05'),
                         r'(?s)random weights.*alexnet\.engine: \d+ bytes\n.*runs of 1: median [\d.]+ ms, p99 [\d.]+ ms, [\d.]+ images/s')
        self.assertEqual(set(os.listdir(self.folder)), before)

    def test_faults_end_with_a_reason(self):
        for name in ('a.onnx', 'a.engine', 'times'):
            with open(self.path(name), 'w') as f:
                f.write('nothing that could be read')
        np.save(self.path('images.npy'), np.zeros((3, 3, 224, 224), np.float32))
        for words in (['build_engine.py', 'a.onnx', 'b.engine'], ['infer.py', 'a.engine', 'images.npy']):
            code, text = self.script(*words)
            self.assertEqual(code, 1, text)
            self.assertNotIn('Traceback', text)
        self.assertFalse(os.path.exists(self.path('b.engine')))
        self.passes('make_onnx.py', 'a.onnx', '--width=0.02')
        self.passes('build_engine.py', 'a.onnx', 'a.engine', '--max-batch=2', '--level=0')
        code, text = self.script('infer.py', 'a.engine', 'images.npy')
        self.assertEqual(code, 1)
        self.assertIn('images: (3, 3, 224, 224) is outside', text)


class Plugin(Case):
    def test_it_computes(self):
        done = subprocess.run([sys.executable, os.path.join(EXAMPLES, 'plugin.py'), os.path.join(EXAMPLES, 'snake.onnx')], cwd=self.folder,
                              capture_output=True, text=True, env=dict(os.environ, TENFOLD_DEVICE='cpu'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(float(done.stdout.split()[-1]), 1e-5)
        self.assertIn('in_parts', done.stdout)


class Types(Case):
    @unittest.skipUnless('TENFOLD_MYPY' in os.environ, 'TENFOLD_MYPY does not name mypy')
    def test_mypy(self):
        folders = ('', 'alexnet', 'pattern_engine/pattern_engine', 'pattern_engine/scripts')
        files = [os.path.join(folder, f) for folder in (os.path.join(EXAMPLES, part) for part in folders)
                 for f in sorted(os.listdir(folder)) if f.endswith('.py')]
        done = subprocess.run([os.environ['TENFOLD_MYPY'], '--strict', '--python-executable', sys.executable, '--cache-dir', self.path('c'),
                               '--follow-imports=silent', *files], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == '__main__':
    unittest.main()
