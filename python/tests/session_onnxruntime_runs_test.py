"""What scripts of ONNX Runtime get of a session, under both modules: errors, providers, values, and runs that end early."""
import importlib
import os
import pickle
import threading
import time
import unittest

import numpy as np
from case import TensorProto, batch, helper, model, tanh_model
from session_onnxruntime_case import BOTH, CPU, ERRORS, FLOAT, INT, Beside, node, relu, session, their_errors

import tenfold
import tenfold.onnxruntime


class Errors(Beside):
    def test_of_files_and_models(self):
        with open(self.path('text.onnx'), 'w') as file:
            file.write('no model, but a text')
        for what, error in ((self.path('none.onnx'), 'NoSuchFile'), (self.path('text.onnx'), 'InvalidProtobuf'),
                            (b'abc', 'InvalidProtobuf')):
            ours = self.same(lambda module: module.InferenceSession(what, providers=CPU), error=error)
            self.assertIsInstance(ours, tenfold.Error)
            again = pickle.loads(pickle.dumps(ours))
            self.assertEqual((type(again), str(again), again.kind), (type(ours), str(ours), ours.kind))
        self.same(session, relu(op='Nonsense'), error='InvalidGraph')
        self.same(lambda module: module.InferenceSession(None), error=TypeError)
        self.same(lambda module: module.InferenceSession(relu().SerializeToString(), 3), error=TypeError)

    def test_all_of_their_names_are_there(self):
        for name, kind in vars(their_errors).items():
            if isinstance(kind, type) and issubclass(kind, Exception):
                self.assertTrue(issubclass(getattr(ERRORS, name), Exception), name)

    def test_the_native_names_are_found(self):
        for name in ('_pybind_state', 'onnxruntime_pybind11_state', 'onnxruntime_inference_collection'):
            theirs, ours = (importlib.import_module(f'{module.__name__}.capi.{name}') for module in BOTH)
            self.assertTrue(hasattr(theirs, 'InferenceSession'))
            self.assertIs(ours.InferenceSession, tenfold.onnxruntime.InferenceSession)

    def test_data_that_no_step_can_compute_with(self):
        proto = model([node('Gather', ['x', 'i'])], [('x', FLOAT, [4]), ('i', INT, [1])], [('y', FLOAT, [1])])
        self.same(lambda module: session(module, proto).run(None, {'x': np.zeros(4, np.float32), 'i': np.array([9])}),
                  error='InvalidArgument')


class Providers(Beside):
    def test_those_that_are_not_there_are_passed_over(self):
        if any(d.device.startswith('cuda') for d in tenfold.devices()):
            self.skipTest('there is a GPU')

        def names(module, providers, **keywords):
            return session(module, tanh_model(), None, providers, **keywords).get_providers()
        for providers in (['TensorrtExecutionProvider', 'CUDAExecutionProvider', *CPU], ['TensorrtExecutionProvider'],
                          ['CUDAExecutionProvider'],
                          [('CUDAExecutionProvider', {'device_id': 0, 'arena_extend_strategy': 'kNextPowerOfTwo'}), *CPU], [], None, CPU,
                          tuple(CPU), CPU * 2, [('CPUExecutionProvider', {})], ['OpenVINOExecutionProvider', *CPU]):
            self.same(names, providers)
        self.same(lambda module: names(module, ['CUDAExecutionProvider', *CPU], provider_options=[{'device_id': 1}, {}]))
        with self.assertWarnsRegex(UserWarning, "'TensorrtExecutionProvider' is not there.*CPUExecutionProvider") as seen:
            tenfold.onnxruntime.InferenceSession(tanh_model().SerializeToString(), providers=['TensorrtExecutionProvider'])
        self.assertEqual(seen.filename, __file__)
        for wrong in ([3], [('CPUExecutionProvider',)], [('CPUExecutionProvider', 3)]):
            self.refused(tenfold.InvalidArgument, 'provider', names, tenfold.onnxruntime, wrong)
        self.refused(tenfold.InvalidArgument, 'as many', names, tenfold.onnxruntime, CPU, provider_options=[{}, {}])

    def test_options_name_some_too(self):
        def names(module):
            options = module.SessionOptions()
            output = [options.has_providers()]
            options.add_provider('CPUExecutionProvider', {})
            return [*output, options.has_providers(), session(module, tanh_model(), options, None).get_providers()]
        self.same(names)


