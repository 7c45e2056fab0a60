#!/usr/bin/env python3
"""Fails if making the Python package again compiles anything: second_build.py, behind script/python-wheel.

First as script/python-wheel does, then as `pip install .` does in environments of its own, which lie at another path each time. What is
compiled is read from ninja's log.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOG = ROOT / 'build/release/.ninja_log'


def objects():
    """The objects that were ever made, each with the time at which it was."""
    lines = (line.split('\t') for line in LOG.read_text().splitlines() if not line.startswith('#'))
    return {(fields[3], fields[2]) for fields in lines if fields[3].endswith(('.o', '.gch'))}


def compiled_by(*command):
    before = objects()
    pinned = dict.fromkeys(('PIP_CONSTRAINT', 'PIP_BUILD_CONSTRAINT'), str(ROOT / 'script/requirements-python.txt'))   # nanobind's version
    made = subprocess.run(command, cwd=ROOT, env={**os.environ, **pinned}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if made.returncode:
        sys.exit(f'second_build: {" ".join(map(str, command))}:\n{made.stdout[-4000:]}')
    return sorted(output for output, _ in objects() - before)


def main():
    if not LOG.exists():
        sys.exit(f'second_build: {LOG} is not there; script/python-wheel makes it')
    pip = [ROOT / 'build/venv/bin/python', '-m', 'pip', 'wheel', '-q', '--disable-pip-version-check', '--no-deps', '.', '-w']
    with tempfile.TemporaryDirectory() as folder:
        for command in ['script/python-wheel', 'build'], [*pip, folder], [*pip, folder]:
            compiled = compiled_by(*command)
            print(f'second_build: {"pip wheel ." if command[0] == pip[0] else " ".join(command)}: {len(compiled)} objects compiled')
            if compiled:
                sys.exit('second_build: a second build compiles\n  ' + '\n  '.join(compiled[:20]))


if __name__ == '__main__':
    main()
