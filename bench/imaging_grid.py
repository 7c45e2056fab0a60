"""Labels on another grid by one thread, beside torch's interpolate and argmax: 25 classes, 160x133x134 to 321x512x512.

    PYTHONPATH=PACKAGE python bench/imaging_grid.py [--classes 25] [--runs 3] [--parts 8]

Needs torch, which makes the values of all classes on the grid before argmax, 8 GB here. So it gets `--parts` stretches of
planes, one after the other. Ours is a stitcher that gets the means as windows of one plane each: its time includes what
blending them takes. Times are processor seconds of the thread; runs of both alternate. Labels of some planes are checked
in float64.
"""
import argparse
import resource
import statistics
import time

import numpy as np
import torch

from tenfold import _native

FROM, TO = (160, 133, 134), (321, 512, 512)


def smooth(classes, shape):
    """Random logits of a coarse grid: regions, as networks give them."""
    coarse = torch.rand(1, classes, *(max(2, n // 12) for n in shape), generator=torch.manual_seed(1))
    return torch.nn.functional.interpolate(coarse, size=shape, mode='trilinear')


def theirs(means, parts):
    """Stretches of planes, each from the means around it; gives seconds."""
    seconds = 0.0
    for part in range(parts):
        begin, end = TO[0] * part // parts, TO[0] * (part + 1) // parts
        low, high = begin * FROM[0] // TO[0], -(-end * FROM[0] // TO[0])
        some = means[:, :, low:high]
        began = time.thread_time()
        torch.nn.functional.interpolate(some, size=(end - begin, *TO[1:]), mode='trilinear').argmax(1).byte()
        seconds += time.thread_time() - began
    return seconds


def ours(planes, labels):
    """`planes`: [window, class, 1, y, x], windows of one plane each."""
    windows = _native.SlidingWindow(FROM, (1, 0, 0), 0.0)
    began = time.thread_time()
    stitcher = _native.WindowStitcher(windows, threads=1, reduce='argmax', grid=TO, out=labels)
    for batch in planes.split(4):
        stitcher.add(batch)
    stitcher.finish()
    return time.thread_time() - began


def check(means, labels):
    for z in (130, 150, 171, 190):
        place = (z + 0.5) * FROM[0] / TO[0] - 0.5
        low, weight = int(place), place - int(place)
        plane = means[:, :, low].double() * (1 - weight) + means[:, :, low + 1].double() * weight
        values = torch.nn.functional.interpolate(plane, size=TO[1:], mode='bilinear')[0]
        found = torch.from_numpy(labels[0, 0, z]).long()
        below = (values.max(0).values - values.gather(0, found[None])[0]).max()
        assert below < 1e-6, f'plane {z}: a label whose value is {below} below the largest'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--classes', type=int, default=25)
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--parts', type=int, default=8)
    args = parser.parse_args()
    torch.set_num_threads(1)
    means = smooth(args.classes, FROM)
    planes = means[0].transpose(0, 1).contiguous()[:, :, None]
    labels = np.full((1, 1, *TO), 255, np.uint8)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ours(planes, labels)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    check(means, labels)
    times = {'torch': [], 'ours': []}
    for _ in range(args.runs):
        times['ours'].append(ours(planes, labels))
        times['torch'].append(theirs(means, args.parts))
    of = {name: statistics.median(seconds) for name, seconds in times.items()}
    print(f'{args.classes} classes, {"x".join(map(str, FROM))} to {"x".join(map(str, TO))}: torch {of["torch"]:.2f} s, ours '
          f'{of["ours"]:.2f} s, {of["torch"] / of["ours"]:.1f} times; memory grew by {grown >> 10} MiB')


if __name__ == '__main__':
    main()
