"""What the tests of tenfold.tensorrt's calibration share: a calibrator, and builds of the small model in 8 bits beside NumPy."""
import numpy as np
from case import Case, batch, truth
from tensorrt_case import Lines, tanh_build

import tenfold.tensorrt as trt


class Data:
    """Batches in memory of its own, which the next one overwrites."""

    def __init__(self, batches, size=4, cache=None):
        super().__init__()
        self.batches, self.size, self.cache = iter(batches), size, cache
        self.memory, self.names, self.calls, self.written = None, None, 0, None

    def get_batch_size(self):
        return self.size

    def address(self):
        return self.memory.ctypes.data

    def get_batch(self, names):
        self.calls, self.names = self.calls + 1, names
        given = next(self.batches, None)
        if given is None:
            return None
        self.memory = np.empty_like(given) if self.memory is None else self.memory
        self.memory[:] = given
        return [self.address()]

    def read_calibration_cache(self):
        return self.cache

    def write_calibration_cache(self, cache):
        self.written = cache.tobytes()   # TensorRT gives a memoryview


class Entropy(Data, trt.IInt8EntropyCalibrator2):
    pass


def batches(count=8, rows=4):
    return [batch(rows, seed) for seed in range(100, 100 + count)]


class Calibrators(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()
        self.builder, self.network, self.config = tanh_build(self.logger)
        self.config.set_flag(trt.BuilderFlag.INT8)

    def build(self, calibrator, network=None):
        self.config.int8_calibrator = calibrator
        return self.builder.build_engine_with_config(network or self.network, self.config)

    def error(self, engine):
        """Relative, beside NumPy."""
        self.assertIsNotNone(engine, self.logger.errors)
        x = batch(8, 3)
        return np.linalg.norm(engine._engine(x) - truth(x)) / np.linalg.norm(truth(x))

    def of_integers(self, engine):
        """Near to floats, and none."""
        self.assertLess(self.error(engine), 0.05)
        self.assertGreater(self.error(engine), 1e-4)

    def no_engine(self, words, calibrator):
        self.assertIsNone(self.build(calibrator))
        for word in words:
            self.assertIn(word, self.logger.errors[-1])
