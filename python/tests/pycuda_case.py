"""What PyCUDA's stand-in owes scripts of 8.x, wherever its memory lies: buffers, copies, errors, a script. The truth is NumPy's."""
import os
import subprocess
import sys

import numpy as np
from case import WEIGHTS, Case, batch, onnx, tanh_model

# In the manner of the public samples: pagelocked buffers, a stream, execute_async_v2.
SCRIPT = '''
import numpy as np
IMPORT

logger = trt.Logger(trt.Logger.ERROR)
builder = trt.Builder(logger)
network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
parser = trt.OnnxParser(network, logger)
with open("model.onnx", "rb") as f:
    assert parser.parse(f.read())
config = builder.create_builder_config()
config.builder_optimization_level = 0
profile = builder.create_optimization_profile()
profile.set_shape("x", (1, 6), (4, 6), (8, 6))
config.add_optimization_profile(profile)
engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
x = np.load("x.npy")
with engine.create_execution_context() as context:
    stream = cuda.Stream()
    context.set_binding_shape(0, x.shape)
    hosts, devices = [], []
    for i in range(engine.num_bindings):
        shape, dtype = context.get_binding_shape(i), trt.nptype(engine.get_binding_dtype(i))
        hosts.append(cuda.pagelocked_empty(trt.volume(shape), dtype))
        devices.append(cuda.mem_alloc(hosts[-1].nbytes))
    np.copyto(hosts[0], x.ravel())
    start, end = cuda.Event(), cuda.Event()
    start.record(stream)
    cuda.memcpy_htod_async(devices[0], hosts[0], stream)
    context.execute_async_v2([int(d) for d in devices], stream.handle)
    cuda.memcpy_dtoh_async(hosts[1], devices[1], stream)
    end.record(stream)
    stream.synchronize()
    assert end.time_since(start) >= 0
np.save("y.npy", hosts[1].reshape(len(x), -1))
print(cuda.Device(0).name(), pycuda.__name__, trt.__name__)
'''.replace('IMPORT', 'import pycuda.autoinit\nimport pycuda.driver as cuda\nimport tensorrt as trt')


def run_script(folder, *words):
    onnx.save(tanh_model(), os.path.join(folder, 'model.onnx'))
    np.save(os.path.join(folder, 'x.npy'), batch(5))
    with open(os.path.join(folder, 'script.py'), 'w') as f:
        f.write(SCRIPT)
    return subprocess.run([sys.executable, *words, 'script.py'], cwd=folder, capture_output=True, text=True)


def expected():
    return np.tanh(batch(5) @ WEIGHTS)


class PyCuda(Case):
    @classmethod
    def setUpClass(cls):
        import tenfold.pycuda.autoinit   # noqa: F401

    def test_a_script_of_8(self):
        done = run_script(self.folder, '-m', 'tenfold.tensorrt')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('tenfold.pycuda tenfold.tensorrt', done.stdout)
        self.near(np.load(self.path('y.npy')), expected())

    def test_memory(self):
        from tenfold.pycuda import driver
        array = np.arange(12, dtype=np.int32).reshape(3, 4)
        memory = driver.to_device(array)
        np.testing.assert_array_equal(driver.from_device_like(memory, array), array)
        driver.memset_d32(memory, -1, 6)
        np.testing.assert_array_equal(driver.from_device(memory, 12, np.int32), [-1] * 6 + list(range(6, 12)))
        other = driver.mem_alloc(array.nbytes)
        driver.memcpy_dtod(other, memory, array.nbytes)
        np.testing.assert_array_equal(driver.from_device(other, 3, np.int32), [-1] * 3)
        self.assertEqual(int(memory) % 256, 0)
        free, total = driver.mem_get_info()
        self.assertTrue(0 < free <= total)

    def test_faults_are_told(self):
        from tenfold.pycuda import driver
        memory = driver.mem_alloc(16)
        for words, function, arguments in (
                ('32 bytes, where 16 were allocated', driver.memcpy_htod, (memory, np.zeros(8, np.float32))),
                ('32 bytes, where 16 were allocated', driver.memcpy_dtoh, (np.zeros(8, np.float32), memory)),
                ('not contiguous', driver.memcpy_htod, (memory, np.zeros((4, 4), np.uint8)[:, ::2])),
                ('read-only', driver.memcpy_dtoh, (np.broadcast_to(np.uint8(0), 1), memory)),
                ('0 bytes', driver.mem_alloc, (0,)), ('device 7', driver.Device, (7,))):
            with self.assertRaisesRegex(driver.LogicError, words):
                function(*arguments)
        memory.free()
        with self.assertRaisesRegex(driver.LogicError, 'freed'):
            int(memory)
        with self.assertRaisesRegex(driver.LogicError, 'freed'):
            memory.free()
