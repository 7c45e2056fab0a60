"""Images as callers have them. Windows and results are of the same library: torch's, with MONAI's meta, or NumPy's."""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tenfold.errors import InvalidArgument
from tenfold.imaging._arrays import host_array, is_readable, is_torch, type_name


class Images:
    """[image, channel, spatial...] of NumPy, or of whoever else speaks DLPack. `host`: as the core reads it."""

    def __init__(self, given: Any, what: str, sw_device: Any = None, device: Any = None) -> None:
        self.given, self.host = given, self._readable(given, what)
        self.shape: tuple[int, ...] = tuple(self.host.shape)
        floats = 'float' in type_name(self.host)
        self.dtype = self.host.dtype if floats else self._float32()   # networks take no integers
        self._set_devices(what, sw_device, device)

    def _readable(self, given: Any, what: str) -> Any:
        return host_array(given, what)

    def _float32(self) -> Any:
        return np.dtype(np.float32)

    def _set_devices(self, what: str, sw_device: Any, device: Any) -> None:
        for name, value in (('sw_device', sw_device), ('device', device)):
            if value is not None and str(value) != 'cpu':
                raise InvalidArgument(f'{name}={value!r}, but {what} is a {type(self.given).__name__}, whose windows '
                                      'and results are in the memory of the host; leave it out, or give a torch tensor')

    def windows(self, windows: Any, first: int, count: int) -> Any:
        """Some windows for a predictor, in a type of floats."""
        return self._cut(windows, first, count, self.dtype)

    def _cut(self, windows: Any, first: int, count: int, dtype: Any) -> Any:
        return windows.cut(self.host, first, count, dtype)

    def weights(self, array: Any) -> Any:
        """A weight map for process_fn, as windows are."""
        return array.astype(self.dtype)

    def result(self, array: Any) -> Any:
        """What the caller gets for NumPy's float32."""
        return array.astype(self.dtype, copy=False)

    def zeros(self) -> Any:
        return np.zeros((1, *self.shape[1:]), self.host.dtype)

    def one_of_zeros(self) -> Images:
        """The same with one image, for a batch of none."""
        one: Images = object.__new__(type(self))
        one.__dict__.update(self.__dict__)
        one.host, one.shape = self.zeros(), (1, *self.shape[1:])
        return one


class TorchImages(Images):
    """torch's tensors, on any device, and MONAI's MetaTensors."""

    def _float32(self) -> Any:
        return sys.modules['torch'].float32

    def _set_devices(self, what: str, sw_device: Any, device: Any) -> None:
        torch = sys.modules['torch']
        self._sw_device = self.given.device if sw_device is None else torch.device(sw_device)
        self._device = self.given.device if device is None else torch.device(device)

    def windows(self, windows: Any, first: int, count: int) -> Any:
        return self._cut(windows, first, count, type_name(self)).to(self._sw_device)

    def weights(self, array: Any) -> Any:
        return sys.modules['torch'].from_numpy(array).to(self._sw_device, self.dtype)

    def result(self, array: Any) -> Any:
        tensor = array if is_torch(array) else sys.modules['torch'].from_numpy(array)
        if not hasattr(self.given, 'copy_meta_from'):
            return tensor.to(self._device, self.dtype)
        return type(self.given)(tensor.to(self._device)).copy_meta_from(self.given)   # MONAI's are float32

    def zeros(self) -> Any:
        return self.host.new_zeros((1, *self.shape[1:]))


class GpuImages(TorchImages):
    """torch's tensors on the GPU of the engines that take their windows: they stay there."""

    def _readable(self, given: Any, what: str) -> Any:
        torch = sys.modules['torch']
        torch.cuda.current_stream(given.device).synchronize()   # which may still compute them
        return given.detach().as_subclass(torch.Tensor).contiguous()


def open_images(given: Any, what: str, sw_device: Any = None, device: Any = None, engines: tuple[Any, ...] = ()) -> Images:
    """`engines`: that take all windows; none: a function does."""
    if not is_torch(given):
        return Images(given, what, sw_device, device)
    there = given.is_cuda and bool(engines) and all(str(given.device) == engine.device for engine in engines) and is_readable(given)
    return (GpuImages if there else TorchImages)(given, what, sw_device, device)
