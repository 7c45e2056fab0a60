"""What a calibrator may do wrong, where it has no effect, and dynamic ranges of tensors in its place."""
import unittest

import numpy as np
from case import WEIGHTS, batch, helper, model, numpy_helper
from tensorrt_calibration_case import Calibrators, Entropy, batches
from tensorrt_case import parsed

import tenfold.tensorrt as trt


class Ranges(Calibrators):
    def test_dynamic_ranges_of_tensors(self):
        x, y = self.network.get_input(0), self.network.get_output(0)
        self.assertIsNone(x.dynamic_range)
        self.assertTrue(x.set_dynamic_range(-4, 3))
        y.dynamic_range = -1, 1
        self.assertEqual((x.dynamic_range, self.network.get_input(0).dynamic_range, y.dynamic_range), ((-4, 3), (-4, 3), (-1, 1)))
        wide = self.error(self.build(None))
        self.of_integers(self.build(None))
        x.set_dynamic_range(-1, 1)                       # which cuts what is beyond
        self.assertGreater(self.error(self.build(None)), 2 * wide)
        x.reset_dynamic_range()
        engine = self.build(None)                        # without one, the product stays in floats
        self.assertLess(self.error(engine), 1e-4)
        self.refused(ValueError, ["'x'", 'finite'], x.set_dynamic_range, 1, -1)
        self.refused(ValueError, ["'x'", 'finite'], x.set_dynamic_range, -1, float('inf'))

    def test_layers_that_were_added(self):
        network = self.builder.create_network()
        x = network.add_input('x', trt.float32, (-1, 6))
        product = network.add_matrix_multiply(x, trt.MatrixOperation.NONE, network.add_constant((6, 4), WEIGHTS).get_output(0),
                                              trt.MatrixOperation.NONE)
        bend = network.add_activation(product.get_output(0), trt.ActivationType.TANH)
        network.mark_output(bend.get_output(0))
        for tensor, maximum in ((x, 4), (product.get_output(0), 12), (bend.get_output(0), 1)):
            tensor.dynamic_range = -maximum, maximum
        self.assertEqual(product.get_output(0).dynamic_range, (-12, 12))
        self.of_integers(self.build(None, network))


class Faults(Calibrators):
    def test_of_calibrators(self):
        def gives(answer):
            return type('Wrong', (Entropy,), dict(get_batch=lambda self, names: answer))([])
        self.no_engine(['Wrong.get_batch() gave 2 addresses for 1 inputs (x)'], gives([1, 2]))
        self.no_engine(["0 as the address of 'x'"], gives([0]))
        for nothing in (None, [], ()):
            self.no_engine(['Wrong.get_batch() gave no batch at all'], gives(nothing))
        self.no_engine(['Entropy.get_batch_size() gave -1'], Entropy(batches(), size=-1))
        self.no_engine(['Entropy.get_batch_size() gave 9', "1 to 8 in front of 'x'", 'set_calibration_profile()'], Entropy([], size=9))
        for answer, words in ((batch(), 'list of addresses'), ([batch()], 'array.ctypes.data'), ([1.5j], 'an address')):
            self.refused(TypeError, words, self.build, gives(answer))
        self.refused(NotImplementedError, ['IInt8Calibrator', 'get_batch_size()'], self.build, trt.IInt8MinMaxCalibrator())
        self.refused(TypeError, 'IInt8EntropyCalibrator2', self.build, object())

    def test_what_it_raises_comes_out(self):
        def no(self, *_): raise KeyError('no more photographs')
        for method in ('get_batch', 'get_batch_size', 'read_calibration_cache', 'write_calibration_cache'):
            self.refused(KeyError, 'no more photographs', self.build, type('Raises', (Entropy,), {method: no})(batches()))

    def test_profiles(self):
        profile = self.builder.create_optimization_profile()
        profile.set_shape('x', (9, 6), (9, 6), (9, 6))
        self.config.set_calibration_profile(profile)
        self.no_engine(['9x6', 'outside every profile'], Entropy(batches(rows=9)))
        profile.set_shape('x', (9, 6), (4, 6), (9, 6))
        self.assertFalse(self.config.set_calibration_profile(profile))
        self.refused(TypeError, 'create_optimization_profile()', self.config.set_calibration_profile, 3)

    def test_where_a_calibrator_has_no_effect(self):
        calibrator = Entropy(batches())
        self.config.clear_flag(trt.BuilderFlag.INT8)
        self.assertLess(self.error(self.build(calibrator)), 1e-4)
        self.config.set_flag(trt.BuilderFlag.INT8)
        scale = [numpy_helper.from_array(np.array(v, d), n) for v, d, n in ((0.05, np.float32, 's'), (0, np.int8, 'z'))]
        nodes = [helper.make_node('QuantizeLinear', ['x', 's', 'z'], ['q']), helper.make_node('DequantizeLinear', ['q', 's', 'z'], ['y'])]
        self.assertIsNotNone(self.build(calibrator, parsed(self.logger, model(nodes, [('x', 1, ['n', 6])], [('y', 1, ['n', 6])], scale))))
        self.assertEqual(calibrator.calls, 0)
        for words in ('int8_calibrator has no effect: BuilderFlag.INT8', 'int8_calibrator has no effect: the model has the ranges itself'):
            self.assertTrue([line for line in self.logger.warnings if words in line], words)

    def test_flags_of_quantization(self):
        flag = trt.QuantizationFlag.CALIBRATE_BEFORE_FUSION
        self.assertEqual((self.config.quantization_flags, self.config.get_quantization_flag(flag)), (0, False))
        self.config.set_quantization_flag(flag)
        self.assertEqual((self.config.quantization_flags, self.config.get_quantization_flag(flag)), (1, True))
        self.config.clear_quantization_flag(flag)
        self.config.quantization_flags = 1
        self.refused(ValueError, 'no QuantizationFlag', setattr, self.config, 'quantization_flags', 2)
        self.config.reset()
        self.assertEqual((self.config.quantization_flags, self.config.get_calibration_profile()), (0, None))

if __name__ == '__main__':
    unittest.main()
