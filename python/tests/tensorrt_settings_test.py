"""Every setting of TensorRT's names has its effect, is refused by name, or says in one line that it has none."""
import inspect
import json
import unittest

import numpy as np
from case import Case
from tensorrt_case import Lines, tanh_build

import tenfold
import tenfold.tensorrt as trt
from tenfold.tensorrt import _logger


class Allocator(trt.IGpuAllocator):
    pass


class Recorder(trt.IErrorRecorder):
    def report_error(self, val, desc):
        return True


class Calibrator(trt.IInt8MinMaxCalibrator):
    pass


# Values that differ from the default, of properties and of set_*(): a tuple is what the method takes. Beside each what shows the effect:
# a function of the object; a word: the line says it by that; READS: the script's own note, which is read back; nothing: it is refused,
# or said to have no effect.
READS = object()


def build_option(config, name):
    return config._native().get(name)


def settings(case):
    """(object, name, value, effect) of all that can be set."""
    builder, network, config = case.made()
    engine = case.engine
    context, runtime = engine.create_execution_context(), trt.Runtime(case.logger)
    tensor, layer, profile = network.get_input(0), network[0], builder.create_optimization_profile()
    option = build_option
    return {
        builder: dict(
            average_find_iterations=(7, lambda b: option(b._old_config(), 'timing_repetitions') == 7),
            default_device_type=(trt.DeviceType.DLA,),
            error_recorder=(Recorder(), lambda b: isinstance(b._logger, _recorder())),
            fp16_mode=(True, lambda b: option(b._old_config(), 'fp16')),
            gpu_allocator=(Allocator(), lambda b: 'runtime' in b._runtime_option()), max_batch_size=(4,), max_threads=(4,),
            int8_calibrator=(Calibrator(), lambda b: b._old_config().int8_calibrator is not None),
            int8_mode=(True, lambda b: b._old_config().get_flag(trt.BuilderFlag.INT8)), min_find_iterations=(9, 'min_timing_iterations'),
            max_workspace_size=(1 << 20, lambda b: option(b._old_config(), 'workspace_bytes') == 1 << 20),
            refittable=(True, lambda b: option(b._old_config(), 'refittable')),
            strict_type_constraints=(True, lambda b: b._old_config().get_flag(trt.BuilderFlag.OBEY_PRECISION_CONSTRAINTS))),
        runtime: dict(
            DLA_core=(0,), engine_host_code_allowed=(True,), error_recorder=(Recorder(), lambda r: isinstance(r._logger, _recorder())),
            gpu_allocator=(Allocator(), lambda r: 'runtime' in r._runtime_option()), max_threads=(3,), tempfile_control_flags=(1,),
            temporary_directory=('/tmp',)),
        config: dict(
            DLA_core=(0,), algorithm_selector=(trt.IAlgorithmSelector(), lambda c: c._selection() is not None),
            avg_timing_iterations=(5, lambda c: option(c, 'timing_repetitions') == 5),
            builder_optimization_level=(1, lambda c: option(c, 'optimization_level') == 1), default_device_type=(trt.DeviceType.DLA,),
            engine_capability=(trt.EngineCapability.SAFETY,), flags=(1 << int(trt.BuilderFlag.BF16), lambda c: option(c, 'bf16')),
            hardware_compatibility_level=(trt.HardwareCompatibilityLevel.AMPERE_PLUS, lambda c: option(c, 'hardware_compatible')),
            int8_calibrator=(Calibrator(), lambda c: c.int8_calibrator is not None), l2_limit_for_tiling=(1,), max_aux_streams=(2,),
            max_num_tactics=(4, lambda c: option(c, 'max_tactics') == 4), min_timing_iterations=(3,), plugins_to_serialize=(['x.so'],),
            max_workspace_size=(1 << 21, lambda c: option(c, 'workspace_bytes') == 1 << 21), profile_stream=(1,),
            profiling_verbosity=(trt.ProfilingVerbosity.NONE,),
            progress_monitor=(trt.IProgressMonitor(), lambda c: c.progress_monitor is not None),
            quantization_flags=(1, READS), remote_auto_tuning_config=('host',), runtime_platform=(trt.RuntimePlatform.WINDOWS_AMD64,),
            tiling_optimization_level=(trt.TilingOptimizationLevel.FULL,),
            set_calibration_profile=((profile,), lambda c: c.get_calibration_profile() is profile),
            set_device_type=((layer, trt.DeviceType.DLA),),
            set_flags=((1 << int(trt.BuilderFlag.FP16),), lambda c: option(c, 'fp16')),
            set_memory_pool_limit=((trt.MemoryPoolType.WORKSPACE, 1 << 19), lambda c: option(c, 'workspace_bytes') == 1 << 19),
            set_preview_feature=((trt.PreviewFeature.DISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805, True),
                                 lambda c: option(c, 'tactic_sources') == ['reference', 'native']),
            set_quantization_flag=((trt.QuantizationFlag.CALIBRATE_BEFORE_FUSION,), lambda c: c.quantization_flags == 1),
            set_tactic_sources=((1 << int(trt.TacticSource.CUDNN),), lambda c: c._sources == 4),
            set_timing_cache=((config.create_timing_cache(b''), False), lambda c: option(c, 'timings') is not None)),
        network: dict(
            error_recorder=(Recorder(), lambda n: isinstance(n._logger, _recorder())), name=('mine', lambda n: case.label_of(n) == 'mine'),
            mark_debug=((layer.get_output(0),), lambda n: n._debug_names()),
            mark_output=((layer.get_output(0),), lambda n: n.num_outputs == 2),
            mark_output_for_shapes=((network[1].get_output(0),), lambda n: n.num_outputs == 2),
            mark_unfused_tensors_as_debug_tensors=((), lambda n: n._unfused), mark_weights_refittable=(('w',),),
            set_weights_name=((np.zeros(3, np.float32), 'w'),)),
        engine: dict(error_recorder=(Recorder(), lambda e: isinstance(e._logger, _recorder())), weight_streaming_budget=(1,),
                     weight_streaming_budget_v2=(1,)),
        context: dict(
            active_optimization_profile=(0, lambda c: c.active_optimization_profile == 0), debug_sync=(True,),
            device_memory=(1 << 20,), enqueue_emits_profile=(False,),
            error_recorder=(Recorder(), lambda c: isinstance(c._logger, _recorder())),
            name=('mine', READS), nvtx_verbosity=(trt.ProfilingVerbosity.NONE,), persistent_cache_limit=(1,),
            profiler=(trt.Profiler(), lambda c: c.report_to_profiler()),
            temporary_allocator=(None, lambda c: c.temporary_allocator is None),
            unfused_tensors_debug_state=(True,), set_all_tensors_debug_state=((True,), lambda c: c._watched == set()),
            set_aux_streams=(([1],),),
            set_binding_shape=((0, (2, 6)), lambda c: c.get_tensor_shape('x') == (2, 6)), set_communicator=((1,),),
            set_debug_listener=((trt.IDebugListener(),), lambda c: c.get_debug_listener() is not None), set_device_memory=((1 << 20, 8),),
            set_input_consumed_event=((1,), lambda c: c.get_input_consumed_event() == 1),
            set_input_shape=(('x', (3, 6)), lambda c: c.get_tensor_shape('y') == (3, 4)),
            set_optimization_profile_async=((0, 0), lambda c: c.get_tensor_shape('x') == (-1, 6)),
            set_output_allocator=(('y', trt.IOutputAllocator()), lambda c: c.get_output_allocator('y') is not None),
            set_shape_input=((0, [1]),),
            set_tensor_address=(('x', 64), lambda c: c.get_tensor_address('x') == 64), set_tensor_debug_state=(('t', True),)),
        tensor: dict(
            allowed_formats=(1 << int(trt.TensorFormat.HWC),), broadcast_across_batch=(True,), location=(trt.TensorLocation.HOST,),
            dtype=(trt.float16, lambda t: t.dtype == trt.float16), dynamic_range=((-1, 1), lambda t: t.dynamic_range == (-1, 1)),
            name=('z', lambda t: network.get_input(0).name == 'z'), shape=((4, 6), lambda t: network.get_input(0).shape == (4, 6)),
            set_dimension_name=((0, 'n'),), set_dynamic_range=((-2, 2), lambda t: t.dynamic_range == (-2, 2))),
        layer: dict(
            metadata=('note', READS), name=('n', lambda each: network[0].name == 'n'), num_ranks=(2,),
            precision=(trt.float16, lambda each: each.precision_is_set), set_input=((0, tensor), lambda each: each.get_input(0) == tensor),
            set_output_type=((0, trt.float16), lambda each: each.output_type_is_set(0))),
        profile: dict(extra_memory_target=(0.5,), set_shape=(('x', (1, 6), (1, 6), (2, 6)), lambda p: 'x' in p._native()),
                      set_shape_input=(('s', (1,), (2,), (3,)), lambda p: p.get_shape_input('s') == [[1], [2], [3]])),
        trt.Refitter(engine, case.logger): dict(
            error_recorder=(Recorder(), lambda r: isinstance(r._logger, _recorder())), max_threads=(2,), weights_validation=(False,),
            set_dynamic_range=(('x', (0, 1)),), set_named_weights=(('w', np.zeros((6, 4), np.float32)), lambda r: 'w' in r._given),
            set_weights=(('l', trt.WeightsRole.KERNEL, np.zeros(1)), 'l.kernel')),
        trt.OnnxParser(builder.create_network(), case.logger): dict(
            flags=(1 << int(trt.OnnxParserFlag.ENABLE_PLUGIN_OVERRIDE), 'ENABLE_PLUGIN_OVERRIDE'), set_builder_config=((config,),)),
        engine.create_engine_inspector(): dict(
            error_recorder=(Recorder(), lambda i: isinstance(i._logger, _recorder())), execution_context=(context,)),
        trt.ISerializationConfig(case.logger): dict(flags=(1 << int(trt.SerializationFlag.INCLUDE_REFIT), 'INCLUDE_REFIT')),
        trt.IRuntimeConfig(): dict(set_execution_context_allocation_strategy=(
            (trt.ExecutionContextAllocationStrategy.USER_MANAGED,), lambda r: engine.create_execution_context(r)._managed)),
        trt.Logger(): dict(min_severity=(trt.Logger.ERROR, lambda log: log.min_severity == trt.Logger.ERROR)),
    }


