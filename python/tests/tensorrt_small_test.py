"""tenfold.tensorrt's smaller parts: error recorders, plans through readers and writers, builds as 7.x wrote them, fields without effect."""
import unittest

import numpy as np
from case import PROFILE, Case, batch, tanh_model, truth
from tensorrt_case import Lines, parsed

import tenfold
import tenfold.tensorrt as trt


class Recorder(trt.IErrorRecorder):
    def __init__(self):
        trt.IErrorRecorder.__init__(self)
        self.errors = []

    def report_error(self, val, desc):
        self.errors.append((val, desc))
        return False


def engine_of(logger):
    builder = trt.Builder(logger)
    config = builder.create_builder_config()
    config.builder_optimization_level = 0
    profile = builder.create_optimization_profile()
    profile.set_shape('x', *PROFILE['x'])
    config.add_optimization_profile(profile)
    return builder, config, parsed(logger, tanh_model())


def run(engine, x):
    context = engine.create_execution_context()
    y = np.empty((len(x), 4), np.float32)
    assert context.set_input_shape('x', x.shape)
    assert context.set_tensor_address('x', x.ctypes.data) and context.set_tensor_address('y', y.ctypes.data)
    assert context.execute_async_v3(0)
    return y


class Recorders(Case):
    def test_failures_reach_the_recorder_and_the_logger(self):
        logger, recorder = Lines(), Recorder()
        runtime = trt.Runtime(logger)
        runtime.error_recorder = recorder
        self.assertIs(runtime.error_recorder, recorder)
        self.assertIs(runtime.logger, logger)
        self.assertIsNone(runtime.deserialize_cuda_engine(b'no plan'))
        self.assertEqual([code for code, _ in recorder.errors], [trt.ErrorCodeTRT.FAILED_INITIALIZATION])
        self.assertEqual(logger.errors[0][:trt.IErrorRecorder.MAX_DESC_LENGTH], recorder.errors[0][1])

    def test_what_is_made_inherits_it(self):
        recorder = Recorder()
        builder, config, network = engine_of(Lines())
        runtime = trt.Runtime(Lines())
        runtime.error_recorder = recorder
        engine = runtime.deserialize_cuda_engine(builder.build_serialized_network(network, config))
        context = engine.create_execution_context()
        self.assertIs(context.error_recorder, recorder)
        self.assertFalse(context.set_input_shape('x', (9, 6)))
        self.assertEqual(recorder.errors[0][0], trt.ErrorCodeTRT.INVALID_ARGUMENT)
        self.assertIn('9', recorder.errors[0][1])
        context.error_recorder = None
        self.assertFalse(context.set_input_shape('x', (9, 6)))
        self.assertEqual(len(recorder.errors), 1)
        self.assertIs(engine.error_recorder, recorder)

    def test_nonsense_is_refused(self):
        with self.assertRaisesRegex(TypeError, 'IErrorRecorder, got int'):
            trt.Builder(Lines()).error_recorder = 3
        with self.assertRaisesRegex(NotImplementedError, 'report_error'):
            trt.IErrorRecorder().report_error(trt.ErrorCodeTRT.SUCCESS, '')


class Reader(trt.IStreamReader):
    def __init__(self, plan, most):
        trt.IStreamReader.__init__(self)
        self.rest, self.most = plan, most

    def read(self, size):
        taken, self.rest = self.rest[:min(size, self.most)], self.rest[min(size, self.most):]
        return taken


class ReaderV2(trt.IStreamReaderV2):
    def __init__(self, plan):
        trt.IStreamReaderV2.__init__(self)
        self.inner = Reader(plan, 100)

    def read(self, num_bytes, stream):
        return self.inner.read(num_bytes)


class Writer(trt.IStreamWriter):
    def __init__(self, most=1 << 20):
        trt.IStreamWriter.__init__(self)
        self.plan, self.most = b'', most

    def write(self, data):
        self.plan += data[:self.most]
        return min(len(data), self.most)


