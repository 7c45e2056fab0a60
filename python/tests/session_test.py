"""Sessions in ONNX Runtime's form, beside ONNX Runtime itself: the same script under both modules."""
import json
import os
import threading
import unittest

import numpy as np
import onnxruntime
from case import Case, TensorProto, batch, helper, model, numpy_helper, onnx, tanh_model, truth

import tenfold
import tenfold.onnxruntime


def conv_model():
    rng = np.random.default_rng(3)
    weights = [numpy_helper.from_array(rng.standard_normal(s).astype(np.float32), n) for n, s in (('k', (8, 3, 3, 3)), ('b', (8,)))]
    return model([helper.make_node('Conv', ['image', 'k', 'b'], ['c'], pads=[1, 1, 1, 1]), helper.make_node('Relu', ['c'], ['r']),
                  helper.make_node('GlobalAveragePool', ['r'], ['mean']), helper.make_node('ArgMax', ['mean'], ['best'], axis=1)],
                 [('image', TensorProto.FLOAT, ['n', 3, 'h', 'w'])], [('mean', TensorProto.FLOAT, ['n', 8, 1, 1]),
                                                                       ('best', TensorProto.INT64, ['n', 1, 1, 1])], weights)


def session(module, proto, **options):
    own = dict(tune='never', tf32=False) if module is tenfold.onnxruntime else {}
    return module.InferenceSession(proto.SerializeToString(), providers=['CPUExecutionProvider'], **own, **options)


BOTH = (onnxruntime, tenfold.onnxruntime)


