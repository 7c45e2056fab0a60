"""Models to engines by `tenfold exec`, whose flags of a build are those of `tenfold segment`."""
from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold._device import default_device
from tenfold._program import PROGRAM
from tenfold.errors import Error, FileError, InvalidArgument, InvalidModel, OutOfMemory, PlanRefused
from tenfold.imaging.segment._options import Options

KINDS = {2: InvalidArgument, 3: InvalidModel, 4: PlanRefused, 6: OutOfMemory}   # by exec's exit code
WARNING = re.compile(r'^\[[^]]*\] \[[WE]\] ')


def build(path: str, options: Options, name: str | None, shapes: dict[str, Sequence[Sequence[int]]]) -> Any:
    """The engine of a model on a device; None: the usual one. `shapes`: least, best and largest of inputs whose shape is dynamic."""
    device = name or default_device()
    flags = [f'--onnx={path}', f'--device={device}', '--skipInference', *options.build]
    if options.threads:
        flags.append(f'--threads={options.threads}')
    for name, ranges in shapes.items():
        flags += [f"--{kind}Shapes='{name}':{'x'.join(map(str, shape))}" for kind, shape in zip(('min', 'opt', 'max'), ranges)]
    with tempfile.TemporaryDirectory(prefix='tenfold-segment-') as folder:
        plan = os.path.join(folder, 'model.plan')
        run([*flags, f'--saveEngine={plan}'], path)
        return tenfold.load(plan, device=device)


def run(flags: list[str], path: str) -> None:
    """exec, whose warnings come to stderr; its log and its results do not."""
    environment = {'VIRTUAL_ENV': sys.prefix, **os.environ}   # where libraries of GPUs are
    try:
        done = subprocess.run([PROGRAM, 'exec', *flags], capture_output=True, text=True, errors='replace', env=environment)
    except OSError as error:
        raise FileError(f'{path}: {PROGRAM}, which builds plans, does not start: {error.strerror}; install tenfold again') from error
    lines = done.stderr.splitlines()
    for line in lines:
        if WARNING.match(line):
            sys.stderr.write(line + '\n')
    if done.returncode:
        messages = [line.removeprefix('tenfold: ') for line in lines if line.startswith('tenfold: ')]
        found = messages[-1] if messages else f'tenfold exec ended with code {done.returncode}'
        raise KINDS.get(done.returncode, Error)(found if path in found or found.startswith('--') else f'{path}: {found}')
