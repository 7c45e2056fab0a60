#!/usr/bin/env python3
"""What infer() takes beyond its engine: MONAI's UNet 16-32-64-128 over 256^3 in windows of 64^3, and over 4096^2 of 256^2.

    PYTHONPATH=PACKAGE python bench/sweep_overhead.py [--rows 3d,2d] [--threads 2] [--runs 7] [--overlap 0.25]

Needs torch and MONAI. Two figures. "by difference": infer() with the engine, and the same number of runs of its context
at the same batches on memory that is bound once; medians of alternating runs. "within": infer() with a function that
runs such a context on its windows and times itself, so both times are of one run, and what else the machine does
matters little; but the function's own Python, 10 microseconds a call, counts as beyond.
"""
import argparse
import io
import os
import statistics
import time
import warnings

import numpy as np
import torch
from monai.networks import nets

import tenfold
from tenfold import _native
from tenfold.imaging import SlidingWindow, infer

ROWS = {'3d': (3, (256,) * 3, 64), '2d': (2, (4096,) * 2, 256)}
BATCH = 4


def exported(dims, roi):
    torch.manual_seed(0)
    network = nets.UNet(dims, 1, 2, channels=(16, 32, 64, 128), strides=(2, 2, 2), num_res_units=2).eval()
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        torch.onnx.export(network, (torch.zeros(BATCH, 1, *(roi,) * dims),), file, dynamo=False, opset_version=17,
                          input_names=['x'], output_names=['y'], dynamic_axes={'x': {0: 'n'}, 'y': {0: 'n'}})
    return file.getvalue()


class Runs:
    """Contexts of the engine, one for each batch, and the seconds of their runs."""

    def __init__(self, engine, roi):
        self.engine, self.roi, self.contexts, self.seconds = engine, roi, {}, 0.0

    def __call__(self, windows, first=0):
        count = len(windows)
        if count not in self.contexts:
            y = np.zeros((count, 2, *self.roi), np.float32)
            self.contexts[count] = [_native.Context(self.engine), y, None]
            self.contexts[count][0].bind('y', y)
        context, y, bound = self.contexts[count]
        if bound is None or bound.ctypes.data != windows.ctypes.data:
            context.bind('x', windows)
            self.contexts[count][2] = windows
        begin = time.perf_counter()
        context.run()
        self.seconds += time.perf_counter() - begin
        return y


def measure(row, a):
    dims, shape, roi = ROWS[row]
    x = np.random.default_rng(0).standard_normal((1, 1, *shape)).astype(np.float32)
    shapes = [[n, 1, *(roi,) * dims] for n in (1, BATCH, BATCH)]
    engine = tenfold.build(exported(dims, roi), tf32=False, device='cpu', threads=a.threads, profiles={'x': shapes})
    windows = SlidingWindow(shape, roi, a.overlap, 'gaussian')
    batches = [min(BATCH, len(windows) - first) for first in range(0, len(windows), BATCH)]
    runs, inside = Runs(engine, (roi,) * dims), Runs(engine, (roi,) * dims)
    given = np.random.default_rng(1).standard_normal(shapes[1]).astype(np.float32)
    out = np.zeros((1, 2, *shape), np.float32)
    seconds = {'infer': [], 'engine': [], 'within': []}
    for _ in range(a.runs):
        begin = time.perf_counter()
        infer(windows, x, engine, window_batch=BATCH, threads=a.threads, out=out)
        seconds['infer'].append(time.perf_counter() - begin)
        runs.seconds = inside.seconds = 0
        for count in batches:
            runs(given[:count])
        seconds['engine'].append(runs.seconds)
        begin = time.perf_counter()
        infer(windows, x, inside, window_batch=BATCH, threads=a.threads, out=out)
        seconds['within'].append((time.perf_counter() - begin) / inside.seconds - 1)
    total, engines = (statistics.median(seconds[name]) for name in ('infer', 'engine'))
    print(f'| {row} {shape[0]}, roi {roi} | {len(windows)} | {total:.3f} | {engines:.3f} | {total / engines - 1:.1%} | '
          f'{statistics.median(seconds["within"]):.1%} | {os.getloadavg()[0]:.1f} |', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rows', default=','.join(ROWS))
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--runs', type=int, default=7)
    parser.add_argument('--overlap', type=float, default=0.25)
    a = parser.parse_args()
    print('| volume | windows | infer() s | engine s | beyond, by difference | beyond, within | load |\n'
          '|---|---|---|---|---|---|---|')
    for row in a.rows.split(','):
        measure(row, a)


if __name__ == '__main__':
    main()
