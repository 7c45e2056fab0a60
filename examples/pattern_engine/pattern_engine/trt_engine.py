"""Engines by file: TRTEngine runs one, build_engine() makes one, benchmark_inference() times one.

This module can be imported where TensorRT's names are missing; has_tensorrt() tells. All that fails raises RuntimeError, but files
that cannot be opened raise OSError.
"""
from __future__ import annotations

import importlib.util
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from pattern_engine.build import TRADING, build_engine

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pattern_engine.bound import BoundEngine
    from pattern_engine.inference import TRTInference

    Array = NDArray[Any]
    Inputs = Union[Array, Mapping[str, Array]]

__all__ = ['TRADING', 'TRTEngine', 'TRTInference', 'benchmark_inference', 'build_engine', 'has_tensorrt']


def has_tensorrt() -> bool:
    """Whether TensorRT's names are there: those of tenfold.tensorrt."""
    return importlib.util.find_spec('tenfold') is not None


class TRTEngine:
    """An engine's file, loaded, with memory that is bound once. It belongs to one thread at a time.

    infer() runs through tenfold.LatencyRunner, or, where the engine's shapes are open, through TRTInference. `engine`,
    `context` and `inference`
    have TensorRT's names; the first use of one of them loads the file again, under these names.

    `bindings` holds a dict for each input and output: index, name, is_input, dtype, shape (-1: any within the profile). `binding_map`
    finds them by name; `input_binding_idxs` and `output_binding_idxs` are their indices.
    """

    def __init__(self, engine_path: str) -> None:
        if not has_tensorrt():
            raise RuntimeError('TensorRT bindings not available in this environment')
        import tenfold
        self.engine_path = engine_path
        with open(engine_path, 'rb'):   # what cannot be opened is an OSError
            pass
        try:
            engine = tenfold.load(engine_path)
        except tenfold.Error as error:
            raise RuntimeError(f'Failed to deserialize TRT engine: {engine_path}: {error}') from error
        self.bindings: list[dict[str, Any]] = []
        for index, binding in enumerate(engine.bindings):
            shape = tuple(size if isinstance(size, int) else -1 for size in binding.shape)
            self.bindings.append({'index': index, 'name': binding.name, 'is_input': binding.is_input,
                                  'dtype': np.dtype(binding.numpy_dtype).type, 'shape': shape})
        self.binding_map = {binding['name']: binding for binding in self.bindings}
        self.input_binding_idxs = [b['index'] for b in self.bindings if b['is_input']]
        self.output_binding_idxs = [b['index'] for b in self.bindings if not b['is_input']]
        self._inference: TRTInference | None = None
        self._bound: BoundEngine | None = None
        if any(-1 in binding['shape'] for binding in self.bindings):
            self._trt()
        else:
            from pattern_engine.bound import BoundEngine
            self._bound = BoundEngine(engine)

    def infer(self, inputs: Inputs) -> Any:
        """One array where there is one input, else a dict of arrays by name. One output is an array, several are a list."""
        bound = self._bound
        # An array as the only input wants it goes straight to its memory: Python's own calls are a part of a small model's time.
        if bound is not None and type(inputs) is np.ndarray and inputs.dtype is bound.dtype and inputs.shape == bound.shape:
            bound.window[...] = inputs
            answer = bound.infer()
            return answer.outputs[bound.output].copy() if answer.candidate >= 0 else bound.fail(answer)
        given = {name: self._fitting(self.binding_map[name], array) for name, array in self._named(inputs).items()}
        outputs = self._trt().run(given) if bound is None else bound.run(given)
        ordered = [outputs[self.bindings[index]['name']] for index in self.output_binding_idxs]
        return ordered[0] if len(ordered) == 1 else ordered

    def _trt(self) -> TRTInference:
        if self._inference is None:
            import tenfold.tensorrt as trt
            from pattern_engine.inference import TRTInference
            from pattern_engine.log import Log
            log = Log()
            with open(self.engine_path, 'rb') as f:
                engine = trt.Runtime(log).deserialize_cuda_engine(f.read())
            if engine is None:
                raise RuntimeError(f'Failed to deserialize TRT engine: {self.engine_path}: {log.reasons()}')
            self._inference = TRTInference(engine, log)
            self._inference.allocate_buffers()
        return self._inference

    @property
    def inference(self) -> TRTInference:
        return self._trt()

    @property
    def engine(self) -> Any:
        return self._trt().engine

    @property
    def context(self) -> Any:
        return self._trt().context

    def _named(self, inputs: Inputs) -> Mapping[str, Array]:
        required = [self.bindings[index]['name'] for index in self.input_binding_idxs]
        if not isinstance(inputs, Mapping):
            if len(required) != 1:
                raise RuntimeError(f'TRTEngine.infer requires a mapping for multi-input models; inputs are {", ".join(required)}')
            return {required[0]: inputs}
        for name in inputs:
            if name not in self.binding_map:
                raise RuntimeError(f'Unknown input binding name: {name}; inputs are {", ".join(required)}')
            if name not in required:
                raise RuntimeError(f'Binding {name} is not marked as input; inputs are {", ".join(required)}')
        if missing := [name for name in required if name not in inputs]:
            raise RuntimeError(f'No array was given for the input {", ".join(missing)}')
        return inputs

    @staticmethod
    def _fitting(binding: dict[str, Any], given: Any) -> Array:
        """The array, if it can take the binding's type and shape: numbers may lose digits, but floats do not become integers."""
        array, index, shape = np.asarray(given), binding['index'], binding['shape']
        if array.dtype == binding['dtype'] and array.shape == shape:
            return array
        if not np.can_cast(array.dtype, binding['dtype'], 'same_kind'):
            expected = np.dtype(binding['dtype'])
            raise RuntimeError(f'Cannot coerce input dtype {array.dtype} to expected {expected} for binding index {index}')
        if array.ndim != len(shape) or any(size not in (-1, found) for size, found in zip(shape, array.shape)):
            raise RuntimeError(f'Input shape {array.shape} incompatible with engine binding shape {shape} for binding index {index}')
        return array


