"""What scripts of ONNX Runtime give a session, under both modules: feeds, shapes and initializers."""
import unittest

import numpy as np
import onnxruntime
from case import TensorProto, helper, model, numpy_helper
from session_onnxruntime_case import BOTH, FLOAT, INT, Beside, biased, clip, node, relu, session

import tenfold
import tenfold.onnxruntime


class Feeds(Beside):
    def test_lists_are_arrays_of_the_inputs_type(self):
        def run(module, proto, x):
            return session(module, proto).run(None, {'x': x})
        for x in ([1., 2., 3., 4.], [1, 2, 3, 4], [True, False, True, False], [float('nan')] * 4, [np.float32(1)] * 4, ['1', '2', '3', '4'],
                  [None] * 4):
            self.same(run, relu(), x)
        for x in ([[1, 2, 3, 4]], [[1, 2, 3, 4], [5, 6, 7, -8]], [np.arange(4.), np.ones(4)]):
            self.same(run, relu(['n', 4]), x)
        self.same(run, relu([2], INT, 'Identity'), [1.5, 2])
        self.same(run, relu([2], TensorProto.BOOL, 'Identity'), [0, 3])
        self.same(run, relu([2], TensorProto.STRING, 'Identity'), ['a', 'b'])
        self.same(run, relu(['n'], FLOAT), [])
        for x in ([[1, 2], [3, 4]], [], [np.zeros(4, np.float32)]):
            self.same(run, relu(), x, error='InvalidArgument')

    def test_what_is_no_array_is_called_by_its_name(self):
        sessions = {module: session(module, relu()) for module in BOTH}

        def run(module, x):
            return sessions[module].run(None, {'x': x})
        for x, word in ((b'abcd', 'bytes'), ('abcd', 'str'), ((1, 2, 3, 4), 'tuple'), (range(4), 'range'), (object(), 'object'),
                        ([[1], [2, 3]], 'list'), ([1, 'a', 2, 3], 'list'), (1.5, 'float')):
            ours = self.same(run, x, error=RuntimeError)
            self.assertIsInstance(ours, TypeError)
            self.assertIn("'x'", str(ours))
            self.assertIn(word, str(ours))
        self.refused((TypeError, RuntimeError), ["'x'", 'None'], run, tenfold.onnxruntime, None)

    def test_names_of_outputs(self):
        x = np.array([-1, 0, 1, 2], np.float32)

        sessions = {module: session(module, relu()) for module in BOTH}

        def run(module, names):
            return sessions[module].run(names() if callable(names) else names, {'x': x})
        for names in (None, [], ['y'], ('y',), {'y'}, lambda: (n for n in ['y']), ['y', 'y'], np.array(['y'])):
            self.same(run, names)
        for names in ('y', 'yy', 3, [3], [None], {'y': 1}):
            self.same(run, names, error=TypeError)
        for names in (['q'], ['x']):
            self.same(run, names, error='InvalidArgument')
        self.refused(TypeError, ["'y'", '["name"]'], run, tenfold.onnxruntime, 'y')

    def test_feeds_that_do_not_fit(self):
        def made(module, profiled):
            options = module.SessionOptions()
            options.enable_profiling, options.profile_file_prefix = profiled, self.path('p')
            return session(module, relu(), options)
        sessions = {(module, profiled): made(module, profiled) for module in BOTH for profiled in (False, True)}

        def run(module, feed, profiled):
            return sessions[module, profiled].run(None, feed)
        for profiled in (False, True):
            for feed in ({}, {'q': np.zeros(4, np.float32)}, {1: 2}):
                ours = self.same(run, feed, profiled, error=ValueError)
                self.assertIn("'x'", str(ours))
            for x in (np.zeros(5, np.float32), np.zeros((1, 4), np.float32), np.zeros(4), np.zeros(4, int), np.zeros(4, np.float16)):
                self.same(run, {'x': x}, profiled, error='InvalidArgument')
            self.same(run, {'x': np.zeros(4, np.float32), 'y': np.zeros(4, np.float32)}, profiled, error='InvalidArgument')
        for feed in (None, [1], 'x'):
            self.refused(TypeError, ['dict', type(feed).__name__], run, tenfold.onnxruntime, feed, False)


