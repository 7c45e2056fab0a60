"""docs/performance-gpu.md and its tools: the page is what the kept records say, and a command measures each row that it has."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import tell_skips

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tools'))

import gpu_day  # noqa: E402
import gpu_rows  # noqa: E402
import gpu_table  # noqa: E402
from gpu_commands import COMMANDS  # noqa: E402


def check(tree):
    return subprocess.run([sys.executable, str(tree / 'tools' / 'gpu_table.py'), '--check'], capture_output=True, text=True)


class Page(unittest.TestCase):
    def test_the_page_is_what_the_records_say(self):
        done = check(ROOT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_changed_record_or_page_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            shutil.copytree(ROOT / 'tools', tree / 'tools')
            shutil.copytree(ROOT / 'docs', tree / 'docs')
            shutil.copy(ROOT / 'README.md', tree / 'README.md')
            self.assertEqual(check(tree).returncode, 0)
            rows = tree / 'docs' / 'gpu-results' / 'rows.json'
            kept = rows.read_text()
            records = json.loads(kept)
            records[0]['event_ms'] *= 2
            rows.write_text(json.dumps(records))
            done = check(tree)
            self.assertEqual((done.returncode, 'performance-gpu.md' in done.stdout), (1, True), done.stdout)
            rows.write_text(kept)
            page = tree / 'docs' / 'performance-gpu.md'
            page.write_text(page.read_text().replace('not measured', '1.0', 1))
            self.assertEqual(check(tree).returncode, 1)

    def test_what_was_not_measured_says_so(self):
        page = gpu_table.text_of(gpu_table.Results(ROOT / 'docs' / 'gpu-results'))
        known = gpu_table.Results(ROOT / 'docs' / 'gpu-results')
        for key, name in [*((k, 'masked') for k in gpu_rows.MASKED), *((k, 'most_tuned') for k in gpu_rows.MOST_TUNED)]:
            model, batch = key.split(':')
            if (model, int(batch)) in known.by_row(name):
                continue
            part = page.split({'masked': '## Sentences of mixed', 'most_tuned': "## torch.compile's max"}[name])[1].split('\n## ')[0]
            line = next(text for text in part.splitlines() if text.startswith(f'| {model} | {batch} |'))
            self.assertTrue(line.endswith('| not measured |'), line)


class Commands(unittest.TestCase):
    def rows_of(self, flag):
        return [row for words in COMMANDS.values() if flag in words for row in words[words.index(flag) + 1].split(',')]

    def test_each_row_has_one_command(self):
        self.assertEqual(sorted(self.rows_of('--masks')), sorted(gpu_rows.MASKED))
        self.assertEqual(sorted(self.rows_of('--most-tuned')), sorted(gpu_rows.MOST_TUNED))

    def test_builds_of_a_command_end_in_ten_minutes(self):
        for name, words in COMMANDS.items():
            if '--most-tuned' in words:
                builds = len(words[words.index('--most-tuned') + 1].split(','))
                self.assertLess(203 * builds, 600, name)   # seconds of the slowest that was seen


class Verdicts(unittest.TestCase):
    def test_the_page_is_what_the_records_say(self):
        done = subprocess.run([sys.executable, str(ROOT / 'tools' / 'gpu_verdicts.py'), '--check'], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_tests_that_failed_are_named(self):
        text = ('[  FAILED  ] Gpu.Recorded (12 ms)\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Gpu.Recorded\n'
                'FAIL: test_sizes (__main__.Memory.test_sizes)\nERROR: test_x (__main__.OnAGpu.test_x)\n'
                'operator cases: 2 of 16 shares failed, 70 s\ngpu on cuda: FAILED, exit 1, 21 ran in 8.9 s\nsizes: passed, 3 s\n')
        self.assertEqual(gpu_day.failures(text), ['Gpu.Recorded', 'gpu on cuda', 'operator cases',
                                                  'test_sizes (__main__.Memory.test_sizes)', 'test_x (__main__.OnAGpu.test_x)'])

    def test_parts_end_in_ten_minutes_and_all_tests_come_first(self):
        self.assertTrue(all(limit <= 600 for *_, limit in gpu_day.PARTS))
        names = [name for name, *_ in gpu_day.PARTS]
        self.assertEqual(names[:3], ['tests', 'python tests', 'torch tests'])
        for _, program, words, _ in gpu_day.PARTS:
            if program == gpu_day.NATIVE and '--command' in words:
                self.assertIn(words[1], COMMANDS)


if __name__ == '__main__':
    tell_skips.run()
