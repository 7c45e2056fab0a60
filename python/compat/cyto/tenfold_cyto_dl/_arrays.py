"""Arrays of NumPy and tensors of torch alike; torch is never imported here."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import tenfold

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMES = {'f32': 'float32', 'f16': 'float16', 'bf16': 'bfloat16', 'f64': 'float64', 'u8': 'uint8', 'i8': 'int8', 'i32': 'int32',
          'i64': 'int64'}


def is_torch(value: Any) -> bool:
    torch = sys.modules.get('torch')   # who has a tensor has imported it
    return torch is not None and isinstance(value, torch.Tensor)


def for_engine(x: Any, dtype: str, on_gpu: bool) -> Any:
    """The same values in the engine's type, where it can read them."""
    if is_torch(x):
        torch = sys.modules['torch']
        x = x.detach().as_subclass(torch.Tensor)
        return (x if on_gpu else x.cpu()).to(getattr(torch, _NAMES[dtype])).contiguous()
    import numpy as np
    array = np.asarray(x)
    if array.dtype.kind not in 'biuf':
        raise tenfold.InvalidArgument(f'an image is a tensor of torch or an array of NumPy; this {type(x).__name__} has elements of '
                                      f'{array.dtype}')
    return np.ascontiguousarray(array, _NAMES[dtype])


def as_given(result: Any, given: Any) -> Any:
    """A result in the library, the float type and on the device of what was given."""
    if is_torch(given):
        torch = sys.modules['torch']
        made = result if is_torch(result) else torch.from_numpy(result)
        return made.to(given.device, given.dtype if given.is_floating_point() else torch.float32)
    import numpy as np
    dtype = np.asarray(given).dtype
    return np.asarray(result).astype(dtype if dtype.kind == 'f' else np.float32, copy=False)


def stacked(rows: Sequence[Any]) -> Any:
    """Rows as one batch; of tuples, a tuple of batches."""
    if isinstance(rows[0], tuple):
        return tuple(stacked(part) for part in zip(*rows, strict=True))
    if is_torch(rows[0]):
        return sys.modules['torch'].stack(list(rows))
    import numpy as np
    return np.stack(rows)
