"""Arrays of callers, as the core reads them: dense, in the host's memory."""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tenfold.errors import InvalidArgument

# Element types that the core reads. Others, which are integers or float8, become float32 first.
_READABLE = ('uint8', 'uint16', 'int16', 'int32', 'float16', 'bfloat16', 'float32', 'float64')
_CPU = 1   # DLPack's kDLCPU


def is_torch(value: Any) -> bool:
    torch = sys.modules.get('torch')   # who has a tensor has imported it
    return torch is not None and isinstance(value, torch.Tensor)


def type_name(array: Any) -> str:
    """'float32' of NumPy's arrays and of torch's."""
    return str(array.dtype).rpartition('.')[2]


def is_readable(array: Any) -> bool:
    return type_name(array) in _READABLE


def host_array(value: Any, what: str) -> Any:
    """torch's tensor or NumPy's array, without gradients and subclasses, and of a readable type."""
    if is_torch(value):
        torch = sys.modules['torch']
        array: Any = value.detach().as_subclass(torch.Tensor).cpu().contiguous()
    elif hasattr(value, '__dlpack_device__') and not isinstance(value, np.ndarray):
        array = np.ascontiguousarray(np.from_dlpack(value) if value.__dlpack_device__()[0] == _CPU else _copied(value))
    else:
        array = np.ascontiguousarray(value)
    name = type_name(array)
    if is_readable(array):
        return array
    if name == 'object' or name.startswith(('complex', 'str', '<U', '|S', 'datetime', 'timedelta')):
        raise InvalidArgument(f'{what} is a {type(value).__name__} of {name}; expected an array of real numbers, of '
                              'NumPy, torch or DLPack')
    return array.float() if is_torch(array) else array.astype(np.float32)


def _copied(value: Any) -> Any:
    """From a GPU: by CuPy's get(), by numpy() of a DeviceArray, or by NumPy 2.1."""
    copy = getattr(value, 'get', None) or getattr(value, 'numpy', None)
    return copy() if copy else np.from_dlpack(value, device='cpu')


def float_array(value: Any, what: str) -> np.ndarray[Any, Any]:
    """NumPy's, of float32."""
    array = host_array(value, what)
    return np.asarray(array.float() if is_torch(array) else array, np.float32)
