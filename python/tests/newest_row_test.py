"""Windows that slide by one row: precompute() and run(), beside whole windows of ONNX Runtime and an LSTM in NumPy's doubles."""
import time
import unittest

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import tenfold
from case import QUICK, Case, model

ROWS, FEATURES, UNITS = 12, 6, 16
RANDOM = np.random.default_rng(4)
WEIGHTS = [(RANDOM.standard_normal((1, 4 * UNITS, width)) / 3).astype(np.float32) for width in (FEATURES, UNITS)]
STATES = [(RANDOM.standard_normal((1, 4 * UNITS, UNITS)) / 4).astype(np.float32) for _ in range(2)]
DENSE = RANDOM.standard_normal((UNITS, 1)).astype(np.float32)


def lstms(batch, direction='forward'):
    """Two layers of LSTM and a dense layer behind the last row: x f32[batch, 12, 6], y f32[batch, 1]."""
    constants = {'w0': WEIGHTS[0], 'w1': WEIGHTS[1], 'r0': STATES[0], 'r1': STATES[1], 'd': DENSE,
                 'one': np.array([1]), 'zero': np.array([0])}
    nodes = [helper.make_node('Transpose', ['x'], ['t'], perm=[1, 0, 2]),
             helper.make_node('LSTM', ['t', 'w0', 'r0'], ['a', '', ''], name='first', hidden_size=UNITS, direction=direction),
             helper.make_node('Squeeze', ['a', 'one'], ['b']),
             helper.make_node('LSTM', ['b', 'w1', 'r1'], ['', 'h', ''], name='second', hidden_size=UNITS),
             helper.make_node('Squeeze', ['h', 'zero'], ['l']),
             helper.make_node('MatMul', ['l', 'd'], ['y'])]
    return model(nodes, [('x', TensorProto.FLOAT, [batch, ROWS, FEATURES])], [('y', TensorProto.FLOAT, [batch, 1])],
                 [numpy_helper.from_array(v, k) for k, v in constants.items()], opset=17)


def in_doubles(windows):
    """The same as `lstms`, in NumPy: one answer a window."""
    def sigmoid(v):
        return 1 / (1 + np.exp(-v))
    rows = windows.astype(np.float64)
    for w, r in zip(WEIGHTS, STATES):
        h = c = np.zeros((len(rows), UNITS))
        out = []
        for t in range(ROWS):
            i, o, f, g = np.split(rows[:, t] @ w[0].astype(np.float64).T + h @ r[0].astype(np.float64).T, 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            out.append(h)
        rows = np.stack(out, axis=1)
    return rows[:, -1] @ DENSE.astype(np.float64)


class NewestRow(Case):
    def test_streams_answer_as_whole_windows(self):
        """10^5 rows with starts, gaps and rows that come too soon."""
        count = 100_000
        stream = RANDOM.standard_normal((count + ROWS, FEATURES)).astype(np.float32)
        engine = tenfold.build(lstms(1), newest_row='x:1', threads=1, tf32=False, **QUICK)
        self.assertGreater(engine.info.precomputed_steps, 0)
        context, window, answer = engine.create_context(), np.zeros((1, ROWS, FEATURES), np.float32), np.zeros((1, 1), np.float32)
        context.bind('x', window)
        context.bind('y', answer)
        windows, answers, at = np.zeros((count, ROWS, FEATURES), np.float32), np.zeros((count, 1)), ROWS - 1
        window[0] = stream[:ROWS]
        for i in range(count):
            if i % 1000 == 500:                       # a gap: the window begins anew, elsewhere in the stream
                at = int(RANDOM.integers(ROWS, count))
                window[0, :-1] = stream[at - ROWS + 1:at]
            if i % 10 != 7:                           # else the row is there before anybody computed early
                window[0, -1] = np.nan                # nobody's yet
                context.precompute()
            window[0, -1] = stream[at]
            context.run()
            windows[i], answers[i] = window[0], answer[0]
            window[0, :-1] = window[0, 1:]
            at = at + 1 if at + 1 < count else ROWS
        session = onnxruntime.InferenceSession(lstms('n').SerializeToString(), providers=['CPUExecutionProvider'])
        truth = np.concatenate([session.run(None, {'x': part})[0] for part in np.array_split(windows, 20)])
        self.assertLess(np.abs(answers - truth).max(), 1e-6 * max(1, np.abs(truth).max()))
        self.assertLess(np.abs(answers - in_doubles(windows)).max(), 2e-6)

    def test_a_runner_answers_as_whole_windows(self):
        stream = RANDOM.standard_normal((600 + ROWS, FEATURES)).astype(np.float32)
        runner = tenfold.LatencyRunner(tenfold.build(lstms(1), newest_row='x:1', threads=1, tf32=False, **QUICK))
        self.assertEqual(runner.window_rows, (0, 1))
        windows, answers, whole, at = np.zeros((500, ROWS, FEATURES), np.float32), np.zeros((500, 1)), 0, 0
        for i in range(500):
            if i % 100 == 50:
                at = int(RANDOM.integers(0, 600))     # a gap
            windows[i] = stream[at:at + ROWS]
            early = i % 10 != 7
            if early:
                promised = windows[i:i + 1].copy()
                promised[0, -1] = np.nan              # nobody's yet
                promised[0, 0, 0] += i % 10 == 3      # a window that does not come
                self.assertEqual(runner.precompute(promised), 'ok')
            answer = runner.infer(windows[i:i + 1])
            self.assertEqual((answer.full_recompute, answer.late_start), (not early or i % 10 == 3, False))
            answers[i], whole, at = answer.output[0], whole + answer.full_recompute, (at + 1) % 600
        self.assertLess(np.abs(answers - in_doubles(windows)).max(), 2e-6)
        self.assertEqual((runner.counts.full_recompute, runner.counts.late_start), (whole, 0))
        before = time.monotonic_ns()
        runner.precompute(windows[:1])
        self.assertTrue(runner.infer(windows[:1], due_ns=before).late_start)
        self.assertEqual(runner.counts.late_start, 1)
        port = runner.open_port()
        with tenfold.RunnerThread(runner):
            self.assertEqual(runner.precompute(windows[:1]), 'not_ready')
            for i in range(30):
                self.assertTrue(port.submit(i, stream[None, i:i + ROWS]))
                while (answer := port.poll()) is None:
                    time.sleep(0.001)
                self.assertLess(np.abs(answer.output - in_doubles(stream[None, i:i + ROWS])).max(), 2e-6)
        self.assertLess(runner.counts.full_recompute - whole, 30, 'the thread computes early by itself')

    def test_what_cannot_be_early_is_told(self):
        with self.assertRaisesRegex(tenfold.Error, "'first' \\(LSTM\\) walks the rows of 'x' backwards"):
            tenfold.build(lstms(1, 'reverse'), newest_row='x:1', **QUICK)
        with self.assertRaisesRegex(tenfold.Error, "there is no input 'q'; there are x"):
            tenfold.build(lstms(1), newest_row='q:1', **QUICK)


if __name__ == '__main__':
    unittest.main()
