#!/usr/bin/env python3
"""The least ctypes program of examples/ still builds and runs a model: ctypes_min_test.py LIBTENFOLD_BUILDER"""
import pathlib
import subprocess
import sys
import unittest

PROGRAM = pathlib.Path(__file__).parent.parent / 'examples' / 'ctypes_min.py'
LIBRARY = sys.argv.pop(1)


class CtypesMin(unittest.TestCase):
    def run_it(self, *arguments):
        return subprocess.run([sys.executable, str(PROGRAM), LIBRARY, *arguments], capture_output=True, text=True, timeout=120)

    def test_it_runs_its_model(self):
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[-1], '[0.0, 0.0, 2.0]')
        self.assertTrue(lines[0].startswith('input  x f32') and lines[1].startswith('output y f32'), lines)

    def test_it_says_what_is_wrong(self):
        done = self.run_it('/no/such.onnx')
        self.assertEqual(done.returncode, 1)
        self.assertIn('io: ', done.stderr)
        self.assertIn('/no/such.onnx', done.stderr)


if __name__ == '__main__':
    unittest.main()
