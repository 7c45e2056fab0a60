"""The networks that flags name, and their engines on each device."""
from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import tenfold
from tenfold.errors import InvalidArgument
from tenfold.imaging.segment._build import build
from tenfold.imaging.segment._device import Device
from tenfold.imaging.segment._options import Options

FLOATS = ('float32', 'float16', 'float64')


def input_of(path: str, bindings: list[Any]) -> Any:
    inputs = [one for one in bindings if one.is_input and not one.has_default]
    if len(inputs) != 1:
        raise InvalidArgument(f'{path}: inputs {", ".join(one.name for one in inputs)}; expected one, [batch, channel, spatial...]')
    if not 3 <= len(inputs[0].shape) <= 5:
        raise InvalidArgument(f'{path}: input {inputs[0].name} is {list(inputs[0].shape)}; expected [batch, channel, 1 to 3 spatial axes]')
    return inputs[0]


def load(path: str, device: str | None) -> Any:
    return tenfold.load(path, **({'device': device} if device else {}))


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
        for plugins in options.plugins:   # which bindings and plans need here, too
            tenfold.plugins.load(plugins)
        self._paths = [path for path, _ in options.models]
        self._names = options.devices
        # By network, those of each device: of the first where it is a plan, until build() makes the others.
        self._engines: list[dict[str | None, Any]] = [
            {self._names[0]: load(path, self._names[0])} if is_plan else {} for path, is_plan in options.models]
        loaded = [engines.get(self._names[0]) for engines in self._engines]
        bindings = [engine.bindings if engine is not None else tenfold.bindings(path) for path, engine in zip(self._paths, loaded)]
        self._inputs = [input_of(path, one) for path, one in zip(self._paths, bindings)]
        self.devices: list[Device] = []
        ranks = {len(one.shape) - 2 for one in self._inputs}
        if len(ranks) > 1:
            raise InvalidArgument(f'networks of {" and ".join(map(str, sorted(ranks)))} spatial axes; expected as many in all of them')
        self.rank = ranks.pop()
        self._fixed = [fixed_extents(engine, one) for engine, one in zip(loaded, self._inputs)]
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
        """Engines of what is not a plan; of the plans `stored` where a run goes on, so that the kernels are the same. A device that is
        named twice has one engine of each network."""
        plans = iter(stored)
        for (path, is_plan), one, engines in zip(self._options.models, self._inputs, self._engines):
            shapes = [(min(batch, one.shape[0]) if one.shape[0] > 0 else batch, channels, *roi) for batch in (1, self.batch, self.batch)]
            for name in dict.fromkeys(self._names):
                plan = next(plans, None)
                if name in engines:
                    continue
                if plan or is_plan:
                    engines[name] = load(plan or path, name)
                else:
                    engines[name] = build(path, self._options, name, {one.name: shapes} if -1 in one.shape else {})
        self._check_engines(channels, roi)

    def _check_engines(self, channels: int, roi: tuple[int, ...]) -> None:
        least: dict[str | None, list[int]] = {name: [] for name in self._names}
        for path, one, engines in zip(self._paths, self._inputs, self._engines):
            for name, engine in engines.items():
                low, _, high = engine.profile_shapes(0, one.name)
                if any(not a <= wanted <= b for a, wanted, b in zip(low[1:], (channels, *roi), high[1:])):
                    raise InvalidArgument(f'{path}: its profile takes {list(low)} to {list(high)}, not windows of {[channels, *roi]}')
                self.batch = min(max(self.batch, low[0]), high[0])
                least[name].append(low[0])
        self.devices = [Device(str(self._engines[0][name].device), [engines[name] for engines in self._engines], self._inputs,
                               least[name], self._flips) for name in self._names]
        kinds = {one.numpy_dtype for one in self._inputs}
        self.dtype = kinds.pop() if len(kinds) == 1 else 'float32'

    def check_types(self, image: np.dtype[Any], normalized: bool) -> None:
        for path, one in zip(self._paths, self._inputs):
            if one.numpy_dtype not in FLOATS and (one.numpy_dtype != image.name or normalized):
                found = 'float32, normalized' if normalized else image
                raise InvalidArgument(f'{path}: its input is {one.numpy_dtype}, the image {found}; expected a network of float32, '
                                      'float16 or float64, or of the type of the image')

    def save(self, paths: list[str]) -> None:
        for engine, path in zip((engine for engines in self._engines for engine in engines.values()), paths):
            engine.save(path)

    def output_channels(self, channels: int, roi: tuple[int, ...]) -> int:
        """Of one window of zeros; before the output is made, so that what does not fit is known by then."""
        found = [(path, device.run(at, np.zeros((1, channels, *roi), np.float32))) for device in self.devices
                 for at, path in enumerate(self._paths)]
        for path, one in found:
            if one.ndim != self.rank + 2 or one.shape[2:] != roi or one.shape != found[0][1].shape:
                raise InvalidArgument(f'{path}: its output is {list(one.shape)} for a window {list(roi)}; expected [batch, channel, '
                                      f'{", ".join(map(str, roi))}], the same of all networks')
        return int(found[0][1].shape[1])

    def outputs_left_out(self) -> list[str]:
        return [one.name for one in [b for b in self.devices[0].engines[0].bindings if not b.is_input][1:]]

    def notes(self) -> list[str]:
        """Of precisions that were asked for and are not used."""
        return sorted({note.text for device in self.devices for engine in device.engines for note in engine.notes
                       if (note.kind, note.severity) == ('precision', 'info')})

    def speeds(self, channels: int, roi: tuple[int, ...]) -> list[float]:
        """Windows a second of each device; one that is named twice is measured once."""
        of = {device.name: device for device in self.devices}
        found = {name: device.speed(self.batch, channels, roi) for name, device in of.items()}
        return [found[device.name] for device in self.devices]

    @property
    def device(self) -> str:
        """What the processors are."""
        return ', '.join(dict.fromkeys(str(device.engines[0].info.device) for device in self.devices))
