"""Operators written in Python, on the CPU: references, types, tactics, graphs, and what goes wrong. The truth is NumPy's."""
import gc
import os
import pickle
import subprocess
import sys
import threading
import unittest

import numpy as np
from case import QUICK, TensorProto, batch, helper, model, numpy_helper
from plugins_case import DOMAIN, PROFILE_OF_SIX, Plugged, build, model_of, only, snake_truth

import tenfold
from tenfold import plugins

class References(Plugged):
    def test_a_model_that_uses_one(self):
        self.snake()
        engine = build(model_of('Snake', alpha=0.5))
        for rows in (1, 5):
            self.near(engine(batch(rows)), snake_truth(batch(rows), 0.5))
        self.near(build(model_of('Snake'))(batch()), snake_truth(batch(), 1.0))

    def test_plans_need_it_and_name_it(self):
        snake = self.snake()
        engine = build(model_of('Snake'))
        engine.save(self.path('m.plan'))
        self.near(tenfold.load(self.path('m.plan'))(batch()), snake_truth(batch(), 1.0))
        self.near(pickle.loads(pickle.dumps(engine))(batch()), snake_truth(batch(), 1.0))
        plugins.forget(snake)
        self.refused(tenfold.Error, 'com.example', tenfold.load, self.path('m.plan'))
        self.refused(tenfold.Error, 'Snake', build, model_of('Snake'))
        self.near(engine(batch()), snake_truth(batch(), 1.0))
        self.snake(version=2)
        self.refused(tenfold.PlanRefused, 'version', tenfold.load, self.path('m.plan'))
        with self.assertRaises(KeyError):
            plugins.forget('com.example::Other')

    def test_sets_of_ones_own(self):
        snake = self.snake()
        plugins.forget(snake)
        mine = tenfold.Plugins()
        mine.add(snake)
        self.refused(tenfold.InvalidArgument, 'Snake', mine.add, snake)
        self.near(build(model_of('Snake'), plugins=mine)(batch()), snake_truth(batch(), 1.0))

    def test_networks_and_sessions(self):
        self.snake()
        net = tenfold.Network()
        net.output(net.Snake(net.input('x', 'f32', ['batch', 6]), domain=DOMAIN, alpha=2.0), 'y')
        self.near(tenfold.build(net, profiles={'x': PROFILE_OF_SIX}, **QUICK)(batch()), snake_truth(batch(), 2.0))
        session = tenfold.Session(model_of('Snake').SerializeToString(), providers=['CPUExecutionProvider'], tune='never')
        self.near(session.run(None, {'x': batch(3)})[0], snake_truth(batch(3), 1.0))

    def test_constants_are_folded(self):
        asked = []

        @plugins.op('com.example::Counted')
        def counted(x):
            asked.append(x.shape)
            return x + 1
        made = model_of('Counted', inputs=('w',))
        del made.graph.input[:]
        made.graph.initializer.append(numpy_helper.from_array(batch(), 'w'))
        made.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 4
        engine = tenfold.build(made, **QUICK)
        before = len(asked)
        self.assertGreater(before, 0)
        self.near(engine({}), batch() + 1)
        self.assertEqual(len(asked), before)

    def test_optional_operands_several_results_and_other_types(self):
        @plugins.op('com.example::Split', outputs=2, at=2, words=['a'])
        def split(x, shift=None, *, at, words):
            assert words == ['b', 'c']
            moved = x if shift is None else x + shift
            return moved[:, :at], moved[:, at:].astype(np.int32)

        @split.infer
        def _(x, shift=None, *, at, words):
            self.assertEqual((x.least[1], x.most[1]), (6, 6))
            return plugins.Type(x.dtype, (x.dims[0], at)), plugins.Type(np.int32, (x.dims[0], x.dims[1] - at))
        outputs = ('a', TensorProto.FLOAT, ['batch', 4]), ('b', TensorProto.INT32, ['batch', 2])
        for inputs, wanted in ((('x',), batch()), (('x', 'x'), 2 * batch())):
            found = build(model_of('Split', inputs, outputs, at=4, words=['b', 'c']))({'x': batch()})
            self.near(found['a'], wanted[:, :4])
            np.testing.assert_array_equal(found['b'], wanted[:, 4:].astype(np.int32))

    def test_any_number_of_operands(self):
        @plugins.op('com.example::Sum')
        def total(*xs):
            return sum(xs)
        self.near(build(model_of('Sum', ('x', 'z', 'x')))({'x': batch(), 'z': batch(seed=2)}), 2 * batch() + batch(seed=2))

    def test_sizes_that_only_the_run_knows(self):
        @plugins.op('com.example::Positive')
        def positive(x):
            return x[x > 0]

        @positive.infer
        def _(x):
            return plugins.Type(x.dtype, (f'found <= {x.dims[0]}*{x.dims[1]}',))
        engine = build(model_of('Positive', outputs=(('y', TensorProto.FLOAT, ['found']),)))
        for rows in (1, 7):
            x = batch(rows)
            self.near(engine(x), x[x > 0])

    def test_contents_of_small_tensors(self):
        @plugins.op('com.example::Pick')
        def pick(x, which):
            return x[:, which]

        @pick.infer
        def _(x, which):
            if which.contents is None:
                raise NotImplementedError('the numbers are not known')
            self.assertEqual((which.contents, which.constant), ((3, 1), True))
            return plugins.Type(x.dtype, (x.dims[0], len(which.contents)))
        made = model_of('Pick', ('x', 'w'), (('y', TensorProto.FLOAT, ['batch', 2]),))
        del made.graph.input[1]
        made.graph.initializer.append(helper.make_tensor('w', TensorProto.INT64, [2], [3, 1]))
        self.near(build(made)(batch()), batch()[:, [3, 1]])


    def test_calling_one_calls_the_reference(self):
        snake = self.snake()
        for found in (snake(batch(), 0.5), snake(batch(), alpha=0.5)):
            self.near(found, snake_truth(batch(), 0.5))
        self.near(snake(batch()), snake_truth(batch(), 1.0))


