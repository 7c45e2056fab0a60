"""The inference phase: loads an engine, gives it images, and tells what each layer took."""
from __future__ import annotations

import argparse
import statistics
import sys
from typing import Any

import numpy as np

import tenfold.tensorrt as trt
from tenfold.pycuda import autoinit, driver as cuda   # noqa: F401  the first device's context


class LayerTimes(trt.IProfiler):
    """Milliseconds of each layer, run by run."""

    def __init__(self) -> None:
        trt.IProfiler.__init__(self)
        self.layers: dict[str, list[float]] = {}

    def report_layer_time(self, layer_name: str, ms: float) -> None:
        self.layers.setdefault(layer_name, []).append(ms)

    def table(self) -> str:
        return '\n'.join(f'{statistics.median(times):9.4f} ms  {name}' for name, times in self.layers.items())


class TensorRTInfer:
    """One context with buffers of its own on the device, for one thread."""

    def __init__(self, engine_path: str) -> None:
        self.logger = trt.Logger(trt.Logger.WARNING)
        with open(engine_path, 'rb') as f:
            engine = trt.Runtime(self.logger).deserialize_cuda_engine(f.read())
        if engine is None:
            sys.exit(f'{engine_path} cannot be loaded; the lines above say why')
        context = engine.create_execution_context()
        if context is None:
            sys.exit(f'{engine_path}: no context could be made; the lines above say why')
        self.engine, self.context = engine, context
        self.stream = cuda.Stream()
        names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
        self.inputs = [n for n in names if engine.get_tensor_mode(n) == trt.TensorIOMode.INPUT]
        self.outputs = [n for n in names if n not in self.inputs]
        self.buffers: dict[str, cuda.DeviceAllocation] = {}

    def enable_profiling(self) -> LayerTimes:
        self.context.profiler = times = LayerTimes()
        return times

    def _address(self, name: str, size: int) -> None:
        if name not in self.buffers or self.buffers[name].size < size:
            self.buffers[name] = cuda.mem_alloc(size)
        self.context.set_tensor_address(name, int(self.buffers[name]))

    def infer(self, **arrays: Any) -> dict[str, Any]:
        """Outputs by name, for one array for each input."""
        for name in self.inputs:
            array = np.ascontiguousarray(arrays[name], trt.nptype(self.engine.get_tensor_dtype(name)))
            if not self.context.set_input_shape(name, array.shape):
                raise ValueError(f'{name}: {array.shape} is outside the engine\'s profile')
            self._address(name, array.nbytes)
            cuda.memcpy_htod_async(self.buffers[name], array, self.stream)
        results = {}
        for name in self.outputs:
            shape = tuple(self.context.get_tensor_shape(name))
            results[name] = cuda.pagelocked_empty(shape, trt.nptype(self.engine.get_tensor_dtype(name)))
            self._address(name, results[name].nbytes)
        if not self.context.execute_async_v3(self.stream.handle):
            raise RuntimeError('the run failed; the lines above say why')
        for name, array in results.items():
            cuda.memcpy_dtoh_async(array, self.buffers[name], self.stream)
        self.stream.synchronize()
        return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('engine')
    parser.add_argument('images', help='a .npy file, f32[batch,3,224,224]')
    parser.add_argument('--profile', action='store_true', help='what each layer takes, over ten runs')
    args = parser.parse_args()
    model = TensorRTInfer(args.engine)
    times = model.enable_profiling() if args.profile else None
    images = np.load(args.images)
    for _ in range(10 if times else 1):
        (scores,) = model.infer(images=images).values()
    for row in scores:
        best = row.argsort()[::-1][:5]
        print(', '.join(f'class {c}: {row[c]:.4f}' for c in best))
    if times:
        print(times.table())


if __name__ == '__main__':
    main()
