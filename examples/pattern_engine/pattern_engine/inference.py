"""A device's context, a stream, and memory for one engine's inputs and outputs on both sides."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import tenfold.tensorrt as trt
from pattern_engine.log import Log
from tenfold.pycuda import driver as cuda

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


class TRTInference:
    """Runs of one engine in memory that allocate_buffers() allocates once: for the largest shapes that the engine takes."""

    def __init__(self, engine: trt.ICudaEngine, log: Log | None = None) -> None:
        self.cuda_ctx = cuda.Device(0).make_context()
        self.stream = cuda.Stream()
        self.engine, self._log = engine, log or Log()
        context = engine.create_execution_context()
        if context is None:
            raise RuntimeError(f'No execution context could be made: {self._log.reasons()}')
        self.context = context
        names = [engine.get_tensor_name(index) for index in range(engine.num_io_tensors)]
        self.input_names = [name for name in names if engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT]
        self.output_names = [name for name in names if name not in self.input_names]
        self.shapes = {name: tuple(engine.get_tensor_shape(name)) for name in names}   # -1: open within the profile
        self._open = {name for name, shape in self.shapes.items() if -1 in shape}
        self.device: dict[str, cuda.DeviceAllocation] = {}
        self.host: dict[str, Array] = {}

    @property
    def d_input(self) -> cuda.DeviceAllocation:
        """The first input's memory on the device."""
        return self._allocated()[self.input_names[0]]

    @property
    def d_output(self) -> cuda.DeviceAllocation:
        return self._allocated()[self.output_names[0]]

    def _allocated(self) -> dict[str, cuda.DeviceAllocation]:
        if not self.device:
            raise RuntimeError('allocate_buffers() was not called')
        return self.device

    def allocate_buffers(self) -> None:
        shapes = dict(self.shapes)
        for name in self.input_names:
            if -1 in shapes[name]:
                shapes[name] = tuple(self.engine.get_tensor_profile_shape(name, 0)[2])
                self._set_shape(name, shapes[name])
        for name in self.output_names:
            shapes[name] = tuple(self.context.get_tensor_shape(name))
            if -1 in shapes[name]:
                raise RuntimeError(f'The shape of the output {name} depends on what its inputs hold: it cannot be allocated once')
        for name, shape in shapes.items():
            self.host[name] = cuda.pagelocked_empty(shape, trt.nptype(self.engine.get_tensor_dtype(name)))
            self.device[name] = cuda.mem_alloc(max(1, self.host[name].nbytes))
            self.context.set_tensor_address(name, int(self.device[name]))

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        """Outputs by name, which are the caller's. `inputs` holds an array for each input, in its shape; types become the engine's."""
        self._allocated()
        for name, array in inputs.items():
            if name in self._open:
                self._set_shape(name, array.shape)
            host = self._host(name, array.shape)
            if host.shape != array.shape:   # it would be repeated to fit
                raise RuntimeError(f'The input {name} has the shape {host.shape}, not {array.shape}')
            host[...] = array
            cuda.memcpy_htod_async(self.device[name], host, self.stream)
        if not self.context.execute_async_v3(self.stream.handle):
            raise RuntimeError(f'TensorRT execution failed: {self._log.reasons()}')
        found = {}
        for name in self.output_names:
            host = self._host(name, tuple(self.context.get_tensor_shape(name)) if name in self._open else ())
            cuda.memcpy_dtoh_async(host, self.device[name], self.stream)
            found[name] = host
        self.stream.synchronize()
        return {name: array.copy() for name, array in found.items()}

    def _host(self, name: str, shape: tuple[int, ...]) -> Array:
        """The memory on this side, as an array of this shape if shapes are open."""
        whole = self.host[name]
        return whole.ravel()[:int(np.prod(shape))].reshape(shape) if name in self._open else whole

    def _set_shape(self, name: str, shape: tuple[int, ...]) -> None:
        if not self.context.set_input_shape(name, shape):
            index = [self.engine.get_tensor_name(i) for i in range(self.engine.num_io_tensors)].index(name)
            raise RuntimeError(f'Failed to set dynamic binding shape for index {index}: {self._log.errors[-1:] or shape}')
