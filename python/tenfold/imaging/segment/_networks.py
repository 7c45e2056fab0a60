"""Engines as one function of windows: their mean, over mirrored windows too, with axes as the networks have them."""
from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tenfold
from tenfold.errors import InvalidArgument
from tenfold.imaging.segment._build import build
from tenfold.imaging.segment._options import Options

FLOATS = ('float32', 'float16', 'float64')


def input_of(path: str, bindings: list[Any]) -> Any:
    inputs = [one for one in bindings if one.is_input and not one.has_default]
    if len(inputs) != 1:
        raise InvalidArgument(f'{path}: inputs {", ".join(one.name for one in inputs)}; expected one, [batch, channel, spatial...]')
    if not 3 <= len(inputs[0].shape) <= 5:
        raise InvalidArgument(f'{path}: input {inputs[0].name} is {list(inputs[0].shape)}; expected [batch, channel, 1 to 3 spatial axes]')
    return inputs[0]


def bindings_of(path: str, is_plan: bool, device: str | None) -> tuple[Any, list[Any]]:
    """(the engine, if it is one already; bindings)"""
    if not is_plan:
        return None, tenfold.bindings(path)
    engine = tenfold.load(path, **({'device': device} if device else {}))
    return engine, engine.bindings


def fixed_extents(engine: Any, binding: Any) -> list[int]:
    """Spatial extents, those of a plan's profile where that has one size; -1: dynamic."""
    found = list(binding.shape[2:])
    if engine is not None:
        low, _, high = engine.profile_shapes(0, binding.name)
        found = [one if one == other else -1 for one, other in zip(low[2:], high[2:])]
    return found


