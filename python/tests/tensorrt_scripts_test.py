"""Whole scripts, as TensorRT's users write them for 8.x and 10.x: ONNX file, plan, run; the truth is ONNX Runtime's."""
import os
import re
import subprocess
import sys
import unittest

import numpy as np
import onnxruntime
from case import Case, TensorProto, helper, model, numpy_helper, onnx

import tenfold

LOGGING = '''
class Lines(trt.ILogger):
    def __init__(self):
        trt.ILogger.__init__(self)
        self.lines = []

    def log(self, severity, msg):
        if severity <= trt.ILogger.Severity.WARNING:
            self.lines.append((severity, msg))
'''

SCRIPT_10 = '''
import sys

import numpy as np
IMPORT
''' + LOGGING + '''
logger = Lines()
builder = trt.Builder(logger)
network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
parser = trt.OnnxParser(network, logger)
if not parser.parse_from_file("model.onnx"):
    sys.exit("\\n".join(str(parser.get_error(i)) for i in range(parser.num_errors)))

config = builder.create_builder_config()
config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 30)
config.builder_optimization_level = 0
config.clear_flag(trt.BuilderFlag.TF32)
profile = builder.create_optimization_profile()
for i in range(network.num_inputs):
    tensor = network.get_input(i)
    if -1 in tensor.shape:
        profile.set_shape(tensor.name, *[(batch, *tensor.shape[1:]) for batch in (1, 2, 4)])
config.add_optimization_profile(profile)
serialized = builder.build_serialized_network(network, config)
assert serialized is not None
with open("model.engine", "wb") as f:
    f.write(serialized)

runtime = trt.Runtime(logger)
with open("model.engine", "rb") as f:
    engine = runtime.deserialize_cuda_engine(f.read())
context = engine.create_execution_context()
feed = dict(np.load("inputs.npz"))
buffers = {}
for i in range(engine.num_io_tensors):
    name = engine.get_tensor_name(i)
    if engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT:
        buffers[name] = np.ascontiguousarray(feed[name], trt.nptype(engine.get_tensor_dtype(name)))
        assert context.set_input_shape(name, buffers[name].shape)
assert context.infer_shapes() == []
for i in range(engine.num_io_tensors):
    name = engine.get_tensor_name(i)
    if engine.get_tensor_mode(name) == trt.TensorIOMode.OUTPUT:
        buffers[name] = np.empty(trt.volume(context.get_tensor_shape(name)), trt.nptype(engine.get_tensor_dtype(name)))
        buffers[name] = buffers[name].reshape(tuple(context.get_tensor_shape(name)))
    assert context.set_tensor_address(name, buffers[name].ctypes.data)
assert context.execute_async_v3(stream_handle=0)
np.savez("results.npz", **{name: array for name, array in buffers.items() if name not in feed})
print(*[f"{severity} {line}" for severity, line in logger.lines], sep="\\n")
'''

SCRIPT_8 = '''
import sys

import numpy as np
IMPORT

TRT_LOGGER = trt.Logger(trt.Logger.ERROR)
trt.init_libnvinfer_plugins(TRT_LOGGER, "")
EXPLICIT_BATCH = 1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH)


class HostMemory(object):   # as wrappers of allocations have: a number by int()
    def __init__(self, array):
        self.array = array

    def __int__(self):
        return self.array.ctypes.data


with trt.Builder(TRT_LOGGER) as builder, builder.create_network(EXPLICIT_BATCH) as network, \\
        builder.create_builder_config() as config, trt.OnnxParser(network, TRT_LOGGER) as parser:
    builder.max_batch_size = 1
    config.max_workspace_size = 1 << 28
    config.set_flag(trt.BuilderFlag.STRICT_TYPES)
    config.clear_flag(trt.BuilderFlag.TF32)
    with open("model.onnx", "rb") as file:
        if not parser.parse(file.read()):
            for error in range(parser.num_errors):
                print(parser.get_error(error))
            sys.exit(1)
    feed = dict(np.load("inputs.npz"))
    for i in range(network.num_inputs):
        network.get_input(i).shape = feed[network.get_input(i).name].shape
    with builder.build_engine(network, config) as engine, open("model.engine", "wb") as file:
        file.write(engine.serialize())

with open("model.engine", "rb") as file, trt.Runtime(TRT_LOGGER) as runtime:
    engine = runtime.deserialize_cuda_engine(file.read())
with engine.create_execution_context() as context:
    bindings, results = [], {}
    for binding in engine:
        index = engine.get_binding_index(binding)
        assert engine[index] == binding
        shape = engine.get_binding_shape(binding)
        host = np.empty(trt.volume(shape), dtype=trt.nptype(engine.get_binding_dtype(binding)))
        bindings.append(HostMemory(host))
        if engine.binding_is_input(binding):
            np.copyto(host, feed[binding].ravel())
        else:
            results[binding] = host.reshape(tuple(shape))
    assert context.all_binding_shapes_specified
    assert context.execute_async_v2(bindings=[int(b) for b in bindings], stream_handle=7)
    first = {name: array.copy() for name, array in results.items()}
    for array in results.values():
        array.fill(0)
    assert context.execute_v2(bindings=bindings)
    assert all((first[name] == results[name]).all() for name in results)
np.savez("results.npz", **results)
'''


