"""`import tenfold` beside other packages that bring libraries of their own, in both orders, and what an import leaves as it was."""
import importlib.util
import subprocess
import sys
import unittest

from case import Case, onnx, tanh_model

RUN = '''
import numpy as np
x = np.ones((2, 6), np.float32)
ours = tenfold.build("m.onnx", device="cpu", optimization_level=0, profiles={"x": ([1, 6], [2, 6], [4, 6])})(x)
'''
CHECKS = {   # what the other package computes after both are loaded
    'onnx': 'import onnx.reference\ntheirs = onnx.reference.ReferenceEvaluator("m.onnx").run(None, {"x": x})[0]',
    'onnxruntime': 'theirs = onnxruntime.InferenceSession("m.onnx").run(None, {"x": x})[0]',
    'torch': 'import onnx\nfrom onnx import numpy_helper\n'
             'w = numpy_helper.to_array(onnx.load("m.onnx").graph.initializer[0])\n'
             'theirs = torch.tanh(torch.from_numpy(x) @ torch.from_numpy(w)).numpy()',
}
SAME = 'np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)'
LEFT = '''
import locale, os, signal, sys, threading, warnings
def state():
    return (dict(os.environ), [signal.getsignal(n) for n in signal.valid_signals()], threading.active_count(),
            len(os.listdir("/proc/self/task")), list(sys.meta_path), list(sys.path_hooks), list(warnings.filters),
            locale.setlocale(locale.LC_ALL), os.sched_getaffinity(0), sys.excepthook, sys.getswitchinterval())
before = state()
import tenfold, tenfold.tensorrt, tenfold.session, tenfold.onnxruntime, tenfold.imaging
assert state() == before
assert "numpy" not in sys.modules
'''


def python(code, folder):
    done = subprocess.run([sys.executable, '-c', code], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stderr


class Imports(Case):
    def test_before_and_after_others(self):
        onnx.save(tanh_model(), self.path('m.onnx'))
        tried = 0
        for other, check in CHECKS.items():
            if importlib.util.find_spec(other) is None:
                continue
            for first, second in ((other, 'tenfold'), ('tenfold', other)):
                with self.subTest(first=first, second=second):
                    code, text = python(f'import {first}\nimport {second}\n{RUN}\n{check}\n{SAME}', self.folder)
                    self.assertEqual(code, 0, text)
                    tried += 1
        self.assertGreaterEqual(tried, 4)   # onnx and onnxruntime are always there

    def test_leave_the_process_as_it_was(self):
        code, text = python(LEFT, self.folder)
        self.assertEqual(code, 0, text)


if __name__ == '__main__':
    unittest.main()
