"""A run of `tenfold segment`, from flags to the renamed output."""
from __future__ import annotations

import contextlib
import json
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
from tenfold.imaging.segment._windows import Grid, make_grid


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
        complete = resumes and state.complete
        if complete and state.partial_is_gone():   # killed after the output had got its name
            return report_complete(options, state, reader)
        check_place(options.output.rstrip('/'), reader.source, options.overwrite or complete)
        if not resumes:
            state.remove()   # of an older run
        channels, roi = reader.channels, tuple(grid.roi[reader.spatial.index(axis)] for axis in network_axes(reader, networks.rank))
        networks.build(channels, roi, state.plans if resumes else [])
        networks.check_types(reader.source.dtype, bool(options.normalize))
        classes = networks.output_channels(channels, roi)
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


def cut_bands(options: Options, reader: PlaneReader, grid: Grid, networks: Networks, classes: int, align: int) -> list[int]:
    """The ends of bands of rows that fit into --memory, which end where chunks of the output do. An image of one axis is not cut."""
    memory, cuts = options.memory, len(grid.results) > 1
    if memory is None:
        return [grid.rows]

    def ends() -> list[int]:
        found = _native.sweep_bands(
            grid.windows(), (1, reader.channels, *grid.image), reader.dtype.name, [(classes, *grid.roi)], memory,
            align=align if cuts else grid.results[0], chunk=reader.group, window_batch=networks.batch, dtype=networks.dtype,
            reduce=options.reduce, overhead=reader.overhead, **grid.resampling)
        return list(found) if cuts else [grid.rows]
    with contextlib.suppress(InvalidArgument):
        if len(ends()) == 1:
            return [grid.rows]
    reader.group_bytes = 0   # planes are read as the file has them, not many at a time
    try:
        return ends()
    except InvalidArgument as error:
        chunks = f', or --chunks of less than {align} rows' if align > 1 else ''
        raise InvalidArgument(f'--memory={options.given["memory"]}: {str(error).removeprefix(f"memory {memory}: ")}{chunks}; '
                              'try another axis by --sweep, or --swBatch=1') from error


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
        self.output = Output(options, reader.source, reader.spatial, grid.results, classes, state, resumes, overwrite)
        if resumes and not self.output.sink.resumed:
            self.output.remove()
            raise InvalidArgument(f'{state.path}: resume: the .partial file beside it is gone; run it once more')
        try:
            self._bands = cut_bands(options, reader, grid, networks, classes, self.output.chunk_rows)
            if resumes and state.bands != self._bands:
                raise InvalidArgument(f'{state.path}: resume: the bands of the killed run end at rows {state.bands}, those of this one at '
                                      f'{self._bands}; give --memory as the killed run had it')
        except BaseException:
            self.output.abandon() if resumes else self.output.remove()
            raise
        state.bands = self._bands
        self._before = state.image, state.row, state.planes
        reader.nans_before, reader.count_from = state.nans, self._in_image(*self._before)
        self.output.nans = lambda *at: reader.nans(*self._in_image(*at))
        try:
            if resumes:
                state.keep_plans()
            else:
                networks.save(state.plans)
                state.begin()
        except BaseException:
            self.output.remove()
            raise
        starts = grid.windows().starts
        rest = len(grid.windows()) // (len(starts[1]) if len(starts) > 1 else 1)
        per_image = rest * sum(grid.rows_of_windows(begin, end) for begin, end in self._ranges)
        done = self._planes_of(*self._before)
        all_planes = reader.times * grid.results[0]
        if len(self._bands) > 1:
            sys.stderr.write(f'tenfold: --memory={options.given["memory"]}: {reader.spatial[1]} is cut into {len(self._bands)} bands, and '
                             f'{per_image:,} windows are computed, {len(grid.windows()):,} would do in one\n')
        self._bar = Bar(options.progress, all_planes, reader.times * per_image * (all_planes - done) // all_planes, self._done)
        self._swept = 0
        self.seconds = self._waited = self._written = 0.0

    @property
    def _ranges(self) -> list[tuple[int, int]]:
        return list(zip([0, *self._bands], self._bands))

    def _in_image(self, image: int, row: int, planes: int) -> tuple[int, int, int]:
        """Planes of the image for planes of the results."""
        return image, row, planes * self._grid.image[0] // self._grid.results[0]

    def _planes_of(self, image: int, row: int, planes: int) -> int:
        """How many are done, where several bands make one."""
        rows = next((end for end in self._bands if end > row), row) - row
        return image * self._grid.results[0] + (row * self._grid.results[0] + rows * planes) // self._grid.rows

    def _done(self) -> tuple[int, int]:
        return self._planes_of(*self._before) + self.output.planes, self._reader.bytes

    @property
    def bar_is_silent(self) -> bool:
        return self._options.progress != 'bar' and not sys.stderr.isatty()

    def run(self) -> None:
        begun = time.perf_counter()
        try:
            for image in range(self._before[0], self._reader.times):
                for begin, end in self._ranges:
                    at = self._before if (image, begin) == self._before[:2] else (image, begin, 0)
                    if at >= self._before and at[2] < self._grid.results[0]:
                        self._sweep(image, (begin, end), at[2])
            self._bar.finish()
        except BaseException as error:
            self._bar.clear()
            self._reader.close()
            raise Stopped(error, self._leave(error)) from error
        self.seconds, self._written = time.perf_counter() - begun, self.output.seconds

    def _sweep(self, image: int, rows: tuple[int, int], planes: int) -> None:
        reader, grid, options = self._reader, self._grid, self._options
        reader.begin(image, rows[0], grid.image_rows(*rows))
        self.output.begin(image, rows[0])
        before = self._swept

        def progress(done: int, _: int) -> bool:
            self._swept = before + done
            self._bar(self._swept)
            return True
        took = _native.sweep(
            grid.windows(), reader.read, (1, reader.channels, *grid.image), reader.dtype.name,
            self._networks.predictor(reader.spatial, self._squeezed), self.output.open, chunk=reader.group,
            window_batch=self._networks.batch, dtype=self._networks.dtype, activation=options.activation, reduce=options.reduce,
            threshold=options.threshold, threads=options.threads, progress=progress, first_plane=planes,
            rows=rows if len(self._bands) > 1 else None, **grid.resampling)
        self._waited += took['waiting']

    def _leave(self, error: BaseException) -> str:
        """Keeps what --resume goes on with, and tells so; nothing stays of a run that would fail again."""
        if isinstance(error, InvalidArgument) or not (self._state.planes or self._state.row or self._state.image):
            self.output.remove()
            return ''
        self.output.abandon()
        done = self._planes_of(self._state.image, self._state.row, self._state.planes)
        return (f' after {done} of {self._reader.times * self._grid.results[0]} planes; --resume goes on with '
                f'{self.output.sink.path}.partial')

    def finish(self) -> None:
        begun = time.perf_counter()
        try:
            self._state.save(self._reader.times, 0, 0, self._reader.all_nans, complete=True)
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
        return f'; {self._reader.all_nans} NaN in the input' if self._reader.all_nans else ''

    def summary(self, seconds: float) -> dict[str, Any]:
        reader, network = self._reader, self._networks.seconds
        other = self.seconds - self._waited - network - self._written
        return {
            'output': self._options.output, 'shape': list(self.output.sink.shape), 'axes': self.output.sink.axes,
            'dtype': self.output.dtype.name, 'device': self._networks.device, 'sweep': reader.spatial[0],
            'planes': self.output.planes, 'bands': len(self._bands), 'windows': self._bar.windows,
            'nan': reader.all_nans, 'resumed': self._resumes,
            'constant_channels': sorted(set(reader.chain.constant)),
            'seconds': {'all': round(seconds, 4), 'reading': round(reader.seconds, 4), 'waiting_for_input': round(self._waited, 4),
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


