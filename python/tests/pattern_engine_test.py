"""examples/pattern_engine's commands: the whole pipeline, whose scores are ONNX Runtime's, and what each does with bad input."""
import importlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from pattern_engine_case import HERE, PatternCase, command

runner = importlib.import_module('pattern_engine.runner')
toy_models = importlib.import_module('toy_models')


def scores_of(ticks, model):
    """The lines that the runner has to write, with scores by ONNX Runtime."""
    session, prices, rows = onnxruntime.InferenceSession(model), {}, []
    with open(ticks) as f:
        for line in f.read().splitlines()[1:]:
            ts, symbol, price, _ = line.split(',')
            last = prices[symbol] = [*prices.get(symbol, []), float(price)][-32:]
            if len(last) == 32:
                scores = session.run(None, {'input': np.array(last, np.float32).reshape(1, 1, 32)})[0][0].astype(np.float64)
                rows.append((ts, symbol, np.exp(scores[1]) / np.exp(scores).sum()))
    return rows


class Commands(PatternCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.made = folder.name
        cls.pipeline = command(cls.made, 'pipeline.sh', ITERATIONS='20')

    def made_path(self, name):
        return os.path.join(self.made, name)

    def models(self, name):
        return self.made_path('models/' + name)

    def test_pipeline(self):
        code, output, reported = self.pipeline
        self.assertEqual(code, 0, output + reported)
        expected = scores_of(self.made_path('ticks.csv'), self.models('toy_cnn.onnx'))
        self.assertEqual(len(expected), 400 - 2 * 31)
        self.assertTrue(max(s for _, _, s in expected) > 0.9 and min(s for _, _, s in expected) < 0.2)
        for name in ('scores.csv', 'fallback_scores.csv'):
            with open(self.made_path(name)) as f:
                found = [line.split(',') for line in f.read().splitlines()]
            self.assertEqual([row[:2] for row in found], [list(row[:2]) for row in expected])
            self.near([float(row[2]) for row in found], [row[2] for row in expected], 2e-3)   # products may be rounded to 16 bits
        self.assertIn("'engine' is not used", reported)
        self.assertRegex(reported, r'runner: cpu answers, on CPU')
        self.assertIn('| Model Type | ONNX CPU | direct | TensorRT FP32 | Runner FP32 | TensorRT FP16 | Runner FP16 | errors |', output)
        row = (r'\| (.*?) \|(?: [\d.]+ / [\d.]+ \|){6} ONNX CPU (.+), direct (.+), TensorRT FP32 (.+), Runner FP32 (.+), '
               r'TensorRT FP16 (.+), Runner FP16 .+ \|')
        rows = re.findall(row, output)
        self.assertEqual([row[0] for row in rows], ['CNN (small)', 'CNN (large)', 'MLP'])
        for _, peer, direct, fp32, runner, fp16 in rows:
            self.assertLess(max(map(float, (peer, direct, fp32, runner))), 1e-4)
            self.assertLess(float(fp16), 2e-2)

    def test_pipeline_ends_with_the_first_failure(self):
        python = self.write('python', '#!/bin/sh\ncase $1 in *_trt_smoke_cnn.py) exit 7 ;; esac\necho "ran $1"\n')
        os.chmod(python, 0o755)
        code, output, reported = self.command('pipeline.sh', PYTHON=python)
        self.assertEqual(code, 7)
        self.assertIn("the stage 'smoke test toy_cnn' failed with exit code 7", reported)
        self.assertIn('_trt_smoke.py', output)
        self.assertNotIn('compare', output)

    def test_smoke_tests_fail(self):
        code, _, reported = self.command('scripts/_trt_smoke_cnn.py', f'--engine={self.models("toy_mlp.engine")}',
                                     f'--onnx={self.models("toy_cnn.onnx")}')
        self.assertEqual(code, 1)
        self.assertIn('outputs are off', reported)
        code, _, reported = self.command('scripts/_trt_smoke.py')
        self.assertEqual((code, 'models/toy_mlp.engine' in reported, 'Traceback' in reported), (1, True, False))

    def test_builds(self):
        build = 'scripts/build_trt_engine.py'
        onnx_path, engine = self.models('toy_cnn.onnx'), self.path('deep/a.engine')
        code, output, reported = self.command(build, '--onnx', onnx_path, '--engine', engine, '--max_workspace=256M', '--fp16', '--int8')
        self.assertEqual((code, output.splitlines()[-1]), (0, f'Wrote engine to {engine}'), reported)
        window = toy_models.spikes(np.random.default_rng(9), 4)[0][:1]
        found = importlib.import_module('pattern_engine.trt_engine').TRTEngine(engine).infer(window)
        expected = onnxruntime.InferenceSession(onnx_path).run(None, {'input': window})[0]
        error = np.abs(found - expected).max() / np.abs(expected).max()
        self.assertTrue(1e-5 < error < 0.05, error)   # integers, and near to floats
        alone = self.path('alone.onnx')
        onnx.save(onnx.load(onnx_path), alone)
        broken = self.write('broken.onnx', 'no model')
        for code, words, output in ((1, ['--onnx', alone, '--int8'], 'calibration dataset: windows'),
                                  (1, ['--onnx', broken], 'Failed to parse ONNX model'),
                                  (2, ['--onnx', alone, '--max_workspace=12Q'], "'12Q' is not a size")):
            found, _, reported = self.command(build, *words, '--engine', self.path('none.engine'))
            self.assertEqual((found, 'Traceback' in reported), (code, False), reported)
            self.assertIn(output, reported)
        self.assertFalse([name for name in os.listdir(self.folder) if name not in ('deep', 'alone.onnx', 'broken.onnx')])

    def test_a_missing_gpu_fails_where_one_is_wanted(self):
        done = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-x', '-p', 'no:cacheprovider', os.path.join(HERE, 'tests')],
                              capture_output=True, text=True, cwd=self.folder, env={**os.environ, 'TRT_CI': '1', 'TENFOLD_DEVICE': 'cpu'})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn('TRT_CI=1 wants a GPU', done.stdout)

    def test_malformed_ticks_are_told_with_their_line(self):
        good = 'ts,symbol,price,volume\n1,A,1.0,2\n'
        for line, words in (('2,A,1.0', 'there are 3 fields'), ('2,A,abc,1', "price 'abc' is no number"), ('2,A,nan,1', 'no finite'),
                            ('2,A,1e39,1', 'no finite number of 32 bits'), ('2,A,1,-1', "volume '-1' is below 0"), (',A,1,1', 'ts'),
                            ('2,,1,1', 'symbol'), ('2,"A,B",1,1', 'symbol'), ('', 'there are 0 fields'), ('2,"A"x,1,1', 'expected'),
                            ('ts,symbol,price,volume', "volume 'volume' is no number"), ('2,"A,1,1', 'unexpected end')):
            with open(self.write('ticks.csv', good + line + '\n'), newline='') as f:
                with self.assertRaises(runner.Fault) as caught:
                    list(runner.ticks(f, 'ticks.csv'))
            self.assertRegex(str(caught.exception), r'^ticks\.csv:3: ')
            self.assertIn(words, str(caught.exception))
            self.assertEqual(caught.exception.code, 1)
        with open(self.path('ticks.csv'), 'wb') as f:
            f.write(good.encode() + b'2,\xff,1,1\n')
        words = ['--ticks', self.path('ticks.csv'), '--model-engine', self.models('toy_cnn.engine')]
        code, output, reported = self.command('pattern_engine/runner.py', *words)
        self.assertEqual((code, output, 'Traceback' in reported), (1, '', False))
        self.assertIn('no UTF-8', reported)

    def test_runner_without_an_engine(self):
        lstm, engine = self.path('lstm.onnx'), self.path('lstm.engine')
        onnx.save(toy_models.make_model('lstm_a'), lstm)
        build_engine = importlib.import_module('pattern_engine.trt_engine').build_engine
        build_engine(lstm, engine)
        for words, output in (([self.models('damaged.engine'), '--model-onnx', self.models('toy_cnn.onnx'), '--strict'], 'damaged'),
                            ([self.path('none.engine')], 'none.engine'), ([engine], 'input float32[1, 50, 100]; this runner gives')):
            code, printed, reported = self.command('pattern_engine/runner.py', '--model-engine', *words, stdin='1,A,1,1\n')
            self.assertEqual((code, printed, 'Traceback' in reported), (4, '', False), reported)
            self.assertIn(output, reported)

    def test_runner_by_variables(self):
        given = ''.join(f'{i},A,{1 + 0.01 * (i % 3)},5\n' for i in range(40))
        flags = ['--model-engine', self.models('toy_cnn.engine'), '--model-onnx', self.models('toy_cnn.onnx')]
        expected = self.command('pattern_engine/runner.py', *flags, stdin=given)
        paths = {'TRT_ENGINE_PATH': flags[1], 'ONNX_MODEL_PATH': flags[3]}
        found = self.command('pattern_engine/runner.py', stdin=given, **paths)
        self.assertEqual((found[0], found[1]), (0, expected[1]), found[2])
        self.assertEqual(len(found[1].splitlines()), 9)
        code, printed, reported = self.command('pattern_engine/runner.py', stdin=given, TRT_ENGINE_PATH='')
        self.assertEqual((code, printed), (2, ''))
        self.assertIn('--model-engine, or set TRT_ENGINE_PATH', reported)

    def test_a_signal_ends_it_behind_a_tick(self):
        given = [f'{i},A,{1 + 0.01 * (i % 3)},5\n' for i in range(40)]
        process = subprocess.Popen([sys.executable, os.path.join(HERE, 'pattern_engine', 'runner.py'), '--model-engine',
                                    self.models('toy_cnn.engine')], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        process.stdin.write(''.join(given))
        process.stdin.flush()
        scores = [process.stdout.readline() for _ in range(9)]   # while it waits for more ticks
        self.assertTrue(all(line.startswith(f'{31 + i},A,0.') for i, line in enumerate(scores)), scores)
        process.send_signal(signal.SIGTERM)
        output, reported = process.communicate(timeout=60)
        self.assertEqual((process.returncode, output), (0, ''), reported)
        self.assertIn('40 ticks, 9 scores', reported)


if __name__ == '__main__':
    unittest.main()
