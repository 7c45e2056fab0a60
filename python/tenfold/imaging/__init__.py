"""Sliding windows over images and volumes, under the names of monai.inferers.

    from tenfold.imaging import sliding_window_inference
    y = sliding_window_inference(volume, (96, 96, 96), 4, engine, overlap=0.5, mode='gaussian')

Arrays are torch's or NumPy's, in and out. docs/guides/imaging.md tells the rest. Neither MONAI nor torch is imported.
`tenfold.imaging.files` reads and writes files of images.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenfold._native import SlidingWindow, WindowStitcher, infer, sweep
    from tenfold.imaging.devices import Devices
    from tenfold.imaging.ensemble import Ensemble
    from tenfold.imaging.inferers import SlidingWindowInferer, SlidingWindowInfererAdapt
    from tenfold.imaging.slice_inferer import SliceInferer
    from tenfold.imaging.sliding_window import sliding_window_inference

_NATIVE = ('SlidingWindow', 'WindowStitcher', 'infer', 'sweep')   # tenfold/sliding_window.h
_MODULES = {   # imported with the first use of a name
    'Devices': 'devices',
    'Ensemble': 'ensemble',
    'SliceInferer': 'slice_inferer',
    'SlidingWindowInferer': 'inferers',
    'SlidingWindowInfererAdapt': 'inferers',
    'sliding_window_inference': 'sliding_window',
}
__all__ = [
    'Devices', 'Ensemble', 'SliceInferer', 'SlidingWindow', 'SlidingWindowInferer', 'SlidingWindowInfererAdapt',
    'WindowStitcher', 'infer', 'sliding_window_inference', 'sweep',
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f'tenfold.imaging.{_MODULES[name]}'), name)
    if name in _NATIVE:
        from tenfold import _native
        return getattr(_native, name)
    raise AttributeError(f'module tenfold.imaging has no attribute {name!r}')