def small_network():
    """Two inputs, a convolution, a gather by indices, two outputs of different types; the batch is open."""
    rng = np.random.default_rng(3)
    node = helper.make_node
    weights = [numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)
               for name, shape in (('k', (8, 3, 3, 3)), ('b', (8,)), ('w', (8, 5)), ('table', (10, 5)))]
    nodes = [node('Conv', ['image', 'k', 'b'], ['c'], name='conv', pads=[1, 1, 1, 1], strides=[2, 2]),
             node('Relu', ['c'], ['r'], name='relu'), node('GlobalAveragePool', ['r'], ['p'], name='pool'),
             node('Flatten', ['p'], ['f'], name='flatten'),
             node('MatMul', ['f', 'w'], ['m'], name='product'), node('Gather', ['table', 'word'], ['g'], name='gather'),
             node('Add', ['m', 'g'], ['s'], name='sum'), node('Softmax', ['s'], ['scores'], name='softmax', axis=-1),
             node('ArgMax', ['s'], ['best'], name='argmax', axis=1, keepdims=0)]
    return model(nodes, [('image', TensorProto.FLOAT, ['n', 3, 9, 9]), ('word', TensorProto.INT64, ['n'])],
                 [('scores', TensorProto.FLOAT, ['n', 5]), ('best', TensorProto.INT64, ['n'])], weights)


class Scripts(Case):
    def run_script(self, text, before=(), device='cpu', module='tensorrt'):
        onnx.save(small_network(), self.path('model.onnx'))
        rng = np.random.default_rng(4)
        feed = dict(image=rng.standard_normal((3, 3, 9, 9)).astype(np.float32), word=np.array([1, 9, 4]))
        np.savez(self.path('inputs.npz'), **feed)
        with open(self.path('script.py'), 'w') as file:
            file.write(text.replace('IMPORT', f'import {module} as trt'))
        environment = {**os.environ, 'TENFOLD_DEVICE': device}
        if not device:
            del environment['TENFOLD_DEVICE']
        done = subprocess.run([sys.executable, *before, 'script.py'], cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        session = onnxruntime.InferenceSession(self.path('model.onnx'), providers=['CPUExecutionProvider'])
        with np.load(self.path('results.npz')) as results:
            for name, truth in zip(('scores', 'best'), session.run(['scores', 'best'], feed)):
                self.assertEqual((results[name].dtype, results[name].shape), (truth.dtype, truth.shape))
                self.near(results[name], truth)
        return done

    def test_one_of_10(self):
        done = self.run_script(SCRIPT_10, ['-m', 'tenfold.tensorrt'])
        self.assertEqual(done.stdout.strip(), '')     # nothing to warn of: the device was asked for

    def test_one_of_8(self):
        self.assertEqual(self.run_script(SCRIPT_8, ['-m', 'tenfold.tensorrt']).stderr, '')

    def test_one_import_is_all_that_changes(self):
        self.run_script(SCRIPT_10, module='tenfold.tensorrt')
        self.run_script('import tenfold.tensorrt\nassert tenfold.tensorrt.install() and tenfold.tensorrt.install()\n' + SCRIPT_8)

    @unittest.skipIf(any(d.device != 'cpu' for d in tenfold.devices()), 'there is a GPU')
    def test_without_a_gpu_it_says_so_once(self):
        done = self.run_script(SCRIPT_10.replace('serialized = ', 'builder.build_serialized_network(network, config)\nserialized = '),
                               ['-m', 'tenfold.tensorrt'], device='')
        self.assertEqual(len(re.findall('Severity.WARNING no GPU is used', done.stdout)), 1, done.stdout)

    def test_a_real_one_is_not_hidden(self):
        with open(self.path('tensorrt.py'), 'w') as file:
            file.write('__version__ = "the real one"\n')
        with open(self.path('script.py'), 'w') as file:
            file.write('import sys, tensorrt\nprint(tensorrt.__version__, sys.argv)\n')
        environment = {**os.environ, 'PYTHONPATH': self.folder}
        command = [sys.executable, '-m', 'tenfold.tensorrt', self.path('script.py'), '-a']
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        self.assertEqual(done.stdout, f"the real one {[self.path('script.py'), '-a']}\n", done.stderr)
        self.assertIn('a real tensorrt is installed', done.stderr)


if __name__ == '__main__':
    unittest.main()