class Beside(Case):
    """What ONNX Runtime answers is the truth."""

    def test_runs_of_many_shapes(self):
        theirs, ours = (session(m, conv_model()) for m in BOTH)
        for shape in ((1, 3, 8, 8), (2, 3, 5, 7), (1, 3, 8, 8), (4, 3, 1, 1)):
            feed = {'image': np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)}
            for names in (None, [], ['mean'], ['best', 'mean']):
                for found, expected in zip(ours.run(names, feed), theirs.run(names, feed), strict=True):
                    self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
                    self.near(found, expected)

    def test_arguments_of_the_model(self):
        for ask in ('get_inputs', 'get_outputs'):
            theirs, ours = ([(a.name, a.type, a.shape) for a in getattr(session(m, conv_model()), ask)()] for m in BOTH)
            self.assertEqual(ours, theirs)
        self.assertEqual(*(session(m, conv_model()).get_providers() for m in BOTH))

    def test_what_the_file_says_of_itself(self):
        """All of it, as ONNX Runtime tells it; and of a path, a ModelProto and bytes alike."""
        output = tanh_model()
        output.producer_name, output.domain, output.doc_string, output.model_version = 'a test', 'com.example', 'counts sheep', 7
        output.graph.doc_string = 'a flock'
        onnx.helper.set_model_props(output, {'names': '{0: "ewe"}', 'stride': '32'})
        fields = ('producer_name', 'graph_name', 'domain', 'description', 'graph_description', 'version', 'custom_metadata_map')
        for proto in (output, tanh_model()):
            ours, theirs = (session(runtime, proto).get_modelmeta() for runtime in (tenfold.onnxruntime, onnxruntime))
            self.assertEqual(*([getattr(meta, field) for field in fields] for meta in (ours, theirs)))
        onnx.save(output, self.path('m.onnx'))
        for form in (self.path('m.onnx'), output, output.SerializeToString()):
            self.assertEqual(tenfold.metadata(form).properties['stride'], '32')
        self.assertIsNone(tenfold.metadata(tanh_model()).version)
        self.refused(tenfold.InvalidModel, 'ONNX model', tenfold.metadata, b'nothing of that kind')
        self.refused(tenfold.FileError, 'none.onnx', tenfold.metadata, self.path('none.onnx'))
        self.refused(TypeError, 'no file', tenfold.metadata, tenfold.Network())

    def test_names_are_there(self):
        ours = session(tenfold.onnxruntime, tanh_model())
        for name in ('run', 'run_async', 'run_with_iobinding', 'run_with_ort_values', 'io_binding', 'get_inputs', 'get_outputs',
                     'get_modelmeta', 'get_providers', 'set_providers', 'end_profiling'):
            self.assertTrue(callable(getattr(ours, name)), name)
        for name in ('SessionOptions', 'RunOptions', 'OrtValue', 'NodeArg', 'GraphOptimizationLevel', 'get_available_providers'):
            self.assertTrue(hasattr(tenfold.onnxruntime, name), name)
        for level in tenfold.onnxruntime.GraphOptimizationLevel:
            self.assertEqual(int(level), int(getattr(onnxruntime.GraphOptimizationLevel, level.name)))

    def test_bindings_of_inputs_and_outputs(self):
        answers = []
        for module in BOTH:
            s, x = session(module, tanh_model()), batch()
            binding = s.io_binding()
            binding.bind_cpu_input('x', x)
            binding.bind_output('y')
            s.run_with_iobinding(binding)
            given = np.zeros((4, 4), np.float32)
            into = s.io_binding()
            into.bind_input('x', 'cpu', 0, np.float32, x.shape, x.ctypes.data)
            into.bind_output('y', 'cpu', 0, np.float32, given.shape, given.ctypes.data)
            for _ in range(2):
                s.run_with_iobinding(into)
            value = module.OrtValue.ortvalue_from_numpy(x)
            (reported,) = s.run_with_ort_values(['y'], {'x': value})
            answers.append((binding.copy_outputs_to_cpu()[0], binding.get_outputs()[0].numpy(), given, reported.numpy(), value.shape(),
                            value.data_type(), value.is_tensor(), value.device_name()))
        for theirs, ours in zip(*answers, strict=True):
            if isinstance(theirs, np.ndarray):
                self.near(ours, theirs)
                self.near(ours, truth(batch()))
            else:
                self.assertEqual(ours, theirs)

    def test_runs_in_other_threads(self):
        for module in BOTH:
            done, reported = threading.Event(), []

            def callback(results, user, error):
                reported.append((results, user, error))
                done.set()
            session(module, tanh_model()).run_async(['y'], {'x': batch()}, callback, 'mine')
            self.assertTrue(done.wait(20))
            (((y,), user, error),) = reported
            self.near(y, truth(batch()))
            self.assertEqual((user, error), ('mine', ''))

    def test_models_of_strings(self):
        """More of them are in values_test."""
        nodes = {'input': ([helper.make_node('Concat', ['s', 's'], ['y'], axis=0)], [('s', TensorProto.STRING, [2])],
                           [('y', TensorProto.STRING, [4])]),
                 'output': ([helper.make_node('Cast', ['s'], ['y'], to=TensorProto.STRING)], [('s', TensorProto.FLOAT, [2])],
                            [('y', TensorProto.STRING, [2])])}
        for side, parts in nodes.items():
            given = np.array(['a', 'b'], object) if side == 'input' else np.zeros(2, np.float32)
            theirs, ours = (session(m, model(*parts)).run(None, {'s': given})[0] for m in BOTH)
            self.assertEqual((ours.dtype, ours.tolist()), (theirs.dtype, theirs.tolist()))
        self.assertEqual([b.dtype for b in tenfold.bindings(model(*nodes['input']))], ['string'] * 2)

    def test_runs_of_other_shapes_and_refusals_are_told_by_the_callback(self):
        s, reported, done = session(tenfold.onnxruntime, tanh_model()), [], threading.Semaphore(0)

        def callback(results, user, error):
            reported.append((user, results, error))
            done.release()
        options = tenfold.onnxruntime.RunOptions()
        options.terminate = True
        given = {'first': batch(3), 'again': batch(3), 'other': batch(2), 'wrong': batch().astype(np.float64), 'shape': batch()[:, :5]}
        for user, x in given.items():
            s.run_async(['y'], {'x': x}, callback, user)
            self.assertTrue(done.acquire(timeout=30))
        s.run_async(None, {'x': batch(3)}, callback, 'ended', options)
        s.run_async(None, {}, callback, 'missing')
        for _ in range(2):
            self.assertTrue(done.acquire(timeout=30))
        reported = {user: (results, error) for user, results, error in reported}
        for user in ('first', 'again', 'other'):
            self.assertEqual(reported[user][1], '')
            self.near(reported[user][0][0], truth(given[user]))
        for user, word in (('wrong', 'float64'), ('shape', "'x'"), ('ended', 'terminate'), ('missing', 'missing')):
            self.assertEqual(reported[user][0], [])
            self.assertIn(word, reported[user][1])

    def test_errors(self):
        s = session(tenfold.onnxruntime, tanh_model())
        self.refused(tenfold.InvalidArgument, "'x'", s.run, None, {'x': batch().astype(np.float64)})
        self.refused(tenfold.InvalidArgument, "'x'", s.run, None, {'x': batch()[:, :5]})
        self.refused(tenfold.InvalidArgument, "'x'", s.run, None, {})
        self.refused(tenfold.InvalidArgument, "'q'", s.run, ['q'], {'x': batch()})
        options = tenfold.onnxruntime.RunOptions()
        options.terminate = True
        self.refused(tenfold.Cancelled, 'terminate', s.run, None, {'x': batch()}, options)


