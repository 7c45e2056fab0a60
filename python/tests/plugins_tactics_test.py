"""Tactics of operators written in Python, on the CPU: timed, taken, refused, on many threads. The truth is NumPy's."""
import gc
import sys
import threading
import unittest

import numpy as np
from case import batch
from plugins_case import Plugged, build, model_of, only, snake_truth

import tenfold
from tenfold import plugins


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
        requested = {}
        for count in (2, 8):
            requested[count] = 0

            def configs(problem, count=count):
                requested[count] += 1
                return [[i] for i in range(count)]
            snake = self.snake()

            @snake.tactic('cpu', configs=configs)
            def fast(out, x, alpha):
                out[:] = snake_truth(x, np.float32(alpha))
            engine = build(model_of('Snake', alpha=0.5), optimization_level=0, choose_tactic=only('fast'))
            self.near(engine(batch()), snake_truth(batch(), 0.5))
        self.assertEqual(requested[8], requested[2])
        self.assertGreater(requested[2], 0)

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


if __name__ == '__main__':
    unittest.main()