class Tactics(Plugged):
    def test_one_is_timed_and_taken(self):
        snake = self.snake()
        states = []

        def state(problem):
            self.assertEqual((problem.device, problem.attributes, problem.inputs[0].dims[1]), ('cpu', {'alpha': 0.5}, 6))
            states.append([])
            return states[-1]

        @snake.tactic('cpu', open=state, configs=lambda problem: [[1], [2]], workspace=lambda problem: f'64*{problem.inputs[0].dims[0]}')
        def fast(out, x, alpha, call):
            self.assertTrue(call.workspace % 64 == 0 and call.workspace)
            self.assertIn(call.problem.config, [(1,), (2,)])
            call.state.append(len(x))
            with self.assertRaises(ValueError):
                x[0] = 1

            def part(i):
                out[i] = snake_truth(x[i], np.float32(alpha))
            call.workers.run(len(x), part)
        engine = build(model_of('Snake', alpha=0.5), optimization_level=2, choose_tactic=only('fast'), threads=2)
        before = len(states)
        context = engine.create_context()
        for rows in (1, 8, 3):
            context.bind('x', batch(rows))
            context.run()
            self.near(context.outputs()['y'], snake_truth(batch(rows), 0.5))
        self.assertTrue(any(s[-3:] == [1, 8, 3] for s in states))
        self.assertLessEqual(len(states), before + 1)
        self.assertIn('fast', str(engine.inspect()))

    def test_configurations_are_asked_for_all_at_once(self):
        """As often for 8 as for 2: the list is not made anew for each of its entries."""
        asked = {}
        for count in (2, 8):
            asked[count] = 0

            def configs(problem, count=count):
                asked[count] += 1
                return [[i] for i in range(count)]
            snake = self.snake()

            @snake.tactic('cpu', configs=configs)
            def fast(out, x, alpha):
                out[:] = snake_truth(x, np.float32(alpha))
            engine = build(model_of('Snake', alpha=0.5), optimization_level=0, choose_tactic=only('fast'))
            self.near(engine(batch()), snake_truth(batch(), 0.5))
        self.assertEqual(asked[8], asked[2])
        self.assertGreater(asked[2], 0)

    def test_a_set_is_made_once_and_again_when_something_changes(self):
        from tenfold import _registry
        snake = self.snake()
        first = _registry.known_plugins()
        self.assertIs(_registry.known_plugins(), first)

        @snake.tactic('cpu')
        def fast(out, x, alpha):
            out[:] = snake_truth(x, np.float32(alpha))
        second = _registry.known_plugins()
        self.assertIsNot(second, first)
        self.near(build(model_of('Snake', alpha=0.5), optimization_level=2, choose_tactic=only('fast'))(batch()), snake_truth(batch(), 0.5))
        self.assertIs(_registry.known_plugins(), second)

    def test_what_is_refused_and_what_fails_is_not_taken(self):
        snake = self.snake()

        @snake.tactic('cpu', name='refuses', supports=lambda problem: 'only on Sundays')
        def _(out, x, alpha):
            self.fail('it was refused')

        @snake.tactic('cpu')
        def fails(out, x, alpha):
            raise ZeroDivisionError('alpha')
        seen = []
        engine = build(model_of('Snake'), optimization_level=3, choose_tactic=only('', seen))
        self.near(engine(batch()), snake_truth(batch(), 1.0))
        self.assertEqual(seen, [])
        self.assertIn('reference', engine.inspect())

        @snake.tactic('cpu')
        def works(out, x, alpha):
            out[:] = snake_truth(x, np.float32(alpha))
        self.near(build(model_of('Snake'), optimization_level=3, choose_tactic=only('', seen))(batch()), snake_truth(batch(), 1.0))
        self.assertEqual([n for n in seen if 'works' not in n], [])
        self.assertTrue(seen)

    def test_eight_threads(self):
        snake = self.snake()

        @snake.tactic('cpu')
        def fast(out, x, alpha):
            out[:] = snake_truth(x, np.float32(alpha))
        engine = build(model_of('Snake'), choose_tactic=only('fast'))
        wrong = []

        def work(seed):
            for i in range(50):
                x = batch(1 + i % 8, seed)
                if not np.allclose(engine(x), snake_truth(x, 1.0), atol=1e-5):
                    wrong.append(seed)
        threads = [threading.Thread(target=work, args=(s,)) for s in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_memory_stays_as_it_was(self):
        snake = self.snake()

        @snake.tactic('cpu')
        def fast(out, x, alpha):
            out[:] = x
        engine, x = build(model_of('Snake'), choose_tactic=only('fast')), batch()
        out = np.empty_like(x)
        for _ in range(100):
            engine(x, out=out)
        gc.collect()
        before = len(gc.get_objects()), sys.getrefcount(fast), sys.getrefcount(snake)
        for _ in range(5000):
            engine(x, out=out)
        gc.collect()
        self.assertLess(len(gc.get_objects()) - before[0], 50)
        self.assertEqual((sys.getrefcount(fast), sys.getrefcount(snake)), before[1:])
        del engine
        gc.collect()


    def test_one_more_than_the_limits(self):
        snake = self.snake()
        for i in range(17):
            @snake.tactic('cpu', name=f't{i}')
            def _(out, x, alpha):
                out[:] = x
        self.refused(tenfold.Unsupported, 'at most 16 tactics', build, model_of('Snake'))

    def test_many_operands(self):
        @plugins.op('com.example::Total')
        def total(*xs):
            return sum(xs)

        @total.tactic('cpu')
        def fast(out, *xs):
            out[:] = sum(xs)
        for count, kernel in ((15, 'fast'), (16, 'fast'), (17, 'reference'), (64, 'reference')):
            engine = build(model_of('Total', ('x',) * count), choose_tactic=only('fast'))
            self.assertIn(kernel, engine.inspect())
            self.near(engine(batch()), count * batch(), 1e-4)
        self.refused(tenfold.InvalidModel, '64', build, model_of('Total', ('x',) * 65))


class Graphs(Plugged):
    def test_it_fuses_and_plans_do_not_need_it(self):
        @plugins.graph('com.example::Scaled', factor=2.0)
        def scaled(x, factor):
            if factor == 0:
                raise ValueError('the factor is zero')
            return 'k = f32[]{$factor}\ny = Mul(in0, k)\nreturn y'
        engine = build(model_of('Scaled', factor=3.0))
        engine.save(self.path('m.plan'))
        plugins.forget(scaled)
        self.near(tenfold.load(self.path('m.plan'))(batch()), 3 * batch())
        plugins._registry.register(scaled)
        self.refused(tenfold.InvalidModel, 'the factor is zero', build, model_of('Scaled', factor=0.0))


class Faults(Plugged):
    def failing(self, function, infer=None):
        made = plugins.op('com.example::Bad')(function)
        if infer:
            made.infer(infer)
        return lambda: build(model_of('Bad'))

    def test_exceptions_are_the_cause(self):
        def bad(x):
            raise ZeroDivisionError('nothing to divide')
        engine = self.failing(bad)()
        error = self.refused(tenfold.Error, ['ZeroDivisionError: nothing to divide', 'com.example'], engine, batch())
        self.assertIsInstance(error.__cause__, ZeroDivisionError)
        self.assertEqual(error.__cause__.__traceback__.tb_frame.f_code.co_name, 'compute')

        def infer(x):
            raise ValueError('f64 alone')
        error = self.refused(tenfold.InvalidModel, 'f64 alone', self.failing(lambda x: x, infer))
        self.assertIsInstance(error.__cause__, ValueError)

    def test_ctrl_c_stays_one(self):
        def bad(x):
            raise KeyboardInterrupt
        engine = self.failing(bad)()
        with self.assertRaises(KeyboardInterrupt):
            engine(batch())

    def test_results_that_are_not_what_infer_said(self):
        for words, function in (('infer said float32', lambda x: x.astype(np.float64)), ('[4, 5]', lambda x: x[:, :5]),
                                ('2 results, 1 wanted', lambda x: (x, x)), ('object', lambda x: None)):
            self.refused(tenfold.Error, words, self.failing(function)(), batch())
        for words, infer in (('tenfold.plugins.Type', lambda x: x.dims), ('tenfold.plugins.Type', lambda x: (x, x)),
                             ('f99', lambda x: plugins.Type('f99', x.dims)), ('batch +', lambda x: plugins.Type('f32', ('batch +', 6)))):
            self.refused(tenfold.Error, words, self.failing(lambda x: x, infer))
        self.refused(tenfold.Error, 'at most', self.failing(lambda x: np.zeros(99, np.float32),
                                                            lambda x: plugins.Type('f32', (f'n <= {x.dims[0]}',)))(), batch())

    def test_arrays_that_are_kept(self):
        kept = []

        def bad(x):
            kept.append(x)
            return x
        self.refused(tenfold.Error, 'keep a copy', self.failing(bad)(), batch())

        def failing(x):
            local = x[1:]
            raise RuntimeError(str(local.shape))
        error = self.refused(tenfold.Error, '(3, 6)', self.failing(failing)(), batch())
        trace = error.__cause__.__traceback__
        while trace:
            self.assertNotIn('local', trace.tb_frame.f_locals)
            trace = trace.tb_next

    def test_definitions_that_make_no_sense(self):
        for kind, words, define in (
                (ValueError, 'DOMAIN::NAME', lambda: plugins.op('Snake')), (TypeError, "'beta'", lambda: plugins.op('a::B', beta=1)),
                (TypeError, "'alpha' is no attribute", lambda: plugins.op('a::B'))):
            def function(x, *, alpha=0):
                return x
            self.refused(kind, words, define() if kind is TypeError else (lambda f, d=define: d()(f)), function)
        snake = self.snake()
        self.refused(ValueError, "'cpu' or 'cuda'", snake.tactic('tpu'), lambda out, x, alpha: None)
        self.refused(ValueError, 'numpy', snake.tactic('cpu', arrays='cupy'), lambda out, x, alpha: None)
        self.refused(TypeError, 'results, then the operands', snake.tactic('cpu'), lambda x, alpha: None)
        self.refused(TypeError, "'alpha'", snake.tactic('cpu'), lambda out, x: None)
        self.refused(TypeError, 'as many operands', snake.infer, lambda x, y, alpha: x)

        @plugins.op('com.example::Two', outputs=2)
        def two(x):
            return x, x
        outputs = [(n, TensorProto.FLOAT, ['batch', 6]) for n in 'ab']
        self.refused(tenfold.InvalidModel, 'has no infer', build, model_of('Two', outputs=outputs))

    def test_an_engine_that_is_called_within(self):
        inner = tenfold.build(
            model([helper.make_node('Neg', ['x'], ['y'])], [('x', TensorProto.FLOAT, [4, 6])], [('y', TensorProto.FLOAT, [4, 6])]), **QUICK)
        self.near(self.failing(lambda x: inner(np.array(x)))()(batch()), -batch())

    def test_processes_end_while_it_works(self):
        code = '''
import threading, numpy as np, tenfold, sys
sys.path.insert(0, %r)
from plugins_case import build, model_of
@tenfold.plugins.op("com.example::Slow")
def slow(x):
    return x
engine = build(model_of("Slow"))
def work():
    while True:
        engine(np.zeros((4, 6), np.float32))
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
import time; time.sleep(0.2)
''' % os.path.dirname(os.path.abspath(__file__))
        done = subprocess.run([sys.executable, '-c', 'import tenfold.plugins\n' + code], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)


class Libraries(Plugged):
    def test_what_is_none(self):
        with open(self.path('no.so'), 'w') as f:
            f.write('no library')
        self.refused(tenfold.FileError, 'no.so', plugins.load, self.path('no.so'))


if __name__ == '__main__':
    unittest.main()
