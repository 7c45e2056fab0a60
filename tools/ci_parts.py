#!/usr/bin/env python3
"""What of CI ran: the scripts that .ci/run calls note each part of CONTRIBUTING.md's table, and its last lines name those that did not run.

    ci_parts.py ran PART               at the part's end; a script that fails before has not run it
    ci_parts.py left-out PART REASON   and why
    ci_parts.py tell                   a line for each part that did not run

TENFOLD_CI_PARTS names the file that is written and read. Without it (outside .ci/run) nothing is noted.
"""
import os
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / 'CONTRIBUTING.md'
ROW = re.compile(r'\| `([\w-]+)` \| (.+?) \| [\d(]')   # a part's name, what it is, its minutes


def parts(page):
    """{name: what it is}, in the order of the table."""
    found = dict(ROW.findall(page))
    if not found:
        raise SystemExit('ci_parts.py: CONTRIBUTING.md has no table of parts ("| `name` | what | minutes |")')
    return found


def noted(log):
    """{name: None where it ran, else the reason}; the last line of a part counts."""
    found = {}
    for line in log.splitlines():
        name, _, reason = line.partition('\t')
        found[name] = reason or None
    return found


def missing(page, log):
    """Lines for the parts that did not run."""
    seen, left = noted(log), []
    for name, what in parts(page).items():
        if name not in seen:
            left.append(f'CI left out {name} ({what}): CI ended before it')
        elif seen[name]:
            left.append(f'CI left out {name} ({what}): {seen[name]}')
    return left


def note(name, reason=''):
    if name not in parts(PAGE.read_text()):
        sys.exit(f"ci_parts.py: {name} is no part of CONTRIBUTING.md's table: {', '.join(parts(PAGE.read_text()))}")
    if path := os.environ.get('TENFOLD_CI_PARTS'):
        with open(path, 'a') as file:
            print(name, reason.replace('\n', ' '), sep='\t', file=file)


def main(words):
    match words:
        case ['ran', name]:
            note(name)
        case ['left-out', name, reason] if reason:
            note(name, reason)
        case ['tell']:
            path = pathlib.Path(os.environ.get('TENFOLD_CI_PARTS', ''))
            left = missing(PAGE.read_text(), path.read_text() if path.is_file() else '')
            print('\n'.join(left) or "CI ran every part of CONTRIBUTING.md's table", flush=True)
        case _:
            sys.exit(__doc__)


if __name__ == '__main__':
    main(sys.argv[1:])
