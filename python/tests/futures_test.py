"""run_async(): futures of runs in their contexts' own threads; the truth is NumPy's."""
import asyncio
import concurrent.futures
import gc
import os
import threading
import time
import unittest
import weakref

import numpy as np
from case import PROFILE, QUICK, Case, TensorProto, batch, helper, model, python, tanh_engine, tanh_model, truth

import tenfold


class Steps:
    """An engine of two steps in Python: the first waits until it is let go, the second says that it ran."""

    def __init__(self, name):
        self.entered, self.go, self.reached = threading.Event(), threading.Event(), []

        @tenfold.plugins.op(f'test.futures::{name}First')
        def first(x):
            self.entered.set()
            self.go.wait(20)
            return x + 1

        @tenfold.plugins.op(f'test.futures::{name}Second')
        def second(x):
            self.reached.append(True)
            return 2 * x
        self.names = [str(first), str(second)]
        net = tenfold.Network()
        x = net.input('x', 'f32', [4])
        between = getattr(net, f'{name}First')(x, domain='test.futures')
        net.output(getattr(net, f'{name}Second')(between, domain='test.futures'), 'y')
        self.go.set()
        self.engine = tenfold.build(net, **QUICK)
        self.engine(np.zeros(4, np.float32))
        self.go.clear(), self.entered.clear(), self.reached.clear()

    def forget(self):
        for name in self.names:
            tenfold.plugins.forget(name)


