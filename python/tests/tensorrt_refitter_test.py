"""tenfold.tensorrt's Refitter: engines and their contexts with other weights."""
import unittest

import numpy as np
from case import WEIGHTS, Case, batch, truth
from tensorrt_case import Lines, tanh_build

import tenfold.tensorrt as trt


class Refitting(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()
        builder, network, config = tanh_build(self.logger)
        self.rigid = builder.build_engine(network, config)
        config.set_flag(trt.BuilderFlag.REFIT)
        self.engine = builder.build_engine(network, config)

    def test_contexts_see_it_at_their_next_run(self):
        context, x, y = self.engine.create_execution_context(), batch(), np.empty((4, 4), np.float32)
        self.assertTrue(context.set_input_shape('x', x.shape) and context.execute_v2([x.ctypes.data, y.ctypes.data]))
        self.near(y, truth(x), 1e-3)
        refitter = trt.Refitter(self.engine, self.logger)
        self.assertEqual(refitter.get_all_weights(), ['w'])
        twice = (2 * WEIGHTS).ravel()                                                 # without its shape
        self.assertTrue(refitter.set_named_weights('w', twice))
        twice.fill(9)
        self.assertTrue(refitter.refit_cuda_engine(), self.logger.errors)
        self.assertTrue(context.execute_async_v3(0), self.logger.errors)              # shapes and addresses are kept
        self.near(y, np.tanh(x @ (2 * WEIGHTS)), 1e-3)
        again = trt.Runtime(self.logger).deserialize_cuda_engine(self.engine.serialize()).create_execution_context()
        self.assertTrue(again.set_input_shape('x', x.shape) and again.execute_v2([x.ctypes.data, y.ctypes.data]))
        self.near(y, np.tanh(x @ (2 * WEIGHTS)), 1e-3)

    def test_layers_that_were_added(self):
        builder = trt.Builder(self.logger)
        network, config = builder.create_network(), builder.create_builder_config()
        config.builder_optimization_level = 0
        config.set_flag(trt.BuilderFlag.REFIT)
        image, kernel = np.ones((1, 1, 3, 3), np.float32), np.ones((2, 1, 3, 3), np.float32)
        conv = network.add_convolution_nd(network.add_input('x', trt.float32, image.shape), 2, (3, 3), kernel, np.zeros(2, np.float32))
        conv.name, conv.get_output(0).name = 'first', 'y'
        network.mark_output(conv.get_output(0))
        engine = builder.build_engine(network, config)
        refitter = trt.Refitter(engine, self.logger)
        roles = dict(zip(*refitter.get_all()[::-1]))
        self.assertEqual(roles, {trt.WeightsRole.KERNEL: 'first', trt.WeightsRole.BIAS: 'first'})
        self.assertEqual(refitter.get_missing(), ([], []))
        self.assertTrue(refitter.set_weights('first', trt.WeightsRole.KERNEL, trt.Weights(2 * kernel)))
        self.assertTrue(refitter.set_weights('first', trt.WeightsRole.BIAS, np.float32([0, 5])))
        self.assertFalse(refitter.set_weights('second', trt.WeightsRole.KERNEL, kernel))
        self.assertFalse(refitter.set_weights('first', trt.WeightsRole.ANY, kernel))
        self.assertIn('WeightsRole.KERNEL', self.logger.errors[-1])
        self.assertTrue(refitter.refit_cuda_engine(), self.logger.errors)
        self.near(engine._engine(image).ravel(), [18, 23])

    def test_what_does_not_fit(self):
        refitter = trt.Refitter(self.engine, self.logger)
        for name, weights, word in (('v', WEIGHTS, "'v'"), ('w', WEIGHTS[:2], '(2, 4)'), ('w', WEIGHTS.astype(np.float64), 'f64')):
            self.assertFalse(refitter.set_named_weights(name, weights))
            self.assertIn(word, self.logger.errors[-1])
        self.assertEqual(refitter.get_named_weights('w').size, 0)
        self.assertTrue(refitter.set_named_weights('w', WEIGHTS))
        self.assertEqual(refitter.get_named_weights('w').size, WEIGHTS.size)
        self.assertTrue(refitter.unset_named_weights('w') and not refitter.unset_named_weights('w'))
        self.assertEqual((self.rigid.refittable, self.engine.refittable), (False, True))
        self.assertEqual(trt.Refitter(self.rigid, self.logger).get_all_weights(), [])
        self.refused(TypeError, 'engine', trt.Refitter, None, self.logger)


if __name__ == '__main__':
    unittest.main()
