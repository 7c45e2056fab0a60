"""Sessions that are tuned in the background: who answers when, what is told, and what becomes of the other process. Truth: ONNX Runtime."""
import gc
import glob
import logging
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
import unittest

import numpy as np
import onnxruntime
from case import Case, TensorProto, batch, helper, model, numpy_helper, onnx, tanh_model, truth

import tenfold

logging.getLogger('tenfold').addHandler(logging.NullHandler())   # what tests look at, assertLogs catches
CPU = dict(providers=['CPUExecutionProvider'], tf32=False, threads=1, optimization_level=1)


def children():
    """Processes that this one has started, ended ones that nobody has asked for among them."""
    found = []
    for status in glob.glob('/proc/[0-9]*/stat'):
        try:
            with open(status) as file:
                text = file.read()
        except OSError:
            continue
        if int(text.rpartition(')')[2].split()[1]) == os.getpid():
            found.append(int(text.split()[0]))
    return found


def works(pid):
    try:
        with open(f'/proc/{pid}/stat') as file:
            return file.read().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


def long_model():
    """Convolutions that level 5 takes many seconds for: each is another problem."""
    channels = [16 + 8 * i for i in range(24)]
    weights = [numpy_helper.from_array(np.ones((into, of, 3, 3), np.float32) / of, f'w{of}')
               for of, into in zip(channels, channels[1:], strict=False)]
    nodes = [helper.make_node('Conv', [f'c{of}' if i else 'x', f'w{of}'], [f'c{channels[i + 1]}'], pads=[1] * 4)
             for i, of in enumerate(channels[:-1])]
    nodes.append(helper.make_node('Relu', [f'c{channels[-1]}'], ['y']))
    return model(nodes, [('x', TensorProto.FLOAT, ['n', 16, 20, 20])], [('y', TensorProto.FLOAT, ['n', channels[-1], 20, 20])], weights)


def rank_model():
    """y is x or x without its first axis, by x's first extent: for a range of shapes y has no rank."""
    info = helper.make_tensor_value_info
    then = helper.make_graph([helper.make_node('Squeeze', ['first', 'zero'], ['t'])], 't', [], [info('t', TensorProto.FLOAT, None)])
    other = helper.make_graph([helper.make_node('Tanh', ['x'], ['o'])], 'o', [], [info('o', TensorProto.FLOAT, None)])
    nodes = [helper.make_node('Shape', ['x'], ['s']), helper.make_node('Gather', ['s', 'zero'], ['n']),
             helper.make_node('Equal', ['n', 'three'], ['is3']), helper.make_node('Slice', ['x', 'zero', 'one'], ['first']),
             helper.make_node('If', ['is3'], ['y'], then_branch=then, else_branch=other)]
    numbers = [numpy_helper.from_array(np.array([n], np.int64), name) for n, name in ((0, 'zero'), (1, 'one'), (3, 'three'))]
    graph = helper.make_graph(nodes, 'g', [info('x', TensorProto.FLOAT, ['n', 6])], [info('y', TensorProto.FLOAT, None)], numbers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10)


