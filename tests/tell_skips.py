"""unittest for CTest: run() ends with a line for each test, or part of a test, that was left out, and its reason.

Exit codes: 0 passed, 1 failed, 77 (CTest: skipped) when no test and no part of a test ran to its end. script/test gathers the lines.
"""

import sys
import unittest


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


def run():
    runner = unittest.TextTestRunner(resultclass=Result)
    result = unittest.main(module='__main__', exit=False, testRunner=runner).result
    sys.stderr.flush()
    for test, reason in result.skipped:
        print(f'left out: {label(test)}: {reason}')
    print(f'{result.ran} tests and parts of tests ran, {len(result.skipped)} were left out', flush=True)
    sys.exit(1 if not result.wasSuccessful() else 77 if result.ran == 0 else 0)
