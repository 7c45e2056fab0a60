"""How alike vectors are: matrices of all pairs, or row by row."""
from __future__ import annotations

from typing import Any

from tenfold.embeddings._options import as_tensor
from tenfold.errors import InvalidArgument

FUNCTIONS = ('cosine', 'dot', 'euclidean', 'manhattan')


def check_function(name: Any) -> str:
    name = getattr(name, 'value', name)   # sentence-transformers' enumeration
    if name not in FUNCTIONS:
        raise InvalidArgument(f'the similarity is {name!r}, expected one of {", ".join(FUNCTIONS)}')
    return str(name)


def _like(result: Any, *given: Any) -> Any:
    """A tensor where tensors were given, as sentence-transformers' functions give them."""
    first = [one[0] if isinstance(one, (list, tuple)) and len(one) else one for one in given]
    return as_tensor(result) if any(hasattr(one, 'detach') for one in first) else result


def _rows(vectors: Any, unit: bool) -> Any:
    import numpy as np
    rows = np.atleast_2d(np.asarray(vectors, np.float32))
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) if unit else rows


def similarity(a: Any, b: Any, function: str = 'cosine') -> Any:
    """f32[len(a), len(b)]. Distances are negative, so that more is more alike."""
    import numpy as np
    check_function(function)
    x, y = _rows(a, function == 'cosine'), _rows(b, function == 'cosine')
    if function in ('cosine', 'dot'):
        found = x @ y.T
    elif function == 'euclidean':
        x, y = x.astype(np.float64), y.astype(np.float64)   # vectors that are near lose most digits in the difference
        squares = (x * x).sum(1)[:, None] + (y * y).sum(1)[None] - 2 * (x @ y.T)
        found = -np.sqrt(np.maximum(squares, 0)).astype(np.float32)
    else:
        found = -np.stack([np.abs(y - row).sum(1) for row in x])
    return _like(found, a, b)


def pairwise_similarity(a: Any, b: Any, function: str = 'cosine') -> Any:
    """f32[n] of two times n vectors."""
    import numpy as np
    check_function(function)
    x, y = _rows(a, function == 'cosine'), _rows(b, function == 'cosine')
    if function in ('cosine', 'dot'):
        found = (x * y).sum(1)
    else:
        found = -np.linalg.norm(x - y, axis=1) if function == 'euclidean' else -np.abs(x - y).sum(1)
    return _like(found, a, b)