class Values(Beside):
    def test_ort_values(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)

        def say(module, array):
            v = module.OrtValue.ortvalue_from_numpy(array)
            return [v.shape(), v.data_type(), v.element_type(), v.device_name(), v.is_tensor(), v.is_sparse_tensor(),
                    v.is_tensor_sequence(), v.has_value(), v.tensor_size_in_bytes(), v.numpy()]
        for kind in ('f4', 'f8', 'f2', 'i8', 'i4', 'i2', 'i1', 'u1', 'u2', 'u4', 'u8', '?'):
            self.same(say, x.astype(kind))
        self.same(say, x[:, ::2])
        for element_type in (np.float32, 1, 7, 9, 10):
            self.same(lambda module: (lambda v: [v.shape(), v.data_type()])(
                module.OrtValue.ortvalue_from_shape_and_type([2, 2], element_type)))
        self.same(lambda module: module.OrtValue.ortvalue_from_numpy_with_onnx_type(np.zeros(2, np.uint16), 16).data_type())
        for wrong in ([1, 2], None, np.array(['a'], object)):
            self.same(lambda module: module.OrtValue.ortvalue_from_numpy(wrong), error=(RuntimeError if wrong is not None else Exception))

        def update(module, array):
            v = module.OrtValue.ortvalue_from_numpy(x.copy())
            v.update_inplace(array)
            return v.numpy()
        self.same(update, x + 1)
        self.same(update, np.ones((3, 3), np.float32), error=RuntimeError)

    def test_bindings(self):
        x, sessions = np.ones((2, 4), np.float32), {module: session(module, relu(['n', 4])) for module in BOTH}

        def bind(module, name, array):
            sessions[module].io_binding().bind_cpu_input(name, array)
        self.same(bind, 'x', x)
        self.same(bind, 'q', x, error=RuntimeError)
        self.same(bind, 'x', [[1., 2, 3, 4]], error=RuntimeError)
        self.refused((tenfold.InvalidArgument, RuntimeError), ["'q'", "'y'"], sessions[tenfold.onnxruntime].io_binding().bind_output, 'q')

        def elsewhere(module):
            binding = session(module, relu(['n', 4])).io_binding()
            sessions[module].run_with_iobinding(binding)
        self.same(elsewhere, error=ValueError)
        for ask in ('run', 'run_with_ort_values'):
            self.same(lambda module: [getattr(v, 'numpy', lambda: v)() for v in getattr(sessions[module], ask)(
                None, {'x': module.OrtValue.ortvalue_from_numpy(x)})])


class Runs(Beside):
    def test_a_run_that_is_not_begun(self):
        def run(module):
            options = module.RunOptions()
            options.terminate = True
            return session(module, relu()).run(None, {'x': np.zeros(4, np.float32)}, options)
        self.same(run, error='Fail')
        self.same(lambda module: session(module, relu()).run(None, {'x': np.zeros(4, np.float32)}, 3), error=TypeError)

    def test_a_run_that_another_thread_ends(self):
        """A loop of many steps."""
        body = helper.make_graph([node('Identity', ['c'], ['c2']), node('Sin', ['v'], ['v2'])], 'body',
                                 [helper.make_tensor_value_info('i', INT, []), helper.make_tensor_value_info('c', TensorProto.BOOL, []),
                                  helper.make_tensor_value_info('v', FLOAT, [64])],
                                 [helper.make_tensor_value_info('c2', TensorProto.BOOL, []),
                                  helper.make_tensor_value_info('v2', FLOAT, [64])])
        proto = model([helper.make_node('Loop', ['n', '', 'x'], ['y'], body=body)], [('x', FLOAT, [64]), ('n', INT, [])],
                      [('y', FLOAT, [64])])
        s = session(tenfold.onnxruntime, proto)
        options = tenfold.onnxruntime.RunOptions()
        timer = threading.Timer(0.3, lambda: setattr(options, 'terminate', True))
        timer.start()
        began = time.monotonic()
        self.refused(ERRORS.Fail, 'cancel', s.run, None, {'x': np.zeros(64, np.float32), 'n': np.array(2**40)}, options)
        self.assertLess(time.monotonic() - began, 60)
        timer.join()
        plain = tenfold.onnxruntime.RunOptions()
        self.near(s.run(None, {'x': np.full(64, .5, np.float32), 'n': np.array(2)}, plain)[0], np.full(64, np.sin(np.sin(.5))))

    def test_profiles_keep_the_errors_and_are_written_once(self):
        def run(module):
            options = module.SessionOptions()
            options.enable_profiling, options.profile_file_prefix = True, self.path(module.__name__)
            s = session(module, tanh_model(), options)
            s.run(None, {'x': batch()})
            first, second = s.end_profiling(), s.end_profiling()
            return [os.path.exists(first), first.startswith(self.path(module.__name__)), second, session(module, relu()).end_profiling()]
        self.same(run)


if __name__ == '__main__':
    unittest.main()
