"""The wheel tenfold-shim, installed: scripts that import tensorrt, pycuda and onnxruntime run unchanged; what is really installed stays.
Run by script/python-wheel after all others, for it changes what `import tensorrt` means in its environment."""
import os
import subprocess
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from case import Case, onnx, tanh_model, truth
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

    def test_sessions_of_onnx_runtime(self):
        onnx.save(tanh_model(), self.path('m.onnx'))
        code = """if True:
            import sys, tenfold_shim
            sys.meta_path.insert(0, tenfold_shim.Finder)   # as if none was installed
            import importlib, numpy as np, onnxruntime as ort, tenfold.onnxruntime
            of = lambda name: importlib.import_module('onnxruntime.capi.' + name)
            state, C = of('onnxruntime_pybind11_state'), of('_pybind_state')
            assert ort is tenfold.onnxruntime and ort.capi.onnxruntime_pybind11_state is state
            assert of('onnxruntime_inference_collection').InferenceSession is ort.InferenceSession is C.InferenceSession
            s = ort.InferenceSession('m.onnx', providers=['CPUExecutionProvider'])
            np.save('y.npy', s.run(None, {'x': np.ones((2, 6), np.float32).tolist()})[0])
            try: ort.InferenceSession('none.onnx')
            except state.NoSuchFile: print('no such file')"""
        self.assertEqual(python(code, self.folder, TENFOLD_TUNE='never'), (0, 'no such file\n'))
        self.near(np.load(self.path('y.npy')), truth(np.ones((2, 6), np.float32)))

    def test_a_real_one_is_found_first(self):
        for name in ('tensorrt', 'pycuda', 'onnxruntime'):
            os.makedirs(self.path(name))
            with open(self.path(name + '/__init__.py'), 'w') as f:
                f.write('real = True\n')
        self.assertEqual(python('import tensorrt, pycuda, onnxruntime, tenfold.tensorrt as t; '
                                'print(tensorrt.real, pycuda.real, onnxruntime.real, t.install())', self.folder),
                         (0, 'True True True False\n'))

    def test_python_starts_without_tenfold(self):
        self.assertEqual(python('import sys; print([m for m in sys.modules if m == "tenfold" or m.startswith("tenfold.")])', self.folder),
                         (0, '[]\n'))


if __name__ == '__main__':
    unittest.main()
