#!/usr/bin/env python3
"""ONNX Runtime in a process of its own, so that its memory can be told apart: loads a model, then times slices on request.

    python onnxruntime_worker.py MODEL THREADS FOLDER     (started by side_by_side.py; a line of seconds in, one of JSON out)
"""
import json
import os
import sys
import time

import numpy as np


def peak_rss_bytes():
    with open('/proc/self/status') as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith('VmHWM'))


def load(path, threads, shapes=None):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    # Its best form: named dimensions fixed before it optimises, as Tenfold's plans of these rows have them.
    for name, size in (shapes or {}).items():
        options.add_free_dimension_override_by_name(name, size)
    return ort.InferenceSession(path, options, providers=['CPUExecutionProvider'])


def bound(session, arrays):
    io = session.io_binding()
    for name, array in arrays.items():
        io.bind_cpu_input(name, array)
    for output in session.get_outputs():
        io.bind_output(output.name, 'cpu')
    return lambda: session.run_with_iobinding(io), lambda: io.copy_outputs_to_cpu()[0]


def timed(run, seconds):
    until = time.perf_counter() + 0.05
    while time.perf_counter() < until:
        run()
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def main(path, threads, folder):
    bare = peak_rss_bytes()
    arrays = {f.removesuffix('.npy'): np.load(os.path.join(folder, f)) for f in os.listdir(folder) if f.endswith('.npy')}
    shapes = dict(zip(('batch', 'sequence'), arrays['input_ids'].shape)) if 'input_ids' in arrays else {}
    run, first_output = bound(load(path, int(threads), shapes), arrays)
    run()
    with open(os.path.join(folder, 'onnxruntime.answer'), 'wb') as f:
        np.save(f, first_output())
    print('ready', flush=True)
    for line in sys.stdin:
        times = timed(run, float(line))
        print(json.dumps(dict(median_ms=float(np.median(times)), p99_ms=float(np.percentile(times, 99)), runs=len(times),
                              peak_rss_bytes=peak_rss_bytes(), bare_rss_bytes=bare)), flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
