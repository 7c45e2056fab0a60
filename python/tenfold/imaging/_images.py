"""Images as callers have them: NumPy's arrays, torch's tensors (MONAI's with their meta), or what DLPack reads. The core reads the host's."""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tenfold.errors import InvalidArgument

# Element types that windows are cut from. Images of other integers become float32 first.
_READ = ('uint8', 'uint16', 'int16', 'int32', 'float16', 'bfloat16', 'float32', 'float64')


def is_torch(value: Any) -> bool:
    torch = sys.modules.get('torch')   # who has a tensor has imported it
    return torch is not None and isinstance(value, torch.Tensor)


def type_name(array: Any) -> str:
    """'float32' of NumPy's arrays and of torch's."""
    return str(array.dtype).rpartition('.')[2]


def host_array(value: Any, what: str) -> Any:
    """A dense array in the host's memory, without gradients or subclasses: torch's or NumPy's."""
    if is_torch(value):
        torch = sys.modules['torch']
        return torch.Tensor.as_subclass(value.detach(), torch.Tensor).cpu().contiguous()
    if hasattr(value, '__dlpack__') and not isinstance(value, np.ndarray):
        return np.ascontiguousarray(np.from_dlpack(value, device='cpu') if on_gpu(value) else np.from_dlpack(value))
    array = np.ascontiguousarray(value)
    if array.dtype == object:
        raise InvalidArgument(f'{what} is a {type(value).__name__}; expected an array of numbers: of NumPy, torch or DLPack')
    return array


def on_gpu(value: Any) -> bool:
    return value.__dlpack_device__()[0] != 1   # kDLCPU


def readable(array: Any, what: str) -> Any:
    """A host array in an element type that the core reads."""
    name = type_name(array)
    if 'complex' in name:
        raise InvalidArgument(f'{what} has elements of type {name}; expected real numbers')
    if name in _READ:
        return array
    return array.float() if is_torch(array) else array.astype(np.float32)


class Images:
    """[image, channel, spatial...] of a caller. Windows and results are arrays of the same library."""

    def __init__(self, given: Any, what: str, sw_device: Any = None, device: Any = None) -> None:
        self._given, self._torch = given, sys.modules['torch'] if is_torch(given) else None
        self.host = readable(host_array(given, what), what)
        self.shape = tuple(self.host.shape)
        floats = 'float' in type_name(given if self._torch else self.host) and type_name(self.host) in _READ
        self.dtype = type_name(self.host) if floats else 'float32'   # of windows; networks take no integers
        if self._torch:
            self._sw_device = given.device if sw_device is None else self._torch.device(sw_device)
            self._device = given.device if device is None else self._torch.device(device)
        elif (sw_device, device) != (None, None) and {str(sw_device or 'cpu'), str(device or 'cpu')} != {'cpu'}:
            raise InvalidArgument(f"sw_device={sw_device!r}, device={device!r}: {what} is an array of the host, so that windows and results "
                                  "are, too; leave both out, or give a torch tensor")

    def windows(self, windows: Any, first: int, count: int) -> Any:
        """Some windows for a predictor."""
        cut = windows.cut(self.host, first, count, self.dtype)
        return cut.to(self._sw_device) if self._torch else cut

    def weights(self, array: Any) -> Any:
        """A weight map for process_fn, in the windows' type."""
        if not self._torch:
            return array.astype(self.dtype)
        return self._torch.from_numpy(array).to(self._sw_device, getattr(self._torch, self.dtype))

    def result(self, array: Any) -> Any:
        """What the caller gets for an array of NumPy."""
        if not self._torch:
            return array.astype(self.dtype, copy=False)
        meta = hasattr(self._given, 'copy_meta_from')   # monai's MetaTensor, whose results are float32
        tensor = self._torch.from_numpy(array).to(self._device, self._torch.float32 if meta else getattr(self._torch, self.dtype))
        return type(self._given)(tensor).copy_meta_from(self._given) if meta else tensor

    def one_of_zeros(self) -> Images:
        """The same with one image, for a batch of none."""
        like = self._given if self._torch else self.host
        shape = (1, *self.shape[1:])
        made = Images.__new__(Images)
        made.__dict__.update(self.__dict__)
        made._given, made.shape = like, shape
        made.host = self.host.new_zeros(shape) if self._torch else np.zeros(shape, self.host.dtype)
        return made