class Networks:
    """What --onnx and --loadEngine name. `roi` and `rank` are of the networks' spatial axes; engines are made by build()."""

    def __init__(self, options: Options):
        self._options = options
        found = [(path, *bindings_of(path, is_plan, options.device)) for path, is_plan in options.models]
        self._inputs = [input_of(path, bindings) for path, _, bindings in found]
        self._paths = [path for path, _, _ in found]
        self._engines: list[Any] = [engine for _, engine, _ in found]
        ranks = {len(one.shape) - 2 for one in self._inputs}
        if len(ranks) > 1:
            raise InvalidArgument(f'networks of {" and ".join(map(str, sorted(ranks)))} spatial axes; expected as many in all of them')
        self.rank = ranks.pop()
        self._fixed = [fixed_extents(engine, one) for (_, engine, _), one in zip(found, self._inputs)]
        self.seconds = 0.0
        self.batch = options.batch
        self.dtype = 'float32'
        bad = [axis for axis in options.mirror if axis >= self.rank]
        if bad or len(set(options.mirror)) < len(options.mirror):
            raise InvalidArgument(f'--mirror={options.given["mirror"]}: expected different axes from 0 to {self.rank - 1}')
        self._flips = [[2 + axis for axis in chosen] for count in range(len(options.mirror) + 1)
                       for chosen in itertools.combinations(options.mirror, count)]

    def roi(self, given: list[int] | None, image: tuple[int, ...]) -> tuple[int, ...]:
        """The window along the networks' axes: as --roi says, 0 is the image's extent; else what the models have."""
        if given is not None and len(given) not in (1, self.rank):
            raise InvalidArgument(f'--roi has {len(given)} extents; the network has {self.rank} spatial axes: give one or {self.rank}')
        asked = None if given is None else [one or extent for one, extent in zip(given * self.rank if len(given) == 1 else given, image)]
        roi = asked or next((fixed for fixed in self._fixed if -1 not in fixed), None)
        if roi is None:
            raise InvalidArgument(f'{self._paths[0]}: its spatial extents are dynamic, {list(self._inputs[0].shape)}; give the window by '
                                  '--roi=N,N,...')
        for path, one, fixed in zip(self._paths, self._inputs, self._fixed):
            if any(extent not in (-1, wanted) for extent, wanted in zip(fixed, roi)):
                raise InvalidArgument(f'{path}: its input is {list(one.shape)}, the window {list(roi)}; expected --roi='
                                      + ','.join(map(str, fixed)))
        return tuple(roi)

    def check_channels(self, channels: int) -> None:
        for path, one in zip(self._paths, self._inputs):
            if one.shape[1] not in (-1, channels):
                raise InvalidArgument(f'{path}: takes {one.shape[1]} channels, the image has {channels}; choose by --channel=N,..., or '
                                      'name the axis c by --axes')

    def build(self, channels: int, roi: tuple[int, ...], stored: list[str]) -> None:
        """Engines of what is not a plan; of the plans `stored` where a run goes on, so that the kernels are the same."""
        device = {'device': self._options.device} if self._options.device else {}
        for at, (path, one) in enumerate(zip(self._paths, self._inputs)):
            if self._engines[at] is None and stored:
                self._engines[at] = tenfold.load(stored[at], **device)
            elif self._engines[at] is None:
                shapes = [(min(batch, one.shape[0]) if one.shape[0] > 0 else batch, channels, *roi)
                          for batch in (1, self.batch, self.batch)]
                self._engines[at] = build(path, self._options, {one.name: shapes} if -1 in one.shape else {})
        self._check_engines(channels, roi)

    def _check_engines(self, channels: int, roi: tuple[int, ...]) -> None:
        self._ranges = []
        for path, engine, one in zip(self._paths, self._engines, self._inputs):
            low, _, high = engine.profile_shapes(0, one.name)
            if any(not a <= wanted <= b for a, wanted, b in zip(low[1:], (channels, *roi), high[1:])):
                raise InvalidArgument(f'{path}: its profile takes {list(low)} to {list(high)}, not windows of {[channels, *roi]}')
            self.batch = min(max(self.batch, low[0]), high[0])
            self._ranges.append(low[0])
        kinds = {one.numpy_dtype for one in self._inputs}
        self.dtype = kinds.pop() if len(kinds) == 1 else 'float32'

    def check_types(self, image: np.dtype[Any], normalized: bool) -> None:
        for path, one in zip(self._paths, self._inputs):
            if one.numpy_dtype not in FLOATS and (one.numpy_dtype != image.name or normalized):
                found = 'float32, normalized' if normalized else image
                raise InvalidArgument(f'{path}: its input is {one.numpy_dtype}, the image {found}; expected a network of float32, '
                                      'float16 or float64, or of the type of the image')

    def save(self, paths: list[str]) -> None:
        for engine, path in zip(self._engines, paths):
            engine.save(path)

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
        for at in range(len(self._engines)):
            for flip in self._flips:
                found = self._run(at, np.flip(windows, flip) if flip else windows)
                found = np.flip(found, flip) if flip else found
                if total is None:   # of one network nothing is copied
                    total = found
                else:
                    total = total + found if total.dtype == np.float32 else total.astype(np.float32) + found
        runs = len(self._engines) * len(self._flips)
        return total if runs == 1 else total / np.float32(runs)

    def _run(self, at: int, windows: np.ndarray) -> np.ndarray:
        one, engine, count = self._inputs[at], self._engines[at], len(windows)
        if count < self._ranges[at]:   # an engine of a fixed batch computes all of it
            windows = np.concatenate([windows, np.zeros((self._ranges[at] - count, *windows.shape[1:]), windows.dtype)])
        found = engine({one.name: np.ascontiguousarray(windows, one.numpy_dtype)})
        found = next(iter(found.values())) if isinstance(found, dict) else found
        return found[:count]

    def output_channels(self, channels: int, roi: tuple[int, ...]) -> int:
        """Of one window of zeros; before the output is made, so that what does not fit is known by then."""
        found = [self._run(at, np.zeros((1, channels, *roi), np.float32)) for at in range(len(self._engines))]
        for path, one in zip(self._paths, found):
            if one.ndim != self.rank + 2 or one.shape[2:] != roi or one.shape != found[0].shape:
                raise InvalidArgument(f'{path}: its output is {list(one.shape)} for a window {list(roi)}; expected [batch, channel, '
                                      f'{", ".join(map(str, roi))}], the same of all networks')
        return int(found[0].shape[1])

    def outputs_left_out(self) -> list[str]:
        return [one.name for one in [b for b in self._engines[0].bindings if not b.is_input][1:]]

    def notes(self) -> list[str]:
        """Of precisions that were asked for and are not used."""
        return sorted({note.text for engine in self._engines for note in engine.notes
                       if (note.kind, note.severity) == ('precision', 'info')})

    @property
    def device(self) -> str:
        return str(self._engines[0].info.device)


