"""Threads, forks, signals, callbacks, and the end of the interpreter."""
import asyncio
import logging
import os
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
from case import PROFILE, QUICK, Case, TensorProto, batch, helper, model, numpy_helper, python, tanh_engine, tanh_model, truth

import tenfold


def large_model(layers=10, width=1024):
    """Something that takes seconds to tune."""
    rng, sizes = np.random.default_rng(0), [width + 16 * i for i in range(layers + 1)]   # every product is another problem
    weights = [numpy_helper.from_array(rng.standard_normal(sizes[i:i + 2]).astype(np.float32), f'w{i}') for i in range(layers)]
    nodes = [helper.make_node('MatMul', [f't{i}' if i else 'x', f'w{i}'], [f't{i + 1}' if i + 1 < layers else 'y']) for i in range(layers)]
    return model(nodes, [('x', TensorProto.FLOAT, [48, width])], [('y', TensorProto.FLOAT, [48, sizes[-1]])], weights)


class Boom(Exception):
    pass


class Callbacks(Case):
    def test_exceptions_cancel_and_come_out_unchanged(self):
        boom = Boom('mine')

        def fail(*arguments):
            raise boom
        for name in ('progress', 'dump', 'choose_tactic', 'log'):
            with self.subTest(name):
                with self.assertRaises(Boom) as caught:
                    # The weight is none of the model's: the log is told of the cache that cannot be read.
                    tenfold.build(tanh_model(), profiles=PROFILE, device='cpu', optimization_level=1, fp8=True, bf16=True, fp16=True,
                                  **{name: fail})
                self.assertIs(caught.exception, boom)

    def test_false_cancels(self):
        self.refused(tenfold.Cancelled, 'cancelled', tenfold.build, tanh_model(), profiles=PROFILE, progress=lambda *_: False, **QUICK)

    def test_nonsense_is_named(self):
        self.refused(TypeError, ['progress()', 'str'], tenfold.build, tanh_model(), profiles=PROFILE, progress=lambda *_: 'x', **QUICK)
        self.refused(TypeError, '', tenfold.build, tanh_model(), profiles=PROFILE, device='cpu', choose_tactic=lambda *_: 'x')
        self.refused(tenfold.InvalidArgument, '99', tenfold.build, tanh_model(), profiles=PROFILE, device='cpu',
                     choose_tactic=lambda *_: 99)

    def test_progress_and_choices_are_told(self):
        seen, asked = [], []
        tenfold.build(tanh_model(), profiles=PROFILE, device='cpu', progress=lambda *step: seen.append(step),
                      choose_tactic=lambda *question: asked.append(question))
        self.assertEqual(seen[0][:2], ('tune', 1))
        node, problem, candidates = asked[0]
        self.assertIn('MatMul', problem)
        self.assertTrue(all(isinstance(tactic, str) and nanoseconds > 0 for tactic, _, nanoseconds in candidates))

    def test_a_callback_may_call_back_in(self):
        inner = []

        def progress(*step):
            inner.append(tenfold.build(tanh_model(), profiles=PROFILE, **QUICK)(batch()))
        tenfold.build(tanh_model(), profiles=PROFILE, progress=progress, **QUICK)
        self.near(inner[0], truth(batch()))

    def test_lines_go_to_logging(self):
        with self.assertLogs('tenfold', logging.DEBUG) as seen:
            tenfold.build(tanh_model(), profiles=PROFILE, fp16=True, **QUICK)
        own = []
        tenfold.build(tanh_model(), profiles=PROFILE, fp16=True, log=lambda severity, line: own.append((severity, line)), **QUICK)
        self.assertEqual([r.getMessage() for r in seen.records], [line for _, line in own])
        self.assertTrue({severity for severity, _ in own} <= {'verbose', 'info', 'warning', 'error'})


class Interrupts(Case):
    def test_ctrl_c_ends_a_build_within_a_second(self):
        code = '''
import os, signal, threading, time, threads_test, tenfold
signal.signal(signal.SIGINT, signal.default_int_handler)   # which a shell's background jobs ignore
model = threads_test.large_model()
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
begun = time.monotonic()
try:
    tenfold.build(model, device='cpu', optimization_level=5)
    print('ended by itself', time.monotonic() - begun)
except KeyboardInterrupt:
    print('interrupted', time.monotonic() - begun - 0.5)
'''
        done = python(code)
        self.assertIn('interrupted', done.stdout, done.stderr)
        limit = 5.0 if 'libtsan' in os.environ.get('LD_PRELOAD', '') else 1.0   # ThreadSanitizer takes most of the time
        self.assertLess(float(done.stdout.split()[1]), limit)


