#!/usr/bin/env python3
"""docs/reference/performance.md and README's table, from the sections that script/bench wrote into docs/lab/performance-cpu.md.

    performance_page.py            writes both
    performance_page.py --check    whether both are what that page says
"""
import pathlib
import re
import sys

import age

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE, PAGE, README = ROOT / 'docs/lab/performance-cpu.md', ROOT / 'docs/reference/performance.md', ROOT / 'README.md'
MACHINES = ('AVX-512 VNNI (AMD Zen 4, 2 processors)', 'AMX (Intel Xeon, 2 processors)')
SHORT = MACHINES[0]   # README's: there f32 is FMA for all engines
DEFAULTS = 'AMX, as they come (Intel Xeon, 2 processors)'   # README's: there OpenVINO chooses bf16
NAMES = {'minilm-l6-s16-b1': 'MiniLM-L6, 16 tokens', 'minilm-l6-s128-b1': 'MiniLM-L6, 128 tokens',
         'minilm-l6-s128-b8': 'MiniLM-L6, 128 tokens, batch 8', 'minilm-l6-mixed-b32': 'MiniLM-L6, mixed lengths, batch 32',
         'bert-base-s128-b1': 'BERT-base, 128 tokens', 'resnet50-b1': 'ResNet-50', 'resnet50-b8': 'ResNet-50, batch 8',
         'mobilenet_v2-b1': 'MobileNet-v2', 'vit-b16-b1': 'ViT-B/16', 'unet3d-b1': '3-D U-Net', 'smallcnn-b1': 'small CNN',
         'mlp256-b1': 'MLP of 256', 'minilm-l6.int8-s128-b1': 'MiniLM-L6 int8, 128 tokens',
         'bert-base.int8-s128-b1': 'BERT-base int8, 128 tokens', 'resnet50.int8-b1': 'ResNet-50 int8',
         'mobilenet_v2.int8-b1': 'MobileNet-v2 int8'}
EIGHT = ('minilm-l6-s128-b1', 'bert-base-s128-b1', 'resnet50-b1', 'mobilenet_v2-b1', 'vit-b16-b1', 'unet3d-b1',
         'minilm-l6.int8-s128-b1', 'resnet50.int8-b1')
COLUMNS = {   # of the page: the heads that they have in sections of different days
    'unrounded, ms': ['--noTF32, ms'], 'to ONNX Runtime': ['--noTF32 to ONNX Runtime'], 'to OpenVINO': ['--noTF32 to OpenVINO'],
    'default, ms': ['default, ms', 'ms'], 'default to ONNX Runtime': ['default to ONNX Runtime', 'to ONNX Runtime'],
    'default to OpenVINO': ['default to OpenVINO', 'to OpenVINO'], 'default to OpenVINO as it comes': ['default to OpenVINO as it comes'],
    'auto, ms': ['--precision=auto, ms'], 'auto to OpenVINO as it comes': ['--precision=auto to OpenVINO as it comes'],
    "bf16 to OpenVINO's": ["--bf16 to OpenVINO's bf16"]}
HEAD = '''# Performance on CPUs

Written by `tools/performance_page.py` from [the notebook](../lab/performance-cpu.md), in which `script/bench` keeps what
it measured. Each number after "to" is the other engine's median time divided by ours: above 1 we are faster, below 1 (bold)
slower. All engines run the same ONNX file and inputs, take turns on the same machine, and their outputs are compared.

* **unrounded**: `--noTF32`, compared with fp32 of the others. GEMMs use FMA; with AMX bf16x3 emulation, which keeps all 24
  bits.
* **default**: GEMMs and convolutions may be rounded ([accuracy](../guides/accuracy.md)), compared with the same fp32 of the
  others, who do more work.
* **OpenVINO as it comes** computes fp32 models in bf16 on a CPU with AMX: faster than our default, and less accurate (1e-2
  instead of 4e-5).
* **auto**: `--precision=auto`, which takes bf16 there, too, where the tuner finds it faster, and tells the error.
* **bf16**: `--bf16`, compared with OpenVINO's bf16.

Errors, memory, start times, throughput, 16 threads: [the notebook](../lab/performance-cpu.md). GPUs:
[performance-gpu.md](performance-gpu.md). Reference models and the program that times them are not in this repository.
'''