class Futures(Case):
    def test_results_by_every_form(self):
        engine, x = tanh_engine(), batch()
        out = np.zeros((4, 4), np.float32)
        self.assertIs(engine.run_async({'x': x}, out=out).result(20), out)
        self.near(out, truth(x))
        two = tenfold.build(model([helper.make_node('Add', ['a', 'b'], ['s']), helper.make_node('Sub', ['a', 'b'], ['d'])],
                                  [(n, TensorProto.FLOAT, [3]) for n in 'ab'], [(n, TensorProto.FLOAT, [3]) for n in 'sd']), **QUICK)
        a, b = np.float32([1, 2, 3]), np.float32([5, 7, 11])
        results = two.run_async(a, b).result(20)
        np.testing.assert_array_equal(results['s'], a + b)
        np.testing.assert_array_equal(results['d'], a - b)
        by_run = tenfold.build(model([helper.make_node('NonZero', ['x'], ['y'])], [('x', TensorProto.FLOAT, [4])],
                                     [('y', TensorProto.INT64, [1, 'n'])]), **QUICK)
        for given in ([0, 1, 0, 2], [0, 0, 0, 0], [1, 1, 1, 1]):
            given = np.float32(given)
            np.testing.assert_array_equal(by_run.run_async(given).result(20), np.asarray(np.nonzero(given)))

    def test_many_at_once_come_out_right(self):
        engine = tanh_engine()
        futures = {engine.run_async(batch(1 + k % 8, k)): k for k in range(300)}
        for future in concurrent.futures.as_completed(futures, 60):
            k = futures[future]
            self.near(future.result(), truth(batch(1 + k % 8, k)))

    def test_what_does_not_fit_comes_out_of_the_future(self):
        engine, x = tanh_engine(), batch()
        for wrong, kind in ((x.astype(np.float64), tenfold.InvalidArgument), (x[:, :5], tenfold.InvalidArgument), (x.tolist(), TypeError),
                            (np.zeros((9, 6), np.float32), tenfold.InvalidArgument)):
            self.assertIsInstance(engine.run_async(wrong).exception(20), kind)
        self.assertIsInstance(engine.run_async(x, stream=1).exception(20), tenfold.InvalidArgument)
        self.assertIsInstance(engine.run_async(x=x).exception(20), TypeError)
        self.near(engine.run_async(x).result(20), truth(x))

    def test_loops_in_several_threads(self):
        engine, wrong = tanh_engine(), []

        async def work(seed):
            for k in range(20):
                several = await asyncio.gather(*(engine.run_async(batch(2, seed + i)) for i in range(4)))
                if not all(np.allclose(y, truth(batch(2, seed + i)), atol=1e-5) for i, y in enumerate(several)):
                    wrong.append((seed, k))
        threads = [threading.Thread(target=lambda seed=seed: asyncio.run(work(seed))) for seed in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_callbacks_may_call_the_engine(self):
        engine, x, reported, done = tanh_engine(), batch(), [], threading.Event()

        def again(future):
            reported.append(engine(2 * future.result() @ np.ones((4, 6), np.float32)))
            if len(reported) < 5:
                engine.run_async(x).add_done_callback(again)
            else:
                done.set()
        engine.run_async(x).add_done_callback(again)
        self.assertTrue(done.wait(30))
        for y in reported:
            self.near(y, truth(2 * truth(x) @ np.ones((4, 6), np.float32)))

    def test_callbacks_may_wait_for_runs(self):
        engine, x, reported, done = tanh_engine(), batch(), [], threading.Event()

        def wait(future):
            reported.extend(engine.run_async(x).result(30) for _ in range(3))
            done.set()
        futures = [engine.run_async(x) for _ in range(20)]   # so that some wait for their turn
        futures[0].add_done_callback(wait)
        self.assertTrue(done.wait(60))
        for y in [*reported, *(f.result(30) for f in futures)]:
            self.near(y, truth(x))

    def test_arrays_live_until_the_end_and_no_longer(self):
        steps = Steps('Alive')
        try:
            x = np.arange(4, dtype=np.float32)
            gone = weakref.ref(x)
            future = steps.engine.run_async(x)
            self.assertTrue(steps.entered.wait(20))
            del x
            gc.collect()
            self.assertIsNotNone(gone())
            self.assertFalse(future.done())
            steps.go.set()
            self.near(future.result(20), 2 * (np.arange(4) + 1))
            deadline = time.monotonic() + 20
            while gone() is not None and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertIsNone(gone())
        finally:
            steps.go.set()
            steps.forget()

    def test_an_engine_may_go_before_its_run(self):
        x = batch()
        futures = []
        for _ in range(20):
            engine = tenfold.build(tanh_model(), profiles=PROFILE, **QUICK)
            futures.append(engine.run_async(x))
            del engine
        gc.collect()
        for future in futures:
            self.near(future.result(20), truth(x))

    def test_calls_take_no_thread_of_python(self):
        before = threading.active_count()
        engine = tanh_engine()
        for future in [engine.run_async(batch()) for _ in range(20)]:
            future.result(20)
        self.assertEqual(threading.active_count(), before)


class Cancelled(Case):
    def test_a_cancelled_future_stops_its_run(self):
        steps = Steps('Stop')
        try:
            future = steps.engine.run_async(np.zeros(4, np.float32))
            self.assertTrue(steps.entered.wait(20))
            self.assertTrue(future.cancel())
            self.assertTrue(future.cancelled() and future.done())
            self.assertEqual(concurrent.futures.wait([future], 0.05).not_done, {future}, 'the run has not ended yet')
            steps.go.set()
            self.assertEqual(concurrent.futures.wait([future], 20).done, {future})
            self.assertRaises(concurrent.futures.CancelledError, future.result)
            self.assertEqual(steps.reached, [], 'the second step ran all the same')
            self.near(steps.engine.run_async(np.ones(4, np.float32)).result(20), [4] * 4)
        finally:
            steps.go.set()
            steps.forget()

    def test_a_task_that_is_cancelled_stops_its_run(self):
        steps = Steps('Task')

        async def work():
            task = asyncio.ensure_future(_await(steps.engine.run_async(np.zeros(4, np.float32))))
            while not steps.entered.is_set():
                await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            steps.go.set()
        try:
            asyncio.run(work())
            self.near(steps.engine.run_async(np.ones(4, np.float32)).result(20), [4] * 4)
            self.assertEqual(len(steps.reached), 1)
        finally:
            steps.go.set()
            steps.forget()

    def test_what_waits_for_its_turn_is_never_begun(self):
        steps = Steps('Turn')
        try:
            first = steps.engine.run_async(np.zeros(4, np.float32))
            others = [steps.engine.run_async(np.zeros(4, np.float32)) for _ in range(64)]
            for future in others:
                future.cancel()
            self.assertTrue(steps.entered.wait(20))
            steps.go.set()
            self.near(first.result(20), [2] * 4)
            concurrent.futures.wait(others, 20)
            self.assertLess(len(steps.reached), 64)
            self.assertTrue(all(future.cancelled() for future in others))
        finally:
            steps.go.set()
            steps.forget()


async def _await(future):
    return await future


class Ends(Case):
    def test_a_fork_has_runs_of_its_own(self):
        engine, x = tanh_engine(), batch()
        under_way = [engine.run_async(x) for _ in range(40)]
        child = os.fork()
        if child == 0:
            code = 1
            try:
                good = all(np.allclose(engine.run_async(x).result(20), truth(x), atol=1e-5) for _ in range(10))
                code = 0 if good and np.allclose(engine(x), truth(x), atol=1e-5) else 2
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        for future in under_way:
            self.near(future.result(20), truth(x))

    def test_the_interpreter_ends_when_runs_have_been_told(self):
        states = ('engine = case.tanh_engine(); futures = [engine.run_async(case.batch()) for _ in range(100)]',
                  'futures = [case.tanh_engine().run_async(case.batch()) for _ in range(100)]; [f.cancel() for f in futures]',
                  'engine = case.tanh_engine(); engine.run_async(case.batch()); del engine',
                  'engine = case.tanh_engine()\n'
                  'def again(future):\n'
                  '    if future.exception() is None: engine.run_async(case.batch()).add_done_callback(again)\n'
                  'engine.run_async(case.batch()).add_done_callback(again)',
                  'import os, sys\n'
                  'engine = case.tanh_engine(); engine.run_async(case.batch())\n'
                  'if os.fork() == 0: sys.exit(0)\n'
                  'os.wait()')
        for state in states:
            quiet = 'import warnings; warnings.simplefilter("ignore", DeprecationWarning)\n'   # 3.12 warns of forks beside threads
            done = python(quiet + 'import case, tenfold\n' + state + '\nprint("end")')
            self.assertEqual((done.returncode, done.stdout.split()[-1:], done.stderr), (0, ['end'], ''), state)
        done = python('import case, tenfold\ncase.tanh_engine().run_async(case.batch()).add_done_callback(lambda f: print("told"))')
        self.assertEqual((done.returncode, done.stdout.strip(), done.stderr), (0, 'told', ''))

    def test_threads_that_begin_runs_while_it_ends(self):
        done = python('''
import threading, case, tenfold
engine = case.tanh_engine()
def work():
    while True:
        engine.run_async(case.batch())
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
import time
time.sleep(0.3)
print('end')
''')
        self.assertEqual((done.returncode, done.stdout.strip(), done.stderr), (0, 'end', ''))


if __name__ == '__main__':
    unittest.main()
