"""What goes wrong in operators written in Python: exceptions, wrong results, kept arrays, definitions that make no sense."""
import os
import subprocess
import sys
import unittest

import numpy as np
from case import QUICK, TensorProto, batch, helper, model
from plugins_case import Plugged, build, model_of

import tenfold
from tenfold import plugins


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
                                ('2 results, expected 1', lambda x: (x, x)), ('object', lambda x: None)):
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


if __name__ == '__main__':
    unittest.main()
