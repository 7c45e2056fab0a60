"""The blocks of Python in the documents that Tenfold was asked to run (seeds_case.py says where they are), each behind what it leaves open
and before a comparison with NumPy's results. Of 001, 002 and 004 these are all that want no torch (other blocks there are comments
alone), and the calibrated one, whose Torch-TensorRT is stand_ins/torch_tensorrt.py. They run on TENFOLD_DEVICE, where that is set."""
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np
from case import WEIGHTS, Case, batch, helper, model, numpy_helper, onnx, tanh_model
from seeds_case import TREE, block, blocks, documents

STAND_INS = str(pathlib.Path(__file__).resolve().parent / 'stand_ins')
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
CALIBRATED = '''
import types
import numpy as np
torch = types.SimpleNamespace(int8="int8", float16="float16")
model, representative_data = "model.onnx", list(np.load("data.npy"))
'''
COMPILED = '''
np.save("y.npy", optimized(np.load("x.npy")))
'''

# 001 leaves open how its engine loads a plan and runs.
BUILT = '''
from tenfold.pycuda import driver as cuda
builder = trt.Builder(logger)
network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
parser = trt.OnnxParser(network, logger)
assert parser.parse_from_file("model.onnx")
'''
WRITTEN = '''
assert config.max_workspace_size == 256 << 20 and config.get_flag(trt.BuilderFlag.OBEY_PRECISION_CONSTRAINTS)
with open("model.engine", "wb") as f:
    f.write(builder.build_serialized_network(network, config))
input_data = np.load("x.npy")
input_size, output_size = input_data.nbytes, len(input_data) * 4 * 4
'''
MADE = '''
class Made(TRTEngine):
    def load_engine(self, path):
        self.inference = TRTInference()
        self.inference.allocate_buffers()
        with open(path, "rb") as f:
            return trt.Runtime(logger).deserialize_cuda_engine(f.read())

    def execute_inference(self, x):
        memory, y = self.inference, np.empty((len(x), 4), np.float32)
        self.context.set_tensor_address("x", int(memory.d_input)), self.context.set_tensor_address("y", int(memory.d_output))
        cuda.memcpy_htod_async(memory.d_input, x, memory.stream)
        assert self.context.execute_async_v3(memory.stream.handle)
        cuda.memcpy_dtoh_async(y, memory.d_output, memory.stream)
        memory.stream.synchronize()
        return y

engine = Made("model.engine")
np.save("y.npy", engine.infer(input_data))
times = benchmark_inference(engine, 100)
assert list(times) == ["mean_latency_ms", "p95_latency_ms", "p99_latency_ms"] and 0 < times["p95_latency_ms"] <= times["p99_latency_ms"]
'''


def images(count, seed):
    return np.random.default_rng(seed).standard_normal((count, 1, 3, 224, 224)).astype(np.float32)


