"""tenfold segment on noisy, touching spheres, beside NumPy's answer on the whole volume.

    python examples/segment.py [FOLDER]     needs the wheel and NumPy; the files stay in FOLDER, if there is one

The network's weights are set by hand: a Gaussian blur, and a score of the foreground. Blur reaches 3 voxels, so windows whose outer
3 voxels do not count (--mode=halo) give what the whole volume would: no seams.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

import numpy as np

import tenfold

SHAPE, ROI, REACH = (72, 96, 90), (32, 40, 40), 3
THRESHOLD = 0.5
FLAGS = ['--mode=halo', f'--halo={REACH}', '--overlap=0', '--normalize=scale:0.001', '--reduce=argmax', '--swBatch=2']


def spheres(seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """(an image in uint16, whether a voxel lies in a sphere). Each sphere touches the one before it."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*(np.arange(extent) for extent in SHAPE), indexing='ij'), -1)
    inside = np.zeros(SHAPE, bool)
    center, radius = np.array(SHAPE) / 2, 9.0
    for _ in range(40):
        inside |= ((grid - center) ** 2).sum(-1) <= radius ** 2
        direction, other = rng.standard_normal(3), rng.uniform(6, 11)
        center = np.clip(center + direction / np.linalg.norm(direction) * (radius + other), 0, np.array(SHAPE) - 1)
        radius = other
    return np.clip(1000 * (inside + rng.normal(0, 0.6, SHAPE)) + 2000, 0, 65535).astype(np.uint16), inside


def taps() -> np.ndarray:
    gaussian = np.exp(-0.5 * (np.arange(-REACH, REACH + 1) / 1.2) ** 2)
    result: np.ndarray = (gaussian / gaussian.sum()).astype(np.float32)
    return result


def write_network(path: str) -> None:
    """Scores of background and foreground: 0, and blur - threshold. Each axis is blurred by a convolution of its own."""
    net = tenfold.Network()
    x = net.input('image', 'f32', ['batch', 1, *ROI])
    y = x - np.float32(2)   # the dark level, which the convolutions' zeros stand for at the border
    for axis in range(3):
        shape = [1, 1] + [2 * REACH + 1 if at == axis else 1 for at in range(3)]
        pads = [REACH if at == axis else 0 for at in range(3)]
        y = net.Conv(y, taps().reshape(shape), pads=pads * 2)
    net.output(net.Concat(y * np.float32(0), y - np.float32(THRESHOLD), axis=1), 'scores')
    sizes = tuple([batch, 1, *ROI] for batch in (1, 2, 2))
    tenfold.build(net, device='cpu', profiles={'image': sizes}, optimization_level=0).save(path)


def expected_labels(image: np.ndarray) -> np.ndarray:
    """The same of the whole volume, in double."""
    found = image.astype(np.float64) * 0.001 - 2
    for axis in range(3):
        padded = np.pad(found, [(REACH, REACH) if at == axis else (0, 0) for at in range(3)])
        blur: Callable[[np.ndarray], np.ndarray] = lambda line: np.convolve(line, taps().astype(np.float64), 'valid')   # noqa: E731
        found = np.apply_along_axis(blur, axis, padded)
    return found > THRESHOLD


def dice(a: np.ndarray, b: np.ndarray) -> float:
    return float(2 * (a & b).sum() / (a.sum() + b.sum()))


def main(folder: str) -> None:
    image, inside = spheres()
    paths = {name: os.path.join(folder, name) for name in ('image.npy', 'blur.plan', 'labels.npy')}
    np.save(paths['image.npy'], image)
    write_network(paths['blur.plan'])
    done = subprocess.run([sys.executable, '-m', 'tenfold', 'segment', f'--loadEngine={paths["blur.plan"]}', '--device=cpu', '--overwrite',
                           f'--input={paths["image.npy"]}', f'--output={paths["labels.npy"]}', '--json', *FLAGS],
                          stdout=subprocess.PIPE, text=True, check=True)
    summary = json.loads(done.stdout.splitlines()[-1])
    labels, expected = np.load(paths['labels.npy']) == 1, expected_labels(image)
    print(f'{summary["planes"]} planes, {summary["windows"]} windows, {summary["seconds"]["all"]:.2f} s')
    print(f'Dice: {dice(labels, expected):.5f} to the whole volume by NumPy, {dice(labels, inside):.3f} to the spheres')
    different = labels != expected
    print(f'voxels that differ: {different.sum()} of {labels.size}')
    if dice(labels, expected) < 0.999 or dice(labels, inside) < 0.9:
        raise SystemExit('the labels are not those of the whole volume')


if __name__ == '__main__':
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(folder)
