"""How alike vectors are: matrices of all pairs, or row by row."""
from __future__ import annotations

from typing import Any

from tenfold.errors import InvalidArgument

FUNCTIONS = ('cosine', 'dot', 'euclidean', 'manhattan')


def check_function(name: Any) -> str:
    name = getattr(name, 'value', name)   # sentence-transformers' enumeration
    if name not in FUNCTIONS:
        raise InvalidArgument(f'the similarity is {name!r}, expected one of {", ".join(FUNCTIONS)}')
    return str(name)


def _rows(vectors: Any, unit: bool) -> Any:
    import numpy as np
    rows = np.atleast_2d(np.asarray(vectors, np.float32))
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) if unit else rows


def similarity(a: Any, b: Any, function: str = 'cosine') -> Any:
    """f32[len(a), len(b)]. Distances are negative, so that more is more alike."""
    import numpy as np
    check_function(function)
    a, b = _rows(a, function == 'cosine'), _rows(b, function == 'cosine')
    if function in ('cosine', 'dot'):
        return a @ b.T
    if function == 'euclidean':
        squares = (a * a).sum(1)[:, None] + (b * b).sum(1)[None] - 2 * (a @ b.T)
        return -np.sqrt(np.maximum(squares, 0))
    return -np.stack([np.abs(b - row).sum(1) for row in a])


def pairwise_similarity(a: Any, b: Any, function: str = 'cosine') -> Any:
    """f32[n] of two times n vectors."""
    import numpy as np
    check_function(function)
    a, b = _rows(a, function == 'cosine'), _rows(b, function == 'cosine')
    if function in ('cosine', 'dot'):
        return (a * b).sum(1)
    if function == 'euclidean':
        return -np.linalg.norm(a - b, axis=1)
    return -np.abs(a - b).sum(1)