class Streams(Case):
    def test_plans_are_written_and_read_in_pieces(self):
        logger, writer = Lines(), Writer(77)
        builder, config, network = engine_of(logger)
        self.assertTrue(builder.build_serialized_network_to_stream(network, config, writer))
        for reader in (Reader(writer.plan, 1000), ReaderV2(writer.plan)):
            engine = trt.Runtime(logger).deserialize_cuda_engine(reader)
            self.near(run(engine, batch()), truth(batch()))

    def test_faults(self):
        logger = Lines()
        builder, config, network = engine_of(logger)
        self.assertFalse(builder.build_serialized_network_to_stream(network, config, Writer(0)))
        self.assertIn('took 0', logger.errors[-1])
        self.assertRaises(TypeError, builder.build_serialized_network_to_stream, network, config, 'file')
        plan = builder.build_serialized_network(network, config)
        self.assertIsNone(trt.Runtime(logger).deserialize_cuda_engine(Reader(plan[:len(plan) // 2], 1000)))
        with self.assertRaisesRegex(TypeError, 'gives bytes, got NoneType'):
            reader = Reader(plan, 10)
            reader.read = lambda size: None
            trt.Runtime(logger).deserialize_cuda_engine(reader)
        with self.assertRaisesRegex(ZeroDivisionError, 'mine'):
            reader.read = lambda size: (_ for _ in ()).throw(ZeroDivisionError('mine'))
            trt.Runtime(logger).deserialize_cuda_engine(reader)


class Others(Case):
    def test_builds_of_7(self):
        logger = Lines()
        builder, _, network = engine_of(logger)
        network.get_input(0).shape = (4, 6)
        builder.max_batch_size, builder.max_workspace_size, builder.fp16_mode = 1, 1 << 20, False
        builder.strict_type_constraints = True
        self.assertEqual((builder.max_workspace_size, builder.fp16_mode, builder.strict_type_constraints), (1 << 20, False, True))
        self.near(run(builder.build_cuda_engine(network), batch()), truth(batch()))
        builder.reset()
        self.assertFalse(builder.strict_type_constraints)
        with self.assertRaisesRegex(TypeError, 'a calibrator derives from'):
            builder.int8_calibrator = object()
        builder.int8_mode, builder.int8_calibrator = True, trt.IInt8MinMaxCalibrator()
        self.assertRaisesRegex(NotImplementedError, 'get_batch_size', builder.build_cuda_engine, network)

    def test_serialization_and_contexts_have_configurations(self):
        builder, config, network = engine_of(Lines())
        engine = builder.build_engine_with_config(network, config)
        serialization = engine.create_serialization_config()
        self.assertTrue(serialization.set_flag(trt.SerializationFlag.EXCLUDE_LEAN_RUNTIME))
        self.assertEqual(serialization.flags, 2)
        self.assertRaises(tenfold.Unsupported, serialization.set_flag, trt.SerializationFlag.EXCLUDE_WEIGHTS)
        self.assertEqual(bytes(engine.serialize_with_config(serialization)), bytes(engine.serialize()))
        runtime = engine.create_runtime_config()
        runtime.set_execution_context_allocation_strategy(trt.ExecutionContextAllocationStrategy.ON_PROFILE_CHANGE)
        self.assertIsNotNone(engine.create_execution_context(runtime))

    def test_what_every_engine_answers(self):
        builder, config, network = engine_of(Lines())
        engine = builder.build_engine_with_config(network, config)
        self.assertEqual([engine.get_tensor_vectorized_dim('x'), engine.get_aliased_input_tensor('y'), engine.is_debug_tensor('y')],
                         [-1, '', False])
        self.assertEqual(engine.get_device_memory_size_for_profile_v2(0), engine.device_memory_size)
        self.assertRaises(IndexError, engine.get_device_memory_size_for_profile, 1)
        self.assertRaises(ValueError, engine.is_debug_tensor, 'z')

    def test_contexts_in_one_memory(self):
        from tenfold.pycuda import driver
        logger = Lines()
        builder, config, network = engine_of(logger)
        engine = builder.build_engine_with_config(network, config)
        memory = driver.mem_alloc(engine.device_memory_size)
        runtime = engine.create_runtime_config()
        runtime.set_execution_context_allocation_strategy(trt.ExecutionContextAllocationStrategy.USER_MANAGED)
        first, second = engine.create_execution_context_without_device_memory(), engine.create_execution_context(runtime)
        x, y = batch(), np.empty((4, 4), np.float32)
        for context in (first, second):
            context.set_input_shape('x', x.shape)
            context.set_tensor_address('x', x.ctypes.data), context.set_tensor_address('y', y.ctypes.data)
            self.assertFalse(context.execute_async_v3(0))
            self.assertIn('no memory', logger.errors[-1])
        for words, address, size in (('aligned to 256', int(memory) + 64, None), ('bytes is given', memory, 1)):
            self.assertFalse(first.set_device_memory(address, size))
            self.assertIn(words, logger.errors[-1])
        self.assertEqual(first.device_memory, 0)
        first.device_memory = memory
        self.assertTrue(second.set_device_memory(memory, memory.size))
        self.assertEqual(first.update_device_memory_size_for_shapes(), memory.size)
        for context in (first, second, first):
            y.fill(0)
            self.assertTrue(context.execute_async_v3(0))
            self.near(y, truth(x))
        self.assertFalse(engine.create_execution_context().set_device_memory(memory))
        self.assertIn('memory of its own', logger.errors[-1])

    def test_fields_without_effect_say_so_once(self):
        logger = Lines()
        config = trt.Builder(logger).create_builder_config()
        for _ in range(2):
            config.max_aux_streams = 7
        self.assertEqual(config.max_aux_streams, 7)
        self.assertEqual(len([line for line in logger.warnings if 'max_aux_streams = 7 has no effect' in line]), 1)
        self.assertEqual((config.can_run_on_DLA(None), config.get_device_type(None)), (False, trt.DeviceType.GPU))
        self.assertRaises(tenfold.Unsupported, config.set_device_type, None, trt.DeviceType.DLA)


if __name__ == '__main__':
    unittest.main()
