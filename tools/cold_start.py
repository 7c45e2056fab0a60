#!/usr/bin/env python3
"""From the start of a process to its first answer, from an ONNX file, beside ONNX Runtime in Python.

    cold_start.py TENFOLD MODELS JUDGE OUT.md

JUDGE is ../shared/peers/cpu_peers.py, which names the rows; MODELS holds what ../shared/peers/make_models.py --int8 writes. Ours is
`tenfold exec --onnx=... --builderOptimizationLevel=0`, which times nothing. Each round takes both in turn; a cell is the median of the
rounds and the least. The section of that name in OUT.md is replaced.
"""
import datetime
import importlib.util
import os
import statistics
import subprocess
import sys
import time

import performance_table

ROUNDS = 5
PEER = '''
import sys, numpy as np, onnxruntime as ort
options = ort.SessionOptions()
options.intra_op_num_threads = int(sys.argv[2])
session = ort.InferenceSession(sys.argv[1], options, providers=['CPUExecutionProvider'])
types = {'tensor(float)': np.float32, 'tensor(int64)': np.int64}
shapes = dict(part.split(':') for part in sys.argv[3].split(','))
session.run(None, {i.name: np.ones([int(d) for d in shapes[i.name].split('x')], types[i.type]) for i in session.get_inputs()})
'''


def load(path):
    spec = importlib.util.spec_from_file_location('judge', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seconds(command):
    before = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'{command}: {done.stderr[-500:]}')
    return time.perf_counter() - before


def shapes_of(judge, model, batch, sequence):
    if sequence:
        return f'input_ids:{batch}x{sequence},attention_mask:{batch}x{sequence}'
    return 'input:' + 'x'.join(map(str, (batch, *judge.SHAPES.get(model.split('.')[0], (3, 224, 224)))))


def rows(tenfold, models, judge):
    for case, (model, batch, sequence, _) in judge.CASES.items():
        path, shapes = os.path.join(models, model + '.onnx'), shapes_of(judge, model, batch, sequence)
        for threads in ('1', '2') if os.path.exists(path) else ():
            ours, theirs = [], []
            for _ in range(ROUNDS):
                ours.append(seconds([tenfold, 'exec', f'--onnx={path}', f'--shapes={shapes}', f'--threads={threads}', '--iterations=1',
                                     '--duration=0', '--warmUp=0', '--builderOptimizationLevel=0', '--noBuilderCache']))
                theirs.append(seconds([sys.executable, '-c', PEER, path, threads, shapes]))
            yield case, threads, ours, theirs


def lines(found):
    yield (f'{datetime.date.today()}, seconds, median of {ROUNDS} rounds in turn, in brackets the least (`script/bench --start MODELS`):')
    yield '`tenfold exec --onnx=... --iterations=1 --builderOptimizationLevel=0`, which times nothing, and ONNX Runtime in Python, with'
    yield 'its imports.'
    yield ''
    yield '| model | threads | Tenfold | ONNX Runtime |'
    yield '|---|---|---|---|'
    for case, threads, *times in found:
        print(case, threads, *(f'{statistics.median(t):.2f}' for t in times), flush=True)
        yield ' | '.join(['| ' + case, threads, *(f'{statistics.median(t):.2f} ({min(t):.2f})' for t in times)]) + ' |'


if __name__ == '__main__':
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    tenfold, models, judge, out = sys.argv[1:]
    body = '\n'.join(lines(rows(tenfold, models, load(judge))))
    with open(out) as f:
        text = performance_table.replace_section(f.read(), 'From an ONNX file to the first answer', body)
    with open(out, 'w') as f:
        f.write(text)
