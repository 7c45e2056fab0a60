"""What a green line of CI leaves out is told: skips of every kind of test with their reasons, and parts that did not run."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import report_skips

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tools'))
import ci_parts

SKIPPING = '''"""A test file as those of python/tests are."""
import unittest
class Gpu(unittest.TestCase):
    @unittest.skip('no GPU')
    def test_one(self): pass
    @unittest.skip('no GPU')
    def test_two(self): pass
    def test_three(self): self.assertEqual(%s, 1)
@unittest.skip('torch is not installed')
class Torch(unittest.TestCase):
    def test_four(self): pass
if __name__ == '__main__':
    unittest.main()
'''
GOOGLES = '''[ RUN      ] Cuda.Runs
/src/cuda_test.cpp:12: Skipped
there is no GPU

[  SKIPPED ] Cuda.Runs (0 ms)
[ RUN      ] Cuda.Bare
/src/cuda_test.cpp:14: Skipped

[  SKIPPED ] Cuda.Bare (0 ms)
left out: accuracy_test: no models
'''
PARTS = '''| part | what | minutes |
|---|---|---|
| `tests` | tests, two at a time | 14 |
| `tsan` | races | 8 |
| `torch` | torch | (?) |
'''


class Skips(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ran(self, text):
        (self.folder / 'tests').mkdir()
        file = self.folder / 'tests' / 'gpu_test.py'
        file.write_text(text)
        done = subprocess.run([sys.executable, ROOT / 'tests' / 'report_skips.py', file, '-q'], capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_a_file_that_knows_nothing_of_it(self):
        code, said = self.ran(SKIPPING % 1)
        self.assertEqual(code, 0)
        self.assertEqual(said.splitlines(), ['left out: gpu_test: no GPU'] * 2 + ['left out: gpu_test: torch is not installed',
                                                                                 '1 tests and parts of tests ran, 3 were left out'])

    def test_what_fails_fails(self):
        self.assertEqual(self.ran(SKIPPING % 2)[0], 1)

    def test_they_are_counted(self):
        log = self.folder / 'log'
        log.write_text(GOOGLES + self.ran(SKIPPING % 1)[1])
        done = subprocess.run([sys.executable, ROOT / 'tests' / 'report_skips.py', '--gather', log, self.folder / 'none'],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.splitlines(), ['left out, 1: accuracy_test: no models', 'left out, 2: gpu_test: no GPU',
                                                    'left out, 1: gpu_test: torch is not installed', 'left out, 1: there is no GPU',
                                                    f'left out, all of it: {self.folder}/none was not written'])


class Parts(unittest.TestCase):
    def test_those_that_did_not_run_are_named(self):
        self.assertEqual(ci_parts.missing(PARTS, 'tests\ntsan\t55 minutes were used up\n'),
                         ['CI left out tsan (races): 55 minutes were used up', 'CI left out torch (torch): CI ended before it'])
        self.assertEqual(ci_parts.missing(PARTS, 'tests\ntsan\tno time\ntsan\ntorch\n'), [])

    def test_every_part_of_the_page_is_noted_by_a_script(self):
        scripts = ''.join(file.read_text() for file in [ROOT / '.ci/run', *(ROOT / 'script').iterdir()])
        noted = set(re.findall(r'ci_parts\.py"? ran ([\w-]+)', scripts))
        self.assertEqual(noted, set(ci_parts.parts((ROOT / 'CONTRIBUTING.md').read_text())))

    def test_a_run_that_ends_early_tells_all(self):
        """.ci/run itself, with script/test of a copy that fails."""
        with tempfile.TemporaryDirectory() as copy:
            for name in ('.ci', 'script', 'tools'):
                os.makedirs(os.path.join(copy, name))
            for name in ('.ci/run', 'tools/ci_parts.py', 'CONTRIBUTING.md'):
                pathlib.Path(copy, name).write_bytes((ROOT / name).read_bytes())
                os.chmod(os.path.join(copy, name), 0o755)
            test = pathlib.Path(copy, 'script/test')
            test.write_text('#!/bin/sh\ntools/ci_parts.py ran build\nexit 3\n')
            bootstrap = pathlib.Path(copy, 'script/bootstrap')
            bootstrap.write_text('#!/bin/sh\n')
            for script in (test, bootstrap):
                script.chmod(0o755)
            done = subprocess.run([os.path.join(copy, '.ci/run')], capture_output=True, text=True)
            self.assertEqual(done.returncode, 3, done.stderr)
            parts = list(ci_parts.parts((ROOT / 'CONTRIBUTING.md').read_text()))
            lines = done.stdout.splitlines()
            self.assertEqual([line.split()[3] for line in lines], parts[1:])
            self.assertTrue(all(line.endswith(': CI ended before it') for line in lines), lines)


if __name__ == '__main__':
    report_skips.run()
