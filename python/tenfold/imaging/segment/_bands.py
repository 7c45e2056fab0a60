"""Bands of rows: of each device, and what fits into --memory."""
from __future__ import annotations

import contextlib
import re
from typing import Any

from tenfold import _native
from tenfold.errors import InvalidArgument
from tenfold.imaging.segment._options import Options
from tenfold.imaging.segment._planes import PlaneReader
from tenfold.imaging.segment._windows import Grid

Band = tuple[int, int, int]   # the number of a device, and the rows that it computes


def cut_bands(options: Options, reader: PlaneReader, grid: Grid, batch: int, dtype: str, classes: int, align: int,
              speeds: list[float]) -> list[Band]:
    """Each device gets rows in proportion to its speed, in bands where they need more than its share of --memory. They end where chunks
    of the output do. An image of one axis is not cut."""
    memory, cuts = options.memory, len(grid.results) > 1
    if memory is None and (len(speeds) == 1 or not cuts):
        return [(0, 0, grid.rows)]

    def bands() -> list[Band]:
        found: Any = _native.sweep_bands(
            grid.windows(), (1, reader.channels, *grid.image), reader.dtype.name, [(classes, *grid.roi)], memory or 0,
            align=align if cuts else grid.results[0], chunk=reader.group, window_batch=batch, dtype=dtype,
            reduce=options.reduce, overhead=reader.overhead, speeds=speeds if cuts else speeds[:1], **grid.resampling)
        return [tuple(one) for one in found] if cuts else [(0, 0, grid.rows)]
    with contextlib.suppress(InvalidArgument):
        found = bands()
        if memory is None or len(found) == len({device for device, _, _ in found}):
            return found
    reader.group_bytes = 0   # planes are read as the file has them, not many at a time
    try:
        return bands()
    except InvalidArgument as error:
        if memory is None:
            raise
        chunks = f', or --chunks of less than {align} rows' if align > 1 else ''
        text = re.sub(r'^memory \d+(, shared by \d+ devices)?: (memory \d+: )?', r'\1: ', str(error))
        raise InvalidArgument(f'--memory={options.given["memory"]}{text}{chunks}; try another axis by --sweep, or --swBatch=1') from error
