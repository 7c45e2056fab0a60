"""The sweeps of a run of `tenfold segment`: all time points, on all devices, to the renamed output."""
from __future__ import annotations

import functools
import resource
import sys
import threading
import time
from typing import Any

import numpy as np

from tenfold import _native
from tenfold.errors import InvalidArgument
from tenfold.imaging.files import Sections, open_source, preview
from tenfold.imaging.segment._bands import Band
from tenfold.imaging.segment._bar import Bar
from tenfold.imaging.segment._networks import Networks
from tenfold.imaging.segment._on_devices import run_all
from tenfold.imaging.segment._options import Options
from tenfold.imaging.segment._output import Output
from tenfold.imaging.segment._planes import PlaneReader
from tenfold.imaging.segment._resume import State
from tenfold.imaging.segment._windows import Grid


class Stopped(Exception):
    """What ended the sweep, and what is left of it."""

    def __init__(self, error: BaseException, note: str):
        super().__init__(str(error))
        self.error, self.note = error, note


class Sweep:
    """All time points, one after the other, and what became of them."""

    def __init__(self, options: Options, reader: PlaneReader, grid: Grid, networks: Networks, state: State, output: Output,
                 bands: list[Band], squeezed: bool, resumes: bool):
        self._options, self._reader, self._grid, self._networks, self._state = options, reader, grid, networks, state
        self._resumes, self._squeezed, self._bands, self.output = resumes, squeezed, bands, output
        self._before = (state.image, state.planes) if resumes else (0, [0] * len(bands))
        state.bands = bands
        output.bands = [(begin, end) for _, begin, end in bands]
        reader.nans_before = state.nans
        output.nans = lambda image, planes: reader.nans(image, [self._in_image(one) for one in planes])
        try:
            if resumes:
                state.keep_plans()
            else:
                networks.save(state.plans)
                state.begin()
        except BaseException:
            output.remove()
            raise
        starts = grid.windows().starts
        rest = len(grid.windows()) // (len(starts[1]) if len(starts) > 1 else 1)
        per_image = rest * sum(grid.rows_of_windows(begin, end) for _, begin, end in bands)
        done, planes = self._planes_of(*self._before), reader.times * grid.results[0]
        self._tell(per_image)
        self._swept = [0] * len(bands)   # windows of each
        several = len(networks.devices) > 1
        self._bar = Bar(options.progress, planes, reader.times * per_image * (planes - done) // planes, self._done,
                        self._shares if several else None)
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._waited = [0.0] * len(networks.devices)
        self.seconds = self._written = 0.0

    def _tell(self, windows: int) -> None:
        """What a user would not expect of the bands."""
        options, names = self._options, [device.name for device in self._networks.devices]
        busy = {device for device, _, _ in self._bands}
        if len(self._bands) > len(busy):
            limit = f'--memory={options.given["memory"]}: ' if 'memory' in options.given else ''   # a run that goes on may have none
            sys.stderr.write(f'tenfold: {limit}{self._reader.spatial[1]} is cut into {len(self._bands)} bands, and {windows:,} windows are '
                             f'computed, {len(self._grid.windows()):,} would do in one\n')
        idle = [name for number, name in enumerate(names) if number not in busy]
        if idle:
            sys.stderr.write(f'tenfold: --device={options.given["device"]}: no rows for {" and ".join(idle)}: the image has too few, or '
                             'chunks of the output are as tall as all of them\n')

    def _in_image(self, planes: int) -> int:
        """Planes of the image for planes of the results."""
        return planes * self._grid.image[0] // self._grid.results[0]

    def _planes_of(self, image: int, planes: list[int]) -> int:
        """How many are done, where several bands make one."""
        rows = sum((end - begin) * done for (_, begin, end), done in zip(self._bands, planes))
        return image * self._grid.results[0] + rows // self._grid.rows

    def _done(self) -> tuple[int, int]:
        return self._planes_of(*self._before) + self.output.planes, self._reader.bytes

    def _shares(self) -> list[tuple[str, int]]:
        """The windows of each device."""
        windows = [0] * len(self._networks.devices)
        for (device, _, _), swept in zip(self._bands, self._swept):
            windows[device] += swept
        return [(device.name, own) for device, own in zip(self._networks.devices, windows)]

    @property
    def bar_is_silent(self) -> bool:
        return self._options.progress != 'bar' and not sys.stderr.isatty()

    def run(self) -> None:
        begun = time.perf_counter()
        try:
            for image in range(self._before[0], self._reader.times):
                planes = self._before[1] if image == self._before[0] else [0] * len(self._bands)
                self._sweep(image, planes)
            self._bar.finish()
        except BaseException as error:
            self._bar.clear()
            self._reader.close()
            raise Stopped(error, self._leave(error)) from error
        self.seconds, self._written = time.perf_counter() - begun, self.output.seconds

    def _sweep(self, image: int, planes: list[int]) -> None:
        """A time point: devices at the same time, each band after band."""
        self._reader.begin(image)
        self.output.begin(image, planes)
        numbers: dict[int, list[int]] = {}
        for number, (device, _, _) in enumerate(self._bands):
            if planes[number] < self._grid.results[0]:
                numbers.setdefault(device, []).append(number)

        def work(device: int, bands: list[int]) -> None:
            for number in bands:
                self._sweep_band(image, number, planes[number], device)
        run_all([functools.partial(work, *item) for item in numbers.items()], self._stop)

    def _sweep_band(self, image: int, number: int, planes: int, at: int) -> None:
        reader, grid, options, device = self._reader, self._grid, self._options, self._networks.devices[at]
        _, *rows = self._bands[number]
        before = self._swept[number]

        def progress(done: int, _: int) -> bool:
            with self._lock:
                self._swept[number] = before + done
                self._bar(sum(self._swept))
            return not self._stop.is_set()
        took = _native.sweep(
            grid.windows(), reader.of_band(image, number, grid.image_rows(*rows), self._in_image(planes)),
            (1, reader.channels, *grid.image), reader.dtype.name, device.predictor(reader.spatial, self._squeezed),
            self.output.of_band(number), chunk=reader.group, window_batch=self._networks.batch, dtype=self._networks.dtype,
            activation=options.activation, reduce=options.reduce, threshold=options.threshold, threads=options.threads, progress=progress,
            first_plane=planes, rows=rows if len(self._bands) > 1 else None, **grid.resampling)
        self._waited[at] += took['waiting']

    def _leave(self, error: BaseException) -> str:
        """Keeps what --resume goes on with, and tells so; nothing stays of a run that would fail again."""
        if isinstance(error, InvalidArgument) or not (any(self._state.planes) or self._state.image):
            self.output.remove()
            return ''
        self.output.abandon()
        done = self._planes_of(self._state.image, self._state.planes)
        return (f' after {done} of {self._reader.times * self._grid.results[0]} planes; --resume goes on with '
                f'{self.output.sink.path}.partial')

    def finish(self) -> None:
        begun = time.perf_counter()
        try:
            self._state.save(self._reader.times, [0] * len(self._bands), self._reader.all_nans, complete=True)
            self.output.sink.close()
        except BaseException as error:
            self._reader.close()
            raise Stopped(error, self._leave(error)) from error
        self._state.remove()
        self.output.seconds += time.perf_counter() - begun
        try:
            if self._options.preview:
                self._preview(self._options.preview)
        finally:
            self._reader.close()

    def _preview(self, path: str) -> None:
        image, labels = self._reader.sections, self.output.sections
        assert image is not None and labels is not None
        if self._resumes:   # what the killed run has seen is read again
            fill(image, self._reader.source)
            with open_source(self._options.output, axes=None) as source:
                fill(labels, source)
        metadata = self._reader.source.metadata
        spacing = tuple(metadata.spacing.get(axis, 1.0) for axis in 'zyx')
        painted = [found if found.dtype.kind in 'ui' else (found >= 0.5).astype(np.uint8) for found in labels.all]
        painted = [nearest(found, of.shape) for found, of in zip(painted, image.all)]
        preview(path, image, painted, spacing, metadata.units.get('x'))

    def notes(self) -> str:
        names = [device.name for device in self._networks.devices]
        served = f' on {", ".join(names)}' if len(names) > 1 else ''
        return served + (f'; {self._reader.all_nans} NaN in the input' if self._reader.all_nans else '')

    def _devices(self) -> list[dict[str, Any]]:
        """Which ones served, and what each did."""
        rows = [0] * len(self._networks.devices)
        for device, begin, end in self._bands:
            rows[device] += end - begin
        return [{'device': one.name, 'rows': own, 'windows': windows, 'network': round(one.seconds, 4)}
                for one, own, (_, windows) in zip(self._networks.devices, rows, self._shares())]

    def summary(self, seconds: float) -> dict[str, Any]:
        reader, network = self._reader, max(device.seconds for device in self._networks.devices)
        other = self.seconds - max(self._waited) - network - self._written
        return {
            'output': self._options.output, 'shape': list(self.output.sink.shape), 'axes': self.output.sink.axes,
            'dtype': self.output.dtype.name, 'device': self._networks.device, 'devices': self._devices(), 'sweep': reader.spatial[0],
            'planes': self.output.planes, 'bands': len(self._bands), 'windows': self._bar.windows,
            'nan': reader.all_nans, 'resumed': self._resumes,
            'constant_channels': sorted(set(reader.chain.constant)),
            'seconds': {'all': round(seconds, 4), 'reading': round(reader.seconds, 4), 'waiting_for_input': round(max(self._waited), 4),
                        'network': round(network, 4), 'stitching': round(max(other, 0.0), 4), 'writing': round(self.output.seconds, 4)},
            'windows_per_second': round(self._bar.windows / self.seconds, 3) if self.seconds else None,
            'bytes_read': reader.bytes, 'bytes_written': self.output.bytes,
            'peak_memory': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }


def nearest(section: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A section of results that have a grid of their own, as large as that of the image."""
    return section[np.ix_(*((2 * np.arange(new) + 1) * old // (2 * new) for old, new in zip(section.shape, shape)))]


def fill(sections: Sections, source: Any) -> None:
    """All sections, from a file."""
    along = next(at for at, axis in enumerate(source.axes) if axis in 'zyx')
    for start in range(source.shape[along]):
        starts = tuple(start if at == along else 0 for at in range(source.ndim))
        stops = tuple(start + 1 if at == along else 1 if axis in 'tc' else extent
                      for at, (axis, extent) in enumerate(zip(source.axes, source.shape)))
        sections.add(starts, source.read(starts, stops))
