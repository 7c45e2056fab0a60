#!/usr/bin/env python3
"""Fails where auditwheel does not accept a wheel for the machines that its name promises: wheel_tag.py WHEEL"""
import re
import subprocess
import sys


def main(path):
    promised = re.search(r'-manylinux_(\d+)_(\d+)_(\w+)\.whl$', path)
    if not promised:
        sys.exit(f'{path}: its name has no tag manylinux_X_Y: pip on other machines, and PyPI, would not take it')
    said = subprocess.run([sys.executable, '-m', 'auditwheel', 'show', path], capture_output=True, text=True)
    found = re.search(r'platform tag:\s+"manylinux_(\d+)_(\d+)_(\w+)"', said.stdout)
    if said.returncode or not found:
        sys.exit(f'auditwheel accepts {path} for no machine:\n{said.stdout}{said.stderr}')
    least, name = ([int(match[1]), int(match[2])] for match in (found, promised))
    print(f'auditwheel: it needs glibc {least[0]}.{least[1]}, and says {name[0]}.{name[1]}')
    if least > name or found[3] != promised[3]:
        sys.exit(said.stdout)


if __name__ == '__main__':
    main(*sys.argv[1:])
