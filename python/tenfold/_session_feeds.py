"""What a session is fed: arrays, OrtValues, and lists of numbers, which become arrays of the input's type."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenfold import errors
from tenfold._session_errors import NoArray
from tenfold._session_types import OrtValue

_NO_ARRAYS = (str, bytes, bytearray, list, tuple, dict, set, range, int, float, complex, type(None))


def is_odd(value: Any) -> bool:
    """Whether the value is none that an engine takes as an array."""
    return isinstance(value, _NO_ARRAYS) or not (hasattr(value, 'shape') or hasattr(value, '__dlpack__') or hasattr(value, '__array__')
                                                 or hasattr(value, '__buffer__') or isinstance(value, memoryview))


def names_of(outputs: Any) -> list[str] | None:
    """None: all of them, as in ONNX Runtime, where an empty list means that, too."""
    if outputs is None:
        return None
    if isinstance(outputs, (str, bytes, Mapping)):
        raise TypeError(f'output_names are a list of names, got {type(outputs).__name__} {outputs!r}: write ["name"]')
    try:
        names = list(outputs)
    except TypeError:
        raise TypeError(f'output_names are a list of names, or None, got {type(outputs).__name__}') from None
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f'output_names are strings, got {name!r}, of the class {type(name).__name__}')
    return names or None


def dict_of(feed: Any) -> dict[str, Any]:
    if not isinstance(feed, Mapping):
        raise TypeError(f'input_feed is a dict from names to arrays, got {type(feed).__name__}')
    return {name: value._array if isinstance(value, OrtValue) else value for name, value in feed.items()}


def as_arrays(feed: dict[str, Any], dtypes: Mapping[str, str]) -> dict[str, Any]:
    """`dtypes`: NumPy's names of the inputs that are tensors of numbers."""
    return {name: _as_array(name, value, dtypes[name]) if name in dtypes and is_odd(value) else value for name, value in feed.items()}


def _as_array(name: str, value: Any, dtype: str) -> Any:
    if not isinstance(value, list):
        raise NoArray(f'input {name!r} is an array, or a list of numbers, got {_what(value)}')
    import numpy as np
    if dtype not in np.sctypeDict:
        raise NoArray(f'input {name!r} is {dtype}, of which no list is made an array: give an array of ml_dtypes.{dtype}')
    try:
        return np.asarray(value, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise NoArray(f'input {name!r} is {dtype}, and the list that is given makes no array of it: {error}') from None


def _what(value: Any) -> str:
    if value is None:
        return 'None'
    if isinstance(value, str):
        return f'str, of {len(value)} characters'
    if isinstance(value, (bytes, bytearray)):
        return f'{type(value).__name__}, of which numpy.frombuffer() makes arrays'
    return f'an object of the class {type(value).__name__}'


def expect_dims(feed: dict[str, Any], inputs: list[Any], fixed: Mapping[str, int]) -> None:
    """Of arrays for dimensions whose extent SessionOptions.add_free_dimension_override_by_name() gave. `inputs`: as the file has them."""
    for one in inputs:
        shape = getattr(feed.get(one.name), 'shape', None)
        if shape is None or len(shape) != len(one.dims):
            continue
        for d, dim in enumerate(one.dims):
            if dim in fixed and shape[d] != fixed[dim]:
                raise errors.InvalidArgument(f'input {one.name!r} has {shape[d]} in dimension {d}, {dim!r}, which '
                                             f'add_free_dimension_override_by_name() fixed to {fixed[dim]}')
