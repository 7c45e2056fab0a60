"""Every setting of ONNX Runtime's sessions has its effect, is refused by name, or says once, in one line, that it has none. The list of all
settings is ONNX Runtime's own."""
import os
import sys
import threading
import time
import unittest
import unittest.mock
import warnings

import numpy as np
import onnxruntime
from case import Case, TensorProto, batch, helper, model, needs, numpy_helper, onnx, tanh_model, truth

import tenfold
import tenfold.onnxruntime
from tenfold import _log, _session_log, _session_providers

CPU = ['CPUExecutionProvider']
SessionOptions, RunOptions = tenfold.onnxruntime.SessionOptions, tenfold.onnxruntime.RunOptions

# Attributes that change nothing, with a value that asks for something else than what happens anyway.
SILENT_SESSION = {'enable_cpu_mem_arena': False, 'enable_mem_pattern': False, 'enable_mem_reuse': False,
                  'execution_mode': tenfold.onnxruntime.ExecutionMode.ORT_PARALLEL,
                  'execution_order': tenfold.onnxruntime.ExecutionOrder.PRIORITY_BASED, 'inter_op_num_threads': 4, 'log_verbosity_level': 1,
                  'use_per_session_threads': False}
SILENT_RUN = {'log_severity_level': 1, 'log_verbosity_level': 1, 'logid': 'mine', 'only_execute_path_to_fetches': True}
# Each has a test here, or in a session_onnxruntime_*_test.
WITH_EFFECT = {'enable_profiling', 'graph_optimization_level', 'intra_op_num_threads', 'log_severity_level', 'logid',
               'optimized_model_filepath', 'profile_file_prefix', 'use_deterministic_compute', 'add_session_config_entry',
               'get_session_config_entry', 'add_provider', 'has_providers', 'add_free_dimension_override_by_name', 'add_initializer',
               'add_external_initializers', 'add_external_initializers_from_files_in_memory', 'set_load_cancellation_flag',
               'clear_ep_context_data_read_func'}
RUN_WITH_EFFECT = {'terminate', 'add_run_config_entry', 'get_run_config_entry'}
REFUSED = {'register_custom_ops_library': ('lib.so',), 'add_free_dimension_override_by_denotation': ('DATA_BATCH', 1),
           'add_provider_for_devices': ([], {}), 'set_provider_selection_policy': (0,), 'set_provider_selection_policy_delegate': (print,),
           'set_ep_context_data_read_func': (print, 1)}
RUN_REFUSED = {'add_active_adapter': (None,)}


def names(cls):
    return {name for name in dir(cls) if not name.startswith('_')}


def session(options=None, proto=None, **keywords):
    return tenfold.Session(proto or tanh_model(), options, keywords.pop('providers', CPU), tune='never', **keywords)


def with_entry(key, value):
    options = SessionOptions()
    options.add_session_config_entry(key, value)
    return options


def newer():
    """A model of which a build warns."""
    proto = tanh_model()
    proto.opset_import[0].version = 99
    return proto


