"""A run of `tenfold segment`, from flags to the renamed output."""
from __future__ import annotations

import json
import math
import resource
import sys
import time
from typing import Any

import numpy as np

from tenfold import _native
from tenfold.errors import InvalidArgument
from tenfold.imaging.files import Sections, open_source, preview
from tenfold.imaging.files._errors import need
from tenfold.imaging.files._formats import format_to_write
from tenfold.imaging.files._open import check_place
from tenfold.imaging.segment._bar import Bar
from tenfold.imaging.segment._networks import Networks
from tenfold.imaging.segment._normalize import Chain, parse_step
from tenfold.imaging.segment._options import Options
from tenfold.imaging.segment._output import Output
from tenfold.imaging.segment._planes import PlaneReader, choose_sweep, order_of
from tenfold.imaging.segment._resume import State
from tenfold.imaging.segment._windows import Grid, make_grid, memory_of_sums


class Stopped(Exception):
    """What ended the sweep, and what is left of it."""

    def __init__(self, error: BaseException, note: str):
        super().__init__(str(error))
        self.error, self.note = error, note


def run(options: Options) -> None:
    begun = time.monotonic()
    chain = Chain([parse_step(text) for text in options.normalize])
    reader, grid, networks, squeezed = prepare(options, chain)
    try:
        state = State(options)
        resumes = options.resume and state.load()
        complete = resumes and (state.image, state.planes) == (reader.times - 1, grid.image[0])
        if complete and state.partial_is_gone():   # killed after the output had got its name
            return report_complete(options, state, reader)
        check_place(options.output.rstrip('/'), reader.source, options.overwrite or complete)
        if not resumes:
            state.remove()   # of an older run
        channels, roi = reader.channels, tuple(grid.roi[reader.spatial.index(axis)] for axis in network_axes(reader, networks.rank))
        networks.build(channels, roi, state.plans if resumes else [])
        networks.check_types(reader.source.dtype, bool(options.normalize))
        classes = networks.output_channels(channels, roi)
        check_memory(options, reader, grid, networks, classes)
        report_notes(networks)
        sweep = Sweep(options, reader, grid, networks, state, classes, squeezed, resumes, options.overwrite or complete)
    except BaseException:
        reader.close()
        raise
    sweep.run()
    sweep.finish()
    seconds = time.monotonic() - begun
    if options.json:
        print(json.dumps(sweep.summary(seconds)))
    elif sweep.bar_is_silent:
        print(f'{options.output}: {sweep.output.planes} planes in {seconds:.1f} s' + sweep.notes())


def prepare(options: Options, chain: Chain) -> tuple[PlaneReader, Grid, Networks, bool]:
    """Whatever is to be known of image and networks before anything is built."""
    if options.preview:
        need('PIL.Image', options.preview)
    given = {'axes': options.axes, 'channel': options.channel, 'level': options.level, 'scene': options.scene, 'time': options.time}
    format_to_write(options.output)
    with open_source(options.input, **given) as source:
        axes, shape = source.axes, dict(zip(source.axes, source.shape))
    networks = Networks(options)
    spatial = ''.join(axis for axis in axes if axis in 'zyx')
    squeezed = networks.rank == 2 and spatial == 'zyx'
    if networks.rank != len(spatial) and not squeezed:
        raise InvalidArgument(f'{options.input}: its spatial axes are {spatial!r}, the network has {networks.rank}; expected as many '
                              '(name them by --axes), or a network of y and x for a volume, which takes its planes')
    networks.check_channels(shape.get('c', 1))
    own = spatial[len(spatial) - networks.rank:]
    extents = networks.roi(options.roi, tuple(shape[axis] for axis in own))
    roi = {**{axis: 1 for axis in spatial}, **dict(zip(own, extents))}
    along = choose_sweep(options.sweep, spatial, shape, roi)
    order = order_of(axes, along)
    grid = make_grid(options, shape, roi, ''.join(axis for axis in order if axis in 'zyx'), networks.rank)
    grid.windows()   # refuses what the options say together
    source = open_source(options.input, order=order, **given)
    sections = Sections(source.axes, source.shape, source.dtype) if options.preview else None
    return PlaneReader(source, chain, options.nan, sections), grid, networks, squeezed


def report_complete(options: Options, state: State, reader: PlaneReader) -> None:
    state.remove()
    reader.close()
    if options.json:
        print(json.dumps({'output': options.output, 'planes': 0, 'windows': 0, 'nan': state.nans, 'resumed': True}))
    else:
        print(f'{options.output}: complete already')


def network_axes(reader: PlaneReader, rank: int) -> list[str]:
    return sorted(reader.spatial, key='zyx'.index)[len(reader.spatial) - rank:]


def check_memory(options: Options, reader: PlaneReader, grid: Grid, networks: Networks, classes: int) -> None:
    if options.memory is None:
        return
    slab, sums = reader.memory(grid.roi[0]), memory_of_sums(grid, classes, 4 * classes if options.reduce == 'none' else 2)
    window = 4 * math.prod(grid.roi) * (reader.channels + 2 * classes)
    needed, minimum = slab + sums + networks.batch * window, slab + sums + window
    if needed > options.memory:
        raise InvalidArgument(f'--memory={options.given["memory"]}: {needed:,} bytes are needed: {slab:,} of planes, {sums:,} of sums, '
                              f'{networks.batch} times {window:,} of windows; expected {minimum:,} at least, with --swBatch=1, or try '
                              'another axis by --sweep, or a smaller --roi')


