"""What objects print: no class of tenfold prints an address."""
import importlib
import unittest

import numpy as np
from onnx import TensorProto, helper

import tenfold

MODULES = ('tenfold', 'tenfold._native', 'tenfold.session', 'tenfold.onnxruntime', 'tenfold.tensorrt', 'tenfold.pycuda.driver',
           'tenfold.plugins', 'tenfold.embeddings')


def relu():
    value = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node('Relu', ['x'], ['y'])], 'g', [value('x', TensorProto.FLOAT, [1, 4])],
                              [value('y', TensorProto.FLOAT, [1, 4])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], producer_name='a test').SerializeToString()


class Printed(unittest.TestCase):
    def test_no_class_prints_an_address(self):
        for name in MODULES:
            module = importlib.import_module(name)
            for word, one in vars(module).items():
                if isinstance(one, type) and one.__module__.startswith('tenfold') and not word.startswith('_'):
                    with self.subTest(f'{name}.{word}'):
                        self.assertIsNot(one.__repr__, object.__repr__)

    def test_results_print_their_fields(self):
        model = relu()
        engine = tenfold.build(model, optimization_level=0, device='cpu')
        runner = tenfold.LatencyRunner(engine, warm_up_runs=1)
        runner.infer(np.ones((1, 4), np.float32))
        cache, recorder = tenfold.TimingCache(), tenfold.LatencyRecorder()
        reported = {
            'CandidateState': (runner.candidates()[0], "name='engine'"), 'RunnerCounts': (runner.counts, 'answered=1'),
            'ModelMetadata': (tenfold.metadata(model), "producer_name='a test'"),
            'PlanInspection': (tenfold.inspect(engine), 'programs='), 'EngineInfo': (engine.info, 'threads='),
            'Input': (engine.bindings[0], "'x' f32[1x4]"),
            'Answer': (runner.infer(np.ones((1, 4), np.float32)), 'ok'),
            'TimingCache': (cache, ''), 'LatencyRecorder': (recorder, ''), 'CancelToken': (tenfold.CancelToken(), ''),
            'LatencyRunner': (runner, ''), 'RowRing': (tenfold.RowRing(2, 3), ''), 'Context': (engine.create_context(), ''),
        }
        for word, (one, field) in reported.items():
            with self.subTest(word):
                self.assertIn(field, repr(one))
                self.assertIn(word.lower(), repr(one).lower())
                self.assertNotIn(' object at 0x', repr(one))


if __name__ == '__main__':
    unittest.main()
