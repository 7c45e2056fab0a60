"""The blocks of Python in the documents that Tenfold was asked to run (seeds/, as they stand, with the rows of the list of demands), each
behind what it leaves open and before a comparison with NumPy's results. Of 002 and 004 these are all that want no torch (other
blocks there are comments alone). They run on TENFOLD_DEVICE, where that is set."""
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np
from case import WEIGHTS, Case, batch, onnx, tanh_model

SEEDS = pathlib.Path(__file__).resolve().parent / 'seeds'
RUN = '''
import numpy as np
from tenfold.pycuda import autoinit, driver as cuda
x = np.load("x.npy")
y = np.empty((len(x), 4), np.float32)
d_x, d_y = cuda.to_device(x), cuda.mem_alloc(y.nbytes)
context.set_input_shape("x", x.shape)
context.set_tensor_address("x", int(d_x)), context.set_tensor_address("y", int(d_y))
assert context.execute_async_v3(0)
cuda.Context.synchronize()
cuda.memcpy_dtoh(y, d_y)
np.save("y.npy", y)
'''
PROFILER = '''
profiler = CustomProfiler()
context.profiler = profiler
for _ in range(3):
    assert context.execute_async_v3(0)
assert profiler.layers and all(len(times) == 3 and min(times) >= 0 for times in profiler.layers.values()), profiler.layers
'''


class Seeds(Case):
    def blocks(self, *parts):
        proto = tanh_model()
        for value in (proto.graph.input[0], proto.graph.output[0]):   # the block gives no profile
            value.type.tensor_type.shape.dim[0].dim_value = 5
        onnx.save(proto, self.path('model.onnx'))
        np.save(self.path('x.npy'), batch(5))
        text = ''.join((SEEDS / part).read_text() if part.endswith('.py') else part for part in parts)
        with open(self.path('script.py'), 'w') as f:
            f.write(text)
        done = subprocess.run([sys.executable, '-m', 'tenfold.tensorrt', 'script.py'], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.near(np.load(self.path('y.npy')), np.tanh(batch(5) @ WEIGHTS), 2e-3)   # FP16 is switched on

    def test_002_build_and_run(self):
        self.blocks('002_build.py', '002_run.py', RUN)
        self.assertGreater(os.path.getsize(self.path('model.engine')), 100)

    def test_004_profiler(self):
        self.blocks('002_build.py', '002_run.py', RUN, '004_profiler.py', PROFILER)


if __name__ == '__main__':
    unittest.main()