class Section:
    """A machine's rows as {(case, threads): {column: text}}, and who was measured when."""

    def __init__(self, title, text=None):
        part = re.split(r'(?m)^(?=## )', text or SOURCE.read_text())
        found = [p for p in part if p.startswith(f'## {title}\n')]
        if not found:
            sys.exit(f'{SOURCE.relative_to(ROOT)} has no section "{title}"')
        self.title, self.terms = title, found[0].split('\n\n')[1].replace('\n', ' ')
        self.rows, head = {}, None
        for line in found[0].splitlines():
            cells = [c.strip() for c in line.strip('|').split('|')]
            if line.startswith('| model | threads |'):
                if head:   # the second table has memory and starts
                    break
                head = cells
            elif head and line.startswith('|') and not line.startswith('|-'):
                self.rows[cells[0], int(cells[1])] = dict(zip(head, cells))

    def cell(self, case, threads, column):
        row = self.rows.get((case, threads), {})
        return next((row[head] for head in COLUMNS[column] if row.get(head, '-') != '-'), '')

    def ratio(self, case, threads, column):
        text = self.cell(case, threads, column)
        return float(text.split()[0]) if text else None

    def measured(self, with_age=True):
        """Date, commit with its age, and the peers' versions, as every row repeats them. README has no ages."""
        date = re.search(r'\d{4}-\d\d-\d\d', self.terms)[0]
        commit = re.search(r'Tenfold ([0-9a-f]{7,})', self.terms)
        versions = re.findall(r'(?:ONNX Runtime|OpenVINO) \d[\d.]*\b', self.terms)
        reported = f"{commit[1]}{age.mark(commit[1], age.CPU) if with_age else ''}" if commit else 'commit not kept'
        return ', '.join([date, reported, *(versions or ['versions not kept'])])


def marked(text):
    """In bold where we are slower."""
    return f'**{text}**' if text and float(text.split()[0]) < 1 else text


def table(section):
    yield f'\n## {section.title}\n'
    shown = [c for c in COLUMNS if any(section.cell(*key, c) for key in section.rows)]
    yield '| model | threads | ' + ' | '.join(shown) + ' | measured |'
    yield '|---|---|' + '---|' * (len(shown) + 1)
    for case in NAMES:
        for threads in (1, 2):
            if (case, threads) in section.rows:
                cells = [section.cell(case, threads, c) for c in shown]
                cells = [marked(text) if ' to ' in f' {name}' else text for name, text in zip(shown, cells)]
                yield f'| {NAMES[case]} | {threads} | ' + ' | '.join(cells) + f' | {section.measured()} |'


def page():
    return HEAD + '\n'.join(line for title in (*MACHINES, DEFAULTS) for line in table(Section(title))) + '\n'


def compared(section, heads, cases):
    """A table of README: its heads, and the columns of the page that they stand for."""
    yield '| model | ' + ' | '.join(heads) + ' |'
    yield '|---|' + '---|' * len(heads)
    for case in cases:
        cells = (marked(f'{section.ratio(case, 2, c):.2f}') if ' to ' in f' {c}' else section.cell(case, 2, c) for c in heads.values())
        yield f'| {NAMES[case]} | ' + ' | '.join(cells) + ' |'
    yield ''
    yield f'{section.title}, two threads; measured ' + section.measured(with_age=False).replace(', ', ' at ', 1) + '.'


def readme_table():
    peers = ('to ONNX Runtime', 'to OpenVINO')
    yield from compared(Section(SHORT), {'`--noTF32`, ms': 'unrounded, ms', **{p: p for p in peers}, 'default, ms': 'default, ms',
                                         **{f'default {p}': f'default {p}' for p in peers}}, EIGHT)
    yield ''
    yield from compared(Section(DEFAULTS), {'default, ms': 'default, ms', 'to ONNX Runtime': 'default to ONNX Runtime',
                                            'to OpenVINO': 'default to OpenVINO as it comes', '`--precision=auto`, ms': 'auto, ms',
                                            'auto to OpenVINO': 'auto to OpenVINO as it comes'},
                        [case for case in EIGHT if '.int8' not in case])


def readme():
    start, end = '<!-- from tools/performance_page.py -->\n', '<!-- end -->'
    before, rest = README.read_text().split(start)
    return before + start + '\n'.join(readme_table()) + '\n' + rest[rest.index(end):]


def main():
    expected = {PAGE: page(), README: readme()}
    wrong = [path for path, text in expected.items()
             if not path.exists() or age.without_marks(path.read_text()) != age.without_marks(text)]
    if '--check' in sys.argv:
        for path in wrong:
            print(f'{path.relative_to(ROOT)} is not what {SOURCE.relative_to(ROOT)} says: run tools/performance_page.py')
        return 1 if wrong else 0
    for path, text in expected.items():
        path.write_text(text)
    return 0


if __name__ == '__main__':
    sys.exit(main())
