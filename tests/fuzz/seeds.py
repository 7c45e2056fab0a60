#!/usr/bin/env python3
"""Seeds for the fuzzers: seeds.py TENFOLD SUITE.tar.xz FOLDER writes FOLDER/onnx_import and FOLDER/plan_load.

Models are the small ones of the ONNX suite. Plans are built from some of them, for the CPU and for the null device: whole, and as
metadata sections, behind the byte by which plan_load_fuzz.cpp chooses how to read them.
"""

import os
import struct
import subprocess
import sys
import tarfile
import tempfile

LARGEST_MODEL, LARGEST_PLAN, EVERY = 4000, 12000, 12
AS_IS, SIGNED, METADATA = 0, 1, 2
NULL, CPU = 0, 4


def section(plan, wanted):
    """The bytes of a section; src/plan/format.h has the layout."""
    (count,) = struct.unpack_from('<I', plan, 12)
    for entry in range(32, 32 + 32 * count, 32):
        number, _, offset, size = struct.unpack_from('<IIQQ', plan, entry)
        if number == wanted:
            return plan[offset : offset + size]
    return b''


def main(tenfold, suite, folder):
    models, plans = os.path.join(folder, 'onnx_import'), os.path.join(folder, 'plan_load')
    os.makedirs(models, exist_ok=True)
    os.makedirs(plans, exist_ok=True)
    with tarfile.open(suite) as archive:
        small = [m for m in archive if m.name.endswith('/model.onnx') and m.size <= LARGEST_MODEL]
        for member in small:
            with open(os.path.join(models, member.name.split('/')[-2]), 'wb') as f:
                f.write(archive.extractfile(member).read())
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, 'plan')
        for name in sorted(os.listdir(models))[::EVERY]:
            for device, mark in (('null', NULL), ('cpu', CPU)):
                done = subprocess.run(
                    [
                        tenfold,
                        'exec',
                        f'--onnx={models}/{name}',
                        f'--saveEngine={path}',
                        '--skipInference',
                        f'--device={device}',
                        '--builderOptimizationLevel=0',
                        '--noBuilderCache',
                    ],
                    capture_output=True,
                )
                if done.returncode:
                    continue  # not every model of the suite can be a plan
                with open(path, 'rb') as f:
                    plan = f.read()
                for form, data in ((METADATA, section(plan, 1)), (SIGNED, plan), (AS_IS, plan)):
                    if len(data) <= LARGEST_PLAN:
                        with open(os.path.join(plans, f'{name}-{device}-{form}'), 'wb') as f:
                            f.write(bytes([form | mark]) + data)
    print(f'{len(os.listdir(models))} models and {len(os.listdir(plans))} plans')


if __name__ == '__main__':
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
