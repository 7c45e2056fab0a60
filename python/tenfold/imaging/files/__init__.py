"""Files of images and volumes, read and written by region: what is larger than memory passes through a slab at a time.

    with open_source('brain.ome.zarr', channel=0) as source:
        with open_sink('labels.nii', source.shape, 'uint8', axes=source.axes, like=source) as sink:
            for z in range(source.shape[0]):
                sink.write((z, 0, 0), segment(source.read((z, 0, 0), (z + 1, *source.shape[1:]))))

docs/guides/imaging-files.md has the formats, and what each of them keeps. Nothing here knows engines or windows.

A new format is one file beside the others and a row of the table in `_formats.py`. Its `open(path, level, scene)` gives a `Stored`: shape,
type, axes as they lie in the file, and a function that reads slices. Its `create(target)` gives a `Writer` that fills `target.partial`.
Order of axes, selections, checks of regions, and the rename are done for all of them, in `_source.py` and `_sink.py`. Packages are
imported by `need()` when a file is opened, so that NPY works without any.
"""
from __future__ import annotations

from tenfold.imaging.files._formats import FORMATS
from tenfold.imaging.files._frames import FrameReader, open_frames
from tenfold.imaging.files._metadata import Metadata
from tenfold.imaging.files._open import open_sink, open_source
from tenfold.imaging.files._preview import Sections, preview
from tenfold.imaging.files._sink import Sink
from tenfold.imaging.files._source import Source

__all__ = ['FORMATS', 'FrameReader', 'Metadata', 'Sections', 'Sink', 'Source', 'open_frames', 'open_sink', 'open_source', 'preview']
