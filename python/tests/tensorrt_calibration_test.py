"""tenfold.tensorrt's calibrators: batches by their addresses, their shapes, and caches."""
import ctypes
import struct
import unittest

import numpy as np
from case import WEIGHTS, TensorProto, helper, model, numpy_helper
from tensorrt_calibration_case import Calibrators, Data, Entropy, batches
from tensorrt_case import parsed

import tenfold.tensorrt as trt


class Batches(Calibrators):
    def test_all_batches_give_ranges(self):
        for calibrator in (Entropy(batches()), type('MinMax', (Data, trt.IInt8MinMaxCalibrator), {})(batches())):
            self.of_integers(self.build(calibrator))
            self.assertEqual((calibrator.calls, calibrator.names), (9, ['x']))
        most = max(abs(b).max() for b in batches())     # each was copied before the next one came
        self.assertEqual(calibrator.written, b'TRT-101600-MinMaxCalibration\nx: %x\n' % struct.unpack('<I', struct.pack('<f', most / 127)))
        self.assertFalse([line for line in self.logger.warnings if 'samples only' in line])

    def test_algorithms_and_their_names_in_caches(self):
        for kind, head in ((trt.IInt8LegacyCalibrator, b'LegacyCalibration'), (trt.IInt8EntropyCalibrator, b'EntropyCalibration'),
                           (trt.IInt8EntropyCalibrator2, b'EntropyCalibration2')):
            calibrator = type('Calibrator', (Data, kind), {})(batches())
            self.of_integers(self.build(calibrator))
            self.assertTrue(calibrator.written.startswith(b'TRT-101600-' + head + b'\n'), calibrator.written)

    def test_forms_of_addresses(self):
        class HostMemory:
            def __init__(self, array): self.array = array
            def __int__(self): return self.array.ctypes.data

        for address in (lambda self: ctypes.c_void_p(self.memory.ctypes.data), lambda self: HostMemory(self.memory),
                        lambda self: (ctypes.c_float * self.memory.size).from_buffer(self.memory)):
            self.of_integers(self.build(type('Calibrator', (Entropy,), dict(address=address))(batches())))

    def test_few_samples_are_told(self):
        self.build(Entropy(batches(3)))
        self.assertIn('Entropy gave 12 samples only: 25 or more', self.logger.warnings[-1])

    def test_the_shape_of_batches(self):
        profile = self.builder.create_optimization_profile()
        profile.set_shape('x', (1, 6), (8, 6), (8, 6))
        self.of_integers(self.build(Entropy(batches(rows=2), size=2)))
        self.assertTrue(self.config.set_calibration_profile(profile))
        self.assertIs(self.config.get_calibration_profile(), profile)
        self.of_integers(self.build(Entropy(batches(rows=8), size=1)))    # as scripts say whose shapes come from the profile
        self.network.get_input(0).shape = (4, 6)
        self.config.reset()
        self.config.set_flag(trt.BuilderFlag.INT8)
        self.assertIsNotNone(self.build(Entropy(batches(), size=8)))
        self.assertTrue([line for line in self.logger.warnings if "'x' has 4 in front: as much is read" in line])

    def test_inputs_of_several_types(self):
        nodes = [helper.make_node('Gather', ['w', 'i'], ['rows'], name='rows'), helper.make_node('Add', ['rows', 'x'], ['s'], name='sum'),
                 helper.make_node('MatMul', ['s', 'v'], ['y'], name='product')]
        proto = model(nodes, [('i', TensorProto.INT64, ['n']), ('x', TensorProto.FLOAT, ['n', 4])], [('y', TensorProto.FLOAT, ['n', 6])],
                      [numpy_helper.from_array(WEIGHTS, 'w'), numpy_helper.from_array(WEIGHTS.T.copy(), 'v')])
        profile = self.builder.create_optimization_profile()
        profile.set_shape('i', (1,), (4,), (8,)), profile.set_shape('x', (1, 4), (4, 4), (8, 4))
        self.config.reset()
        self.config.add_optimization_profile(profile)
        self.config.set_flag(trt.BuilderFlag.INT8)
        random = np.random.default_rng(4)
        data = [(random.integers(0, 6, 5), random.standard_normal((5, 4)).astype(np.float32)) for _ in range(8)]

        class Two(Entropy):
            def get_batch(self, names):
                self.memory = next(self.batches, None)
                return self.memory and [dict(i=self.memory[0], x=self.memory[1])[name].ctypes.data for name in names]
        engine = self.build(Two(data, size=5), parsed(self.logger, proto))
        self.assertIsNotNone(engine, self.logger.errors)
        expected = (WEIGHTS[data[0][0]] + data[0][1]) @ WEIGHTS.T
        error = np.linalg.norm(engine._engine({'i': data[0][0], 'x': data[0][1]}) - expected) / np.linalg.norm(expected)
        self.assertTrue(1e-4 < error < 0.05, error)


class Caches(Calibrators):
    def test_the_second_build_asks_for_no_batch(self):
        first = Entropy(batches())
        self.build(first)
        self.assertRegex(first.written, rb'\ATRT-101600-EntropyCalibration2\nx: [0-9a-f]{8}\n\Z')
        second = Entropy([], cache=first.written)
        self.of_integers(self.build(second))
        self.assertEqual((second.calls, second.written), (0, None))
        again = Entropy(batches())
        self.build(again)
        self.assertEqual(again.written, first.written)
        for cache in (bytearray(first.written), memoryview(first.written), first.written.replace(b'\n', b'\r\n')):
            self.of_integers(self.build(Entropy([], cache=cache)))

    def test_wrong_caches(self):
        self.no_engine(['Entropy.read_calibration_cache()', 'is no calibration cache'], Entropy([], cache=b'nothing of the kind'))
        others = b'TRT-8601-EntropyCalibration2\nz: 3c000000\n'
        self.no_engine(['Entropy.read_calibration_cache()', "another model's"], Entropy([], cache=others))
        self.refused(TypeError, 'bytes or None, got str', self.build, Entropy([], cache='TRT-8601-EntropyCalibration2'))
        self.of_integers(self.build(Entropy(batches(), cache=b'')))

if __name__ == '__main__':
    unittest.main()
