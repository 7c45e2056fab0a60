"""Generated configurations of sliding windows. Their predictors depend on the place in the window: with one like 2 * x
all windows agree, and any weights pass.
"""
import functools
import math

import numpy as np
import window_truth
from window_choices import Choices


def noise(seed, *shape):
    """float32 in [0, 1): splitmix64."""
    x = np.arange(1, math.prod(shape) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = x + np.uint64(seed * 0xD1342543DE82EF95 % (1 << 64))
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((x ^ (x >> np.uint64(31))) >> np.uint64(40)).astype(np.float32).reshape(shape) / np.float32(1 << 24)


class Configuration(Choices):
    """Images, weights and a predictor in NumPy for a choice of arguments."""

    @functools.cached_property
    def images(self):
        return noise(self.seed, self.batch, self.channels, *self.image).astype(self.dtype)

    @functools.cached_property
    def condition(self):
        if not self.condition_channels:
            return None
        return noise(self.seed + 1, self.batch, self.condition_channels, *self.image).astype(self.dtype)

    @functools.cached_property
    def weight_map(self):
        """What roi_weight_map is given."""
        if self.weights is None:
            return None
        weights = noise(self.seed + 2, *self.roi) + np.float32(0.05)
        return weights[None, None] if self.weights == 'batched' else weights

    @functools.cached_property
    def masks(self):
        """For each output a factor of each voxel of the window, noise [channel, extents...], and a summand, a ramp."""
        made = []
        for k, (channels, extents) in enumerate(self.outputs):
            ramp = sum((grid / e for grid, e in zip(np.indices(extents), extents)))
            made.append((noise(self.seed + 10 + k, channels, *extents), ramp.astype(np.float32)))
        return made

    def predict(self, windows, places, condition=None):
        """Arrays [windows, channel, extents...] of the windows' type, unsorted. places: (image, place) of each."""
        outputs = []
        for (channels, extents), (mask, ramp) in zip(self.outputs, self.masks):
            x = windows
            for axis, (one, o) in enumerate(zip(self.roi, extents)):
                x = x.take(np.arange(o) * one // o, axis + 2)
            y = x[:, np.arange(channels) % x.shape[1]] * mask + ramp
            if condition is not None:
                y = y + condition.mean(axis=tuple(range(1, condition.ndim))).reshape(-1, *[1] * (y.ndim - 1))
            if self.with_coord:
                y = y + np.array([image + 0.1 * sum(place) for image, place in places]).reshape(-1, *[1] * (y.ndim - 1))
            y = y * (self.gain or 1) + (self.shift or 0)
            outputs.append(y.astype(windows.dtype))
        return outputs

    def structured(self, outputs):
        if self.structure == 'dict':
            return dict(zip(self.keys, outputs))
        return outputs[0] if self.structure == 'array' else tuple(outputs) if self.structure == 'tuple' else outputs

    def factor(self, batch):
        """Of process_fn's weights, in a batch of windows."""
        return 1 + 0.5 * (batch % 3) if self.process == 'varying' else 1

    def truth(self):
        """The outputs in the order in which they come back, in float64."""
        padding = dict(padding_mode=self.padding_mode, cval=self.cval)
        base = window_truth.gaussian(self.roi, self.sigmas) if self.mode == 'gaussian' else np.ones(self.roi)
        if self.weights:
            base = self.weight_map.reshape(self.roi)
        # Condition and image are one array, so that both are padded and cut alike.
        both = self.images if self.condition is None else np.concatenate([self.images, self.condition], 1)

        def predict(window, image, place):
            windows = window[None].astype(self.dtype)
            condition = None if self.condition is None else windows[:, self.channels:]
            outputs = self.predict(windows[:, :self.channels], [(image, place)], condition)
            return [outputs[k][0].astype(np.float64) for k in self.order]

        return window_truth.sliding_windows(both.astype(np.float64), self.roi, predict, self.overlaps,
                                            lambda number: base * self.factor(number // self.sw_batch), **padding)

    def call(self, function, arrays):
        """`function`: sliding_window_inference(). `arrays`: two functions, from NumPy's arrays to its own and back."""
        to, back = arrays
        batches = iter(range(10 ** 9))

        def predictor(windows, *given, shift=0, condition=None):
            coordinates = given[0] if self.with_coord else []
            assert given[int(self.with_coord):] == ((self.gain,) if self.gain else ()) and shift == (self.shift or 0)
            places = [(c[0].start, [int(s.start) for s in c[2:]]) for c in coordinates]
            assert all(s.stop - s.start == n for c in coordinates for s, n in zip(c[2:], self.roi))
            outputs = self.predict(back(windows), places, None if condition is None else back(condition))
            return self.structured([to(y) for y in outputs])

        def process_fn(outputs, windows, weights):
            assert tuple(weights.shape[-self.rank:]) == self.roi and tuple(windows.shape[2:]) == self.roi
            return outputs, weights * self.factor(next(batches))

        keywords = {} if self.condition is None else {'condition': to(self.condition)}
        if self.shift:
            keywords['shift'] = self.shift
        sigmas = self.sigmas[0] if len(set(self.sigmas)) == 1 else tuple(self.sigmas)
        weights = None if self.weights is None else to(self.weight_map)
        results = function(to(self.images), self.roi_argument, self.sw_batch, predictor, self.overlap_argument,
                           self.mode, sigmas, self.padding_mode, self.cval, None, None, False, weights,
                           process_fn if self.process else None, self.buffer_steps, self.buffer_dim, self.with_coord,
                           *([self.gain] if self.gain else []), **keywords)
        if isinstance(results, dict):
            assert list(results) == sorted(results)
            return [back(y) for y in results.values()]
        return [back(y) for y in (results if isinstance(results, tuple) else (results,))]


NUMPY = (lambda array: array, lambda array: array)


def relative_difference(found, expected):
    """The largest difference beside the largest value."""
    assert found.shape == expected.shape, f'{found.shape}, expected {expected.shape}'
    return float(np.abs(found.astype(np.float64) - expected).max() / np.abs(expected).max())
