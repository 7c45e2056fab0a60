#!/usr/bin/env python3
"""docs/reference/gpu-verdicts.md: what each part of a day with a GPU said, from the verdicts that gpu_day.py kept.

    gpu_verdicts.py                  writes the page from docs/gpu-results/verdicts.json
    gpu_verdicts.py --take OUT       first takes over OUT/verdicts.json, part by part
    gpu_verdicts.py --check          whether the page is what that file says
"""
import json, pathlib, sys

from gpu_day import PARTS

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT, PAGE = ROOT / 'docs' / 'gpu-results' / 'verdicts.json', ROOT / 'docs' / 'reference' / 'gpu-verdicts.md'
HEAD = '''# Tests on a GPU

CI has no GPU. Each day with one begins with `script/gpu-check --day PYTHON` here and `gpu_day/run OUT` there, which runs these parts in
this order and keeps a verdict for each; `script/gpu-check --take OUT` writes this page ([verdicts.json](../gpu-results)). A part
that failed names the tests that did.

| part | verdict | seconds | card | date | commit |
|---|---|---|---|---|---|
'''


def row(name, verdict):
    if verdict is None:
        return f'| {name} | not run | | | | |\n'
    m = verdict['measured']
    failed = ', '.join(f'`{f}`' for f in verdict['failed'])
    output = 'passed' if verdict['good'] else f'FAILED{": " + failed if failed else ""}'
    return f"| {name} | {output} | {verdict['seconds']:.0f} | {m['device'].split(',')[0]} | {m['date']} | {m['commit']} |\n"


def page():
    verdicts = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    return HEAD + ''.join(row(name, verdicts.get(name)) for name, *_ in PARTS)


def main():
    if sys.argv[1:] == ['--check']:
        if PAGE.read_text() != page():
            sys.exit(f'{PAGE} is not what {KEPT} says: tools/gpu_verdicts.py writes it')
        return
    if sys.argv[1:2] == ['--take']:
        verdicts = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        verdicts.update(json.loads((pathlib.Path(sys.argv[2]) / 'verdicts.json').read_text()))
        KEPT.write_text(json.dumps(verdicts, indent=1) + '\n')
    PAGE.write_text(page())


if __name__ == '__main__':
    main()
