"""Arguments of sliding windows, chosen by a seed: the same on every machine and with every version of NumPy."""
import math
import random

import window_truth

LARGEST = {False: {1: 60, 2: 24, 3: 12, 4: 7}, True: {1: 20, 2: 8, 3: 5, 4: 3}}   # extents, of large and small cases
MAX_WINDOWS = {False: 500, True: 150}
MAX_ANSWER = 160                                                # values of a small case's outputs
ZOOMS = ((1, 1), (1, 1), (1, 2), (2, 1), (1, 3), (3, 2), (1, 4))


class Choices:
    """Arguments of sliding_window_inference(), and the outputs of a predictor."""

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