def sample_inputs(engine: TRTEngine, seed: int = 0) -> dict[str, Array]:
    """Random floats, or zeros of other types; sizes that are open are 1."""
    random = np.random.default_rng(seed)
    inputs = {}
    for index in engine.input_binding_idxs:
        binding = engine.bindings[index]
        shape = tuple(max(1, size) for size in binding['shape'])
        floats = np.issubdtype(binding['dtype'], np.floating)
        inputs[binding['name']] = (random.standard_normal(shape) if floats else np.zeros(shape)).astype(binding['dtype'])
    return inputs


def benchmark_inference(engine: TRTEngine, num_iterations: int = 1000) -> dict[str, float]:
    """Milliseconds of infer(), host to host, one call directly behind the other: a closed loop, in which nobody waits for a stall.
    What callers wait in an open loop is what `tenfold latency` tells."""
    if num_iterations < 1:
        raise RuntimeError(f'num_iterations is at least 1, not {num_iterations}')
    inputs = sample_inputs(engine)
    for _ in range(min(10, num_iterations)):
        engine.infer(inputs)
    latencies = np.empty(num_iterations)
    for i in range(num_iterations):
        start = time.perf_counter_ns()
        engine.infer(inputs)
        latencies[i] = (time.perf_counter_ns() - start) / 1e6
    return {'mean_latency_ms': float(latencies.mean()), 'p95_latency_ms': float(np.percentile(latencies, 95)),
            'p99_latency_ms': float(np.percentile(latencies, 99))}


def __getattr__(name: str) -> Any:
    if name == 'TRTInference':   # which needs TensorRT's names to be imported
        from pattern_engine.inference import TRTInference
        return TRTInference
    raise AttributeError(f'{__name__} has no {name!r}')
