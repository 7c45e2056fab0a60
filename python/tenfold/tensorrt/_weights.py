"""Weights: an array, as layers take it."""
from __future__ import annotations

from typing import Any

from tenfold import _native
from tenfold.tensorrt._enums import DataType
from tenfold.tensorrt._names import Named
from tenfold.tensorrt._types import datatype, nptype


class Weights(Named):
    """Of an array, which is kept and not copied; or of a type: an empty one, as for a bias that is left out."""

    def __init__(self, given: Any, *_: Any) -> None:
        import numpy as np
        self._array = np.empty(0, nptype(given)) if isinstance(given, DataType) else np.ascontiguousarray(given)

    @property
    def dtype(self) -> DataType: return datatype(_native.dtype_name(self._array.dtype), 'the weights')
    @property
    def size(self) -> int: return int(self._array.size)
    @property
    def nbytes(self) -> int: return int(self._array.nbytes)
    def numpy(self) -> Any: return self._array
    def __len__(self) -> int: return self.size


def array_of(given: Any) -> Any:
    """Of what layers take for weights: Weights, an array, None. What is empty is None."""
    import numpy as np
    if given is None:
        return None
    array = given._array if isinstance(given, Weights) else np.ascontiguousarray(given)
    return array if array.size else None