class Settings(Case):
    def setUp(self):
        super().setUp()
        patch = unittest.mock.patch.object(_log, '_said', set())
        patch.start()
        self.addCleanup(patch.stop)

    def tells_once(self, words, make):
        """Of two times."""
        with self.assertLogs('tenfold', 'WARNING') as seen:
            for _ in range(2):
                make()
        lines = [line for line in seen.output if 'no effect' in line]
        self.assertEqual(len(lines), 1, seen.output)
        self.assertEqual(len(lines[0].splitlines()), 1)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, lines[0])

    @needs('onnxruntime', '1.31')
    def test_all_of_them_are_decided(self):
        self.assertEqual(names(onnxruntime.SessionOptions), set(SILENT_SESSION) | WITH_EFFECT | set(REFUSED))
        self.assertEqual(names(onnxruntime.RunOptions), set(SILENT_RUN) | RUN_WITH_EFFECT | set(RUN_REFUSED))
        self.assertEqual(names(SessionOptions), names(onnxruntime.SessionOptions))
        self.assertEqual(names(RunOptions), names(onnxruntime.RunOptions))

    def test_those_without_effect_say_so(self):
        for name, value in SILENT_SESSION.items():
            options = SessionOptions()
            setattr(options, name, value)
            self.tells_once(f'SessionOptions.{name}', lambda: session(options))
        s = session()
        for name, value in SILENT_RUN.items():
            options = RunOptions()
            setattr(options, name, value)
            self.tells_once(f'RunOptions.{name}', lambda: s.run(None, {'x': batch()}, options))
        self.tells_once("'session.intra_op.allow_spinning'", lambda: session(with_entry('session.intra_op.allow_spinning', '0')))
        options = RunOptions()
        options.add_run_config_entry('memory.enable_memory_arena_shrinkage', 'cpu:0')
        self.tells_once("'memory.enable_memory_arena_shrinkage'", lambda: s.run(None, {'x': batch()}, options))
        options = SessionOptions()
        options.graph_optimization_level = tenfold.onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        self.tells_once('graph_optimization_level', lambda: session(options))
        for words, make in (("'ConstantFolding'", lambda: session(disabled_optimizers=['ConstantFolding'])),
                            ('read_config_from_model', lambda: session(read_config_from_model=1)),
                            (["'use_arena'", *CPU], lambda: session(providers=[(CPU[0], {'use_arena': 1})])),
                            ('set_seed', lambda: tenfold.onnxruntime.set_seed(3)),
                            ('set_default_logger_verbosity', lambda: tenfold.onnxruntime.set_default_logger_verbosity(3)),
                            ('enable_telemetry_events', tenfold.onnxruntime.enable_telemetry_events),
                            ('preload_dlls', lambda: tenfold.onnxruntime.preload_dlls(directory='/lib'))):
            self.tells_once(words, make)

    def test_defaults_say_nothing(self):
        options = SessionOptions()
        options.inter_op_num_threads, options.use_deterministic_compute = 1, True
        with self.assertNoLogs('tenfold', 'WARNING'), warnings.catch_warnings():
            warnings.simplefilter('error')
            session(options).run(None, {'x': batch()}, RunOptions())
        quiet = SessionOptions()
        quiet.log_severity_level, quiet.enable_mem_pattern = 3, False
        with self.assertNoLogs('tenfold', 'WARNING'):
            session(quiet)

    def test_those_that_are_refused_say_their_name(self):
        for cls, refused in ((SessionOptions, REFUSED), (RunOptions, RUN_REFUSED)):
            for name, arguments in refused.items():
                words = 'operators cannot be loaded' if name == 'register_custom_ops_library' else name
                self.refused(tenfold.Unsupported, words, getattr(cls(), name), *arguments)
        for key, value in (('session.load_model_format', 'ORT'), ('session.save_model_format', 'ORT'), ('ep.context_enable', '1')):
            self.refused(tenfold.Unsupported, [key, value], session, with_entry(key, value))
        self.refused(tenfold.InvalidArgument, ["'no_such_pass'", 'the passes are'],
                     lambda: session(disabled_optimizers=['no_such_pass']).run(None, {'x': batch()}))
        self.refused(TypeError, 'nonsense', session, nonsense=1)

    def test_attributes_are_as_theirs(self):
        """Defaults, misspelt names, and values of other types."""
        for cls, theirs in ((SessionOptions, onnxruntime.SessionOptions), (RunOptions, onnxruntime.RunOptions)):
            for name in names(theirs):
                default = getattr(theirs(), name)
                if callable(default):
                    continue
                self.assertEqual(getattr(cls(), name), int(default) if hasattr(default, 'value') else default, name)
                self.assertEqual(type(getattr(cls(), name)).__name__, type(default).__name__)
                for value in (True, 1, -1, 2, 'abc', 3.5, None, [], object(), np.int64(2)):
                    results = []
                    for one in (theirs(), cls()):
                        try:
                            setattr(one, name, value)
                            results.append(getattr(one, name))
                        except TypeError:
                            results.append(TypeError)
                    self.assertEqual(*results, f'{name} = {value!r}')
            for one in (theirs(), cls()):
                self.assertRaises(AttributeError, setattr, one, 'intra_op_num_thread', 3)
                self.assertRaises(AttributeError, setattr, one, 'terminat', True)
        for module in (onnxruntime, tenfold.onnxruntime):
            options = module.SessionOptions()
            options.add_session_config_entry('a', 'b')
            self.assertEqual(options.get_session_config_entry('a'), 'b')
            self.assertRaises(RuntimeError, options.get_session_config_entry, 'q')
            self.assertRaises(TypeError, options.add_session_config_entry, 'a', 3)

    def test_threads_and_levels(self):
        options = SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = tenfold.onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        s = session(options, profiles={'x': ([1, 6], [2, 6], [4, 6])})
        self.assertEqual(s._any_engine().info.threads, 1)
        self.assertEqual(s._options['optimization_level'], 0)
        results = []
        for threads in (1, 2):
            options = SessionOptions()
            options.intra_op_num_threads, options.use_deterministic_compute = threads, True
            results.append(session(options).run(None, {'x': batch(64)})[0].tobytes())
        self.assertEqual(*results)

    def test_what_is_told(self):
        options = SessionOptions()
        options.logid = 'the model of mine'
        with self.assertLogs('tenfold', 'WARNING') as seen:
            session(options, newer())
        self.assertIn('the model of mine: ', seen.output[0])
        for level, reported in ((2, True), (3, False), (4, False)):
            options = SessionOptions()
            options.log_severity_level = level
            with self.assertLogs('tenfold') if reported else self.assertNoLogs('tenfold'):
                session(options, newer())
        with unittest.mock.patch.object(_session_log, '_default', -1):
            tenfold.onnxruntime.set_default_logger_severity(3)
            with self.assertNoLogs('tenfold'):
                session(None, newer())
        for level in (0, 1, 2):   # the logger shows neither; what is asked for goes to stderr
            options = SessionOptions()
            options.log_severity_level, lines = level, []
            with unittest.mock.patch('builtins.print', lambda text, file=None: lines.append(text)):
                for severity in ('verbose', 'info'):
                    _session_log.log_of(options)(severity, severity)
            self.assertEqual(lines, ['verbose', 'info'][level:])

    def test_the_model_is_written(self):
        """It has all of its weights, whatever it came as, and ONNX Runtime runs it."""
        data = np.array([1, 2, 3, 4], np.float32)
        proto = model([helper.make_node('Add', ['x', 'w'], ['t']), helper.make_node('Mul', ['t', 'v'], ['y'])],
                      [('x', TensorProto.FLOAT, [4])], [('y', TensorProto.FLOAT, [4])], [numpy_helper.from_array(data, 'w'),
                                                       numpy_helper.from_array(2 * data, 'v')])
        whole = proto.SerializeToString()
        os.mkdir(self.path('in'))
        onnx.save(proto, self.path('in/m.onnx'), save_as_external_data=True, size_threshold=0)
        for given in (self.path('in/m.onnx'), whole):
            options, value = SessionOptions(), tenfold.onnxruntime.OrtValue.ortvalue_from_numpy(-data)
            options.optimized_model_filepath = self.path('o.onnx')
            options.add_initializer('v', value)
            with self.assertLogs('tenfold', 'WARNING') as seen:
                _log._said.clear()
                (ours,) = tenfold.Session(given, options, CPU, tune='never').run(None, {'x': data})
            self.assertIn('optimized_model_filepath', seen.output[0])
            with open(self.path('o.onnx'), 'rb') as file:
                written = onnxruntime.InferenceSession(file.read(), providers=CPU)
            for found in (ours, written.run(None, {'x': data})[0]):
                np.testing.assert_array_equal(found, 2 * data * -data)
            os.remove(self.path('o.onnx'))
        options.optimized_model_filepath = self.path('none/o.onnx')
        self.refused(tenfold.FileError, 'none/o.onnx', tenfold.Session, given, options, CPU, tune='never')

    def test_folders_of_weights(self):
        proto = model([helper.make_node('Add', ['x', 'w'], ['y'])], [('x', TensorProto.FLOAT, [2])], [('y', TensorProto.FLOAT, [2])],
                      [numpy_helper.from_array(np.array([1, 2], np.float32), 'w')])
        onnx.save(proto, self.path('m.onnx'), save_as_external_data=True, size_threshold=0, location='w.bin')
        with open(self.path('m.onnx'), 'rb') as file:
            data = file.read()
        options = with_entry('session.model_external_initializers_file_folder_path', self.folder)
        self.near(tenfold.Session(data, options, CPU, tune='never').run(None, {'x': np.zeros(2, np.float32)})[0], [1, 2])

    def test_how_to_tune_is_the_environments_where_nothing_is_said(self):
        with unittest.mock.patch.dict(os.environ, TENFOLD_TUNE='soon'):
            self.refused(tenfold.InvalidArgument, "'soon'", tenfold.Session, tanh_model(), None, CPU)
            session()

    def test_cancelled_loads(self):
        options = SessionOptions()
        options.set_load_cancellation_flag(True)
        self.refused(tenfold.Cancelled, 'set_load_cancellation_flag', session, options)
        options.set_load_cancellation_flag(False)
        self.near(session(options).run(None, {'x': batch()})[0], truth(batch()))
        options.clear_ep_context_data_read_func()

    def test_a_profile_that_cannot_be_written_is_kept(self):
        options = SessionOptions()
        options.enable_profiling, options.profile_file_prefix = True, self.path('no/such/p')
        s = session(options)
        s.run(None, {'x': batch()})
        self.assertRaises(OSError, s.end_profiling)
        os.makedirs(self.path('no/such'))
        self.assertTrue(os.path.exists(s.end_profiling()))
        self.assertEqual(s.end_profiling(), '')

    def test_bound_outputs_without_a_run(self):
        s = session()
        binding = s.io_binding()
        binding.bind_output('y')
        for ask in (binding.get_outputs, binding.copy_outputs_to_cpu):
            self.refused(tenfold.InvalidArgument, ["'y'", 'run_with_iobinding'], ask)

    def test_runs_are_ended_while_others_begin(self):
        """Beginning a run changes the set that ending all of them walks."""
        class Run:
            _token = unittest.mock.Mock()

        options, done = RunOptions(), threading.Event()

        def begin():
            runs = []
            while not done.is_set():
                runs = [*runs[-50:], Run()]
                try:
                    options._watch(runs[-1])
                except tenfold.Cancelled:
                    pass
        before, threads = sys.getswitchinterval(), [threading.Thread(target=begin) for _ in range(3)]
        sys.setswitchinterval(1e-6)
        try:
            for thread in threads:
                thread.start()
            until = time.monotonic() + 0.5
            while time.monotonic() < until:
                options.terminate = True
                options.terminate = False
        finally:
            done.set()
            for thread in threads:
                thread.join()
            sys.setswitchinterval(before)

    def test_options_of_cudas_provider(self):
        with unittest.mock.patch.object(_session_providers, 'get_available_providers', lambda: ['CUDAExecutionProvider', *CPU]):
            for name in _session_providers._CUDA_WITHOUT:
                given = [('CUDAExecutionProvider', {name: '1'})]
                self.tells_once([repr(name), 'CUDAExecutionProvider'], lambda: _session_providers.chosen(given, None, None))
            with self.assertNoLogs('tenfold', 'WARNING'):
                found = _session_providers.chosen([('CUDAExecutionProvider', {'device_id': '1', 'use_tf32': '0'})], None, None)
            ((name, options), (last, _)) = found.items()
            self.assertEqual(last, *CPU)
            self.assertEqual(_session_providers.device_of(name, options), 'cuda:1')
            self.assertEqual(_session_providers.build_options_of(name, options), {'tf32': False})
            for device, expected in (('cuda:1', ['cuda:1', 'cpu']), ('cuda', ['cuda:0', 'cpu']), ('cpu', ['cpu'])):
                found = _session_providers.chosen(None, None, device)
                self.assertEqual([_session_providers.device_of(*one) for one in found.items()], expected)
            self.refused(tenfold.InvalidArgument, ["'gpu_memlimit'", 'gpu_mem_limit'], _session_providers.chosen,
                         [('CUDAExecutionProvider', {'gpu_memlimit': 1})], None, None)

    def test_sessions_on_the_cpu_do_not_look_for_gpus(self):
        with unittest.mock.patch.object(_session_providers, 'devices', side_effect=AssertionError):
            self.near(session().run(None, {'x': batch()})[0], truth(batch()))

    def test_no_fall_back(self):
        """A device that fails ends the session where that is asked for."""
        with unittest.mock.patch.object(_session_providers, 'get_available_providers', lambda: ['CUDAExecutionProvider', *CPU]):
            if any(d.device.startswith('cuda') for d in tenfold.devices()):
                self.skipTest('there is a GPU')
            both = ['CUDAExecutionProvider', *CPU]
            with self.assertLogs('tenfold', 'WARNING') as seen:
                s = session(providers=both)
                self.near(s.run(None, {'x': batch()})[0], truth(batch()))
            self.assertEqual(s.get_providers(), CPU)
            self.assertIn('CUDAExecutionProvider is not used', seen.output[0])
            for keywords in (dict(enable_fallback=0), dict(options=with_entry('session.disable_cpu_ep_fallback', '1'))):
                options = keywords.pop('options', None)
                self.refused(tenfold.DeviceError, '', lambda: session(options, providers=both, **keywords).run(None, {'x': batch()}))


if __name__ == '__main__':
    unittest.main()
