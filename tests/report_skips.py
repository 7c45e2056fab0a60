"""unittest that tells what it left out: a line for each test, or part of a test, that was skipped, and its reason.

For CTest a test program calls run(). Exit codes: 0 passed, 1 failed, 77 (CTest: skipped) when no test and no part of a test ran to its end.

    report_skips.py FILE [ARGUMENT...]    runs a test file that knows nothing of this as a program of its own, exit codes as unittest's
    report_skips.py --gather LOG...       counts such lines of logs, and GoogleTest's skips: "left out, 19: gpu_test: no driver"
"""

import collections
import os
import pathlib
import re
import runpy
import sys
import unittest

OURS = 'left out: '
GOOGLES = ': Skipped'   # GoogleTest's reason is the line behind "FILE:LINE: Skipped"


class Result(unittest.TextTestResult):
    """Counts what ran to its end: a test whose every subTest was skipped has tested nothing, though unittest calls it successful."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.ran, self.parts = 0, {}   # parts: by test, how many of its subTests ran and how many were skipped

    def count(self, test, ran):
        there = self.parts.setdefault(test.id(), [0, 0])
        there[0 if ran else 1] += 1

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        self.ran += 1
        self.count(test, True)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.count(getattr(test, 'test_case', test), False)

    def addSuccess(self, test):
        super().addSuccess(test)
        ran, skipped = self.parts.get(test.id(), (0, 0))
        self.ran += 1 if skipped == 0 and ran == 0 else 0

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.ran += 1

    def addError(self, test, err):
        super().addError(test, err)
        self.ran += 1


def label(test):
    """accuracy_test's test_reference_models (resnet50), without the module."""
    parent = getattr(test, 'test_case', test)
    parts = [str(part) for part in (getattr(test, '_message', None), *getattr(test, 'params', {}).values()) if isinstance(part, (str, int))]
    return parent.id().split('.')[-1] + (f' ({", ".join(parts)})' if parts else '')


def tell(result, name=label):
    """`name`: of a test that was left out."""
    sys.stderr.flush()
    for test, reason in result.skipped:
        print(f'{OURS}{name(test)}: {reason}')
    print(f'{result.ran} tests and parts of tests ran, {len(result.skipped)} were left out', flush=True)


def run():
    runner = unittest.TextTestRunner(resultclass=Result)
    result = unittest.main(module='__main__', exit=False, testRunner=runner).result
    tell(result)
    sys.exit(1 if not result.wasSuccessful() else 77 if result.ran == 0 else 0)


def run_file(path, arguments):
    """The file runs as `python FILE ARGUMENT...` does; unittest.main() of it takes this runner."""
    path = pathlib.Path(path).resolve()
    file = '/'.join(path.with_suffix('').parts[-2:]).removeprefix('tests/')

    class Runner(unittest.TextTestRunner):
        resultclass = Result

        def run(self, test):
            result = super().run(test)
            tell(result, lambda one: file)   # a file's skips have a few reasons: these are worth a line, each test is not
            return result
    unittest.runner.TextTestRunner = Runner
    sys.argv, sys.path[0] = [str(path), *arguments], str(path.parent)
    runpy.run_path(str(path), run_name='__main__')


def gathered(lines):
    """{what was left out, with its reason: how often} of the lines of a log."""
    found, google = collections.Counter(), False
    for line in lines:
        line = line.rstrip('\n')
        if google and not re.match(r'\[|$', line):
            found[line] += 1
        elif line.startswith(OURS):
            found[line.removeprefix(OURS)] += 1
        google = line.endswith(GOOGLES)
    return found


def gather(logs):
    """A line for each; a log that is not there is told, too: it is a part of the tests that did not run."""
    for log in logs:
        if not os.path.exists(log):
            print(f'left out, all of it: {log} was not written')
            continue
        with open(log, errors='replace') as file:
            for what, count in sorted(gathered(file).items()):
                print(f'left out, {count}: {what}')


if __name__ == '__main__':
    if not sys.argv[1:] or sys.argv[1].startswith('-') and sys.argv[1] != '--gather':
        sys.exit(__doc__)
    if sys.argv[1] == '--gather':
        gather(sys.argv[2:])
    else:
        run_file(sys.argv[1], sys.argv[2:])
