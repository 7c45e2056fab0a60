"""docs/lab/performance-cpu.md's tools: script/bench --check finds what fell, stale sections are marked, tables and chart are current."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import report_skips

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tools'))
import age  # noqa: E402
import performance_page  # noqa: E402
import performance_table  # noqa: E402
from performance_rows import read_runs  # noqa: E402


def git(*words):
    return subprocess.run(['git', *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def rows(ours, run, cases=('mlp256-b1', 'resnet50-b1')):
    """A run of the judge: ONNX Runtime takes 2 ms and OpenVINO 1.5, our default `ours` by case, --noTF32 a tenth more."""
    found = []
    for case in cases:
        times = {'onnxruntime': 2.0, 'openvino': 1.5, 'tenfold': ours[case], 'tenfold_no_tf32': ours[case] * 1.1}
        for peer, ms in times.items():
            found.append(dict(case=case, threads=1, peer=peer, median_ms=ms * (1 + 0.01 * run), runs=20, agrees=True, max_rel_diff=1e-6,
                              version='1', rss_mb=10, cold_ms=5))
    return dict(cpu='A CPU', cores=2, flags=['avx512f'], rows=found)


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = self.folder / 'performance.md'
        self.write({'mlp256-b1': 1.0, 'resnet50-b1': 1.0})
        table, about = read_runs(self.folder)
        title = performance_table.default_title(about)
        body = '\n'.join(performance_table.speed_lines(str(self.folder), table, performance_table.pairs_of(table)))
        before = '# Performance\n\n## Other\n\n| model | threads |\n|---|---|\n'
        self.page.write_text(performance_table.replace_section(before, title, body))

    def write(self, ours):
        for run in range(3):
            (self.folder / f'rows-{run}.json').write_text(json.dumps(rows(ours, run)))

    def check(self, *more):
        done = subprocess.run([sys.executable, ROOT / 'tools' / 'performance_check.py', self.folder, self.page, *more],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_the_same_machine_again(self):
        self.assertEqual(self.check(), (0, 'nothing fell by more than its spread \n'
                                           '8 ratios of "AVX-512 (A CPU, 2 processors)" were compared, 0 fell\n'))

    def test_what_fell_is_named(self):
        self.write({'mlp256-b1': 1.0, 'resnet50-b1': 1.25})
        code, said = self.check()
        self.assertEqual(code, 1)
        self.assertIn('resnet50-b1, 1 threads, default to ONNX Runtime: 1.60 (1.60-1.60), it was 2.00 (2.00-2.00)', said)
        self.assertIn('8 ratios of "AVX-512 (A CPU, 2 processors)" were compared, 4 fell', said)
        self.assertNotIn('mlp256', said)

    def test_within_its_spread(self):
        for run, ms in enumerate((1.0, 1.25, 1.0)):
            (self.folder / f'rows-{run}.json').write_text(json.dumps(rows({'mlp256-b1': ms, 'resnet50-b1': ms}, 0)))
        self.assertEqual(self.check()[0], 0)

    def test_nothing_to_compare_with(self):
        code, said = self.check('Another machine')
        self.assertEqual(code, 2)
        self.assertIn('has no section "Another machine"', said)


class Words(unittest.TestCase):
    def test_the_page_and_the_chart_are_what_the_notebook_says(self):
        for tool in ('performance_page.py', 'readme_chart.py'):
            done = subprocess.run([sys.executable, ROOT / 'tools' / tool, '--check'], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_page_reads_what_script_bench_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            data = rows({'resnet50-b1': 3.0}, 0, ['resnet50-b1'])
            pathlib.Path(folder, 'rows-0.json').write_text(json.dumps(data))
            table, about = read_runs(folder)
            body = '\n'.join([performance_table.terms(table, about) + '.', '',
                              *performance_table.speed_lines(folder, table, performance_table.pairs_of(table))])
        section = performance_page.Section('A', f'# Performance\n\n## A\n\n{body}\n')
        _, head, _, row = performance_page.table(section)
        self.assertIn('| to ONNX Runtime | to OpenVINO |', head)
        self.assertIn('| ResNet-50 | 1 | 3.300 | **0.61', row)      # 2 ms by 3.3: slower, and in bold
        self.assertRegex(row, r'\d{4}-\d\d-\d\d, [0-9a-f]+.*, ONNX Runtime 1')
        self.assertEqual(section.ratio('resnet50-b1', 1, 'to OpenVINO'), 0.45)

    def test_pages_say_no_exact_of_f32_by_bf16(self):
        for page in ('docs/lab/performance-cpu.md', 'docs/reference/performance.md', 'docs/guides/torch.md'):
            for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
                self.assertNotRegex(line, r'\bexact f32\b|\| exact \||\*\*exact\*\*|exact \(`--noTF32`\)', f'{page}:{number}')


class Ages(unittest.TestCase):
    def test_marks(self):
        known = git('rev-parse', '--short=8', 'HEAD')
        if not known:
            self.skipTest('there is no history here')
        text = f'2026; Tenfold {known}, ONNX Runtime 1; Tenfold 00000000, x'
        self.assertEqual(performance_table.with_ages(text), text)
        self.assertEqual(performance_table.with_ages(text.replace(known, known + ', stale: 3 commits to its code since')), text)
        before = git('rev-parse', '-q', '--verify', git('rev-list', '-1', 'HEAD', '--', 'src/compiler/tune') + '~1')
        if before:
            self.assertRegex(performance_table.with_ages(f'Tenfold {before[:10]}.'), r'stale: \d+ commits? to its code since\.$')

    def test_what_is_old_is_marked(self):
        """tools/performance_table.py --ages docs/lab/performance-cpu.md marks it. Twenty commits may pass before."""
        text = (ROOT / 'docs' / 'lab' / 'performance-cpu.md').read_text()
        for named in re.finditer(r'Tenfold ([0-9a-f]{7,40})\b', text):
            if (age.commits_since(named[1], age.CPU) or 0) > 20:
                self.assertTrue(text[named.end():].startswith(', stale: '), named[0])


if __name__ == '__main__':
    report_skips.run()
