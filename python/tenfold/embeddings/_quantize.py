"""Vectors in fewer bits, as sentence-transformers quantizes them."""
from __future__ import annotations

from typing import Any

from tenfold.errors import InvalidArgument

PRECISIONS = ('float32', 'int8', 'uint8', 'binary', 'ubinary')


def check_precision(precision: Any) -> None:
    if precision not in PRECISIONS:
        raise InvalidArgument(f'precision is {precision!r}, expected one of {", ".join(PRECISIONS)}')


def quantize_embeddings(embeddings: Any, precision: str, ranges: Any = None, calibration_embeddings: Any = None) -> Any:
    """`ranges`: the smallest and the largest of each dimension, f32[2, width]; else they are of the calibration's, or of these vectors."""
    import numpy as np
    check_precision(precision)
    vectors = np.asarray(embeddings)
    if precision == 'float32':
        return vectors.astype(np.float32)
    if precision in ('binary', 'ubinary'):
        bits = np.packbits(vectors > 0, axis=-1)
        return (bits - 128).astype(np.int8) if precision == 'binary' else bits
    if vectors.size == 0:
        return vectors.astype(np.dtype(precision))
    if ranges is None:
        seen = vectors if calibration_embeddings is None else np.asarray(calibration_embeddings)
        if seen.ndim < 2 or len(seen) < 2:
            raise InvalidArgument(f'{precision} needs the range of each dimension, which one vector does not show: give ranges or '
                                  'calibration_embeddings, or encode more texts at once')
        ranges = np.stack([seen.min(axis=0), seen.max(axis=0)])
    ranges = np.asarray(ranges, np.float32)
    steps = (ranges[1] - ranges[0]) / 255
    steps = np.where(steps == 0, 1, steps)
    levels = np.clip(np.floor((vectors - ranges[0]) / steps), 0, 255)
    return levels.astype(np.uint8) if precision == 'uint8' else (levels - 128).astype(np.int8)
