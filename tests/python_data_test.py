#!/usr/bin/env python3
"""Samples from Python files: python_data_test.py TENFOLD. What they may do wrong is told with file and line."""

import os
import sys

import cli_case
from cli_case import CliCase, np

GOOD = '''import numpy as np
random = np.random.default_rng(3)
print('said while it is read')
def batches():
    for i in range(60):
        print('sample', i)
        yield {'x:0': random.standard_normal((2, 6)).astype(np.float32)}
alone = [random.standard_normal((2, 6)).astype(np.float32) for i in range(60)]
def numbered(index):
    return alone[index] if index < 60 else None
whole = np.stack(alone)
def late():
    import threading, time
    threading.Thread(target=time.sleep, args=(1000,)).start()
    yield from alone
'''
BAD = '''import numpy as np, os, time
ok = np.zeros((2, 6), np.float32)
def words():
    yield ok
    yield ok.astype(str)
def wide():
    yield np.zeros((2, 7), np.float32)
def objects():
    yield [object()]
def other_name():
    yield {'y': ok}
def number_name():
    yield {3: ok}
def raises():
    yield ok
    raise ValueError('no more photographs')
def crashes():
    yield ok
    os.kill(os.getpid(), 11)
def leaves():
    yield ok
    os._exit(7)
def hangs():
    yield ok
    time.sleep(1000)
number = 3
nothing = []
'''


class PythonData(CliCase):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, 'TENFOLD_PYTHON': sys.executable, 'TENFOLD_PYTHON_SECONDS': '30'}
        for name, text in (('good.py', GOOD), ('bad.py', BAD), ('syntax.py', 'x = 1\ny = (\n'), ('raising.py', 'x = 1\ny = x / 0\n')):
            self.write(name, text.encode())

    def quantize(self, name, code=0, file='good.py', words='', **environment):
        arguments = ['quantize', self.model, f"--data=python:{self.path(file)}:{name}", '-o', self.path('q.onnx'), '--calibrator=minmax']
        if code:
            return self.refused(code, words, *arguments, env={**self.environment, **environment})
        return self.tenfold(*arguments, env=self.environment)

    def test_iterables_and_functions(self):
        for name in ('batches', 'alone', 'numbered', 'whole', 'late'):
            self.assertIn('30 samples', self.quantize(name).stdout, name)
            self.assertIn('on 30 other samples', self.quantize(name).stdout)

    def test_the_same_as_from_a_file(self):
        data = np.random.default_rng(3).standard_normal((60, 2, 6)).astype(np.float32)
        np.savez(self.path('d.npz'), **{'x:0': data})
        self.quantize('alone')
        with open(self.path('q.onnx'), 'rb') as f:
            python = f.read()
        self.tenfold('quantize', self.model, f"--data={self.path('d.npz')}", '-o', self.path('q.onnx'), '--calibrator=minmax')
        with open(self.path('q.onnx'), 'rb') as f:
            self.assertEqual(python, f.read())

    def test_builds_take_it(self):
        shapes = [f"--{which}Shapes='x:0':2x6" for which in ('min', 'opt', 'max')]
        self.tenfold('exec', f'--onnx={self.model}', '--int8', f"--data=python:{self.path('good.py')}:batches", '--buildOnly', *shapes,
                     '--builderOptimizationLevel=0', env=self.environment)

    def test_what_goes_wrong_is_told_with_file_and_line(self):
        for name, words in (
            ('words', 'line 5, sample 1'),
            ('wide', 'line 7, sample 0 is [2,7]'),
            ('objects', 'line 9: a sample is an array'),
            ('other_name', "line 11, sample 0 has no array 'x:0'"),
            ('number_name', 'line 13: a key of sample 0 is 3'),
            ('raises', 'line 16: ValueError: no more photographs'),
            ('crashes', 'signal 11'),
            ('leaves', 'status 7 after 1 samples'),
            ('number', "'number' is a int"),
            ('nothing', 'gave no sample'),
            ('absent', "there is no 'absent'"),
        ):
            self.quantize(name, 2 if name == 'nothing' else 1, 'bad.py', words)
        self.quantize('hangs', 1, 'bad.py', 'gave nothing for 1 s after 1 samples', TENFOLD_PYTHON_SECONDS='1')
        self.quantize('x', 1, 'syntax.py', 'line 2: SyntaxError')
        self.quantize('x', 1, 'raising.py', 'line 2: ZeroDivisionError')
        self.quantize('x', 1, 'none.py', 'FileNotFoundError')
        self.quantize('batches', 1, words='does not start', TENFOLD_PYTHON='/no/python')

    def test_flags(self):
        out = ['-o', self.path('q.onnx')]
        for words, flags in (('is not python:FILE.py:NAME', ['--data=python:good.py']),
                             ('--image is for photographs', [f"--data=python:{self.path('good.py')}:alone", '--image=crop:2'])):
            self.refused(2, words, 'quantize', self.model, *out, *flags, env=self.environment)


if __name__ == '__main__':
    cli_case.main()