class Threads(Case):
    def test_one_engine_serves_many_threads(self):
        engine, wrong = tanh_engine(), []

        def work(seed):
            x = batch(1 + seed % 8, seed)
            expected = truth(x)
            for _ in range(300):
                if not np.allclose(engine(x), expected, rtol=1e-5, atol=1e-5):
                    wrong.append(seed)
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_shapes_may_change_from_call_to_call(self):
        for rows in (1, 8, 3, 8, 1):
            self.near(tanh_engine()(batch(rows)), truth(batch(rows)))

    def test_the_lock_is_free_while_a_build_goes_on(self):
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.005)
        thread = threading.Thread(target=tick)
        thread.start()
        begun = time.monotonic()
        tenfold.build(large_model(4), device='cpu', optimization_level=2)
        ended = time.monotonic()
        stop.set()
        thread.join()
        inside = [t for t in ticks if begun < t < ended]
        self.assertGreater(len(inside), (ended - begun) / 0.005 / 20)

    def test_a_context_refuses_a_second_thread(self):
        engine = tenfold.build(large_model(2), **QUICK)
        context, refused = engine.create_context(), []
        context.bind('x', np.zeros((48, 1024), np.float32))

        def work():
            for _ in range(100):
                try:
                    context.run()
                except tenfold.InvalidArgument as error:
                    refused.append(str(error))
        threads = [threading.Thread(target=work) for _ in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertIn('another thread', refused[0])

    def test_runs_are_cancelled_and_time_out(self):
        context = tanh_engine().create_context()
        context.bind('x', batch())
        token = tenfold.CancelToken()
        context.run(token=token)
        token.cancel()
        self.refused(tenfold.Cancelled, 'cancelled', context.run, token=token)
        self.refused((tenfold.DeadlinePassed, TimeoutError), 'deadline', context.run, timeout=0)
        self.refused(tenfold.InvalidArgument, 'timeout', context.run, timeout=-1)
        self.assertFalse(context.cancel())
        context.run(timeout=10)
        self.near(context.outputs()['y'], truth(batch()))

    def test_futures(self):
        engine, x = tanh_engine(), batch()

        async def several():
            return await asyncio.gather(*(engine.run_async(k * x) for k in range(6)))
        for k, y in enumerate(asyncio.run(several())):
            self.near(y, truth(k * x))
        future = engine.run_async({'x': x})
        self.near(future.result(10), truth(x))
        self.assertTrue(future.done())
        self.assertIsInstance(engine.run_async(x.astype(np.float64)).exception(10), tenfold.InvalidArgument)

    def test_contexts_tell_wrong_names_and_numbers(self):
        context = tanh_engine().create_context()
        self.refused(tenfold.InvalidArgument, "'q'", context.bind, 'q', batch())
        self.refused(tenfold.InvalidArgument, 'numbered from 0', context.bind, 2, batch())
        self.refused(tenfold.InvalidArgument, ["'x'", 'not ready'], context.run)
        context.set_shape('x', (3, 6))
        self.assertEqual(context.shape('y'), (3, 4))
        self.refused(tenfold.InvalidArgument, 'profile', context.set_profile, 7)


class Processes(Case):
    def test_engines_work_after_a_fork(self):
        x, engine = batch(), tanh_engine()
        engine(x)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                good = np.allclose(engine(x), truth(x), atol=1e-5) and np.allclose(engine.run_async(x).result(10), truth(x), atol=1e-5)
                again = tenfold.build(tanh_model(), profiles=PROFILE, device='cpu', optimization_level=1)(x)
                code = 0 if good and np.allclose(again, truth(x), atol=1e-5) else 2
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_the_interpreter_ends_in_any_state(self):
        for state in ('engine = case.tanh_engine(); context = engine.create_context(); context.bind("x", case.batch()); context.run()',
                      'engine = case.tanh_engine(); future = engine.run_async(case.batch())',
                      'threading.Thread(target=lambda: [case.tanh_engine()(case.batch()) for _ in range(2000)], daemon=True).start()',
                      'work = lambda: tenfold.build(case.tanh_model(), profiles=case.PROFILE, device="cpu")\n'
                      'threading.Thread(target=work, daemon=True).start()',
                      'tenfold.build(case.tanh_model(), profiles=case.PROFILE, device="cpu", log=print)',
                      'engine = case.tanh_engine(); engine.me = engine; case.engine = engine'):
            done = python('import threading, case, tenfold\n' + state + '\nprint("end")')
            self.assertEqual((done.returncode, done.stdout.split()[-1:]), (0, ['end']), (state, done.stderr))
            self.assertEqual(done.stderr, '')

    def test_the_import_is_light(self):
        code = '''
import os, sys, threading
import tenfold
assert 'numpy' not in sys.modules and 'logging' not in sys.modules and 'asyncio' not in sys.modules
assert len(os.listdir('/proc/self/task')) == 1, 'a thread was started'
maps = open('/proc/self/maps').read()
assert 'libcuda' not in maps and 'nvrtc' not in maps, 'a GPU was touched'
'''
        done = python(code)
        self.assertEqual((done.returncode, done.stderr), (0, ''))

    def test_processors_without_avx2_are_refused(self):
        from tenfold._cpu import missing_features
        with open('/proc/cpuinfo') as file:
            here = file.read(16384)
        self.assertEqual(missing_features(here), [])
        self.assertEqual(missing_features(here.replace(' avx2 ', ' ')), ['avx2'])
        self.assertEqual(missing_features('no features'), [])

    def test_programs_and_headers_lie_in_the_wheel(self):
        package = os.path.dirname(tenfold.__file__)
        with open('/proc/self/maps') as file:
            libraries = {line.split()[-1] for line in file if 'libtenfold' in line}
        names = ('libtenfold.so.0', 'libtenfold-builder.so.0', 'libtenfold-text.so.0', 'libtenfold-imaging.so.0')
        self.assertEqual(libraries, {os.path.join(package, n) for n in names})
        self.assertTrue(os.access(os.path.join(package, 'bin', 'tenfold-nvrtc'), os.X_OK))
        self.assertTrue(os.path.exists(os.path.join(tenfold.get_include(), 'tenfold', 'plugin_abi.h')))
        for command in ([sys.executable, '-m', 'tenfold'], [os.path.join(os.path.dirname(sys.executable), 'tenfold')]):
            done = subprocess.run([*command, 'devices'], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('cpu', done.stdout)


if __name__ == '__main__':
    unittest.main()
