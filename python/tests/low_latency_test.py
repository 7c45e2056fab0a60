"""Low latency from Python: answers beside ONNX Runtime's, candidates, ports, swaps, rows and histograms beside NumPy's."""
import fractions
import math
import threading
import time
import unittest

import numpy as np
import onnxruntime
from case import QUICK, Case, TensorProto, helper, model, numpy_helper, python

import tenfold


def toy_cnn(seed=1):
    """Two convolutions over 32 values, and a product."""
    random = np.random.default_rng(seed)
    shapes = {'w1': (8, 1, 3), 'b1': (8,), 'w2': (16, 8, 3), 'b2': (16,), 'w3': (2, 512), 'b3': (2,)}
    node = helper.make_node
    return model([node('Conv', ['x', 'w1', 'b1'], ['a'], pads=[1, 1]), node('Relu', ['a'], ['ar']),
                  node('Conv', ['ar', 'w2', 'b2'], ['b'], pads=[1, 1]), node('Relu', ['b'], ['br']),
                  node('Flatten', ['br'], ['f']), node('Gemm', ['f', 'w3', 'b3'], ['y'], transB=1)],
                 [('x', TensorProto.FLOAT, [1, 1, 32])], [('y', TensorProto.FLOAT, [1, 2])],
                 [numpy_helper.from_array(random.standard_normal(s).astype(np.float32), k) for k, s in shapes.items()])


def engine(seed=1):
    return tenfold.build(toy_cnn(seed), threads=1, **QUICK)


def inputs(count):
    return np.random.default_rng(7).standard_normal((count, 1, 1, 32)).astype(np.float32)


