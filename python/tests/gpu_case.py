"""What tests on a GPU share: torch and CuPy, or None where they are missing, and whether there is a GPU."""
import os

import case  # noqa: F401 (which chooses the CPU where nothing is chosen)

import tenfold

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None
os.environ.pop('TENFOLD_DEVICE', None)
ON_GPU = any(d.device.startswith('cuda') for d in tenfold.devices())

__all__ = ['ON_GPU', 'cupy', 'torch']
