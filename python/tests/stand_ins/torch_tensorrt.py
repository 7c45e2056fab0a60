"""Torch-TensorRT's part in a block of document 002, on `import tensorrt`: where the tests run, neither it nor torch is installed.

A model is the path of an ONNX file here, and arrays are NumPy's. The calibrator is made as Torch-TensorRT makes it: a class of
TensorRT's by the algorithm, with methods over the data loader.
"""
import os
import types

import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
import tensorrt as trt

CALIBRATORS = {trt.CalibrationAlgoType.ENTROPY_CALIBRATION_2: trt.IInt8EntropyCalibrator2,
               trt.CalibrationAlgoType.MINMAX_CALIBRATION: trt.IInt8MinMaxCalibrator}
FLAGS = {'int8': trt.BuilderFlag.INT8, 'float16': trt.BuilderFlag.FP16}


class Input:
    def __init__(self, shape):
        self.shape = shape


def get_batch(self, names):
    batch = next(self.loader, None)
    if batch is None:
        return None
    self.on_device = cuda.to_device(batch)
    return [int(self.on_device)]


def read_calibration_cache(self):
    if os.path.exists(self.cache_file):
        with open(self.cache_file, 'rb') as file:
            return file.read()


def write_calibration_cache(self, cache):
    with open(self.cache_file, 'wb') as file:
        file.write(cache)


def data_loader_calibrator(loader, cache_file, algo_type):
    methods = dict(get_batch_size=lambda self: 1, get_batch=get_batch, read_calibration_cache=read_calibration_cache,
                   write_calibration_cache=write_calibration_cache, loader=iter(loader), cache_file=cache_file)
    return type('DataLoaderCalibrator', (CALIBRATORS[algo_type],), methods)()


ptq = types.SimpleNamespace(DataLoaderCalibrator=data_loader_calibrator, CalibrationAlgo=trt.CalibrationAlgoType)


def compile(model, inputs, enabled_precisions, calibrator):
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
    if not trt.OnnxParser(network, logger).parse_from_file(model):
        raise ValueError(model)
    config = builder.create_builder_config()
    for precision in enabled_precisions:
        config.set_flag(FLAGS[precision])
    config.int8_calibrator = calibrator
    for i, given in enumerate(inputs):
        network.get_input(i).shape = given.shape
    engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
    context = engine.create_execution_context()

    def run(x):
        y = np.empty(tuple(engine.get_tensor_shape('y')), np.float32)
        d_x, d_y = cuda.to_device(x), cuda.mem_alloc(y.nbytes)
        context.set_tensor_address('x', int(d_x)), context.set_tensor_address('y', int(d_y))
        assert context.execute_async_v3(0)
        cuda.Context.synchronize()
        cuda.memcpy_dtoh(y, d_y)
        return y
    return run