class Tuning(Case):
    def program(self, shell):
        path = self.path(f'program{len(os.listdir(self.folder))}')
        with open(path, 'w') as file:
            file.write('#!/bin/sh\n' + shell)
        os.chmod(path, stat.S_IRWXU)
        return path

    def session(self, proto=None, **options):
        return tenfold.Session(proto or tanh_model(), tune='background', **{**CPU, **options})

    def theirs(self, proto=None):
        return onnxruntime.InferenceSession((proto or tanh_model()).SerializeToString(), providers=['CPUExecutionProvider'])

    def beside(self, ours, theirs, x):
        (y,), (expected,) = ours.run(None, {'x': x}), theirs.run(None, {'x': x})
        self.near(y, expected)

    def served(self, session):
        return [(tuned, pending, failure) for _, tuned, pending, failure, _ in session._engines.served()]

    def test_an_untimed_plan_answers_and_a_tuned_one_takes_over(self):
        theirs = self.theirs()
        with self.assertLogs('tenfold', 'INFO') as seen:
            s = self.session()
            self.assertEqual(children(), [])
            self.beside(s, theirs, batch(3))
            self.assertEqual(self.served(s), [(False, True, '')])
            for wrong in (-1, float('nan')):
                self.assertRaisesRegex(ValueError, 'seconds from 0', s.wait_for_tuning, wrong)
            self.assertRaises(TypeError, s.wait_for_tuning, 'long')
            while not s.wait_for_tuning(0.01):   # during
                self.beside(s, theirs, batch(3, seed=len(children())))
            self.assertEqual(self.served(s), [(True, False, '')])
            for rows in (2, 3, 4):
                self.beside(s, theirs, batch(rows))
            self.assertEqual(self.served(s), [(True, False, '')], 'one engine for the range around 3')
            self.beside(s, theirs, batch(7))
            self.assertTrue(s.wait_for_tuning())
            self.beside(s, theirs, batch(7))
        self.assertEqual(self.served(s), [(True, False, '')] * 2)
        self.assertLess(len(seen.output), 20, 'passes and candidates are for VERBOSE, in the other process, too')
        reported = [r for r in seen.records if r.levelname == 'WARNING']
        self.assertEqual(len([r for r in reported if 'last bits' in r.getMessage()]), 1, seen.output)
        self.assertEqual(len([line for line in seen.output if 'has taken the place' in line]), 2, seen.output)
        self.assertEqual([line for line in seen.output if 'thread of this process' in line], [])
        self.assertEqual(children(), [])

    def test_fixed_shapes_and_bindings_are_taken_over_too(self):
        proto = tanh_model()
        for value in (*proto.graph.input, *proto.graph.output):
            value.type.tensor_type.shape.dim[0].dim_value = 4
        s, theirs, y = self.session(proto), self.theirs(proto), np.empty((4, 4), np.float32)
        binding = s.io_binding()
        binding.bind_cpu_input('x', batch())
        binding.bind_output('y', 'cpu', 0, np.float32, y.shape, y.ctypes.data)
        s.run_with_iobinding(binding)
        self.near(y, truth(batch()))
        before = binding._context
        self.assertTrue(s.wait_for_tuning())
        y[:] = 0
        s.run_with_iobinding(binding)
        self.near(y, truth(batch()))
        self.assertIsNot(binding._context, before)
        after = binding._context
        s.run_with_iobinding(binding)
        self.assertIs(binding._context, after)
        self.beside(s, theirs, batch())
        self.assertIsNotNone(s._only)

    def test_the_next_process_finds_the_tuned_plan(self):
        onnx.save(tanh_model(), self.path('m.onnx'))
        s = self.session(self.path('m.onnx'), cache_dir=self.path('cache'))
        s.run(None, {'x': batch(3)})
        self.assertTrue(s.wait_for_tuning())
        plans = glob.glob(self.path('cache/*'))
        self.assertEqual(len(plans), 1, plans)
        code = textwrap.dedent('''
            import sys, numpy as np, tenfold
            s = tenfold.Session(sys.argv[1], tune="background", cache_dir=sys.argv[2], tuner="/no/such/program",
                                providers=["CPUExecutionProvider"], tf32=False, threads=1, optimization_level=int(sys.argv[3]))
            y, = s.run(None, {"x": np.load(sys.argv[4])})
            np.save(sys.argv[5], y)
            print([tuned for _, tuned, *_ in s._engines.served()])''')
        np.save(self.path('x.npy'), batch(4, seed=5)[:3])
        for level, tuned in ((1, '[True]'), (2, '[False]')):
            done = subprocess.run([sys.executable, '-c', code, self.path('m.onnx'), self.path('cache'), str(level), self.path('x.npy'),
                                   self.path('y.npy')], capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stdout.strip()), (0, tuned), done.stderr)
            self.near(np.load(self.path('y.npy')), truth(batch(4, seed=5)[:3]))
        self.assertEqual(glob.glob(self.path('cache/*')), plans)

    def test_a_program_that_fails_or_is_killed_is_told_once(self):
        for shell, reported in (('echo no luck today >&2; exit 7', 'ended with code 7, having written: no luck today'),
                            ('kill -9 $$', 'was ended by signal 9')):
            with self.assertLogs('tenfold', 'WARNING') as seen:
                s = self.session(tuner=self.program(shell))
                for rows in (3, 9):
                    s.run(None, {'x': batch(rows)})
                    self.assertTrue(s.wait_for_tuning())
                    self.near(s.run(None, {'x': batch(rows)})[0], truth(batch(rows)))
            self.assertEqual(len(seen.output), 1, seen.output)
            self.assertIn(reported, seen.output[0])
            self.assertEqual([tuned for tuned, _, _ in self.served(s)], [False, False])
        self.refused(TypeError, 'tuner', self.session, tuner=3)

    def test_a_program_killed_from_outside(self):
        with self.assertLogs('tenfold', 'WARNING') as seen:
            s = self.session(tuner=self.program('exec sleep 600'))
            s.run(None, {'x': batch(3)})
            while not children():
                time.sleep(0.01)
            os.kill(children()[0], signal.SIGTERM)
            self.assertTrue(s.wait_for_tuning())
        self.assertIn('signal 15', seen.output[0])
        self.near(s.run(None, {'x': batch(3)})[0], truth(batch(3)))

    def test_a_session_that_goes_takes_its_program_along(self):
        s = self.session(tuner=self.program('exec sleep 600'))
        s.run(None, {'x': batch(3)})
        while not children():
            time.sleep(0.01)
        started = children()
        self.assertFalse(s.wait_for_tuning(0.05))
        del s
        gc.collect()
        self.assertEqual(children(), [])
        self.assertFalse(os.path.exists(f'/proc/{started[0]}'))

    def test_an_interpreter_that_ends_takes_it_along(self):
        started, program = self.path('started'), os.path.join(os.path.dirname(tenfold.__file__), 'bin', 'tenfold')
        tuner = self.program(f'echo $$ > {started}.new; mv {started}.new {started}; exec {program} "$@"')
        code = textwrap.dedent('''
            import sys, os, time, signal, numpy as np, tenfold
            s = tenfold.Session(sys.argv[1], tune="background", tuner=sys.argv[2], providers=["CPUExecutionProvider"], optimization_level=5,
                                timing_repetitions=5000)
            s.run(None, {"x": np.zeros((3, 16, 20, 20), np.float32)})
            while not os.path.exists(sys.argv[3]): time.sleep(0.01)
            child = int(open(sys.argv[3]).read())
            while open(f"/proc/{child}/oom_score_adj").read() != "500\\n": time.sleep(0.01)   # it works
            s.self = s
            end = sys.argv[4]
            if end == "kill": os.kill(os.getpid(), signal.SIGKILL)
            if end == "_exit": os._exit(0)''')
        onnx.save(long_model(), self.path('m.onnx'))
        for end, code_of_end in (('return', 0), ('_exit', 0), ('kill', -signal.SIGKILL)):
            if os.path.exists(started):
                os.remove(started)
            done = subprocess.run([sys.executable, '-c', code, self.path('m.onnx'), tuner, started, end], capture_output=True, text=True,
                                  timeout=300)
            self.assertEqual((done.returncode, done.stderr), (code_of_end, ''), end)
            with open(started) as file:
                pid = int(file.read())
            for _ in range(200):   # of the kernel, behind a death
                if not works(pid):
                    break
                time.sleep(0.01)
            self.assertFalse(works(pid), f'the program goes on after {end}')

    def test_the_terminals_signals_are_not_meant_for_it(self):
        s = self.session(tuner=self.program('exec sleep 600'))
        s.run(None, {'x': batch(3)})
        while not children():
            time.sleep(0.01)
        self.assertNotEqual(os.getpgid(children()[0]), os.getpgid(0))
        signal.setitimer(signal.ITIMER_REAL, 0.2)   # Ctrl-C's way into a wait
        old = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        try:
            self.assertRaises(KeyboardInterrupt, s.wait_for_tuning)
        finally:
            signal.signal(signal.SIGALRM, old)

    def test_results_of_several_ranks_are_tuned_for_ranges_too(self):
        proto = rank_model()
        theirs = self.theirs(proto)
        s = self.session(proto)
        for rows in (3, 5):
            for _ in range(2):
                self.beside(s, theirs, batch(rows))
                self.assertTrue(s.wait_for_tuning())
        for rows in (3, 5, 6, 7, 2):
            self.beside(s, theirs, batch(rows))
        self.assertEqual(self.served(s), [(True, False, '')] * 2)

    def test_what_is_of_this_process_is_tuned_in_a_thread(self):
        with self.assertLogs('tenfold', 'WARNING') as seen:
            s = self.session(choose_tactic=lambda node, problem, candidates: 0, tuner='/no/such/program')
            self.near(s.run(None, {'x': batch(3)})[0], truth(batch(3)))
            self.assertTrue(s.wait_for_tuning())
            self.near(s.run(None, {'x': batch(3)})[0], truth(batch(3)))
        self.assertEqual(self.served(s), [(True, False, '')])
        self.assertIn('in a thread of this process, not in another one: choose_tactic()', seen.output[0])

    def test_threads_and_shapes(self):
        s, wrong = self.session(), []

        def work(rows):
            for _ in range(60):
                if not np.allclose(s.run(None, {'x': batch(rows)})[0], truth(batch(rows)), atol=1e-5):
                    wrong.append(rows)
        for _ in range(2):
            threads = [threading.Thread(target=work, args=(1 + i,)) for i in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertTrue(s.wait_for_tuning())
        self.assertEqual(wrong, [])
        self.assertTrue(all(tuned for tuned, _, _ in self.served(s)))

    def test_a_fork_goes_on_for_itself(self):
        s = self.session()
        s.run(None, {'x': batch(3)})
        child = os.fork()
        if child == 0:
            right = np.allclose(s.run(None, {'x': batch(3)})[0], truth(batch(3)), atol=1e-5)
            right = right and s.wait_for_tuning(120) and self.served(s) == [(True, False, '')]
            right = right and np.allclose(s.run(None, {'x': batch(4)})[0], truth(batch(4)), atol=1e-5)
            os._exit(0 if right else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(s.wait_for_tuning(120))
        self.assertEqual(self.served(s), [(True, False, '')])

    def test_exceptions_come_out_of_the_run_that_builds(self):
        def stop(phase, done, total):
            raise ZeroDivisionError('of mine')
        s = tenfold.Session(tanh_model(), tune='now', progress=stop, **CPU)
        for _ in range(2):
            self.refused(ZeroDivisionError, 'of mine', s.run, None, {'x': batch(3)})
        self.refused(tenfold.InvalidArgument, ["'background'", "'soon'"], tenfold.Session, tanh_model(), tune='soon')

    def test_profiles_that_are_given_make_one_engine(self):
        s = self.session(profiles={'x': ([1, 6], [2, 6], [8, 6])})
        for rows in (1, 5, 8):
            self.near(s.run(None, {'x': batch(rows)})[0], truth(batch(rows)))
        self.assertTrue(s.wait_for_tuning())
        self.near(s.run(None, {'x': batch(8)})[0], truth(batch(8)))
        self.assertEqual(self.served(s), [(True, False, '')])
        self.refused(tenfold.InvalidArgument, "'x'", s.run, None, {'x': batch(9)})


if __name__ == '__main__':
    unittest.main()
