"""Times an engine: median, p99 and throughput, host to host. Each run is an NVTX range where the package `nvtx` is installed.

Without an engine it makes AlexNet with random weights, builds an engine for batches up to --batch, and times that.
"""
from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
import time

import numpy as np
from build_engine import EngineBuilder
from infer import TensorRTInfer

try:
    from nvtx import annotate   # type: ignore[import-not-found]
except ImportError:
    def annotate(message: str) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()


def made(folder: str, max_batch: int, width: float) -> str:
    """An engine in the folder, of a model that is made there."""
    import make_onnx
    import onnx
    model, engine = os.path.join(folder, 'alexnet.onnx'), os.path.join(folder, 'alexnet.engine')
    print(f'AlexNet with random weights, {width:g} of its channels; the engine is for this machine')
    onnx.save(make_onnx.alexnet(width), model)
    builder = EngineBuilder()
    builder.create_network(model)
    builder.create_engine(engine, max_batch, fp16=False, level=3, timing_cache=None)
    return engine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('engine', nargs='?', help='without it one is made, and removed afterwards')
    parser.add_argument('--batch', type=int, default=1)
    parser.add_argument('--seconds', type=float, default=3)
    parser.add_argument('--width', type=float, default=1.0, help='of the model that is made: channels in parts of the published ones')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = TensorRTInfer(args.engine or made(folder, args.batch, args.width))
    images = np.random.default_rng(0).standard_normal((args.batch, 3, 224, 224)).astype(np.float32)
    with annotate('warm up'):
        for _ in range(3):
            model.infer(images=images)
    times: list[float] = []
    end = time.perf_counter() + args.seconds
    while time.perf_counter() < end or len(times) < 5:
        with annotate(f'run {len(times)}'):
            start = time.perf_counter()
            model.infer(images=images)
            times.append(time.perf_counter() - start)
    times.sort()
    median, p99 = times[len(times) // 2] * 1e3, times[int(len(times) * 0.99)] * 1e3
    rate = args.batch * len(times) / sum(times)
    print(f'{len(times)} runs of {args.batch}: median {median:.3f} ms, p99 {p99:.3f} ms, {rate:.1f} images/s')


if __name__ == '__main__':
    main()
