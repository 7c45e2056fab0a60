"""A run of `tenfold segment`, from flags to the renamed output."""
from __future__ import annotations

import json
import sys
import time

from tenfold.errors import InvalidArgument
from tenfold.imaging.files import Sections, open_source
from tenfold.imaging.files._errors import need
from tenfold.imaging.files._formats import format_to_write
from tenfold.imaging.files._open import check_place
from tenfold.imaging.segment._bands import Band, cut_bands
from tenfold.imaging.segment._networks import Networks
from tenfold.imaging.segment._normalize import Chain, parse_step
from tenfold.imaging.segment._options import Options
from tenfold.imaging.segment._output import Output
from tenfold.imaging.segment._planes import PlaneReader, choose_sweep, order_of
from tenfold.imaging.segment._resume import State
from tenfold.imaging.segment._sweep import Sweep
from tenfold.imaging.segment._windows import Grid, make_grid


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
        output = Output(options, reader.source, reader.spatial, grid.results, classes, state, resumes, options.overwrite or complete)
        bands = choose_bands(options, reader, grid, networks, output, state, classes, roi, resumes)
        sweep = Sweep(options, reader, grid, networks, state, output, bands, squeezed, resumes)
    except BaseException:
        reader.close()
        raise
    sweep.run()
    sweep.finish()
    seconds = time.monotonic() - begun
    if options.json:
        print(json.dumps(sweep.summary(seconds)))
    elif sweep.bar_is_silent:
        print(f'{options.output}: {output.planes} planes in {seconds:.1f} s' + sweep.notes())


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


def report_notes(networks: Networks) -> None:
    """What a user would not expect; warnings of builds have been logged."""
    left_out = networks.outputs_left_out()
    if left_out:
        sys.stderr.write(f'tenfold: the first output is written; {", ".join(left_out)}: left out\n')
    for text in networks.notes():
        sys.stderr.write(f'tenfold: {text}\n')


def choose_bands(options: Options, reader: PlaneReader, grid: Grid, networks: Networks, output: Output, state: State, classes: int,
                 roi: tuple[int, ...], resumes: bool) -> list[Band]:
    """Of a run that goes on with several devices those that it had: their speeds are others now."""
    if resumes and not output.sink.resumed:
        output.remove()
        raise InvalidArgument(f'{state.path}: resume: the .partial file beside it is gone; run it once more')
    try:
        several = len(networks.devices) > 1
        if resumes and several:
            return state.bands
        speeds = networks.speeds(reader.channels, roi) if several else [1.0]
        bands = cut_bands(options, reader, grid, networks.batch, networks.dtype, classes, output.chunk_rows, speeds)
        if resumes and state.bands != bands:
            before, now = ([end for *_, end in of] for of in (state.bands, bands))
            raise InvalidArgument(f'{state.path}: resume: the bands of the killed run end at rows {before}, those of this one at {now}; '
                                  'give --memory as the killed run had it')
        return bands
    except BaseException:
        output.abandon() if resumes else output.remove()
        raise
