"""Images of fewer axes, in the form that sliding_window_inference() takes."""
from __future__ import annotations

from typing import Any

import tenfold


def sliding_window(predictor: Any, largest: tuple[int, ...], image: Any, roi_size: Any, overlap: Any, batch_size: int, mode: str) -> Any:
    """`largest`: the shape [batch, channel, spatial...] that the predictor takes at most."""
    from tenfold.imaging import sliding_window_inference
    rank = len(largest)
    added = rank - image.ndim
    if not 0 <= added <= 2:
        raise tenfold.InvalidArgument(f'image has the shape {list(image.shape)}; expected {rank - 2} spatial axes, {rank - 1} with '
                                      f'channels in front, or {rank} with a batch')
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise tenfold.InvalidArgument(f'batch_size={batch_size!r}: expected a number of windows, at least 1')
    found = sliding_window_inference(image[(None,) * added], roi_size, min(batch_size, largest[0]), predictor, overlap, mode)
    if isinstance(found, dict):   # of an engine with several outputs
        found = tuple(found.values())
    return tuple(without_axes(one, added) for one in found) if isinstance(found, (tuple, list)) else without_axes(found, added)


def without_axes(result: Any, added: int) -> Any:
    if added and len(result) == 1:
        result = result[0]
        if added == 2 and len(result) == 1:
            result = result[0]
    return result