class Shapes(Beside):
    def test_dims_of_names_that_say_nothing_are_each_their_own(self):
        for name in ('?', '*', '-1', ''):
            proto = model([node('Add', ['x', 'z'])], [('x', FLOAT, [name, name]), ('z', FLOAT, [name, name])], [('y', FLOAT, [name, name])])

            def run(module):
                s = session(module, proto)
                feeds = [{'x': np.ones(a, np.float32), 'z': np.ones(b, np.float32)} for a, b in (((2, 3), (2, 1)), ((1, 1), (4, 5)))]
                return [[a.shape for a in s.get_inputs()], [s.run(None, feed) for feed in feeds]]
            self.same(run)

    def test_dims_have_the_files_names(self):
        dims = ['past + 1', None, 'batch.size', 3]

        def say(module, proto):
            s = session(module, proto)
            return [[(a.name, a.type, a.shape) for a in ask()] for ask in (s.get_inputs, s.get_outputs, s.get_overridable_initializers)]
        self.same(say, relu(dims))
        self.same(say, model([node('Transpose')], [('x', FLOAT, dims)], [('y', FLOAT, None)]))
        self.same(say, model([node('Relu')], [('x', FLOAT, ['a', 3])], [('y', FLOAT, ['b', 'c'])]))
        of_sequence = helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, None))
        proto = model([node('SequenceConstruct', ['x', 'x'])], [('x', FLOAT, [2])], [])
        proto.graph.output.append(helper.make_value_info('y', of_sequence))
        self.assertEqual(session(tenfold.onnxruntime, proto).get_outputs()[0].type, session(onnxruntime, proto).get_outputs()[0].type)

    def test_ranks_that_only_a_run_tells(self):
        x = np.arange(6, dtype=np.float32)
        to = [('x', FLOAT, ['a']), ('s', INT, ['k'])]
        shapes = [{'x': x, 's': np.array(s)} for s in ([2, 3], [1, 2, 3], [2, 3], [6])]
        cases = [(relu(None), [{'x': x}, {'x': x.reshape(2, 3)}, {'x': x}]),
                 (model([node('Reshape', ['x', 's'])], to, [('y', FLOAT, None)]), shapes),
                 (model([node('Unsqueeze', ['x', 's'])], to, [('y', FLOAT, None)]), [{'x': x, 's': np.array(s)} for s in ([0], [0, 2])])]
        squeezed = helper.make_graph([node('Squeeze', ['x', 'zero'], ['t'])], 'one', [], [helper.make_tensor_value_info('t', FLOAT, None)])
        kept = helper.make_graph([node('Identity', ['x'], ['e'])], 'many', [], [helper.make_tensor_value_info('e', FLOAT, None)])
        by_extent = [node('Shape', ['x'], ['s']), node('Gather', ['s', 'zero'], ['n']), node('Equal', ['n', 'one'], ['c']),
                     node('If', ['c'], ['r'], then_branch=squeezed, else_branch=kept), node('Shape', ['r'])]   # as torch writes squeeze()
        cases.append((model(by_extent, [('x', FLOAT, ['n', 3])], [('y', INT, None)],
                            [numpy_helper.from_array(np.array([i]), n) for i, n in enumerate(('zero', 'one'))]),
                      [{'x': np.ones((rows, 3), np.float32)} for rows in (1, 2)]))
        for proto, feeds in cases:
            def run(module):
                s = session(module, proto)
                return [[a.shape for a in s.get_inputs()], [s.run(['y'], feed) for feed in feeds]]
            with self.assertLogs('tenfold', 'WARNING') as seen:
                self.same(run)
            self.assertTrue(any('an engine is built for each set of shapes' in line for line in seen.output), seen.output)

    def test_other_faults_beside_a_rank_are_told_at_once(self):
        proto = model([node('Relu', ['x'], ['r']), node('Nonsense', ['z'])], [('x', FLOAT, None), ('z', FLOAT, [2])], [('y', FLOAT, [2]),
                                                                                                               ('r', FLOAT, None)])
        self.assertIn('Nonsense', str(self.same(session, proto, error='InvalidGraph')))

    def test_free_dimensions_are_fixed_by_name(self):
        def run(module, name, size, rows):
            options = module.SessionOptions()
            options.add_free_dimension_override_by_name(name, size)
            s = session(module, relu(['n', 4]), options)
            return [s.get_inputs()[0].shape, s.run(None, {'x': np.ones((rows, 4), np.float32)})]
        for given in (('n', 2, 2), ('m', 2, 3)):
            self.same(run, *given)
        self.assertIn('fixed to 2', str(self.same(run, 'n', 2, 3, error='InvalidArgument')))
        options = tenfold.onnxruntime.SessionOptions()
        options.add_free_dimension_override_by_name('n', 2)
        s = session(tenfold.onnxruntime, relu(['n', 4]), options, profiles={'x': ([1, 4], [2, 4], [4, 4])})
        self.assertEqual(s.run(None, {'x': np.ones((2, 4), np.float32)})[0].shape, (2, 4))
        self.refused(tenfold.InvalidArgument, 'fixed to 2', s.run, None, {'x': np.ones((3, 4), np.float32)})


