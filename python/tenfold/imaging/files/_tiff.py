"""TIFF, BigTIFF, OME-TIFF and ImageJ's hyperstacks, read by tifffile: by tile or strip, through the store that it offers zarr."""
from __future__ import annotations

import contextlib
import logging
from typing import Any, Iterator

from tenfold.imaging.files._errors import need, refuse, refuse_argument, unreadable
from tenfold.imaging.files._source import Stored
from tenfold.imaging.files._tiff_metadata import metadata_of


@contextlib.contextmanager
def complaints() -> Iterator[list[str]]:
    """What tifffile only logs: it reads the pages of a cut file that are left, and calls them the whole."""
    messages: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())
    logger, handler = logging.getLogger('tifffile'), Collect(logging.WARNING)
    logger.addHandler(handler)
    passes, logger.propagate = logger.propagate, False
    try:
        yield messages
    finally:
        logger.removeHandler(handler)
        logger.propagate = passes


CUT = ('invalid page offset', 'failed to reshape', 'invalid value offset', 'invalid tag count', 'corrupted', 'invalid tag')


def open_tiff(path: str, level: int, scene: int) -> Stored:
    tifffile, zarr = need('tifffile', path), need('zarr', path)
    need('imagecodecs', path)   # for LZW, JPEG, Zstandard; tifffile finds it by itself, and says little where it is not there
    file = None
    try:
        with complaints() as messages:
            file = tifffile.TiffFile(path)
            series = pick(path, file.series, scene, 'scene', 'scenes')
            levels = list(series.levels)
            picked = pick(path, levels, level, 'level', 'levels of the pyramid')
            check_whole(path, picked, file.filehandle.size)
        cut = next((line for line in messages if any(word in line for word in CUT)), None)
        if cut:
            refuse(path, f'cut or damaged: {cut}', 'copy it again')
        # Of images of one pixel tifffile's view by chunks cannot be read; as a whole they are a number a page.
        array = picked.asarray() if picked.shape[-2:] == (1, 1) else zarr.open_array(series.aszarr(level=level), mode='r')
    except Exception as error:
        if file:
            file.close()
        unreadable(path, 'opening it as TIFF', error)
    axes = letters(picked.axes, array.shape, path)
    metadata = metadata_of(file, series, scene, axes)
    ratios = {axis: full / part for axis, full, part in zip(axes or '', series.shape, picked.shape) if axis in 'zyx'}
    chunks = getattr(array, 'chunks', None)
    return Stored(path, array.shape, array.dtype, lambda parts: array[parts], axes, chunks, metadata.resampled(ratios), file.close)


def pick(path: str, entries: Any, index: int, name: str, plural: str) -> Any:
    if not 0 <= index < len(entries):
        refuse_argument(path, f'{name}={index}, it has {len(entries)} {plural}', f'give a number from 0 to {len(entries) - 1}')
    return entries[index]


def check_whole(path: str, series: Any, size: int) -> None:
    """Each page's strips or tiles lie in the file: reading one that does not would give zeros, or fail hours later."""
    for number, page in enumerate(series.pages):
        if page is None:
            continue   # a page that an OME file says is missing
        end = max((offset + count for offset, count in zip(page.dataoffsets, page.databytecounts)), default=0)
        if end > size and series.parent is page.parent:
            refuse(path, f'cut: it has {size:,} bytes, page {number} ends at {end:,}', 'copy it again')


def letters(axes: str, shape: tuple[int, ...], path: str) -> str | None:
    """tifffile's letters as ours: samples of a pixel are channels; pages of which nothing is known are z, or time. None: not all fit."""
    ours = axes.lower()
    for unknown in 'siqr':
        for _ in range(ours.count(unknown)):
            free = [axis for axis in ('c' if unknown == 's' else 'zt') if axis not in ours]
            if not free:
                return None
            ours = ours.replace(unknown, free[0], 1)
    return ours if set(ours) <= set('tczyx') and len(set(ours)) == len(ours) else None
