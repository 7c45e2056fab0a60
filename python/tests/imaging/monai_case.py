"""What the tests beside MONAI share: both modules, images, and a network that depends on the place in the window."""
import unittest

import numpy as np
import window_cases

try:
    import monai.inferers
    import torch
except ImportError as error:
    raise unittest.SkipTest(f'{error.name} is not installed') from None

from tenfold import imaging

MODULES = (imaging, monai.inferers)
TOLERANCE = 1e-6   # of the largest value
TORCH = (lambda array: torch.from_numpy(array.copy()), lambda tensor: tensor.numpy())


def noise(*shape, seed=5):
    return torch.from_numpy(window_cases.noise(seed, *shape))


class Network:
    """Of windows with any number of axes; keeps how it was called."""

    def __init__(self):
        self.calls = []

    def __call__(self, x, *args, **kwargs):
        self.calls.append((tuple(x.shape), args, sorted(kwargs)))
        shape = x.shape[2:]
        ramp = sum(grid / n for grid, n in zip(np.indices(shape), shape)).astype(np.float32)
        return x * noise(*shape) + torch.from_numpy(ramp) * kwargs.get('scale', 1)


class MonaiCase(unittest.TestCase):
    def near(self, found, expected):
        self.assertIs(type(found), type(expected))
        self.assertEqual((found.dtype, found.device), (expected.dtype, expected.device))
        self.assertLess(window_cases.relative_difference(found.numpy(), expected.numpy()), TOLERANCE)

    def both(self, *arguments, **keywords):
        """What both functions give; networks are made anew by Network."""
        given = [[one() if one is Network else one for one in arguments] for _ in MODULES]
        return [module.sliding_window_inference(*one, **keywords) for module, one in zip(MODULES, given)]