def plain(text):
    return text.replace('_', '').lower()


def _recorder():
    from tenfold.tensorrt._recorder import Recorded
    return Recorded


class Settings(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()
        builder, network, config = self.made()
        config.set_flag(trt.BuilderFlag.REFIT)
        self.engine = builder.build_engine_with_config(network, config)

    def made(self):
        return tanh_build(self.logger)

    def label_of(self, network):
        from tenfold.tensorrt._build.builder import _options
        return _options(network, network.builder.create_builder_config())['labels']['network']

    def answer(self, call, name):
        """'refused', 'said' or '': what a call does about a setting."""
        _logger._said.clear()
        before = len(self.logger.lines)
        try:
            call()
        except (tenfold.Unsupported, ValueError) as error:
            self.assertIn(plain(name.removeprefix('set_').split('_v2')[0].rsplit('.', 1)[-1]), plain(str(error)))
            return 'refused'
        word = plain(name.removeprefix('set_').removeprefix('mark_').rsplit('.', 1)[-1])
        lines = [text for _, text in self.logger.lines[before:] if word in plain(text)]
        self.assertLess(len(lines), 2, lines)
        return 'said' if lines else ''

    def test_of_every_class(self):
        silent, untold = [], []
        for each, known in settings(self).items():
            kind = type(each)
            fields = {n: inspect.getattr_static(kind, n) for n in dir(kind) if not n.startswith('_')}
            names = {n for n, field in fields.items() if isinstance(field, property) and field.fset}
            names |= {n for n in dir(kind) if n.startswith(('set_', 'mark_')) and n != 'set_flag'}
            untold += [f'{kind.__name__}.{name}' for name in sorted(names ^ set(known))]
            for name, (value, *effect) in known.items():
                method = not isinstance(inspect.getattr_static(kind, name, None), property)
                shows = effect[0] if effect else name
                found = self.answer(lambda: getattr(each, name)(*value) if method else setattr(each, name, value),
                                    shows if isinstance(shows, str) else name)
                has_effect = shows(each) if callable(shows) else getattr(each, name) == value if shows is READS else found
                if not has_effect:
                    silent.append(f'{kind.__name__}.{name}')
        self.assertEqual((silent, untold), ([], []))

    def test_of_every_member_of_enumerations(self):
        silent = []
        effects = {trt.BuilderFlag: {'FP16', 'BF16', 'TF32', 'VERSION_COMPATIBLE', 'ERROR_ON_TIMING_CACHE_MISS', 'REFIT',
        'REFIT_IDENTICAL'}}
        elsewhere = {'INT8', 'FP8', 'OBEY_PRECISION_CONSTRAINTS', 'PREFER_PRECISION_CONSTRAINTS',
        'REJECT_EMPTY_ALGORITHMS'}   # tests of their own
        for flag in trt.BuilderFlag:
            config = trt.Builder(self.logger).create_builder_config()
            config.clear_flag(trt.BuilderFlag.TF32)
            before = config._native()
            found = self.answer(lambda: config.set_flag(flag), str(flag))
            if flag.name in effects[trt.BuilderFlag]:
                self.assertNotEqual(config._native(), before, flag)
            elif flag.name not in elsewhere and not found:
                silent.append(str(flag))
        for feature in trt.PreviewFeature:
            config = trt.Builder(self.logger).create_builder_config()
            given = not config.get_preview_feature(feature)
            found = self.answer(lambda: config.set_preview_feature(feature, given), str(feature))
            self.assertEqual(config.get_preview_feature(feature), given)
            if not found and 'tactic_sources' not in {k for k, v in config._native().items() if v != self.defaults()[k]}:
                silent.append(str(feature))
        for pool in trt.MemoryPoolType:
            config = trt.Builder(self.logger).create_builder_config()
            if not self.answer(lambda: config.set_memory_pool_limit(pool, 1 << 20), str(pool)) and pool.name != 'WORKSPACE':
                silent.append(str(pool))
        for flag in trt.SerializationFlag:
            if not self.answer(lambda: trt.ISerializationConfig(self.logger).set_flag(flag), str(flag)):
                silent.append(str(flag))
        for flag in trt.OnnxParserFlag:
            parser = trt.OnnxParser(trt.Builder(self.logger).create_network(), self.logger)
            change = parser.clear_flag if parser.get_flag(flag) else parser.set_flag
            if not self.answer(lambda: change(flag), str(flag)):
                silent.append(str(flag))
        for strategy in trt.ExecutionContextAllocationStrategy:
            found = self.answer(lambda: self.engine.create_execution_context(strategy), strategy.name)
            self.assertEqual(found, 'said' if strategy.name == 'ON_PROFILE_CHANGE' else '')
        self.assertEqual(silent, [])

    def defaults(self):
        return trt.Builder(self.logger).create_builder_config()._native()

    def test_reasons_are_true(self):
        """Sentences that were told of what had come meanwhile."""
        from tenfold.tensorrt._config.flags import NO_EFFECT, REFUSED
        reported = json.dumps({str(k): v for k, v in {**NO_EFFECT, **REFUSED}.items()})
        self.assertNotIn('plug-ins yet', reported)
        self.assertIn('holds times, no code', NO_EFFECT[trt.BuilderFlag.DISABLE_COMPILATION_CACHE])
        cache = trt.Builder(self.logger).create_builder_config().create_timing_cache(b'')
        self.assertTrue(bytes(cache.serialize()).decode().isprintable() or bytes(cache.serialize()).decode().isascii())   # no machine code

    def test_events_of_inputs_are_recorded(self):
        from tenfold.pycuda import driver
        context, x, y = self.engine.create_execution_context(), np.zeros((4, 6), np.float32), np.zeros((4, 4), np.float32)
        context.set_input_shape('x', x.shape)
        first, event = driver.Event(), driver.Event()
        first.record()
        self.assertTrue(context.execute_async_v2([x.ctypes.data, y.ctypes.data], 0, event.handle))
        self.assertGreater(event.time_since(first), 0)
        again = driver.Event()
        self.assertTrue(context.set_input_consumed_event(again.handle) and context.execute_async_v3(0))
        self.assertGreater(again.time_since(event), 0)

    def test_implicit_batches(self):
        builder = trt.Builder(self.logger)
        builder.max_batch_size = 8
        for flags, built in ((0, False), (1, True)):
            network = builder.create_network(flags)
            x = network.add_input('x', trt.float32, (3, 4))
            network.mark_output(network.add_activation(x, trt.ActivationType.RELU).get_output(0))
            self.assertEqual(builder.build_serialized_network(network, builder.create_builder_config()) is not None, built)
        self.assertTrue([line for line in self.logger.errors if 'implicit-batch networks are not supported' in line])
        context = self.engine.create_execution_context()
        self.assertFalse(context.execute(8, [0, 0]))
        self.assertIn('implicit-batch', self.logger.errors[-1])


if __name__ == '__main__':
    unittest.main()
