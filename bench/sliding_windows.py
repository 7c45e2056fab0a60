"""Stitching of stored predictions on one thread, beside MONAI: 4 classes, 160^3, roi 64^3, Gaussian weights.

    PYTHONPATH=PACKAGE python bench/sliding_windows.py [--overlap 0.5 0.25] [--runs 7] [--threads 1]

Needs torch and MONAI. Both get the same predictions. MONAI takes four windows a call, which its own cuts; so the time of
our cutting is taken off. Ours takes four a call, or all of them in one, which stored predictions allow; into a new
result as MONAI's is, or into an array that is there. Times are processor seconds of the thread, of more threads they are
seconds of the wall; runs alternate. MONAI changes predictions in place, so each run gets a fresh copy, and then another
array is read, so that no cache still has to write that copy. Neither is timed. bench/stitching_floor.c tells what the
memory alone takes.
"""
import argparse
import os
import statistics
import time

import numpy as np
import torch
from monai.inferers import sliding_window_inference

from tenfold import _native

ROI, SHAPE, CLASSES, BATCH = (64, 64, 64), (160, 160, 160), 4, 4


def measure(overlap, runs, threads):
    clock = time.thread_time if threads == 1 else time.perf_counter
    windows = _native.SlidingWindow(SHAPE, ROI, overlap, 'gaussian')
    count, image = len(windows), torch.zeros(1, 1, *SHAPE)
    stored = torch.rand(count, CLASSES, *ROI)
    given, other = stored.clone(), torch.zeros(32 << 20)
    out = np.zeros((1, CLASSES, *SHAPE), np.float32)

    def monai():
        batches = iter(given.split(BATCH))
        return sliding_window_inference(image, ROI, BATCH, lambda _: next(batches), overlap, 'gaussian')

    def cut():
        for first in range(0, count, BATCH):
            windows.cut(image, first, min(BATCH, count - first), threads=threads)

    def stitch(a_call, result=None):
        stitcher = _native.WindowStitcher(windows, threads=threads, out=result)
        for batch in given.split(a_call):
            stitcher.add(batch)
        return stitcher.finish()[0]

    ways = {'MONAI': monai, 'cut': cut, 'by four': lambda: stitch(BATCH), 'by four into out': lambda: stitch(BATCH, out),
            'all': lambda: stitch(count), 'all into out': lambda: stitch(count, out)}
    seconds, results = {way: [] for way in ways}, {}
    for _ in range(runs):
        for way, call in ways.items():
            given.copy_(stored)
            other.sum()
            begin = clock()
            result = call()
            seconds[way].append(clock() - begin)
            results[way] = result
    for way in list(ways)[2:]:
        error = np.abs(results[way] - results['MONAI'].numpy()).max()
        assert error < 1e-6, f'{way} differs from MONAI by {error}'
    print(f'overlap {overlap}, {count} windows, {threads} threads, load {os.getloadavg()[0]:.1f}')
    for name, pick in (('least', min), ('median', statistics.median)):
        of = {way: pick(values) for way, values in seconds.items()}
        theirs = of['MONAI'] - of['cut']
        print(f'  {name:6}  MONAI {theirs * 1e3:.1f} ms ({theirs / stored.numel() * 1e9:.2f} ns a value)')
        for way in list(ways)[2:]:
            print(f'      {way:16} {of[way] * 1e3:6.1f} ms ({of[way] / stored.numel() * 1e9:.2f}): '
                  f'{theirs / of[way]:.2f} times as fast')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--overlap', type=float, nargs='+', default=[0.5, 0.25])
    parser.add_argument('--runs', type=int, default=7)
    parser.add_argument('--threads', type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    for overlap in args.overlap:
        measure(overlap, args.runs, args.threads)


if __name__ == '__main__':
    main()
