"""Calibration images of a folder: gray, resized to the input's extents, from [0, 1] to [-1, 1] (mean 0.5, standard deviation 0.5)."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import tenfold

if TYPE_CHECKING:
    from collections.abc import Sequence

SUFFIXES = ('.png', '.jpg', '.jpeg', '.tif', '.tiff', '.npy')
_PLAIN_MODES = ('1', 'L', 'I;16', 'F', 'RGB')
_LUMA = (0.299, 0.587, 0.114)   # ITU-R 601, as "L" of Pillow


class Images:
    """The first `count` images of a folder by name, each read when it is asked for, as samples [batch, channel, spatial...]. A sample of
    several takes as many images that follow each other."""

    def __init__(self, folder: str | os.PathLike[str], count: int, shape: Sequence[int]) -> None:
        if count < 1:
            raise tenfold.InvalidArgument(f'--num-calibration-samples {count}: at least 1 is needed')
        if not os.path.isdir(folder):
            raise tenfold.FileError(f'--calibration-data {folder}: there is no such folder; expected one with {", ".join(SUFFIXES)} files')
        names = sorted(name for name in os.listdir(folder) if name.lower().endswith(SUFFIXES))
        if not names:
            raise tenfold.InvalidInput(f'No images found in {folder}: expected files that end in {", ".join(SUFFIXES)}')
        self.paths, self._shape = [os.path.join(folder, name) for name in names[:count]], tuple(shape)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        import numpy as np
        batch, channels, *extents = self._shape
        at = [(index + i) % len(self.paths) for i in range(batch)]
        return np.stack([image(self.paths[i], channels, extents) for i in at])


def image(path: str, channels: int, extents: Sequence[int]) -> Any:
    """f32 [channels, *extents]."""
    array = in_unit_range(read(path), path)
    rank = len(extents)
    if array.ndim == rank + 1 and channels > 1 and channels in (array.shape[0], array.shape[-1]):
        array = array if array.shape[0] == channels and path.endswith('.npy') else _channels_first(array, channels)
    else:
        array = gray(array, rank)[None]
    if array.ndim != rank + 1:
        kind = 'a volume (.tif or .npy of 3 dimensions): a slice is never repeated' if rank == 3 else f'an image of {rank} dimensions'
        raise tenfold.InvalidInput(f'{path} has {array.ndim - 1} dimensions; the model takes {" x ".join(map(str, extents))}: '
                                   f'expected {kind}')
    if array.shape[0] != channels:
        raise tenfold.InvalidInput(f'{path} has {array.shape[0]} channels; the model takes {channels}: expected an image with as many')
    for axis, extent in enumerate(extents, 1):
        array = resized(array, axis, extent)
    return (array - 0.5) / 0.5


def _channels_first(array: Any, channels: int) -> Any:
    import numpy as np
    return np.moveaxis(array, -1, 0) if array.shape[-1] == channels else array


def read(path: str) -> Any:
    """The file's array, in its own type."""
    import numpy as np
    try:
        if path.lower().endswith('.npy'):
            return np.load(path, allow_pickle=False)
        if path.lower().endswith(('.tif', '.tiff')):
            import tifffile
            return tifffile.imread(path)
        from PIL import Image
        with Image.open(path) as picture:
            if picture.mode == 'I':   # older Pillows' mode of 16-bit PNG
                return np.asarray(picture).astype(np.uint16)
            return np.asarray(picture if picture.mode in _PLAIN_MODES else picture.convert('RGB'))
    except ModuleNotFoundError as error:
        package = {'PIL': 'pillow'}.get(error.name or '', error.name)
        raise tenfold.Unsupported(f'{path} is read by {package}, which is not installed: pip install {package}; .npy files need none'
                                  ) from error
    except (OSError, ValueError, SyntaxError, KeyError) as error:
        raise tenfold.InvalidInput(f'{path} cannot be read as an image: {error}; mend it, or take it out of the folder') from error


def in_unit_range(array: Any, path: str) -> Any:
    """f32: integers by the largest of their type, floats as they are."""
    import numpy as np
    if array.dtype.kind not in 'biuf' or array.size == 0:
        raise tenfold.InvalidInput(f'{path} holds {array.dtype} of shape {list(array.shape)}; expected an image of integers or floats')
    if array.dtype.kind in 'iu':
        return array.astype(np.float32) / np.iinfo(array.dtype).max
    made = array.astype(np.float32)
    if not np.isfinite(made).all():
        raise tenfold.InvalidInput(f'{path} holds NaN or infinity; expected finite values')
    return made


def gray(array: Any, rank: int) -> Any:
    """Without the axes of one channel, and with colors weighed."""
    import numpy as np
    while array.ndim > rank and 1 in (array.shape[0], array.shape[-1]):
        array = array[0] if array.shape[0] == 1 else array[..., 0]
    if array.ndim == rank + 1 and array.shape[-1] in (3, 4):
        return array[..., :3] @ np.asarray(_LUMA, np.float32)
    return array


def resized(array: Any, axis: int, extent: int) -> Any:
    """Linearly along an axis; where it shrinks, all voxels under the wider triangle count, as Pillow does it."""
    import numpy as np
    before = array.shape[axis]
    if before == extent:
        return array
    scale = before / extent
    width = max(scale, 1.0)
    centers = (np.arange(extent) + 0.5) * scale - 0.5
    weights = np.maximum(1 - np.abs(np.arange(before)[None] - centers[:, None]) / width, 0)
    weights /= weights.sum(1, keepdims=True)
    return np.moveaxis(np.moveaxis(array, axis, -1) @ weights.T.astype(np.float32), -1, axis)
