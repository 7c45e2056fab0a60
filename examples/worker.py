#!/usr/bin/env python3
"""An engine in a process of its own, so that its memory can be told apart: loads a model, then times slices on request.

    python worker.py tenfold|onnxruntime MODEL THREADS FOLDER     (started by side_by_side.py; a line of seconds in, one of JSON out)

MODEL is a plan for Tenfold and an ONNX file for ONNX Runtime; FOLDER has the inputs as .npy files and gets the first answer.
"""
from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Runner = tuple[Callable[[], object], Callable[[], Any]]   # what runs once, and what gives the first output


def peak_rss_bytes() -> int:
    with open('/proc/self/status') as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith('VmHWM'))


def session(path: str, threads: int, shapes: dict[str, int] | None = None) -> Any:
    import onnxruntime as ort  # type: ignore[import-untyped, unused-ignore]
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    # Its best form: named dimensions fixed before it optimizes, as Tenfold's plans of these rows have them.
    for name, size in (shapes or {}).items():
        options.add_free_dimension_override_by_name(name, size)
    return ort.InferenceSession(path, options, providers=['CPUExecutionProvider'])


def with_onnxruntime(path: str, threads: int, arrays: dict[str, Any]) -> Runner:
    shapes = dict(zip(('batch', 'sequence'), arrays['input_ids'].shape)) if 'input_ids' in arrays else {}
    run = session(path, threads, shapes)
    io = run.io_binding()
    for name, array in arrays.items():
        io.bind_cpu_input(name, array)
    for output in run.get_outputs():
        io.bind_output(output.name, 'cpu')
    return lambda: run.run_with_iobinding(io), lambda: io.copy_outputs_to_cpu()[0]


def with_tenfold(path: str, threads: int, arrays: dict[str, Any]) -> Runner:
    import tenfold
    logging.getLogger('tenfold').setLevel(logging.ERROR)   # what is slow in a plan was told when it was built
    engine = tenfold.load(path, device='cpu', threads=threads)
    context = engine.create_context()
    for name, array in arrays.items():
        context.bind(name, array)
    first = next(b.name for b in engine.bindings if not b.is_input)
    return context.run, lambda: context.outputs()[first]


def timed(run: Callable[[], object], seconds: float) -> list[float]:
    until = time.perf_counter() + 0.05
    while time.perf_counter() < until:
        run()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def main(engine: str, path: str, threads: str, folder: str) -> None:
    bare = peak_rss_bytes()
    arrays = {f.removesuffix('.npy'): np.load(os.path.join(folder, f)) for f in os.listdir(folder) if f.endswith('.npy')}
    make = {'tenfold': with_tenfold, 'onnxruntime': with_onnxruntime}[engine]
    run, first_output = make(path, int(threads), arrays)
    run()
    with open(os.path.join(folder, engine + '.answer'), 'wb') as f:
        np.save(f, first_output())
    print('ready', flush=True)
    for line in sys.stdin:
        times = timed(run, float(line))
        print(json.dumps(dict(median_ms=float(np.median(times)), p99_ms=float(np.percentile(times, 99)), runs=len(times),
                              peak_rss_bytes=peak_rss_bytes(), bare_rss_bytes=bare)), flush=True)


if __name__ == '__main__':
    if len(sys.argv) != 5 or sys.argv[1] not in ('tenfold', 'onnxruntime'):
        sys.exit(__doc__)
    main(*sys.argv[1:])
