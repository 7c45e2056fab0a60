"""All networks on one device as one function of windows: their mean, over mirrored windows too, with axes as the networks have them."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np


class Device:
    """`engines`, with their inputs and least batches. One thread at a time calls it."""

    def __init__(self, name: str, engines: list[Any], inputs: list[Any], least: list[int], flips: list[list[int]]):
        self.name, self.engines, self._inputs, self._least, self._flips = name, engines, inputs, least, flips
        self.seconds = 0.0   # in the networks

    def predictor(self, axes: str, squeezed: bool) -> Callable[[Any, int], Any]:
        """A function of windows [windows, channel, axes...] in the sweep's order. `squeezed`: the network has no z, along which windows
        have extent 1."""
        spatial = sorted(axes, key='zyx'.index)
        to = [0, 1, *(2 + axes.index(axis) for axis in spatial)]
        back = [0, 1, *(2 + spatial.index(axis) for axis in axes)]

        def predict(windows: np.ndarray, first: int) -> np.ndarray:
            begun = time.perf_counter()
            x = windows.transpose(to)
            found = self.mean(x[:, :, 0] if squeezed else x)
            found = (found[:, :, None] if squeezed else found).transpose(back)
            found = np.ascontiguousarray(found)
            self.seconds += time.perf_counter() - begun
            return found
        return predict

    def mean(self, windows: np.ndarray) -> np.ndarray:
        total: Any = None
        for at in range(len(self.engines)):
            for flip in self._flips:
                found = self.run(at, np.flip(windows, flip) if flip else windows)
                found = np.flip(found, flip) if flip else found
                if total is None:   # of one network nothing is copied
                    total = found
                else:
                    total = total + found if total.dtype == np.float32 else total.astype(np.float32) + found
        runs = len(self.engines) * len(self._flips)
        return total if runs == 1 else total / np.float32(runs)

    def run(self, at: int, windows: np.ndarray) -> np.ndarray:
        one, engine, count = self._inputs[at], self.engines[at], len(windows)
        if count < self._least[at]:   # an engine of a fixed batch computes all of it
            windows = np.concatenate([windows, np.zeros((self._least[at] - count, *windows.shape[1:]), windows.dtype)])
        found = engine({one.name: np.ascontiguousarray(windows, one.numpy_dtype)})
        found = next(iter(found.values())) if isinstance(found, dict) else found
        return found[:count]

    def speed(self, batch: int, channels: int, roi: tuple[int, ...]) -> float:
        """Windows a second."""
        zeros, times = np.zeros((batch, channels, *roi), np.float32), []
        for _ in range(3):
            begun = time.perf_counter()
            self.mean(zeros)
            times.append(time.perf_counter() - begun)
        return batch / max(min(times[1:]), 1e-9)   # the first sets up what the others find
