"""A calibrator's batches as samples: memory at the addresses that it gives is copied at once, since its next batch may lie there, too."""
from __future__ import annotations

import ctypes
import operator
from typing import Any

from tenfold import _native
from tenfold._device import default_device
from tenfold.errors import InvalidArgument
from tenfold.pycuda import _gpu, _host
from tenfold.tensorrt._logger import ILogger, say_once
from tenfold.tensorrt._memory import _numpy_dtype
from tenfold.tensorrt._network.tensor import ITensor
from tenfold.tensorrt._types import address_of, native_dtype


class Batches:
    """All batches give ranges, as in TensorRT. So no sample is left over to compare the plan with the model in floats."""

    def __init__(self, calibrator: Any, network: Any, config: Any, logger: ILogger) -> None:
        self._calibrator, self._config, self._logger = calibrator, config, logger
        self._rows = operator.index(calibrator.get_batch_size())
        if self._rows < 0:
            raise InvalidArgument(f'{self._title}.get_batch_size() gave {self._rows}, at least 0 is expected (0: what the profile says)')
        inputs = network._inputs()
        self._shapes = {tensor.name: self._shape(tensor) for tensor in inputs}
        self._types = {tensor.name: _numpy_dtype(_native.numpy_name(native_dtype(tensor.dtype))) for tensor in inputs}
        self._device = _gpu if default_device().startswith('cuda') else _host
        self.samples = 0

    @property
    def _title(self) -> str: return type(self._calibrator).__name__

    def _shape(self, tensor: ITensor) -> tuple[int, ...]:
        """The calibration profile's opt; or the first profile's, with the calibrator's batch size in front where that is open."""
        profile, shape = self._config.get_calibration_profile(), tuple(tensor.shape)
        if profile is not None and profile.get_shape(tensor.name):
            return tuple(profile.get_shape(tensor.name)[1])
        profiles = self._config._profiles
        given = profiles[0].get_shape(tensor.name) if profiles else []
        if not shape or shape[0] != -1:
            self._tell_of_fixed(tensor.name, shape)
        if not given:
            return (1, *shape[1:]) if shape[:1] == (-1,) else shape   # batches are 1 without a profile
        low, usual, high = given
        if shape[0] != -1 or not self._rows:
            return tuple(usual)
        if not low[0] <= self._rows <= high[0]:
            raise InvalidArgument(f"{self._title}.get_batch_size() gave {self._rows}, and profile 0 has {low[0]} to {high[0]} in front of "
                                  f"'{tensor.name}': set_calibration_profile() gives batches another shape")
        return (self._rows, *usual[1:])

    def _tell_of_fixed(self, name: str, shape: tuple[int, ...]) -> None:
        if shape and self._rows not in (0, 1, shape[0]):
            say_once(self._logger, f"{self._title}.get_batch_size() gave {self._rows}, and '{name}' has {shape[0]} in front: "
                     'as much is read')

    def sample(self, index: int) -> dict[str, Any] | None:
        """For build(calibration=). Samples 0, 2, 4 and so on give ranges; there are no others."""
        if index % 2:
            return None
        names = list(self._shapes)
        given = self._calibrator.get_batch(names)
        if given is not None and not isinstance(given, (list, tuple)):
            raise TypeError(f'{self._title}.get_batch() gives a list of addresses or None, got {type(given).__name__}')
        if not given:
            if not self.samples:
                raise InvalidArgument(f'{self._title}.get_batch() gave no batch at all: there is nothing to take ranges from')
            return None
        if len(given) != len(names):
            raise InvalidArgument(f'{self._title}.get_batch() gave {len(given)} addresses for {len(names)} inputs ({", ".join(names)})')
        self.samples += min((shape[0] for shape in self._shapes.values() if shape), default=1)
        return {name: self._copied(name, memory) for name, memory in zip(names, given)}

    def _copied(self, name: str, memory: Any) -> Any:
        import numpy as np
        shape = self._shapes[name]
        if min(shape, default=0) < 0:
            raise InvalidArgument(f"'{name}' has the shape {shape}, and no profile says how large a batch of it is: "
                                  'add_optimization_profile() or set_calibration_profile()')
        address = _address(memory, name)
        array = np.empty(shape, self._types[name])
        if not address and array.nbytes:
            raise InvalidArgument(f"{self._title}.get_batch() gave 0 as the address of '{name}'")
        if self._device is _gpu:
            _gpu.need_context()
        self._device.copy(array.ctypes.data, address, array.nbytes, None)
        return array


def _address(memory: Any, of: str) -> int:
    if isinstance(memory, ctypes.Array):
        return ctypes.addressof(memory)
    if isinstance(memory, ctypes.c_void_p):
        return memory.value or 0
    return address_of(memory, of)
