"""Times two CNNs and an MLP, batch 1, host to host: ONNX Runtime, the model without a search for kernels, and engines.

Calls of all columns take turns in a random order, so that what else the machine does, and what caches hold, hits all of them. Each has
one thread; without a GPU all stay on one CPU, so that no column's threads are in the way of another's.
"""
from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

import _path   # noqa: F401
import numpy as np
import onnx.reference
from pattern_engine.trt_engine import TRTEngine, build_engine
from toy_models import WINDOW, make_model

import tenfold
from tenfold.pycuda import driver as cuda

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Call = Callable[[NDArray[np.float32]], Any]

ROWS = {'CNN (small)': 'toy_cnn', 'CNN (large)': 'large_cnn', 'MLP': 'toy_mlp'}


def onnx_runtime(path: str, provider: str) -> Call | None:
    """None: it is not installed, or not for this device."""
    try:
        import onnxruntime   # type: ignore[import-untyped]
    except ImportError:
        return None
    if provider not in onnxruntime.get_available_providers():
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=[provider])
    if session.get_providers()[0] != provider:   # it fell back in silence
        return None
    return lambda window: session.run(None, {'input': window})[0]


def direct(path: str) -> Call:
    engine = tenfold.build(path, optimization_level=0, threads=1, tf32=False)
    return lambda window: engine(window)


def runner(path: str) -> Call:
    """tenfold.LatencyRunner on windows where they lie, as rings of rows have them: the address of an array is found once."""
    made = tenfold.LatencyRunner(path, tolerance=None)
    places: dict[int, tuple[NDArray[np.float32], int]] = {}

    def call(window: NDArray[np.float32]) -> Any:
        _, place = places.get(id(window)) or places.setdefault(id(window), (window, window.ctypes.data))   # kept, so that ids stay
        return made.infer_at(place).output
    return call


def columns(name: str, folder: str) -> dict[str, Call | None]:
    path = os.path.join(folder, name + '.onnx')
    with open(path, 'wb') as f:
        f.write(make_model(name, quiet=True).SerializeToString())
    engines: dict[str, Call] = {}
    for label, fp16 in (('FP32', False), ('FP16', True)):
        engine = os.path.join(folder, f'{name}.{label}.engine')
        build_engine(path, engine, 256 << 20, fp16)
        engines[f'TensorRT {label}'] = TRTEngine(engine).infer
        engines[f'Runner {label}'] = runner(engine)
    cuda_label, cuda_call = 'ONNX CUDA', onnx_runtime(path, 'CUDAExecutionProvider')
    if cuda_call is None:
        cuda_label, cuda_call = 'direct', direct(path)
    return {'ONNX CPU': onnx_runtime(path, 'CPUExecutionProvider'), cuda_label: cuda_call, **engines}


def times(calls: dict[str, Call | None], window: NDArray[np.float32], iterations: int) -> dict[str, NDArray[np.float64]]:
    """Microseconds."""
    taken = {label: np.empty(iterations) for label, call in calls.items() if call}
    labels, random = list(taken), np.random.default_rng(0)
    for i in range(-10, iterations):   # the first ones warm up
        for label in random.permutation(labels):
            call = calls[label]
            assert call
            start = time.perf_counter_ns()
            call(window)
            if i >= 0:
                taken[label][i] = (time.perf_counter_ns() - start) / 1e3
    return taken


def errors(calls: dict[str, Call | None], path: str, window: NDArray[np.float32]) -> dict[str, float]:
    """Of the largest output, to ONNX's own reference."""
    expected = np.asarray(onnx.reference.ReferenceEvaluator(path).run(None, {'input': window}))[0]
    return {label: float(np.abs(call(window) - expected).max() / np.abs(expected).max()) for label, call in calls.items() if call}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--iterations', type=int, default=1000)
    args = parser.parse_args()
    if args.iterations < 1:
        parser.error(f'--iterations is at least 1, not {args.iterations}')
    if cuda.Device(0).compute_capability() == (0, 0):   # no GPU
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    window = (1 + 0.1 * np.random.default_rng(3).standard_normal((1, 1, WINDOW))).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        for row, name in ROWS.items():
            calls = columns(name, folder)
            taken, off = times(calls, window, args.iterations), errors(calls, os.path.join(folder, name + '.onnx'), window)
            if row == next(iter(ROWS)):
                print(f'device of direct, TensorRT and Runner: {cuda.Device(0).name()}. Microseconds, median / p99 of {args.iterations}; '
                      'errors are parts of the largest output. TensorRT is TRTEngine.infer(), Runner is tenfold.LatencyRunner.infer_at().')
                if 'direct' in calls:
                    print('direct: Tenfold without a search for kernels, in place of ONNX CUDA (onnxruntime-gpu is not there).')
                print(f'| Model Type | {" | ".join(calls)} | errors |\n|{"---|" * (len(calls) + 2)}')
            cells = [f'{np.median(taken[c]):.1f} / {np.percentile(taken[c], 99):.1f}' if c in taken else 'not installed' for c in calls]
            print(f'| {row} | {" | ".join(cells)} | {", ".join(f"{c} {error:.0e}" for c, error in off.items())} |', flush=True)


if __name__ == '__main__':
    try:
        main()
    except (OSError, RuntimeError, tenfold.Error) as error:
        sys.exit(f'benchmark_trt_vs_onnx: {error}')
