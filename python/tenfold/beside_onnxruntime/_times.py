"""A model in both engines: outputs, and times of slices in turns."""
from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime

import tenfold
from tenfold.beside_onnxruntime._options import Options

SLICES = 9   # of each side; the median counts
CPU = 'CPUExecutionProvider'


@dataclass
class Times:
    ours_us: float
    theirs_us: float
    difference: float   # the largest, over the largest value of ONNX Runtime's output
    kernels: str        # of ours, in order; '' where there are many


def session_of(model: onnx.ModelProto, options: Options) -> onnxruntime.InferenceSession:
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    settings.log_severity_level = 3
    settings.add_session_config_entry('session.force_spinning_stop', '1')   # its threads do not spin while ours are timed
    return onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=[CPU])


def their_call(session: onnxruntime.InferenceSession, feed: dict[str, Any]) -> tuple[Callable[[], Any], list[Any]]:
    """A run with inputs and outputs in place, and what it gives."""
    names = [o.name for o in session.get_outputs()]
    results = session.run(names, feed)
    if not all(isinstance(r, np.ndarray) and r.dtype.kind in 'biuf' for r in results):
        return lambda: session.run(names, feed), results
    binding = session.io_binding()
    for name, value in feed.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
    for name, result in zip(names, results, strict=True):
        binding.bind_ortvalue_output(name, onnxruntime.OrtValue.ortvalue_from_numpy(result.copy()))
    return lambda: session.run_with_iobinding(binding), results


def our_call(engine: tenfold.Engine, feed: dict[str, Any], results: list[Any]) -> tuple[Callable[[], Any], list[Any]]:
    given = engine(feed)
    outputs = [b for b in engine.bindings if not b.is_input]
    ours = [given[b.name] for b in outputs] if len(outputs) > 1 else [given]
    if not all(isinstance(value, np.ndarray) and value.dtype.kind in 'biuf' for value in ours):
        return lambda: engine(feed), ours
    context = engine.create_context()
    for name, value in feed.items():
        context.bind(name, np.require(value, requirements='C'))
    try:
        for binding, value in zip(outputs, ours, strict=True):
            context.bind(binding.name, np.empty_like(value))
        context.run()
    except tenfold.Error:   # a shape that data decide: its memory is the context's own
        context = engine.create_context()
        for name, value in feed.items():
            context.bind(name, np.require(value, requirements='C'))
    return context.run, ours


def repeat(call: Callable[[], Any], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def in_turns(calls: list[Callable[[], Any]], seconds: float) -> list[float]:
    """Median microseconds of a call of each."""
    share = seconds / SLICES / len(calls)
    counts = []
    for call in calls:
        repeat(call, 2)
        counts.append(max(1, min(100_000, int(share / max(repeat(call, 3), 1e-7)))))
    slices: list[list[float]] = [[] for _ in calls]
    for _ in range(SLICES):
        for call, count, found in zip(calls, counts, slices, strict=True):
            found.append(repeat(call, count))
    return [statistics.median(found) * 1e6 for found in slices]


def difference(ours: list[Any], theirs: list[Any]) -> float:
    worst = 0.0
    for a, b in zip(ours, theirs, strict=True):
        if not isinstance(b, np.ndarray) or b.dtype == object:
            worst = max(worst, 0.0 if np.array_equal(a, b) else np.inf)
            continue
        if a.shape != b.shape:
            return np.inf
        a, b = a.astype(np.float64), b.astype(np.float64)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        if not same.all():
            largest = np.abs(b[np.isfinite(b)]).max(initial=0.0) or 1.0
            worst = max(worst, float(np.nan_to_num(np.abs(a - b)[~same].max() / largest, nan=np.inf)))
    return worst


def kernels_of(engine: tenfold.Engine) -> str:
    steps = engine.inspection().programs[0].steps
    return ', '.join(dict.fromkeys(s.tactic or s.kind for s in steps)) if len(steps) <= 8 else ''


def beside(model: onnx.ModelProto, feed: dict[str, Any], options: Options) -> Times:
    session = session_of(model, options)
    call, theirs = their_call(session, feed)
    engine = tenfold.build(model, device='cpu', threads=options.threads, log=lambda *_: None,
                           profiles={name: value.shape for name, value in feed.items()}, **options.build)
    our, ours = our_call(engine, feed, theirs)
    times = in_turns([our, call], options.seconds)
    return Times(*times, difference(ours, theirs), kernels_of(engine))