class Runners(Case):
    def test_answers_are_onnx_runtimes(self):
        session = onnxruntime.InferenceSession(toy_cnn().SerializeToString())
        runner = tenfold.LatencyRunner(engine())
        for x in inputs(50):
            before = time.monotonic_ns()
            answer = runner.infer(x)
            self.assertTrue(answer.ok)
            np.testing.assert_allclose(answer.output, session.run(None, {'x': x})[0], atol=1e-4, rtol=1e-3)
            self.assertTrue(before <= answer.due_ns <= answer.started_ns <= answer.ended_ns <= time.monotonic_ns())
        kept = answer.outputs['y'].copy()
        runner.infer({'x': inputs(1)[0]})
        np.testing.assert_array_equal(answer.output, kept)   # answers are the caller's
        self.assertEqual(runner.counts.answered, 51)
        self.assertEqual((runner.backend, runner.ready(), answer.candidate, answer.late), ('engine', True, 0, False))
        self.assertEqual([b.name for b in runner.bindings], ['x', 'y'])

    def test_bound_arrays(self):
        """infer_bound() answers what lies in `inputs`; its outputs are the runner's own, until the next answer."""
        session, runner = onnxruntime.InferenceSession(toy_cnn().SerializeToString()), tenfold.LatencyRunner(engine())
        self.assertEqual(list(runner.inputs), ['x'])
        for x in inputs(5):
            runner.inputs['x'][...] = x
            answer = runner.infer_bound()
            self.assertTrue(answer.ok)
            np.testing.assert_allclose(answer.output, session.run(None, {'x': x})[0], atol=1e-4, rtol=1e-3)
        self.assertTrue(np.shares_memory(answer.output, runner.infer_bound().output))
        self.assertFalse(np.shares_memory(answer.output, runner.infer(x).output))

    def test_what_does_not_fit_is_told(self):
        runner = tenfold.LatencyRunner(engine())
        for given, words in ((np.zeros((1, 1, 31), np.float32), 'float32[1, 1, 32]'), (np.zeros((1, 1, 32)), 'given was float64'),
                             ([0.0] * 32, "input 'x'"), ({'z': inputs(1)[0]}, 'inputs are x')):
            with self.assertRaisesRegex(tenfold.InvalidArgument, words.replace('[', r'\[')):
                runner.infer(given)
        for arguments, words in (({'nan': 'maybe'}, 'pass'), ({'deadline': -1}, 'deadline'), ({'good_answers': 0}, 'good_answers')):
            with self.assertRaisesRegex(tenfold.InvalidArgument, words):
                tenfold.LatencyRunner(engine(), **arguments)
        with self.assertRaises(TypeError):
            tenfold.LatencyRunner(3)
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'when_full'):
            runner.open_port(when_full='wait')
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'slots'):
            runner.open_port(slots=0)
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'CPU'):
            tenfold.RunnerThread(runner, cpu=4000)

    def test_candidates(self):
        reported = []
        broken = self.path('broken.plan')
        with open(broken, 'wb') as f:
            f.write(engine().serialize()[:-40])
        runner = tenfold.LatencyRunner({'engine': broken, 'direct': self.path('missing.plan'), 'cpu': engine},
                                       log=lambda *line: reported.append(line))
        self.assertEqual(runner.backend, 'cpu')
        self.assertEqual([r.opened for r in runner.candidates()], [False, False, True])
        self.assertTrue(any("'engine' is not used" in text for _, text in reported), reported)
        self.assertEqual(runner.infer(inputs(1)[0]).candidate, 2)
        with self.assertRaises(tenfold.PlanRefused):
            tenfold.LatencyRunner({'engine': broken, 'cpu': engine}, strict=True)
        older = tenfold.LatencyRunner({'engine': engine(2), 'cpu': engine(1)})
        self.assertEqual(older.backend, 'cpu')
        self.assertGreater(older.candidates()[0].difference, 0.02)
        self.assertEqual(tenfold.LatencyRunner({'engine': engine(2), 'cpu': engine(1)}, tolerance=None).backend, 'engine')

        class Mine(Exception):
            pass

        def fails():
            raise Mine
        with self.assertRaises(Mine):
            tenfold.LatencyRunner({'engine': fails, 'cpu': engine})

    def test_not_finite(self):
        x = inputs(1)[0]
        x[0, 0, 3] = np.nan
        passing, failing = tenfold.LatencyRunner(engine()), tenfold.LatencyRunner(engine(), nan='fail')
        self.assertTrue(passing.infer(x).ok and passing.infer(x).not_finite)
        self.assertEqual((failing.infer(x).status, failing.counts.failed), ('failed', 1))

    def test_ports_and_swaps(self):
        first, second = engine(1), engine(2)
        xs = inputs(64)
        truth = [[tenfold.LatencyRunner(e).infer(x).output for x in xs] for e in (first, second)]
        runner = tenfold.LatencyRunner(first)
        port = runner.open_port(slots=16)
        stop = threading.Event()

        def swap():
            for i in range(20):
                runner.swap(second if i % 2 == 0 else first)
                time.sleep(0.005)
            stop.set()
        with tenfold.RunnerThread(runner, spin=0.001) as thread:
            self.assertGreater(thread.id, 0)
            self.assertEqual(runner.infer(xs[0]).status, 'not_ready')
            swapper = threading.Thread(target=swap)
            swapper.start()
            sent = got = 0
            while not stop.is_set() or got < sent:
                if not stop.is_set() and sent < got + 16:
                    sent += port.submit(sent, xs[sent % 64])
                answer = port.poll()
                if answer is None:
                    continue
                self.assertEqual(answer.id, got)
                self.assertTrue(any(np.allclose(answer.output, t[got % 64], atol=1e-5) for t in truth), got)
                got += 1
            swapper.join()
        self.assertEqual(thread.id, -1)
        self.assertEqual(runner.counts.swaps, 20)
        self.assertEqual((port.counts.submitted, port.counts.polled, port.counts.answers_dropped), (sent, sent, 0))
        self.assertFalse(port.submit(0, xs[0]), 'no thread serves it')
        with self.assertRaises(tenfold.InvalidArgument):
            runner.swap(tenfold.build(model([helper.make_node('Relu', ['x'], ['y'])], [('x', TensorProto.FLOAT, [3])],
                                            [('y', TensorProto.FLOAT, [3])]), **QUICK))
        self.assertTrue(runner.infer(xs[0]).ok)


class Processes(Case):
    def test_another_process_joins(self):
        path = self.path('socket')
        runner = tenfold.LatencyRunner(engine())
        truth = runner.infer(inputs(1)[0]).output
        with runner.serve(path) as server, tenfold.RunnerThread(runner, spin=0.001):
            done = python(f'''
import importlib, tenfold
low_latency_test = importlib.import_module('low_latency_test')
port = tenfold.connect({path!r})
assert port.served() and [b.name for b in port.bindings] == ['x', 'y']
assert port.submit(5, low_latency_test.inputs(1)[0])
while (answer := port.poll()) is None:
    pass
assert answer.id == 5 and answer.ok
print(*answer.output.ravel().tolist())
''')
            self.assertEqual(done.returncode, 0, done.stderr)
            np.testing.assert_allclose(np.array(done.stdout.split(), np.float32).reshape(1, 2), truth, rtol=1e-6)
            mine = tenfold.connect(path)
            self.assertTrue(mine.served())
            self.assertEqual(runner.counts.answered, 2)
        self.assertFalse(mine.served())
        self.assertEqual(server.clients, 0)
        with self.assertRaises(tenfold.FileError):
            tenfold.connect(path)


