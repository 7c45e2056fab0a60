"""Ranges for 8 bits, from windows as the model will see them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import tenfold.tensorrt as trt
from tenfold.pycuda import driver as cuda

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Windows(trt.IInt8EntropyCalibrator2):
    """Gives the windows one by one, from memory of the device."""

    def __init__(self, windows: NDArray[np.float32]) -> None:
        trt.IInt8EntropyCalibrator2.__init__(self)
        self._context = cuda.Device(0).make_context()
        self._left = iter(windows)
        self._memory = cuda.mem_alloc(windows[0].nbytes)

    def get_batch_size(self) -> int:
        return 1

    def get_batch(self, names: list[str]) -> list[int] | None:
        window = next(self._left, None)
        if window is None:
            return None
        cuda.memcpy_htod(self._memory, window)
        return [int(self._memory)]

    def read_calibration_cache(self) -> bytes | None:
        return None

    def write_calibration_cache(self, cache: Any) -> None:
        pass


def set_int8(network: trt.INetworkDefinition, config: trt.IBuilderConfig, windows: NDArray[Any] | None) -> None:
    config.set_flag(trt.BuilderFlag.INT8)
    if any(network.get_layer(i).type == trt.LayerType.QUANTIZE for i in range(network.num_layers)):
        return   # the model has its own ranges
    if windows is None:
        raise RuntimeError('int8 needs a calibration dataset: windows as the model will see them')
    if network.num_inputs != 1:
        raise RuntimeError(f'int8: windows calibrate models of one input; this one has {network.num_inputs}')
    shape = tuple(network.get_input(0).shape)
    if windows.dtype.kind != 'f' or not len(windows) or windows.shape[1:] != shape[1:] and windows.shape[1:] != shape:
        expected = f'floats of the shape (any, {", ".join(map(str, shape[1:]))})'
        raise RuntimeError(f'int8: the calibration dataset is {windows.dtype}{windows.shape}; expected are {expected}')
    if not np.isfinite(windows).all():
        raise RuntimeError('int8: the calibration dataset holds a NaN or an infinity')
    config.int8_calibrator = Windows(np.ascontiguousarray(windows, np.float32))
