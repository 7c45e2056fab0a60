"""Generated configurations of sliding windows. Their predictors depend on the place in the window: with one like 2 * x
all windows agree, and any weights pass.

Images, masks and choices are the same on every machine, whatever the version of NumPy.
"""
import functools
import math
import random

import numpy as np
import window_truth

LARGEST = {False: {1: 60, 2: 24, 3: 12, 4: 7}, True: {1: 20, 2: 8, 3: 5, 4: 3}}   # extents, of large and small cases
MAX_WINDOWS = {False: 500, True: 150}
MAX_ANSWER = 160                                                # values of a small case's outputs
ZOOMS = ((1, 1), (1, 1), (1, 2), (2, 1), (1, 3), (3, 2), (1, 4))


def noise(seed, *shape):
    """float32 in [0, 1): splitmix64."""
    x = np.arange(1, math.prod(shape) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = x + np.uint64(seed * 0xD1342543DE82EF95 % (1 << 64))
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((x ^ (x >> np.uint64(31))) >> np.uint64(40)).astype(np.float32).reshape(shape) / np.float32(1 << 24)


class Configuration:
    """Arguments of sliding_window_inference(), and a predictor in NumPy."""

    def __init__(self, seed, small=False):
        self.seed, self.small, self.r = seed, small, random.Random(seed)
        while not self.choose():
            pass

    def choose(self):
        r = self.r
        self.rank = rank = r.choices((1, 2, 3, 4), (2, 4, 4, 1))[0]
        self.image = tuple(r.randint(1, LARGEST[self.small][rank]) for _ in range(rank))
        self.batch, self.channels, self.sw_batch = r.choice((1, 1, 2, 3)), r.randint(1, 3), r.randint(1, 7)
        self.dtype = r.choice(('float32',) * 7 + ('float64',))
        paddings = ('constant', 'reflect', 'replicate', 'circular')
        self.padding_mode = r.choice(paddings) if rank < 4 else 'constant'   # as torch pads
        self.cval = round(r.random() * 4 - 2, 2) if self.padding_mode == 'constant' else 0.0
        self.choose_roi(r)
        overlap = [r.choice((0, 0.25, 0.5, 0.625, 0.75, 0.9, round(r.random() * 0.9, 3))) for _ in range(rank)]
        self.overlaps = overlap if r.random() < 0.5 else [overlap[0]] * rank
        self.overlap_argument = tuple(overlap) if self.overlaps is overlap else overlap[0]
        self.mode = r.choice(('constant', 'gaussian'))
        self.sigmas = [round(0.05 + r.random() * 0.4, 3) for _ in range(rank)] if r.random() < 0.3 else [0.125] * rank
        self.weights = r.choice((None, None, None, 'spatial', 'batched'))
        buffered = r.random() < 0.2
        self.buffer_steps, self.buffer_dim = (r.randint(1, 4), r.randint(-rank, rank - 1)) if buffered else (None, -1)
        self.with_coord, self.gain, self.shift = r.random() < 0.2, r.choice((None, 0.5)), r.choice((None, 1.25))
        self.condition_channels = r.choice((0, 0, 0, 0, self.channels, 2))
        self.process = r.choice((None,) * 6 + ('same', 'varying'))
        if self.process == 'varying' and self.buffer_steps:   # MONAI then divides by the weights of another batch
            self.process = 'same'
        self.choose_outputs(r)
        return self.windows() <= MAX_WINDOWS[self.small] and (not self.small or self.answer_size() <= MAX_ANSWER)

    def choose_roi(self, r):
        beyond = {'reflect': lambda n: 2 * (n - 1), 'circular': lambda n: 2 * n}.get(self.padding_mode, lambda n: n + 5)
        self.roi, argument = [], []
        for n in self.image:
            kind = r.random()
            if kind < 0.12:
                self.roi.append(n)
                argument.append(r.choice((0, -1, None)))
                continue
            one = n + r.randint(0, max(beyond(n) - 1, 0)) if kind < 0.35 else r.randint(1, n)
            self.roi.append(one)
            argument.append(one)
        self.roi = tuple(self.roi)
        self.roi_argument = argument[0] if len(set(argument)) == 1 and r.random() < 0.7 else tuple(argument)

    def choose_outputs(self, r):
        """Outputs (channels, extents of a window), and in which structure they come."""
        self.structure = r.choice(('array', 'array', 'array', 'tuple', 'list', 'dict'))
        self.outputs = []
        for _ in range(1 if self.structure == 'array' else r.randint(1, 3)):
            alike = r.random() < 0.8
            zooms = [r.choice(ZOOMS)] * self.rank if alike else [r.choice(ZOOMS) for _ in self.roi]
            extents = tuple(one * up // down for one, (up, down) in zip(self.roi, zooms))
            if any(one * up % down for one, (up, down) in zip(self.roi, zooms)):
                extents = self.roi
            self.outputs.append((r.randint(1, 3), extents))
        self.keys = r.sample(('seg', 'edge', 'aux', 'map'), len(self.outputs)) if self.structure == 'dict' else None
        order = range(len(self.outputs))   # in which they come back
        self.order = sorted(order, key=lambda k: self.keys[k]) if self.keys else list(order)

    def padded(self):
        return tuple(max(n, r) for n, r in zip(self.image, self.roi))

    def windows(self):
        axes = zip(self.padded(), self.roi, self.overlaps)
        return self.batch * math.prod(len(window_truth.starts(*one)) for one in axes)

    def answer_size(self):
        """At most."""
        return sum(self.batch * channels * math.prod(n * o // r for n, o, r in zip(self.padded(), extents, self.roi))
                   for channels, extents in self.outputs)

    def monai_computes(self):
        """How many of the outputs, in the order in which they come back, MONAI computes: 0 where it fails."""
        shapes = [self.outputs[k][1] for k in self.order]
        if self.buffer_steps:
            return int(shapes[0] == self.roi)
        other = [shape != self.roi for shape in shapes]
        if any(other) and self.rank == 4 or other != sorted(other):
            return 0
        return len(shapes) if all(self.is_whole_in_double(shape) for shape in shapes) else 0

    def is_whole_in_double(self, shape):
        """Whether MONAI's products with a quotient in double are where whole numbers have them."""
        for n, r, overlap, o in zip(self.padded(), self.roi, self.overlaps, shape):
            places = window_truth.starts(n, r, overlap)
            if any(int(s * (o / r)) != s * o // r for s in [n, *places, *(s + r for s in places)]):
                return False
        return True

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
