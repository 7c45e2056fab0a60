"""The table of formats: which file opens and writes which extension. A new format is a file beside this one, and a row here."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Callable

from tenfold.imaging.files._errors import refuse, refuse_argument
from tenfold.imaging.files._folder import open_folder
from tenfold.imaging.files._nifti import create_nifti, open_nifti
from tenfold.imaging.files._npy import create_npy, open_npy
from tenfold.imaging.files._sink import Target, Writer
from tenfold.imaging.files._source import Stored
from tenfold.imaging.files._tiff import open_tiff
from tenfold.imaging.files._tiff_out import create_imagej, create_ome_tiff, create_tiff
from tenfold.imaging.files._zarr import is_zarr, open_zarr
from tenfold.imaging.files._zarr_out import create_ome_zarr, create_ome_zarr_04, create_zarr, create_zarr_2


@dataclass(frozen=True)
class Format:
    name: str
    extensions: tuple[str, ...]   # of which the first row that fits is taken; none: by name only
    open: Callable[[str, int, int], Stored] | None   # path, level, scene
    create: Callable[[Target], Writer] | None
    leveled: bool = False         # has levels and scenes


FORMATS = (
    Format('npy', ('.npy',), open_npy, create_npy),
    Format('nifti', ('.nii', '.nii.gz'), open_nifti, create_nifti),
    Format('ome-zarr', ('.zarr',), open_zarr, create_ome_zarr, leveled=True),
    Format('ome-zarr-0.4', (), open_zarr, create_ome_zarr_04, leveled=True),
    Format('zarr', (), open_zarr, create_zarr, leveled=True),
    Format('zarr-2', (), open_zarr, create_zarr_2, leveled=True),
    Format('ome-tiff', ('.ome.tif', '.ome.tiff', '.ome.btf', '.ome.tf2', '.ome.tf8'), open_tiff, create_ome_tiff, leveled=True),
    Format('imagej', ('.ij.tif', '.imagej.tif'), open_tiff, create_imagej, leveled=True),
    Format('tiff', ('.tif', '.tiff', '.btf', '.tf2', '.tf8', '.lsm', '.svs', '.ndpi', '.qptiff'), open_tiff, create_tiff, leveled=True),
    Format('folder', (), open_folder, None),
)
READ_ONLY = ('.lsm', '.svs', '.ndpi', '.qptiff')


def known() -> str:
    return ', '.join(extension for format in FORMATS for extension in format.extensions)


def by_name(name: str, path: object) -> Format:
    found = next((format for format in FORMATS if format.name == name), None)
    if found is None:
        refuse_argument(path, f'format={name!r}', f'expected one of {", ".join(format.name for format in FORMATS)}')
    return found


def by_extension(path: str) -> Format | None:
    low = path.lower().rstrip('/')
    return next((format for format in FORMATS if low.endswith(format.extensions)), None)


def format_to_read(path: str) -> Format:
    if '://' in path:   # object stores and web servers: Zarr only, by fsspec
        return by_name('ome-zarr', path)
    if not os.path.lexists(path):
        refuse(path, 'there is no such file or folder', 'check the path')
    if os.path.isdir(path):
        return by_name('ome-zarr' if is_zarr(path) or path.lower().rstrip('/').endswith('.zarr') else 'folder', path)
    if os.path.getsize(path) == 0:
        refuse(path, 'an empty file', 'copy it again')
    found = by_extension(path)
    if found is None or found.name == 'ome-zarr':
        refuse(path, 'its extension is none that is known' if found is None else 'a file, and Zarr is a folder',
               f'known are {known()}, and folders of images')
    return found


def format_to_write(path: str) -> Format:
    folder, name = os.path.split(path.rstrip('/'))
    if os.path.basename(folder) == 'labels' and os.path.dirname(folder).lower().endswith('.zarr'):
        return by_name('ome-zarr', path)
    found = by_extension(path)
    if found is None or found.create is None or name.lower().endswith(READ_ONLY):
        refuse_argument(path, 'its extension is none that can be written',
                        f'known are {", ".join(one for one in known().split(", ") if one not in READ_ONLY)}, and IMAGE.zarr/labels/NAME')
    return found
