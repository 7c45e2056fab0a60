"""What predictors return: an array, a sequence of them, or a mapping, whose keys come back in sorted order."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenfold.errors import InvalidArgument

_EXPECTED = 'expected an array [windows, channel, spatial...], a sequence of them, or a dict of them'


def flatten(outputs: Any) -> tuple[list[Any] | None, tuple[Any, ...]]:
    """(keys, arrays); keys are None unless it is a mapping."""
    keys = None
    if _is_array(outputs):
        arrays: tuple[Any, ...] = (outputs,)
    elif isinstance(outputs, Mapping):
        keys = _sorted(outputs)
        arrays = tuple(outputs[key] for key in keys)
    else:
        try:
            arrays = tuple(outputs)
        except TypeError:
            raise InvalidArgument(f'predictor returned a {type(outputs).__name__}; {_EXPECTED}') from None
    if not arrays:
        raise InvalidArgument(f'predictor returned an empty {type(outputs).__name__}; {_EXPECTED}')
    for name, array in zip(range(len(arrays)) if keys is None else keys, arrays):
        if not _is_array(array):
            raise InvalidArgument(f'output {name!r} of predictor is a {type(array).__name__}; {_EXPECTED}')
    return keys, arrays


def pack(keys: list[Any] | None, results: list[Any]) -> Any:
    if keys is not None:
        return dict(zip(keys, results))
    return results[0] if len(results) == 1 else tuple(results)


def _is_array(value: Any) -> bool:
    return hasattr(value, 'shape') and hasattr(value, 'dtype')


def _sorted(outputs: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(outputs)
    except TypeError as error:
        raise InvalidArgument(f'predictor returned a dict whose keys cannot be sorted ({error}); name all outputs by '
                              'strings') from None
