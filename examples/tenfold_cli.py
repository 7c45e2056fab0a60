"""Runs Tenfold's programs from Python: plans made once and kept, inputs and outputs through NumPy files."""
import json
import os
import subprocess

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, 'build', 'release')
TENFOLD = os.path.join(BUILD, 'cli', 'tenfold')
SPEECH_DETECTOR = os.path.join(BUILD, 'examples', 'speech_detector')


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f'{" ".join(command)}\nended with code {done.returncode}: {(done.stderr or done.stdout).strip()[-2000:]}')
    return done.stdout


def newer(made, *sources):
    """Does `made` exist, and is it younger than all that it was made from?"""
    return os.path.exists(made) and all(os.path.getmtime(made) > os.path.getmtime(s) for s in sources)


def spec(shapes):
    return ','.join(f'{name}:{"x".join(map(str, shape))}' for name, shape in shapes.items())


def make_plan(onnx, plan, threads, ranges, cache):
    """Builds `plan` unless a current one exists. `ranges`: for each input its smallest, usual and largest shape."""
    if newer(plan, onnx, TENFOLD):
        return None
    flags = [f'--{which}Shapes=' + spec({name: r[i] for name, r in ranges.items()}) for i, which in enumerate(('min', 'opt', 'max'))]
    out = run([TENFOLD, 'exec', f'--onnx={onnx}', f'--saveEngine={plan}', *flags, f'--threads={threads}', f'--timingCacheFile={cache}',
               '--skipInference', '--json'])
    return json.loads(out.splitlines()[-1])


class Inputs:
    """Arrays saved in a folder, as flags for `tenfold exec`."""

    def __init__(self, folder, arrays):
        os.makedirs(folder, exist_ok=True)
        self.folder, self.arrays = folder, arrays
        for name, array in arrays.items():
            np.save(os.path.join(folder, name + '.npy'), array)

    def flags(self):
        # A scalar needs no shape.
        shapes = spec({name: a.shape for name, a in self.arrays.items() if a.ndim})
        files = ','.join(f'{name}:{os.path.join(self.folder, name)}.npy' for name in self.arrays)
        return [f'--shapes={shapes}', f'--loadInputs={files}']


def infer(plan, inputs, threads):
    """Outputs by name for one run."""
    out = os.path.join(inputs.folder, 'outputs.npz')
    run([TENFOLD, 'exec', f'--loadEngine={plan}', *inputs.flags(), f'--exportOutput={out}', f'--threads={threads}',
         '--iterations=1', '--duration=0', '--warmUp=0'])
    with np.load(out) as arrays:
        return dict(arrays)


def measure(plan, inputs, threads, seconds):
    """The last line of `tenfold exec --json`: median_ms, p99_ms, peak_rss_bytes ..."""
    out = run([TENFOLD, 'exec', f'--loadEngine={plan}', *inputs.flags(), f'--threads={threads}', f'--duration={seconds}', '--warmUp=50',
               '--json'])
    return json.loads(out.splitlines()[-1])
