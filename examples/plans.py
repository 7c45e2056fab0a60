"""Plans that are made once and kept in files."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import tenfold


def newer(made: str, *sources: str) -> bool:
    """Does `made` exist, and is it younger than all that it was made from?"""
    return os.path.exists(made) and all(os.path.getmtime(made) > os.path.getmtime(source) for source in sources)


def kept(onnx: str, plan: str, threads: int, profiles: dict[str, Any], timing_cache: str = '') -> tenfold.Engine:
    """The engine of `plan`, which is built and saved unless a current one exists."""
    if newer(plan, onnx, tenfold.__file__):
        return tenfold.load(plan, device='cpu', threads=threads)
    engine = tenfold.build(onnx, device='cpu', threads=threads, profiles=profiles, timing_cache=timing_cache)
    engine.save(plan)
    return engine


def saved(folder: str, arrays: dict[str, Any]) -> str:
    """A folder with an .npy file for each array, for processes of their own (worker.py)."""
    import numpy as np
    os.makedirs(folder, exist_ok=True)
    for name, array in arrays.items():
        np.save(os.path.join(folder, name + '.npy'), array)
    return folder


def same_profile(arrays: dict[str, Any]) -> dict[str, Sequence[int]]:
    """Exactly the shapes of these arrays."""
    return {name: array.shape for name, array in arrays.items() if array.ndim}
