#!/usr/bin/env python3
"""Writes the figures of docs/guides/python.md from docs/python-results: a file of python_figures.py --json for each machine, the tests of
gpu_python.py beside it.

    python_table.py [--check]                 writes the page, or fails where it says something else
    python_table.py --take OUT NAME TITLE     keeps what a bundle of script/gpu-check --python, or python_figures.py, left in OUT first
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE, KEPT = ROOT / 'docs' / 'guides' / 'python.md', ROOT / 'docs' / 'python-results'
BEGIN, END = '<!-- from tools/python_table.py -->\n', '<!-- end -->\n'


def take(out, name, title):
    out = pathlib.Path(out)
    figures = json.loads((out / 'python_figures.json').read_text())
    if (out / 'python_tests.json').exists():
        figures['tests'] = json.loads((out / 'python_tests.json').read_text())
    KEPT.mkdir(exist_ok=True)
    (KEPT / f'{name}.json').write_text(json.dumps(dict(title=title, **figures), indent=1) + '\n')


def cell(row):
    """`ours 1.85, theirs 4.87: 0.38`, the ratio where one is wanted."""
    if row is None:
        return ''
    measured = row['measured']
    text = ', '.join(f"{name.removeprefix('tenfold').removeprefix(', ')} {value:.2f}".strip() for name, value in measured.items())
    if 'theirs' in row['wanted']:
        text += f": {measured['tenfold'] / measured['onnxruntime']:.2f}"
    return text


def tests_of(machine):
    records = machine.get('tests', [])
    if not records:
        return ''
    failed = [r['test'] for r in records if r['code'] not in (0, 5)]
    on_gpu = [r for r in records if r['device'] != 'cpu']
    return (f"Tests there ({records[0]['date'][:10]}, commit {records[0]['commit']}): {sum(r['ran'] for r in records)} in {len(records)} "
            f"files, {sum(r['ran'] for r in on_gpu)} of them on the GPU, {sum(r['skipped'] for r in records)} left out; "
            + (f"failed in {', '.join(failed)}." if failed else 'all others passed.'))


def text():
    machines = [json.loads(path.read_text()) for path in sorted(KEPT.glob('*.json'))]
    rows = {}   # in the order in which they are first measured
    for machine in machines:
        for row in machine['rows']:
            rows.setdefault(row['what'], row)
    lines = ['| what | target | ' + ' | '.join(m['title'] for m in machines) + ' |', '|---' * (2 + len(machines)) + '|']
    for what, first in rows.items():
        found = [next((r for r in m['rows'] if r['what'] == what), None) for m in machines]
        lines.append(f"| {what} | {first['wanted']} | " + ' | '.join(map(cell, found)) + ' |')
    lines.append('')
    for m in machines:
        lines.append(f"* {m['title']}: {m['date']}, commit {m['commit']}, {m['machine']}, Python {m['python']}, "
                     f"{', '.join(m['versions'])}; {m['rounds']} rounds. {tests_of(m)}".rstrip())
    return '\n'.join(lines) + '\n'


def main():
    words = sys.argv[1:]
    if words[:1] == ['--take'] and len(words) == 4:
        take(*words[1:])
    elif words not in ([], ['--check']):
        sys.exit(__doc__)
    page = PAGE.read_text()
    made, count = re.subn(re.escape(BEGIN) + '.*?' + re.escape(END), lambda _: BEGIN + text() + END, page, flags=re.S)
    if count != 1:
        sys.exit(f'{PAGE} has {count} places for the table, one is wanted')
    if words == ['--check']:
        sys.exit('docs/guides/python.md differs from docs/python-results: run tools/python_table.py' if made != page else None)
    PAGE.write_text(made)


if __name__ == '__main__':
    main()
