"""tenfold.tensorrt's configurations: enumerations, flags that reach the build, and what is refused or said because it has no effect."""
import json
import unittest

import numpy as np
from case import WEIGHTS, Case, batch, helper, model, numpy_helper, tanh_model, truth
from tensorrt_case import Lines, parsed

import tenfold
import tenfold.tensorrt as trt


class Config(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()
        self.builder = trt.Builder(self.logger)
        self.config = self.builder.create_builder_config()
        self.config.builder_optimization_level = 0
        profile = self.builder.create_optimization_profile()
        profile.set_shape('x', (1, 6), (4, 6), (8, 6))
        self.assertEqual(self.config.add_optimization_profile(profile), 0)

    def options(self, network=None):
        """What the plan says of its build."""
        engine = self.builder.build_engine_with_config(network or parsed(self.logger, tanh_model()), self.config)
        return engine._engine.inspection().build_options.split()


class Enumerations(unittest.TestCase):
    def test_values_are_those_of_10_16(self):
        for enumeration, members in ((trt.DataType, dict(FLOAT=0, HALF=1, INT8=2, INT32=3, BOOL=4, UINT8=5, FP8=6, BF16=7, INT64=8)),
                                     (trt.BuilderFlag, dict(FP16=0, REFIT=4, TF32=6, DIRECT_IO=11, VERSION_COMPATIBLE=13, BF16=17,
                                                            STRIP_PLAN=19, WEIGHTLESS=19, MONITOR_MEMORY=25, DISTRIBUTIVE_INDEPENDENCE=28)),
                                     (trt.ProfilingVerbosity, dict(LAYER_NAMES_ONLY=0, NONE=1, DETAILED=2)),
                                     (trt.TensorFormat, dict(LINEAR=0, HWC=8, DHWC=12)), (trt.ILogger.Severity, dict(ERROR=1, VERBOSE=4)),
                                     (trt.TensorIOMode, dict(NONE=0, INPUT=1, OUTPUT=2)), (trt.TensorLocation, dict(DEVICE=0, HOST=1)),
                                     (trt.TacticSource, dict(CUBLAS=0, JIT_CONVOLUTIONS=4)), (trt.OnnxParserFlag, dict(ADJUST_FOR_DLA=4)),
                                     (trt.PreviewFeature, dict(PROFILE_SHARING_0806=0, MULTIDEVICE_RUNTIME_10_16=3))):
            for name, value in members.items():
                self.assertEqual(int(enumeration.__members__[name]), value, (enumeration, name))
        self.assertEqual(len(trt.BuilderFlag), 30)   # one of 8.x

    def test_they_behave_as_tensorrts(self):
        self.assertEqual((str(trt.float32), repr(trt.DataType.HALF)), ('DataType.FLOAT', '<DataType.HALF: 1>'))
        self.assertTrue(trt.float32)              # though its value is 0
        self.assertEqual((trt.int64.itemsize, trt.int4.itemsize, trt.bfloat16.itemsize), (8, 0.5, 2))
        self.assertIs(trt.Logger.WARNING, trt.ILogger.Severity.WARNING)
        self.assertEqual({trt.nptype(t) for t in (trt.float32, trt.float16, trt.int8, trt.int32, trt.int64, trt.uint8, trt.bool)},
                         {np.float32, np.float16, np.int8, np.int32, np.int64, np.uint8, np.bool_})
        self.assertRaises(TypeError, trt.nptype, trt.fp8)

    def test_the_version_is_digits(self):
        self.assertEqual([int(part) for part in trt.__version__.split('.')], [10, 16, 0])

    def test_shapes(self):
        shape = trt.Dims([2, 3, 4])
        shape[0] = 5
        self.assertEqual((shape, trt.volume(shape), tuple(shape[1:]), str(shape), np.empty(shape).shape),
                         ((5, 3, 4), 60, (3, 4), '(5, 3, 4)', (5, 3, 4)))
        self.assertEqual(trt.volume(()), 1)


class Flags(Config):
    def test_flags_reach_the_build(self):
        for flag, word in ((trt.BuilderFlag.FP16, 'fp16=1'), (trt.BuilderFlag.BF16, 'bf16=1'), (trt.BuilderFlag.REFIT, 'refittable=1'),
                           (trt.BuilderFlag.TF32, 'tf32=1')):
            self.config.flags = 0
            self.assertNotIn(word, self.options())
            self.config.set_flag(flag)
            self.assertIn(word, self.options())
            self.assertEqual((self.config.get_flag(flag), self.config.flags), (True, 1 << int(flag)))
            self.config.clear_flag(flag)
            self.assertNotIn(word, self.options())

    def test_numbers_reach_the_build(self):
        self.config.max_workspace_size = 1 << 20
        self.config.max_num_tactics = 2
        self.assertTrue(self.config.set_tactic_sources(1 << int(trt.TacticSource.CUDNN)))
        for word in ('workspace=1048576', 'max_tactics=2', 'level=0', 'sources=19'):   # 1 reference, 2 native, 16 cuDNN
            self.assertIn(word, self.options())
        self.assertEqual(self.config.get_memory_pool_limit(trt.MemoryPoolType.WORKSPACE), 1 << 20)
        self.assertEqual(self.config.get_tactic_sources(), 0b00100)
        self.assertFalse(self.config.set_tactic_sources(1 << 9))
        self.config.reset()
        self.assertEqual((self.config.flags, self.config.num_optimization_profiles), (1 << int(trt.BuilderFlag.TF32), 0))

    def test_version_compatible_plans_keep_the_model(self):
        network = parsed(self.logger, tanh_model())
        small = self.builder.build_serialized_network(network, self.config)
        self.config.set_flag(trt.BuilderFlag.VERSION_COMPATIBLE)
        self.assertGreater(self.builder.build_serialized_network(network, self.config).nbytes, small.nbytes + WEIGHTS.nbytes)

    def test_a_build_that_a_flag_contradicts(self):
        self.config.set_flag(trt.BuilderFlag.FP16)
        network = parsed(self.logger, tanh_model(), 1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
        self.assertIsNone(self.builder.build_serialized_network(network, self.config))
        self.assertIn('contradicts STRONGLY_TYPED', self.logger.errors[-1])

    def test_a_mask_is_all_or_nothing(self):
        before = self.config.flags
        self.refused(tenfold.Unsupported, 'STRIP_PLAN', self.config.set_flags, 1 << int(trt.BuilderFlag.FP16) | 1 << 19)
        self.assertEqual(self.config.flags, before)
        self.refused(ValueError, 'no BuilderFlag', self.config.set_flags, 1 << 41)
        self.config.set_flags(1 << int(trt.BuilderFlag.FP16) | 1 << int(trt.BuilderFlag.OBEY_PRECISION_CONSTRAINTS))
        self.assertTrue(self.config.get_flag(trt.BuilderFlag.STRICT_TYPES))
        self.assertFalse([line for line in self.logger.warnings if 'OBEY_PRECISION_CONSTRAINTS' in line])

    def test_every_flag_has_an_effect_or_a_word(self):
        from tenfold.tensorrt._config import flags
        parts = [set(flags.FIELDS), set(flags.REFITTABLE), set(flags.QUANTIZED), set(flags.SELECTING),
                 set(flags.CONSTRAINING), set(flags.NO_EFFECT), set(flags.REFUSED)]
        self.assertEqual(set.union(*parts), set(trt.BuilderFlag))
        self.assertEqual(sum(map(len, parts)), len(trt.BuilderFlag))
        for flag in flags.REFUSED:
            self.refused((tenfold.Unsupported, NotImplementedError), flag.name, self.config.set_flag, flag)

    def test_int8_on_a_model_that_is_not_quantized_is_told(self):
        self.config.set_flag(trt.BuilderFlag.INT8)
        scale = [numpy_helper.from_array(np.array(v, d), n) for v, d, n in ((0.05, np.float32, 's'), (0, np.int8, 'z'))]
        nodes = [helper.make_node('QuantizeLinear', ['x', 's', 'z'], ['q']), helper.make_node('DequantizeLinear', ['q', 's', 'z'], ['y'])]
        quantized = model(nodes, [('x', 1, ['n', 6])], [('y', 1, ['n', 6])], scale)
        self.options(parsed(self.logger, quantized))
        self.assertFalse([line for line in self.logger.warnings if 'quantized' in line])
        self.options()
        self.assertTrue([line for line in self.logger.warnings if 'quantized' in line])


class Refused(Config):
    def test_by_name(self):
        network = parsed(self.logger, tanh_model())
        tensor, layer = network.get_input(0), network.get_layer(0)
        for words, call in ((['DLA'], lambda: setattr(self.config, 'default_device_type', trt.DeviceType.DLA)),
                            (['SAFETY'], lambda: setattr(self.config, 'engine_capability', trt.EngineCapability.SAFETY)),
                            (['allowed_formats', "'x'"], lambda: setattr(tensor, 'allowed_formats', 1 << int(trt.TensorFormat.HWC))),
                            (['location'], lambda: setattr(tensor, 'location', trt.TensorLocation.HOST)),
                            (['set_dimension_name', "'x'"], lambda: tensor.set_dimension_name(0, 'batch')),
                            (['broadcast_across_batch'], lambda: setattr(tensor, 'broadcast_across_batch', True)),
                            (['num_ranks', 'collectives'], lambda: setattr(layer, 'num_ranks', 2)),
                            (['add_moe'], lambda: network.add_moe(tensor, tensor, tensor)),
                            (['add_dist_collective'], lambda: network.add_dist_collective(tensor, None, None, None, None)),
                            (['IMoELayer'], trt.IMoELayer), (['IDistCollectiveLayer'], trt.IDistCollectiveLayer),
                            (['IPluginV3QuickCore', 'register()'], trt.IPluginV3QuickCore), (['ISymExpr'], trt.ISymExpr),
                            (['mark_weights_refittable'], lambda: network.mark_weights_refittable('w')),
                            (['remove_tensor'], lambda: network.remove_tensor(layer.get_output(0))),
                            (['remote_auto_tuning_config'], lambda: setattr(self.config, 'remote_auto_tuning_config', 'host')),
                            (['load_runtime'], lambda: trt.Runtime(self.logger).load_runtime('lean.so')),
                            (['extra_memory_target'], lambda: setattr(trt.IOptimizationProfile(), 'extra_memory_target', 0.5)),
                            (['update()'], lambda: self.config.create_timing_cache(b'').update(None, None))):
            self.refused((tenfold.Unsupported, NotImplementedError), ['refuses', *words], call)
        self.assertEqual((self.config.int8_calibrator, self.config.DLA_core, layer.precision_is_set), (None, -1, False))

    def test_missing_names_tell_what_is_there(self):
        self.refused(AttributeError, ["'ICaffeParser'", 'OnnxParser'], lambda: trt.ICaffeParser)
        self.refused(AttributeError, ["'no_such_field'", 'set_flag'], lambda: self.config.no_such_field)
        self.refused(AttributeError, ["'max_workspace_sise'", 'max_workspace_size'], setattr, self.config, 'max_workspace_sise', 1)
        self.refused(tenfold.Unsupported, 'add_rnn_v2()', lambda: self.builder.create_network().add_rnn_v2(None, 1, 1, 1, None))
        self.assertFalse(hasattr(self.config, 'no_other_field'))
        self.refused(TypeError, 'logger', trt.Builder, print)
        self.refused(NotImplementedError, 'log(severity, message)', trt.ILogger().log, trt.ILogger.INFO, 'x')

    def test_profiles_that_fall(self):
        profile = self.builder.create_optimization_profile()
        profile.set_shape('x', (4, 6), (1, 6), (8, 6))
        self.assertFalse(profile)
        self.assertEqual((self.config.add_optimization_profile(profile), self.config.num_optimization_profiles), (-1, 1))
        self.assertIn("'x'", self.logger.errors[-1])


class TimingCaches(Config):
    def test_builds_share_one(self):
        self.config.builder_optimization_level = 1
        cache = self.config.create_timing_cache(b'')
        self.assertTrue(self.config.set_timing_cache(cache, ignore_mismatch=False))
        self.options()
        self.assertGreater(len(cache), 0)
        keys = cache.queryKeys()
        self.assertTrue(0 < len(keys) <= len(cache) and len(set(keys)) == len(keys))
        self.assertEqual(trt.TimingCacheKey.parse(str(keys[0])), keys[0])
        value = cache.query(keys[0])
        self.assertTrue(value.tacticHash > 0 and value.timingMSec > 0, value)
        self.assertEqual(cache.query(trt.TimingCacheKey.parse('0x' + '0' * 32)).timingMSec, -1)
        self.refused(ValueError, '32 hexadecimal', trt.TimingCacheKey.parse, '0x1')
        again = self.config.create_timing_cache(cache.serialize())
        self.assertEqual((len(again), bytes(again.serialize())), (len(cache), bytes(cache.serialize())))
        self.config.set_flag(trt.BuilderFlag.ERROR_ON_TIMING_CACHE_MISS)
        self.config.set_timing_cache(again, True)
        self.options()                            # nothing has to be timed
        empty = self.config.create_timing_cache(b'')
        self.config.set_timing_cache(empty, True)
        network = parsed(self.logger, tanh_model())
        self.assertIsNone(self.builder.build_serialized_network(network, self.config))
        self.assertTrue(empty.combine(cache, False) and len(empty) == len(cache) and empty.reset() and len(empty) == 0)

    def test_what_is_none(self):
        self.assertIsNone(self.config.create_timing_cache(b'not a cache'))
        self.assertIsNone(self.config.create_timing_cache(b'\xff\xfe'))
        self.assertIsNone(self.config.get_timing_cache())


class Steps(trt.IProgressMonitor):
    def __init__(self, most=1000):
        trt.IProgressMonitor.__init__(self)
        self.heard, self.most = [], most

    def phase_start(self, phase_name, parent_phase, num_steps):
        self.heard.append(('start', phase_name, num_steps))

    def step_complete(self, phase_name, step):
        self.heard.append(('step', phase_name, step))
        return len(self.heard) < self.most

    def phase_finish(self, phase_name):
        self.heard.append(('finish', phase_name))


class Progress(Config):
    def test_phases_begin_and_end(self):
        self.config.builder_optimization_level = 1
        self.config.progress_monitor = steps = Steps()
        self.config.hardware_compatibility_level = trt.HardwareCompatibilityLevel.NONE
        self.assertIs(self.config.progress_monitor, steps)
        self.options()
        self.assertEqual((steps.heard[0][0], steps.heard[-1][0]), ('start', 'finish'))
        at, phase = 0, None
        for what, name, *number in steps.heard:     # start, steps 0 to n - 1, finish; and again
            if what == 'start':
                self.assertIsNone(phase)
                phase, expected, at = name, number[0], 0
            elif what == 'step':
                self.assertEqual((name, number), (phase, [at]))
                at += 1
            else:
                self.assertEqual((name, at), (phase, expected))
                phase = None
        self.assertIsNone(phase)

    def test_no_ends_the_build(self):
        self.config.builder_optimization_level = 1
        self.config.progress_monitor = steps = Steps(most=2)
        self.assertIsNone(self.builder.build_serialized_network(parsed(self.logger, tanh_model()), self.config))
        self.assertEqual([what for what, *_ in steps.heard], ['start', 'step', 'finish'])
        self.assertEqual(self.logger.lines[-1][0], trt.ILogger.ERROR)

    def test_what_is_none(self):
        self.refused(TypeError, 'IProgressMonitor', setattr, self.config, 'progress_monitor', print)
        self.config.progress_monitor = trt.IProgressMonitor()
        network = parsed(self.logger, tanh_model())
        self.refused(NotImplementedError, 'phase_start', self.builder.build_serialized_network, network, self.config)


class Inspection(Config):
    def test_the_inspector_tells_the_steps(self):
        engine = self.builder.build_engine(parsed(self.logger, tanh_model()), self.config)
        inspector = engine.create_engine_inspector()
        layers = json.loads(inspector.get_engine_information(trt.LayerInformationFormat.JSON))['Layers']
        self.assertEqual(len(layers), engine.num_layers)
        self.assertEqual(json.loads(inspector.get_layer_information(0, trt.LayerInformationFormat.JSON)), layers[0])
        self.assertIn(layers[0]['Name'], inspector.get_engine_information(trt.LayerInformationFormat.ONELINE))

    def test_types_at_the_border(self):
        network = parsed(self.logger, tanh_model())
        network.get_input(0).dtype = trt.float16
        network.get_output(0).dtype = trt.float16
        engine = self.builder.build_engine(network, self.config)
        self.assertEqual([engine.get_tensor_dtype(name) for name in engine], [trt.float16, trt.float16])
        x, y = batch().astype(np.float16), np.empty((4, 4), np.float16)
        context = engine.create_execution_context()
        self.assertTrue(context.set_input_shape('x', x.shape) and context.execute_v2([x.ctypes.data, y.ctypes.data]))
        self.near(y, truth(x.astype(np.float32)), 1e-3)


if __name__ == '__main__':
    unittest.main()
