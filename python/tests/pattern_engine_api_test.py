"""examples/pattern_engine's classes in this process: the names and error texts of the guide, models and answers beside ONNX Runtime's."""
import importlib
import time
import unittest
from unittest import mock

import numpy as np
import onnx
import onnxruntime
from case import TensorProto, helper, model, python
from pattern_engine_case import HERE, PatternCase

import tenfold
import tenfold.tensorrt as trt

trt_engine = importlib.import_module('pattern_engine.trt_engine')
toy_models = importlib.import_module('toy_models')


def of(*shape):
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


class Engines(PatternCase):
    def engine(self, proto, **options):
        onnx.save(proto, self.path('model.onnx'))
        return trt_engine.TRTEngine(trt_engine.build_engine(self.path('model.onnx'), self.path('model.engine'), **options))

    def two(self):
        return model([helper.make_node('Add', ['a', 'b'], ['sum']), helper.make_node('Sub', ['a', 'b'], ['difference'])],
                     [('a', TensorProto.FLOAT, [2, 3]), ('b', TensorProto.FLOAT, [2, 3])],
                     [('sum', TensorProto.FLOAT, [2, 3]), ('difference', TensorProto.FLOAT, [2, 3])])

    def test_models_are_onnx_runtimes(self):
        self.assertTrue(trt_engine.has_tensorrt())
        for name in ('lstm_a', 'large_cnn'):
            proto = toy_models.make_model(name)
            onnx.checker.check_model(proto)
            engine = self.engine(proto)
            x = of(*engine.bindings[0]['shape'])
            np.testing.assert_allclose(engine.infer(x), onnxruntime.InferenceSession(self.path('model.onnx')).run(None, {'input': x})[0],
                                       atol=1e-4, rtol=1e-3)

    def test_lstm_sizes(self):
        """Parameters of the public sizes, with one bias for each gate; ONNX has two."""
        for name, expected in (('lstm_a', 160_901), ('lstm_b', 1_002_601), ('lstm_c', 30_017_001)):
            _, width, layers, units = toy_models.LSTMS[name]
            self.assertEqual(sum(4 * units * ((units if i else width) + units + 1) for i in range(layers)) + units + 1, expected)
        count = sum(int(np.prod(w.dims)) for w in toy_models.make_model('lstm_a').graph.initializer if w.data_type == TensorProto.FLOAT)
        self.assertEqual(count - 2 * 4 * 100, 160_901)

    def test_without_tensorrt(self):
        with mock.patch('importlib.util.find_spec', return_value=None):
            self.assertFalse(trt_engine.has_tensorrt())
            self.refused(RuntimeError, 'TensorRT bindings not available', trt_engine.TRTEngine, 'a')
            self.refused(RuntimeError, 'tensorrt Python bindings are required', trt_engine.build_engine, 'a', 'b')
        done = python(f"""
import os, runpy
sys.modules['tenfold'] = None
sys.argv = ['build_trt_engine.py', '--onnx=a', '--engine=b']
sys.path.insert(0, os.path.join({HERE!r}, 'scripts'))
runpy.run_path(os.path.join({HERE!r}, 'scripts', 'build_trt_engine.py'), run_name='__main__')""")
        self.assertEqual((done.returncode, 'Traceback' in done.stderr), (2, False), done.stderr)
        self.assertIn('bindings not found', done.stderr)

    def test_bindings(self):
        engine = self.engine(self.two())
        self.assertEqual([(b['index'], b['name'], b['is_input'], b['dtype'], b['shape']) for b in engine.bindings],
                         [(0, 'a', True, np.float32, (2, 3)), (1, 'b', True, np.float32, (2, 3)), (2, 'sum', False, np.float32, (2, 3)),
                          (3, 'difference', False, np.float32, (2, 3))])
        self.assertIs(engine.binding_map['b'], engine.bindings[1])
        self.assertEqual((engine.input_binding_idxs, engine.output_binding_idxs), ([0, 1], [2, 3]))
        a, b = of(2, 3), np.arange(6).reshape(2, 3)   # integers become floats
        total, difference = engine.infer({'b': b, 'a': a})
        self.near(total, a + b), self.near(difference, a - b)
        self.near(engine.infer({'a': a * 2, 'b': b})[0], 2 * a + b)
        self.near(total, a + b)   # answers are the caller's
        self.near(engine.infer({'a': of(3, 2).T, 'b': b})[0], of(3, 2).T + b)

    def test_error_texts(self):
        engine, a = self.engine(self.two()), of(2, 3)
        for given, words in ((a, 'requires a mapping for multi-input models'), ({'a': a, 'c': a}, 'Unknown input binding name: c'),
                             ({'a': a, 'b': a, 'sum': a}, 'Binding sum is not marked as input'), ({'a': a}, 'given for the input b'),
                             ({'a': a, 'b': a[:1]}, 'Input shape (1, 3) incompatible with engine binding shape (2, 3) for binding index 1'),
                             ({'a': a + 1j, 'b': a}, 'Cannot coerce input dtype complex64 to expected float32 for binding index 0'),
                             ({'a': a.astype(str), 'b': a}, 'Cannot coerce input dtype <U'), ({'a': a, 'b': None}, 'dtype object')):
            self.refused(RuntimeError, words, engine.infer, given)
        self.near(engine.infer({'a': a, 'b': a})[0], 2 * a)   # it goes on
        with open(self.path('model.engine'), 'r+b') as f:
            f.truncate(900)
        self.refused(RuntimeError, ['Failed to deserialize TRT engine', 'damaged'], trt_engine.TRTEngine, self.path('model.engine'))
        self.assertRaises(OSError, trt_engine.TRTEngine, self.path('none'))
        onnx.save(model([helper.make_node('Oops', ['x'], ['y'])], [('x', TensorProto.FLOAT, [1])], [('y', TensorProto.FLOAT, [1])]),
                  self.path('bad.onnx'))
        self.refused(RuntimeError, ['Failed to parse ONNX model', 'Oops'], trt_engine.build_engine, self.path('bad.onnx'), self.path('out'))

    def test_open_shapes(self):
        """build_engine() fixes them to 1, and says so; an engine with a profile runs what lies in it, in memory for the largest."""
        proto = model([helper.make_node('Abs', ['x'], ['y'])], [('x', TensorProto.FLOAT, ['n', 3])], [('y', TensorProto.FLOAT, ['n', 3])])
        with self.assertLogs('pattern_engine', 'WARNING') as reported:
            self.assertEqual(self.engine(proto).bindings[0]['shape'], (1, 3))
        self.assertIn("'n' and no profile: it is fixed to 1", reported.output[-1])
        logger = trt.Logger(trt.Logger.ERROR)
        builder = trt.Builder(logger)
        network, config, profile = builder.create_network(0), builder.create_builder_config(), builder.create_optimization_profile()
        self.assertTrue(trt.OnnxParser(network, logger).parse(proto.SerializeToString()))
        profile.set_shape('x', (1, 3), (2, 3), (4, 3))
        config.add_optimization_profile(profile)
        with open(self.path('open.engine'), 'wb') as f:
            f.write(builder.build_serialized_network(network, config))
        engine = trt_engine.TRTEngine(self.path('open.engine'))
        self.assertEqual(engine.bindings[0]['shape'], (-1, 3))
        for rows in (4, 1, 3):
            self.near(engine.infer(of(rows, 3)), np.abs(of(rows, 3)))
        self.refused(RuntimeError, 'Failed to set dynamic binding shape for index 0', engine.infer, of(5, 3))

    def test_memory_is_allocated_once(self):
        engine = self.engine(self.two())
        inference = trt_engine.TRTInference(engine.engine)
        self.assertRaises(RuntimeError, getattr, inference, 'd_input')
        self.refused(RuntimeError, 'allocate_buffers', inference.run, {})
        inference.allocate_buffers()
        places = int(inference.d_input), int(inference.d_output)
        for _ in range(3):
            self.near(inference.run({'a': of(2, 3), 'b': of(2, 3)})['sum'], 2 * of(2, 3))
        self.refused(RuntimeError, 'The input a has the shape (2, 3), not (1, 3)', inference.run, {'a': of(1, 3), 'b': of(2, 3)})
        self.assertEqual((int(inference.d_input), int(inference.d_output)), places)
        self.assertTrue(inference.cuda_ctx and inference.stream)

    def test_infer_costs_little_beside_the_runner(self):
        """At most 1.3 times infer_at(), medians of calls that take turns; one quiet round of five is enough."""
        engine = self.engine(toy_models.make_model('toy_mlp', quiet=True))
        runner = tenfold.LatencyRunner(self.path('model.engine'), tolerance=None)
        window = np.ones((1, 1, toy_models.WINDOW), np.float32)
        self.near(engine.infer(window), runner.infer_at(window.ctypes.data).output, 0)
        place, ratios = window.ctypes.data, []
        while len(ratios) < 5 and (not ratios or min(ratios) > 1.3):
            taken = [[], []]
            for _ in range(3000):
                start = time.perf_counter_ns()
                engine.infer(window)
                between = time.perf_counter_ns()
                runner.infer_at(place)
                taken[0].append(between - start), taken[1].append(time.perf_counter_ns() - between)
            ratios.append(np.median(taken[0]) / np.median(taken[1]))
        self.assertLess(min(ratios), 1.3)

    def test_preset_and_benchmark(self):
        self.assertEqual(trt_engine.TRADING, {'max_workspace_size': 256 << 20, 'fp16': True, 'strict_types': True})
        engine = self.engine(self.two(), **trt_engine.TRADING)
        times = trt_engine.benchmark_inference(engine, num_iterations=50)
        self.assertEqual(list(times), ['mean_latency_ms', 'p95_latency_ms', 'p99_latency_ms'])
        self.assertTrue(0 < times['p95_latency_ms'] <= times['p99_latency_ms'] < 1000)
        self.refused(RuntimeError, 'num_iterations is at least 1', trt_engine.benchmark_inference, engine, 0)


class Training(unittest.TestCase):
    def test_gradients_are_differences(self):
        layers = importlib.import_module('toy_layers')
        random = np.random.default_rng(5)
        chain = [layers.Conv(random, 2, 3), layers.Relu(), layers.Flatten(), layers.Dense(random, 24, 2)]
        for layer in chain:
            layer.parameters = [p.astype(np.float64) for p in layer.parameters]
        x, expected = random.standard_normal((4, 2, 8)), random.standard_normal((4, 2))
        toy_models.forward(chain, x)
        gradient = expected
        for layer in reversed(chain):
            gradient = layer.backward(gradient)
        for layer in chain:
            for parameter, slope in zip(layer.parameters, [g.copy() for g in layer.gradients]):
                at = tuple(random.integers(0, size) for size in parameter.shape)
                ends = []
                for step in (1e-5, -2e-5):
                    parameter[at] += step
                    ends.append((toy_models.forward(chain, x) * expected).sum())
                self.assertAlmostEqual((ends[0] - ends[1]) / 2e-5, slope[at], delta=1e-5 * (1 + abs(slope[at])))
                parameter[at] += 1e-5


if __name__ == '__main__':
    unittest.main()
