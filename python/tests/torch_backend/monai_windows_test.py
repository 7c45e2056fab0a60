"""Windows beside MONAI's own, on generated configurations: places, padding, weights, resolutions, batches."""
import os
import sys
import unittest

import numpy as np
import torch

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from case import Case, needs  # noqa: E402

from tenfold import _native  # noqa: E402

MOST_EXTENT = {1: 60, 2: 40, 3: 20, 4: 10}


class Predictor:
    """Outputs that depend on the place in the window: a random mask and a ramp; of other resolutions, on the window's mean, too."""

    def __init__(self, rng, roi, several):
        self.outputs = []
        for number in range(int(rng.integers(1, 4)) if several else 1):
            extents = [int(rng.choice([r, 2 * r] + [r // 2] * (r % 2 == 0))) for r in roi] if number and len(roi) < 4 else roi
            mask = rng.random((int(rng.integers(1, 5)), *extents)).astype('f4')
            ramp = sum(np.ix_(*[np.linspace(-1, 1, e) * (i + 1) for i, e in enumerate(extents)])).astype('f4')
            self.outputs.append((torch.from_numpy(mask), torch.from_numpy(ramp)))
        self.outputs.sort(key=lambda output: list(output[1].shape) != roi)   # MONAI fails where a resized one comes first

    def __call__(self, windows):
        means = windows.mean(tuple(range(1, windows.ndim)), keepdim=True)
        results = tuple((windows[:, :1] if mask.shape[1:] == windows.shape[2:] else means) * mask + ramp for mask, ramp in self.outputs)
        return results if len(results) > 1 else results[0]


def configuration(seed):
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 5))
    shape = rng.integers(1, MOST_EXTENT[rank], rank).tolist()
    roi = [int(rng.integers(1, MOST_EXTENT[rank])) if rng.random() < 0.85 else int(rng.choice([0, -1])) for _ in shape]
    window = [r if r > 0 else s for r, s in zip(roi, shape, strict=True)]
    images = torch.from_numpy(rng.standard_normal((int(rng.integers(1, 4)), int(rng.integers(1, 4)), *shape)).astype('f4'))
    pads = [(r - s + 1) // 2 for r, s in zip(window, shape, strict=True)]   # the larger one, where there is any
    modes = ['constant']
    if rank < 4:   # what torch pads
        modes += ['replicate'] + ['reflect'] * all(p < s for p, s in zip(pads, shape, strict=True)) + \
            ['circular'] * all(p <= s for p, s in zip(pads, shape, strict=True))
    options = {'overlap': rng.choice([0, 0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9], rank).tolist(),
               'mode': str(rng.choice(['constant', 'gaussian'])), 'sigma_scale': float(rng.choice([0.05, 0.125, 0.3, 1])),
               'padding_mode': str(rng.choice(modes))}
    if options['padding_mode'] == 'constant':
        options['cval'] = float(rng.normal())
    weights = torch.from_numpy(rng.random(window).astype('f4') + 0.1) if rng.random() < 0.2 else None
    return rng, images, roi, options, weights, Predictor(rng, window, rng.random() < 0.5)


@needs('monai', '1.6')
class Windows(Case):
    def test_generated_configurations(self):
        from monai.inferers import sliding_window_inference
        for seed in range(120):
            rng, images, roi, options, weights, predict = configuration(seed)
            with self.subTest(seed=seed, roi=roi, **options):
                expected = sliding_window_inference(images, roi, int(rng.integers(1, 8)), predict, roi_weight_map=weights, **options)
                windows = _native.SlidingWindow(images.shape[2:], roi, weights=weights, **options)
                self.assert_near(self.stitched(images, windows, predict, int(rng.integers(1, 8))), expected)

    def stitched(self, images, windows, predict, batch):
        stitcher = _native.WindowStitcher(windows, len(images))
        total = len(windows) * len(images)
        for first in range(0, total, batch):
            stitcher.add(predict(windows.cut(images, first, min(batch, total - first))))
        return stitcher.finish()

    def assert_near(self, outputs, expected):
        expected = expected if isinstance(expected, tuple) else (expected,)
        for mine, right in zip(outputs, expected, strict=True):
            self.assertEqual(mine.shape, right.shape)
            if right.numel():   # a voxel at half the resolution may be none
                self.assertLessEqual(float(np.abs(mine - right.numpy()).max()), 1e-6 * float(right.abs().max()))


if __name__ == '__main__':
    unittest.main()
