#!/usr/bin/env python3
"""Checks that a folder's programs and libraries run wherever promised: symbols.py FOLDER

Each ELF file is read with objdump. Symbols of the C and C++ libraries are at most those of Debian 12; libraries are those that it and
Ubuntu 24.04 have under one name, or lie in the folder, where the file's own path finds them. Triton's functions are its server's.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

MOST = {'GLIBC': (2, 36), 'GLIBCXX': (3, 4, 30), 'CXXABI': (1, 3, 13), 'GCC': (12, 0, 0), 'OPENSSL': (3, 0, 0), 'ZLIB': (1, 2, 12)}
SYSTEM = {'libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'librt.so.1', 'ld-linux-x86-64.so.2', 'libgcc_s.so.1',
          'libstdc++.so.6', 'libssl.so.3', 'libcrypto.so.3', 'libz.so.1'}


def is_elf(path):
    return path.is_file() and not path.is_symlink() and path.open('rb').read(4) == b'\x7fELF'


def numbers(text):
    return tuple(int(number) for number in text.split('.'))


def too_new(name, version):
    most = MOST.get(name)
    return name != 'TENFOLD' and (most is None or numbers(version) > most)


def library_is_there(file, folders, library):
    return any(Path(os.path.normpath(folder.replace('$ORIGIN', str(file.parent))), library).exists() for folder in folders)


def check(file, top):
    """What is wrong with a file."""
    said = subprocess.run(['objdump', '-p', '-T', file], capture_output=True, text=True, check=True).stdout
    dynamic, _, symbols = said.partition('DYNAMIC SYMBOL TABLE')
    folders = [folder for path in re.findall(r'R(?:UN)?PATH\s+(\S+)', dynamic) for folder in path.split(':')]
    for folder in folders:
        if not folder.startswith('$ORIGIN'):
            yield f'looks for libraries in {folder}'
    for library in re.findall(r'NEEDED\s+(\S+)', dynamic):
        if library not in SYSTEM and not library_is_there(file, folders, library):
            yield f'needs {library}, which is not in the folder'
    needed = re.findall(r'0x\w+ 0x\w+ \d+ (\S+)', dynamic.partition('Version References')[2])
    for name, version in sorted(set(match for text in needed for match in re.findall(r'^([A-Z]+)_([\d.]+)$', text))):
        if too_new(name, version):
            yield f'needs {name}_{version}'
    for text in needed:
        if not re.match(r'[A-Z]+_[\d.]+$|TENFOLD', text, re.I):
            yield f'needs {text}'
    for symbol in re.findall(r'\*UND\*\s+\w+\s+(?!\()(\S+)$', symbols, re.M):
        if not symbol.startswith(('TRITON', '_ITM_', '__gmon_start__', '__cxa_finalize')):
            yield f'needs {symbol}, of no version'


def main(top):
    files = [path for path in sorted(Path(top).rglob('*')) if is_elf(path)]
    wrong = [f'{path.relative_to(top)}: {what}' for path in files for what in check(path, top)]
    if not files:
        wrong.append(f'{top} has no program and no library')
    print(f'{len(files)} programs and libraries: {" ".join(str(path.relative_to(top)) for path in files)}')
    sys.exit('\n'.join(wrong) or None)


if __name__ == '__main__':
    main(*sys.argv[1:])
