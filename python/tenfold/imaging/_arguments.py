"""Arguments of sliding windows, checked by name before anything runs."""
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.errors import InvalidArgument
from tenfold.imaging._arrays import float_array

MODES = ('constant', 'gaussian')
PADDINGS = ('constant', 'reflect', 'replicate', 'circular')


def by_axis(name: str, value: Any, rank: int, convert: Callable[[Any], Any], expected: str) -> list[Any]:
    """One value for each spatial axis, from one for all of them or from as many."""
    if hasattr(value, 'tolist'):
        value = value.tolist()
    several = list(value) if isinstance(value, (list, tuple, range)) else [value] * rank
    if len(several) != rank:
        raise InvalidArgument(f'{name}={value!r} has {len(several)} values; expected one for all spatial axes of '
                              f'inputs, or one for each of these {rank}: inputs are [batch, channel, spatial...]')
    try:
        return [convert(one) for one in several]
    except (TypeError, ValueError):
        raise InvalidArgument(f'{name}={value!r}; expected {expected}') from None


def spatial_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    if not 3 <= len(shape) <= 6:
        raise InvalidArgument(f'inputs are {list(shape)}; expected [batch, channel, spatial...] with 1 to 4 spatial '
                              'axes')
    if 0 in shape[1:]:
        raise InvalidArgument(f'inputs are {list(shape)}; expected at least one channel, and one voxel along each axis')
    return shape[2:]


def window_extents(roi_size: Any, image: tuple[int, ...]) -> list[int]:
    """Entries of 0, -1 and None are the image's extent."""
    def whole(one: Any) -> int:
        return 0 if one is None else max(operator.index(one), 0)

    expected = 'whole numbers; 0, -1 or None stands for the extent of inputs'
    wanted = by_axis('roi_size', roi_size, len(image), whole, expected)
    return [one or extent for one, extent in zip(wanted, image)]


def numbers(name: str, value: Any, rank: int) -> list[float]:
    return by_axis(name, value, rank, float, 'a number, or one for each spatial axis')


def overlaps(value: Any, rank: int) -> list[float]:
    given = numbers('overlap', value, rank)
    if not all(0 <= one < 1 for one in given):
        raise InvalidArgument(f'overlap={value!r}; expected at least 0 and less than 1: the part of a window that it '
                              'shares with the next')
    return given


def choice(name: str, value: Any, names: tuple[str, ...]) -> str:
    """One of some names, which may come as a member of MONAI's enumerations."""
    text = getattr(value, 'value', value)
    if isinstance(text, str) and text.strip() in names:
        return text.strip()
    raise InvalidArgument(f'{name}={value!r}; expected one of {", ".join(map(repr, names))}')


def window_count(value: Any) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        count = 0
    if count < 1:
        raise InvalidArgument(f'sw_batch_size={value!r}; expected a whole number of at least 1: windows of one call')
    return count


def padding(mode: Any, cval: Any, padded: bool) -> str:
    name = choice('padding_mode', mode, PADDINGS)
    if padded and name != 'constant' and cval:
        raise InvalidArgument(f"cval={cval!r} is the value of padding_mode='constant'; leave it out with {name!r}")
    return name


def check_buffer(steps: Any, dim: Any, rank: int) -> None:
    """Both change nothing: sums exist for one window's extent in any case."""
    if steps is None or steps <= 0:
        return
    if not -rank <= operator.index(dim) < rank:
        raise InvalidArgument(f'buffer_dim={dim}; expected {-rank} to {rank - 1}: inputs have {rank} spatial axes')


def weight_map(value: Any, roi: list[int], what: str) -> np.ndarray[Any, Any]:
    """float32 [roi...] of what broadcasts to it, with axes of one window and one channel in front or without."""
    array = float_array(value, what)
    while array.ndim > len(roi) and array.shape[0] == 1:
        array = array[0]
    if not np.all(array >= 0) or not np.all(np.isfinite(array)):
        raise InvalidArgument(f'{what}: a value is negative, infinite or not a number; expected none of them')
    try:
        return np.array(np.broadcast_to(array, roi))
    except ValueError:
        raise InvalidArgument(f'{what}: {list(np.shape(value))}; expected {roi}, or that behind two axes of 1: one map '
                              'for all windows and channels') from None


def fixed_extents(roi_size: Any) -> list[int] | None:
    """The window, where it is the same for all images; else None."""
    given = roi_size.tolist() if hasattr(roi_size, 'tolist') else roi_size
    if not isinstance(given, (list, tuple)) or any(one is None or one <= 0 for one in given):
        return None
    return by_axis('roi_size', given, len(given), operator.index, 'whole numbers')
