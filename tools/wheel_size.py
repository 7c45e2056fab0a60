#!/usr/bin/env python3
"""Fails on a wheel that is larger than promised, or that holds what no wheel of ours may: wheel_size.py WHEEL

12 MB as it is loaded, 35 MB installed; the libraries once, no library of CUDA's.
"""
import os
import re
import sys
import zipfile

MOST, MOST_INSTALLED = 12e6, 35e6


def main(path):
    with zipfile.ZipFile(path) as wheel:
        files = {i.filename: i.file_size for i in wheel.infolist()}
    packed, installed = os.path.getsize(path), sum(files.values())
    print(f'{os.path.basename(path)}: {packed / 1e6:.1f} MB, {installed / 1e6:.1f} MB installed')
    wrong = [f'{what} is over {maximum / 1e6:.0f} MB' for what, size, maximum in
             (('the wheel', packed, MOST), ('what it installs', installed, MOST_INSTALLED)) if size > maximum]
    libraries = [os.path.basename(f) for f in files if re.search(r'\.so(\.|$)', f)]
    wrong += [f'{name} is there twice' for name in set(libraries) if libraries.count(name) > 1]
    ours = re.compile(r'(libtenfold(-builder|-text|-imaging)?\.so\.0|_native\..*so)$')
    wrong += [f'{name} is not ours' for name in libraries if not ours.match(name)]
    expected = ('tenfold/libtenfold.so.0', 'tenfold/libtenfold-builder.so.0', 'tenfold/libtenfold-text.so.0',
              'tenfold/libtenfold-imaging.so.0', 'tenfold/bin/tenfold', 'tenfold/bin/tenfold-nvrtc', 'tenfold/py.typed',
              'tenfold/_native.pyi', 'tenfold/_options.pyi', 'tenfold/include/tenfold/plugin_abi.h')
    wrong += [f'{name} is missing' for name in expected if name not in files]
    wrong += [f'{name} is missing beside the metadata' for name in ('sboms/tenfold.cdx.json', 'licenses/THIRD-PARTY-NOTICES.txt')
              if not any(file.endswith('.dist-info/' + name) for file in files)]
    sys.exit('\n'.join(wrong) or None)   # an empty text would be a failure


if __name__ == '__main__':
    main(*sys.argv[1:])
