#!/usr/bin/env python3
"""Fails on an include that goes up or sideways in the layer table of ARCHITECTURE.md.

The table's rows read `| folder | may include |`; the second column lists folders of src/, or "-". Test files may include
anything below builder: they are not part of a library.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def layers():
    rows = {}
    inside = False
    for line in (ROOT / 'ARCHITECTURE.md').read_text().splitlines():
        if line.startswith('| folder |'):
            inside = True
        elif inside and line.startswith('|'):
            cells = [c.strip() for c in line.strip('|').split('|')]
            if set(cells[0]) <= {'-', ':'}:
                continue
            rows[cells[0].strip('`')] = set(re.findall(r'[a-z_]+', cells[1]))
        elif inside:
            break
    if not rows:
        sys.exit('ARCHITECTURE.md has no layer table')
    return rows


def main():
    allowed = layers()
    problems = []
    for folder in sorted(p.name for p in (ROOT / 'src').iterdir() if p.is_dir()):
        if folder not in allowed:
            problems.append(f'src/{folder} is not in the layer table')
            continue
        for source in sorted((ROOT / 'src' / folder).rglob('*')):
            if source.suffix not in ('.h', '.cpp') or source.stem.endswith('_test'):
                continue
            for number, line in enumerate(source.read_text().splitlines(), 1):
                found = re.match(r'#include "([a-z_]+)/', line)
                target = found and found.group(1)
                if not target or target in ('tenfold', folder) or not (ROOT / 'src' / target).is_dir():
                    continue
                if target not in allowed[folder]:
                    problems.append(f'{source.relative_to(ROOT)}:{number}: {folder} may not include {target}')
    for folder in ('cli', 'examples'):
        for source in sorted((ROOT / folder).rglob('*.cpp')):
            for number, line in enumerate(source.read_text().splitlines(), 1):
                found = re.match(r'#include "([a-z_]+)/', line)
                if found and (ROOT / 'src' / found.group(1)).is_dir():
                    problems.append(f'{source.relative_to(ROOT)}:{number}: {folder} includes public headers only')
    print('\n'.join(problems) or 'layers: ok')
    sys.exit(bool(problems))


if __name__ == '__main__':
    main()
