"""Axes by letter: which a file has, which are asked for, and in which order regions are given."""
from __future__ import annotations

from typing import Any

from tenfold.imaging.files._errors import refuse_argument

ORDER = 'tczyx'
SPATIAL = 'zyx'
USUAL = {1: 'x', 2: 'yx', 3: 'zyx', 4: 'czyx', 5: 'tczyx'}


def check_axes(axes: str, ndim: int, path: object, shape: tuple[int, ...] | None = None) -> str:
    axes = axes.lower()
    what = f'axes={axes!r}'
    if len(axes) != ndim:
        refuse_argument(path, f'{what} names {len(axes)} axes, the array has {ndim}' + (f': {list(shape)}' if shape else ''),
                        'give one letter of "tczyx" for each axis, the slowest first')
    for letter in axes:
        if letter not in ORDER:
            refuse_argument(path, f'{what} has the letter {letter!r}', 'use t (time), c (channel), z, y, x')
        if axes.count(letter) > 1:
            refuse_argument(path, f'{what} names {letter!r} twice', 'name each axis once')
    return axes


def axes_of(given: str | None, stored: str | None, shape: tuple[int, ...], path: object) -> str:
    """What the caller said, else what the file says, else what is usual for the rank."""
    if given is not None:
        return check_axes(given, len(shape), path, shape)
    if stored is not None:
        return check_axes(stored, len(shape), path, shape)
    if len(shape) not in USUAL:
        refuse_argument(path, f'an array of {len(shape)} axes, {list(shape)}, that does not say which they are', 'give axes=, say "tczyx"')
    return USUAL[len(shape)]


def order_of(axes: str, order: str | None, path: object) -> str:
    """The axes in the order in which regions are given."""
    if order is None:
        return ''.join(letter for letter in ORDER if letter in axes)
    order = order.lower()
    if sorted(order) != sorted(axes):
        refuse_argument(path, f'order={order!r} is not an order of the axes {axes!r} that are left', f'use each letter of {axes!r} once')
    return order


def channels_of(channel: Any, extent: int, path: object) -> tuple[list[int], bool]:
    """(indices of channels, whether the axis stays)"""
    single = not isinstance(channel, (list, tuple, range))
    picked = [channel] if single else list(channel)
    for one in picked:
        if not isinstance(one, int) or isinstance(one, bool) or not 0 <= one < extent:
            refuse_argument(path, f'channel={channel!r} of {extent} channels', f'give a number from 0 to {extent - 1}, or a list of them')
    if not picked:
        refuse_argument(path, 'channel=[] selects none', 'name one channel at least, or leave channel out for all of them')
    return picked, not single


def times_of(time: Any, extent: int, path: object) -> tuple[int, int, bool]:
    """(first, one behind the last, whether the axis stays) of a number, a slice, a pair, or text as "3" or "0:10"."""
    asked = time
    if isinstance(time, str):
        try:
            parts = [int(part) if part else None for part in time.split(':')]
        except ValueError:
            parts = [None, None, None]
        time = parts[0] if len(parts) == 1 else slice(*parts) if len(parts) == 2 else None
    if isinstance(time, tuple) and len(time) == 2:
        time = slice(*time)
    if isinstance(time, int) and not isinstance(time, bool) and 0 <= time < extent:
        return time, time + 1, False
    if isinstance(time, slice) and time.step in (None, 1):
        first, last = time.start or 0, extent if time.stop is None else time.stop
        if isinstance(first, int) and isinstance(last, int) and 0 <= first < last <= extent:
            return first, last, True
    refuse_argument(path, f'time={asked!r} of {extent} time points', f'give a number from 0 to {extent - 1}, or a range in 0:{extent}')
