"""Stitching of stored predictions on one thread, beside MONAI: 4 classes, 160^3, roi 64^3, Gaussian weights.

    PYTHONPATH=PACKAGE python bench/sliding_windows.py [--overlap 0.5 0.25] [--runs 7]

Needs torch and MONAI. Both get the same predictions, four windows a call. MONAI's call also cuts windows, so ours does,
too. Times are processor seconds of the thread; runs of both alternate. MONAI changes predictions in place, so both get
a fresh copy, which is not timed. "stitch" makes a new result as MONAI does, "into out" fills an array that is there.
"""
import argparse
import statistics
import time

import numpy as np
import torch
from monai.inferers import sliding_window_inference

from tenfold import _native

ROI, SHAPE, CLASSES, BATCH = (64, 64, 64), (160, 160, 160), 4, 4


def timed(call):
    begin = time.thread_time()
    result = call()
    return time.thread_time() - begin, result


def measure(overlap, runs):
    windows = _native.SlidingWindow(SHAPE, ROI, overlap, 'gaussian')
    count, image = len(windows), torch.zeros(1, 1, *SHAPE)
    stored = torch.rand(count, CLASSES, *ROI)
    given = stored.clone()

    def monai():
        batches = iter(given.split(BATCH))
        return sliding_window_inference(image, ROI, BATCH, lambda _: next(batches), overlap, 'gaussian')

    def cut():
        for first in range(0, count, BATCH):
            windows.cut(image, first, min(BATCH, count - first), threads=1)

    def stitch(out=None):
        stitcher = _native.WindowStitcher(windows, threads=1, out=out)
        for batch in given.split(BATCH):
            stitcher.add(batch)
        return stitcher.finish()[0]

    times = {'MONAI': [], 'cut': [], 'stitch': [], 'into out': []}
    out = np.zeros((1, CLASSES, *SHAPE), np.float32)
    for _ in range(runs):
        given.copy_(stored)
        seconds, theirs = timed(monai)
        times['MONAI'].append(seconds)
        times['cut'].append(timed(cut)[0])
        given.copy_(stored)
        seconds, ours = timed(stitch)
        times['stitch'].append(seconds)
        given.copy_(stored)
        times['into out'].append(timed(lambda: stitch(out))[0])
    error = np.abs(ours - theirs.numpy()).max()
    assert error < 1e-6, f'differs from MONAI by {error}'
    values = stored.numel()
    print(f'overlap {overlap}, {count} windows, nanoseconds a value:')
    for name, pick in (('least', min), ('median', statistics.median)):
        of = {what: pick(seconds) / values * 1e9 for what, seconds in times.items()}
        print(f'  {name:6}', *(f'{what} {value:.2f}' for what, value in of.items()), sep='  ')
        print(f'          MONAI / (stitch + cut) {of["MONAI"] / (of["stitch"] + of["cut"]):.2f}, without cutting '
              f'{(of["MONAI"] - of["cut"]) / of["stitch"]:.2f}, into out {(of["MONAI"] - of["cut"]) / of["into out"]:.2f}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--overlap', type=float, nargs='+', default=[0.5, 0.25])
    parser.add_argument('--runs', type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(1)
    for overlap in args.overlap:
        measure(overlap, args.runs)


if __name__ == '__main__':
    main()