class Initializers(Beside):
    def test_those_that_are_inputs_may_be_fed(self):
        x = np.linspace(-1, 1, 6).astype(np.float32)

        def run(module, version, low):
            s = session(module, clip(version))
            names = [[(a.name, a.shape, a.type) for a in ask()] for ask in (s.get_inputs, s.get_overridable_initializers)]
            feed = {'x': x} if low is None else {'x': x, 'lo': low}
            return [names, s.run(None, feed), s.run(None, {'x': x})]
        for version in (3, 4, 9):
            self.same(run, version, None)
        for low in (np.array(.3, np.float32), np.array(-.5, np.float32)):
            self.same(run, 4, low)
            self.same(run, 3, low, error='InvalidArgument')
        self.same(run, 4, np.array(.3), error='InvalidArgument')
        self.same(lambda module: session(module, clip(4)).run(None, {'lo': np.array(.3, np.float32)}), error=ValueError)

    def test_of_a_dynamic_model_and_by_binding(self):
        proto = model([node('Add', ['x', 'b'])], [('x', FLOAT, ['n', 2]), ('b', FLOAT, [2])], [('y', FLOAT, ['n', 2])],
                      [numpy_helper.from_array(np.array([1, 2], np.float32), 'b')])

        def run(module):
            s, results = session(module, proto), []
            for rows in (1, 3, 1):
                x = np.ones((rows, 2), np.float32)
                results += [s.run(None, {'x': x}), s.run(['y'], {'x': x, 'b': np.array([5, 6], np.float32)})]
            return results
        self.same(run)
        s = session(tenfold.onnxruntime, proto)   # ONNX Runtime binds none of them
        binding = s.io_binding()
        binding.bind_cpu_input('x', np.ones((3, 2), np.float32))
        binding.bind_cpu_input('b', np.array([7, 8], np.float32))
        binding.bind_output('y')
        s.run_with_iobinding(binding)
        self.near(binding.copy_outputs_to_cpu()[0], np.tile([8, 9], (3, 1)))

    def test_values_in_their_place(self):
        x, five = np.zeros(4, np.float32), np.full(4, 5, np.float32)

        def add(module, name='w', value=five, proto=None, wrap=True):
            options, given = module.SessionOptions(), module.OrtValue.ortvalue_from_numpy(value) if wrap else value
            options.add_initializer(name, given)   # which must live as long as the session
            return session(module, proto or biased(), options).run(None, {'x': x})

        def external(module, names, values, proto):
            options = module.SessionOptions()
            values = [module.OrtValue.ortvalue_from_numpy(v) for v in values]
            options.add_external_initializers(names, values)
            return session(module, proto, options).run(None, {'x': x})

        def in_memory(module):
            options, data = module.SessionOptions(), five.tobytes()   # which ONNX Runtime does not hold
            options.add_external_initializers_from_files_in_memory(['w.bin'], [data], [16])
            return session(module, biased(True), options).run(None, {'x': x})
        self.same(add)
        self.same(add, 'q')
        self.same(add, 'w', five, None, False, error=RuntimeError)
        self.refused(tenfold.InvalidArgument, "'w'", add, tenfold.onnxruntime, 'w', np.ones(3, np.float32))
        self.refused(tenfold.InvalidArgument, "'w'", add, tenfold.onnxruntime, 'w', np.ones(4))
        self.same(external, ['w'], [five], biased(True))
        self.same(external, ['w'], [five], biased(), error='Fail')
        self.same(external, ['q'], [five], biased(True), error='Fail')
        self.same(external, ['w'], [], biased(True), error=RuntimeError)
        self.same(external, [], [], biased(True), error='Fail')
        self.same(in_memory)


if __name__ == '__main__':
    unittest.main()
