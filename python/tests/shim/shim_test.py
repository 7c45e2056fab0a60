"""The wheel tenfold-shim, installed: scripts that import tensorrt and pycuda run unchanged; what is really installed stays. Run by
script/python-wheel after all others, for it changes what `import tensorrt` means in its environment."""
import os
import subprocess
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from case import Case
from pycuda_case import expected, run_script


def python(code, folder, **environment):
    done = subprocess.run([sys.executable, '-c', code], cwd=folder, env=dict(os.environ, **environment), capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class Shim(Case):
    def test_a_script_unchanged(self):
        done = run_script(self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.near(np.load(self.path('y.npy')), expected())

    def test_one_module_under_both_names(self):
        self.assertEqual(python('import tensorrt, tenfold.tensorrt as t, pycuda.driver as d, tenfold.pycuda.driver as e; '
                                'print(tensorrt is t, d is e, t.install())', self.folder), (0, 'True True True\n'))

    def test_a_real_one_is_found_first(self):
        for name in ('tensorrt', 'pycuda'):
            os.makedirs(self.path(name))
            with open(self.path(name + '/__init__.py'), 'w') as f:
                f.write('real = True\n')
        self.assertEqual(python('import tensorrt, pycuda, tenfold.tensorrt as t; print(tensorrt.real, pycuda.real, t.install())',
                                self.folder), (0, 'True True False\n'))

    def test_python_starts_without_tenfold(self):
        self.assertEqual(python('import sys; print([m for m in sys.modules if m == "tenfold" or m.startswith("tenfold.")])', self.folder),
                         (0, '[]\n'))


if __name__ == '__main__':
    unittest.main()