class Own(Case):
    def test_plans_are_kept_in_the_cache(self):
        onnx.save(tanh_model(), self.path('m.onnx'))
        cache = self.path('cache')
        for _ in range(2):
            s = tenfold.Session(self.path('m.onnx'), providers=['CPUExecutionProvider'], tune='never', cache_dir=cache)
            self.near(s.run(None, {'x': batch()})[0], truth(batch()))
            self.assertEqual(len([f for f in os.listdir(cache) if f.endswith('.plan')]), 1)
        s.run(None, {'x': batch(2)})
        self.assertEqual(len([f for f in os.listdir(cache) if f.endswith('.plan')]), 2)

    def test_plans_of_bytes_are_kept_and_never_mistaken(self):
        onnx.save(tanh_model(), self.path('m.onnx'))
        cache, data = self.path('cache'), tanh_model().SerializeToString()

        def plans():
            return len([f for f in os.listdir(cache) if f.endswith('.plan')])

        def answer(given, rows=1, **options):
            s = tenfold.Session(given, providers=['CPUExecutionProvider'], tune='never', cache_dir=cache, **options)
            self.near(s.run(None, {'x': batch(rows)})[0], truth(batch(rows)))
        for given in (data, bytearray(data), tanh_model(), self.path('m.onnx')):
            answer(given)
            self.assertEqual(plans(), 1)
        answer(data, 2)
        self.assertEqual(plans(), 2, 'another shape is another plan')
        answer(data, tf32=False)
        self.assertEqual(plans(), 3, 'another option is another plan')
        image = np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(np.float32)
        other = tenfold.Session(conv_model(), providers=['CPUExecutionProvider'], tune='never', tf32=False, cache_dir=cache)
        self.near(other.run(['mean'], {'image': image})[0], session(onnxruntime, conv_model()).run(['mean'], {'image': image})[0])
        self.assertEqual(plans(), 4, 'another model is another plan')
        for function in (tenfold.Session, tenfold.bindings):
            self.refused(TypeError, 'Network', function, tenfold.Network.read(data))

    def test_profiles_are_written(self):
        options = tenfold.onnxruntime.SessionOptions()
        options.enable_profiling, options.profile_file_prefix = True, self.path('profile')
        s = tenfold.Session(tanh_model(), options, ['CPUExecutionProvider'], tune='never')
        self.near(s.run(None, {'x': batch()})[0], truth(batch()))
        with open(s.end_profiling()) as file:
            self.assertTrue(all(event['dur'] >= 0 and event['name'] for event in json.load(file)))

    def test_sessions_fall_back_in_order_and_say_so(self):
        if any(d.device.startswith('cuda') for d in tenfold.devices()):
            self.skipTest('there is a GPU')
        with self.assertWarnsRegex(UserWarning, 'CUDAExecutionProvider'):
            s = tenfold.Session(conv_model(), providers=['CUDAExecutionProvider', 'CPUExecutionProvider'], tune='never')
        s.run(None, {'image': np.zeros((1, 3, 4, 4), np.float32)})
        self.assertEqual(s.get_providers(), ['CPUExecutionProvider'])

    def test_one_session_serves_many_threads_and_shapes(self):
        s, wrong = tenfold.Session(tanh_model(), providers=['CPUExecutionProvider'], tune='never'), []

        def work(rows):
            for _ in range(50):
                if not np.allclose(s.run(None, {'x': batch(rows)})[0], truth(batch(rows)), atol=1e-5):
                    wrong.append(rows)
        threads = [threading.Thread(target=work, args=(1 + i % 4,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])


if __name__ == '__main__':
    unittest.main()