class Rows(Case):
    def test_windows_are_numpys(self):
        ring, random = tenfold.RowRing(5, 3, streams=2), np.random.default_rng(1)
        pushed = [np.zeros((5, 3), np.float32), np.zeros((5, 3), np.float32)]
        for n in range(500):
            stream, row = n % 3 % 2, random.standard_normal(3).astype(np.float32)
            pushed[stream] = np.vstack([pushed[stream][1:], row])
            np.testing.assert_array_equal(ring.push(row, stream), pushed[stream])
            np.testing.assert_array_equal(ring.window(1 - stream), pushed[1 - stream])
        self.assertEqual(ring.filled(0), 5)
        ring.clear(0)
        self.assertFalse(ring.window(0).any())
        with self.assertRaises(tenfold.InvalidArgument):
            ring.push(np.zeros(4), 0)
        with self.assertRaises(tenfold.InvalidArgument):
            ring.push(np.zeros(3), 2)
        view = ring.push(np.ones(3), 1)
        del ring
        self.assertEqual(view[-1, 0], 1, 'the view keeps the memory')

    def test_a_runner_reads_windows_where_they_lie(self):
        runner, ring = tenfold.LatencyRunner(engine()), tenfold.RowRing(32, 1)
        for value in np.sin(np.arange(100, dtype=np.float32)):
            at = ring.push_at([value])
            np.testing.assert_array_equal(runner.infer_at(at).output, runner.infer(ring.window().reshape(1, 1, 32)).output)

    def test_windows_that_are_none_are_refused(self):
        runner, ring = tenfold.LatencyRunner(engine()), tenfold.RowRing(32, 1)
        for address in (0, -1, 2 ** 64):
            for ask in (runner.infer_at, runner.precompute_at):
                with self.assertRaisesRegex(tenfold.InvalidArgument, 'a window lies at an address'):
                    ask(address)
        for stream in (-1, 1, 2 ** 40):
            with self.assertRaisesRegex(tenfold.InvalidArgument, f'there is no stream {stream}'):
                runner.infer_at(ring.push_at([1], stream))
        for name in ('deadline', 'first_pause', 'longest_silence'):
            for seconds in (math.nan, math.inf, 1e300):
                with self.assertRaises(tenfold.InvalidArgument):
                    tenfold.LatencyRunner(engine(), **{name: seconds})
        with self.assertRaises(tenfold.InvalidArgument):
            tenfold.LatencyRunner(engine(), tolerance=math.nan)

    def test_rows_that_are_missing_are_told(self):
        runner, ring = tenfold.LatencyRunner(engine()), tenfold.RowRing(32, 1)
        for number in range(1, 40):
            answer = runner.infer_at(ring.push_at([number]))
            self.assertTrue(answer.ok)
            self.assertEqual(answer.missing_rows, max(32 - number, 0))
        self.assertEqual(runner.infer(ring.window().reshape(1, 1, 32)).missing_rows, 0)


class Recorders(Case):
    def test_percentiles_are_numpys(self):
        times = np.random.default_rng(3).lognormal(9, 2, 10_000_000).astype(np.int64).clip(1, 60_000_000_000)
        recorder = tenfold.LatencyRecorder()
        recorder.record_all(times[1:])
        recorder.record(int(times[0]))
        self.assertEqual((recorder.count, recorder.min, recorder.max), (len(times), times.min(), times.max()))
        # The share as a fraction: in floats 99.9 % of ten million are one more.
        percents = [1, 50, 90, 95, 99, 99.9, 99.99, 99.999]
        ranks = [math.ceil(fractions.Fraction(str(p)) / 100 * len(times)) - 1 for p in percents]
        for percent, truth in zip(percents, np.partition(times, ranks)[ranks]):
            got = recorder.percentile(percent)
            self.assertTrue(0 <= got - truth < recorder.bucket_width(int(truth)), (percent, got, truth))
        self.assertAlmostEqual(recorder.mean / times.mean(), 1, delta=1e-3)
        with self.assertRaises(TypeError):
            recorder.record_all(np.zeros(3, np.float32))

    def test_files_are_hdr_histograms(self):
        try:
            from hdrh.histogram import HdrHistogram
        except ImportError as missing:
            self.skipTest(str(missing))
        recorder = tenfold.LatencyRecorder()
        times = np.random.default_rng(4).lognormal(9, 2, 100_000).astype(np.int64).clip(1, None)
        recorder.record_all(times)
        theirs = HdrHistogram.decode(recorder.encode().encode())
        self.assertEqual(theirs.get_total_count(), recorder.count)
        mine = HdrHistogram(1, 60_000_000_000, 3)
        for value in times:
            mine.record_value(int(value))
        for percent in (1, 50, 99, 99.9, 99.99):
            self.assertEqual(theirs.get_value_at_percentile(percent), mine.get_value_at_percentile(percent))
        self.assertIn('Tag=a,0.000,2.000,', recorder.log('a', 0, 2))
        self.assertIn('Total count    =       100000]', recorder.percentile_distribution())


if __name__ == '__main__':
    unittest.main()