class Seeds(Case):
    def blocks(self, *parts, **saving):
        proto = tanh_model()
        for value in (proto.graph.input[0], proto.graph.output[0]):   # the block gives no profile
            value.type.tensor_type.shape.dim[0].dim_value = 5
        onnx.save(proto, self.path('model.onnx'), **saving)
        np.save(self.path('x.npy'), batch(5))
        self.script(parts)
        self.near(np.load(self.path('y.npy')), np.tanh(batch(5) @ WEIGHTS), 2e-3)   # FP16 is switched on

    def script(self, parts):
        text = '\n'.join(parts)
        with open(self.path('script.py'), 'w') as f:
            f.write(text)
        paths = os.pathsep.join([STAND_INS, *filter(None, [os.environ.get('PYTHONPATH')])])
        done = subprocess.run([sys.executable, '-m', 'tenfold.tensorrt', 'script.py'], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, 'PYTHONPATH': paths})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_001(self):
        self.blocks(block('001', 'trt.Logger.VERBOSE'), BUILT, block('001', 'STRICT_TYPES'), 'import numpy as np', WRITTEN,
                    block('001', 'make_context'), block('001', 'class TRTEngine'), block('001', 'def benchmark_inference'), MADE)

    def test_002_build_and_run(self):
        self.blocks(block('002', 'build_serialized_network', since='import tensorrt'), block('002', 'deserialize_cuda_engine'), RUN)
        self.assertGreater(os.path.getsize(self.path('model.engine')), 100)

    def test_002_of_a_model_with_its_weights_beside_it(self):
        """As torch's exporter writes it; the block reads the file's bytes."""
        self.blocks(block('002', 'build_serialized_network', since='import tensorrt'), block('002', 'deserialize_cuda_engine'), RUN,
                    save_as_external_data=True, location='model.onnx.data', size_threshold=0)
        self.assertTrue(os.path.exists(self.path('model.onnx.data')))

    def test_002_calibrate(self):
        random = np.random.default_rng(7)
        kernel, weights = random.standard_normal((32, 3, 7, 7)).astype(np.float32) / 12, random.standard_normal((32, 4)).astype(np.float32)
        nodes = [helper.make_node('Conv', ['x', 'kernel'], ['c'], strides=[32, 32]), helper.make_node('Relu', ['c'], ['r']),
                 helper.make_node('ReduceMean', ['r', 'axes'], ['m'], keepdims=0), helper.make_node('MatMul', ['m', 'w'], ['y'])]
        onnx.save(model(nodes, [('x', 1, ['n', 3, 224, 224])], [('y', 1, ['n', 4])],
                        [numpy_helper.from_array(a, n) for a, n in ((kernel, 'kernel'), (weights, 'w'), (np.array([2, 3]), 'axes'))]),
                  self.path('model.onnx'))
        x = images(1, 8)[0]
        np.save(self.path('data.npy'), images(25, 9)), np.save(self.path('x.npy'), x)
        self.script([CALIBRATED, block('002', 'DataLoaderCalibrator'), COMPILED])
        windows = np.lib.stride_tricks.sliding_window_view(x, (7, 7), (2, 3))[:, :, ::32, ::32]
        expected = np.maximum(np.einsum('nchwij,mcij->nmhw', windows, kernel), 0).mean((2, 3)) @ weights
        error = np.linalg.norm(np.load(self.path('y.npy')) - expected) / np.linalg.norm(expected)
        self.assertTrue(1e-5 < error < 0.05, error)          # integers, and near to floats
        self.assertRegex(pathlib.Path(self.path('calibration.cache')).read_bytes(), rb'\ATRT-\d+-EntropyCalibration2\n(.+: [0-9a-f]+\n)+\Z')
        np.save(self.path('data.npy'), images(0, 9))         # the cache is enough
        self.script([CALIBRATED, block('002', 'DataLoaderCalibrator'), COMPILED])

    def test_004_profiler(self):
        self.blocks(block('002', 'build_serialized_network', since='import tensorrt'), block('002', 'deserialize_cuda_engine'), RUN,
                    block('004', 'class CustomProfiler'), PROFILER)

    def test_no_block_is_in_this_tree(self):
        """Of four lines or more, however they are indented: the documents are others' work."""
        lines = lambda text: [line.strip() for line in text.splitlines() if line.strip()]
        written = {path: '\n'.join(lines(path.read_text(errors='replace'))) for folder in ('python', 'examples', 'docs', 'tests')
                   for path in (TREE / folder).rglob('*') if path.suffix in ('.py', '.md', '.sh', '.txt') and path.stat().st_size < 1 << 20}
        self.assertGreater(len(written), 100)
        for document in documents():
            for text in ('\n'.join(lines(one)) for one in blocks(document)):
                if text.count('\n') >= 3:
                    self.assertEqual([str(path) for path, all_ in written.items() if text in all_], [], text)


if __name__ == '__main__':
    unittest.main()
