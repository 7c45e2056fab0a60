"""docs/reference/performance-gpu.md and its tools: the page is what the kept records say, and a command measures each row that it has."""

import contextlib
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

import report_skips

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tools'))

import age  # noqa: E402
import gpu_day  # noqa: E402
import gpu_figures  # noqa: E402
import gpu_promises  # noqa: E402
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
            page = tree / 'docs' / 'reference' / 'performance-gpu.md'
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

    def test_each_table_has_the_card_and_the_age(self):
        """The age is that of the code that was measured: what the history says, not what somebody wrote."""
        page = gpu_table.text_of(gpu_table.Results(ROOT / 'docs' / 'gpu-results'))
        heads = [line for line in page.splitlines() if line.startswith('| ') and ' measured |' in line and '---' not in line and
                 not any(c in line for c in ('202', 'not measured'))]
        self.assertGreater(len(heads), 6)
        self.assertTrue(all(' card | measured |' in head for head in heads), heads)
        if age.commits_since('HEAD') is None:
            self.skipTest('there is no history here')
        self.assertEqual((age.commits_since('HEAD'), age.mark('HEAD'), age.mark('0' * 40)), (0, '', ''))
        for record in gpu_table.Results(ROOT / 'docs' / 'gpu-results').all['rows']:
            if age.commits_since(record['measured']['commit']):
                self.assertIn('stale: ', gpu_table.Results(ROOT / 'docs' / 'gpu-results').measured(record))

    def test_ages_alone_change_no_page(self):
        self.assertEqual(age.without_marks('of ff151a6, stale: 90 commits to its code since |'), 'of ff151a6 |')
        self.assertEqual(age.without_marks('of ff151a6, stale: 1 commit to its code since |'), 'of ff151a6 |')

    def test_what_misses_says_so(self):
        own = {'measured': {'date': '2026-11-26 07:18', 'device': 'NVIDIA H200, driver 1', 'commit': 'a'}}
        other = {'measured': {'date': '2026-11-24 12:57', 'device': 'NVIDIA H200, driver 1', 'commit': 'b'}}
        self.assertTrue(gpu_table.one_run(own, own))
        self.assertFalse(gpu_table.one_run(own, other))
        self.assertEqual(gpu_table.ratio(1.28, 1, 1.3, gpu_table.one_run(own, other)), '1.28 (missed) (two runs)')
        self.assertEqual(gpu_table.ratio(1.31, 1, 1.3, True), '1.31')
        self.assertEqual([gpu_table.judged(value, 64, 1, most=True) for value in (65, 64, None)], ['65.0 (missed)', '64.0', ''])

    def test_eight_bits_count_from_a_cosine_on(self):
        figure = {'part': 'narrow-images', 'what': 'vit: fp16 / fp8', 'wanted': 1.35, 'got': 1.38}
        for cosine, counts in (('0.943160', False), ('0.990001', True)):
            one = dict(figure, detail=f'2.3 / 1.7 ms, cosine of the two {cosine}', **{'measured': {}})
            self.assertEqual(gpu_figures.meets(one), counts)
        page = gpu_table.text_of(gpu_table.Results(ROOT / 'docs' / 'gpu-results'))
        self.assertIn('1.38 (does not count: cosine 0.943)', page)


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

    def test_a_verdict_keeps_the_cases_that_failed(self):
        """gpu_promises.part() on a program that fails as the ONNX suite's does."""
        with tempfile.TemporaryDirectory() as out:
            output = 'printf "FAIL test_dft: element 0\\nunsupported test_x: none\\nnode: 3 pass, 1 fail, 1 unsupported\\n"; exit 1'
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertFalse(gpu_promises.part(types.SimpleNamespace(out=out), 'suite', 'ONNX suite', ['sh', '-c', output], 2, 60))
            kept = json.loads(pathlib.Path(out, 'promises.json').read_text())['suite']
        self.assertEqual((kept['good'], kept['detail']), (False, 'test_dft'))

    def test_parts_end_in_ten_minutes_and_all_tests_come_first(self):
        self.assertTrue(all(limit <= 600 for *_, limit in gpu_day.PARTS))
        names = [name for name, *_ in gpu_day.PARTS]
        self.assertEqual(names[:3], ['tests', 'python tests', 'torch tests'])
        for _, program, words, _ in gpu_day.PARTS:
            if program == gpu_day.NATIVE and '--command' in words:
                self.assertIn(words[1], COMMANDS)


if __name__ == '__main__':
    report_skips.run()