def report_notes(networks: Networks) -> None:
    """What a user would not expect; warnings of builds have been logged."""
    left_out = networks.outputs_left_out()
    if left_out:
        sys.stderr.write(f'tenfold: the first output is written; {", ".join(left_out)}: left out\n')
    for text in networks.notes():
        sys.stderr.write(f'tenfold: {text}\n')


class Sweep:
    """All time points, one after the other, and what became of them."""

    def __init__(self, options: Options, reader: PlaneReader, grid: Grid, networks: Networks, state: State, classes: int, squeezed: bool,
                 resumes: bool, overwrite: bool):
        self._options, self._reader, self._grid, self._networks, self._state = options, reader, grid, networks, state
        self._resumes = resumes
        self._squeezed = squeezed
        self.output = Output(options, reader.source, reader.spatial, classes, state, resumes, overwrite)
        if resumes and not self.output.sink.resumed:
            self.output.remove()
            raise InvalidArgument(f'{state.path}: resume: the .partial file beside it is gone; run it once more')
        self._before = state.image, state.planes
        reader.nans_before, reader.count_from = state.nans, self._before
        self.output.nans = reader.nans
        try:
            if resumes:
                state.keep_plans()
            else:
                networks.save(state.plans)
                state.begin()
        except BaseException:
            self.output.remove()
            raise
        self._per_image = len(grid.windows())
        self._skipped = state.image * self._per_image
        total = (reader.times - state.image) * self._per_image
        self._bar = Bar(options.progress, reader.times * grid.image[0], total, self._done)
        self._swept = 0
        self.seconds = self._written = 0.0

    def _done(self) -> tuple[int, int]:
        image, planes = self._before
        return image * self._grid.image[0] + planes + self.output.planes, self._reader.bytes

    @property
    def bar_is_silent(self) -> bool:
        return self._options.progress != 'bar' and not sys.stderr.isatty()

    def run(self) -> None:
        begun = time.perf_counter()
        try:
            for image in range(self._state.image, self._reader.times):
                self._sweep(image, self._before[1] if image == self._before[0] else 0)
            self._bar.finish()
        except BaseException as error:
            self._bar.clear()
            self._reader.close()
            raise Stopped(error, self._leave(error)) from error
        self.seconds, self._written = time.perf_counter() - begun, self.output.seconds

    def _sweep(self, image: int, planes: int) -> None:
        if planes == self._grid.image[0]:
            return
        reader, grid, options = self._reader, self._grid, self._options
        first = grid.first_plane(planes, self._networks.batch)
        reader.begin(image, first)
        self.output.begin(image, first, planes)
        windows = grid.windows(first)
        before, self._swept = self._swept, self._swept + self._per_image
        skipped = self._per_image - len(windows)

        def progress(done: int, _: int) -> bool:
            self._bar(before + skipped + done)
            return True
        _native.sweep(windows, reader.read, (1, reader.channels, *windows.image_shape), reader.dtype.name,
                      self._networks.predictor(reader.spatial, self._squeezed), self.output.open, chunk=reader.group,
                      window_batch=self._networks.batch, dtype=self._networks.dtype, activation=options.activation,
                      reduce=options.reduce, threshold=options.threshold, threads=options.threads, progress=progress)

    def _leave(self, error: BaseException) -> str:
        """Keeps what --resume goes on with, and tells so; nothing stays of a run that would fail again."""
        if isinstance(error, InvalidArgument) or not (self._state.planes or self._state.image):
            self.output.remove()
            return ''
        self.output.abandon()
        return (f' after {self._state.image * self._grid.image[0] + self._state.planes} of {self._reader.times * self._grid.image[0]} '
                f'planes; --resume goes on with {self.output.sink.path}.partial')

    def finish(self) -> None:
        begun = time.perf_counter()
        try:
            self._state.save(self._reader.times - 1, self._grid.image[0], self._reader.all_nans)
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
        preview(path, image, painted, spacing, metadata.units.get('x'))

    def notes(self) -> str:
        return f'; {self._reader.all_nans} NaN in the input' if self._reader.all_nans else ''

    def summary(self, seconds: float) -> dict[str, Any]:
        reader, network = self._reader, self._networks.seconds
        other = self.seconds - reader.waited - network - self._written
        return {
            'output': self._options.output, 'shape': list(self.output.sink.shape), 'axes': self.output.sink.axes,
            'dtype': self.output.dtype.name, 'device': self._networks.device, 'sweep': reader.spatial[0],
            'planes': self.output.planes, 'windows': self._bar.windows, 'nan': reader.all_nans, 'resumed': self._resumes,
            'constant_channels': sorted(set(reader.chain.constant)),
            'seconds': {'all': round(seconds, 4), 'reading': round(reader.seconds, 4), 'waiting_for_input': round(reader.waited, 4),
                        'network': round(network, 4), 'stitching': round(max(other, 0.0), 4), 'writing': round(self.output.seconds, 4)},
            'windows_per_second': round(self._bar.windows / self.seconds, 3) if self.seconds else None,
            'bytes_read': reader.bytes, 'bytes_written': self.output.bytes,
            'peak_memory': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }


def fill(sections: Sections, source: Any) -> None:
    """All sections, from a file."""
    along = next(at for at, axis in enumerate(source.axes) if axis in 'zyx')
    for start in range(source.shape[along]):
        starts = tuple(start if at == along else 0 for at in range(source.ndim))
        stops = tuple(start + 1 if at == along else 1 if axis in 'tc' else extent
                      for at, (axis, extent) in enumerate(zip(source.axes, source.shape)))
        sections.add(starts, source.read(starts, stops))


