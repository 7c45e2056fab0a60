#!/usr/bin/env python3
"""MobileNet-v2 in 8 bits from photographs, beside ONNX Runtime: calibrated_photographs.py TENFOLD [--rounds 7] [--threads 1]

Makes the rows of docs/lab/precision.md: errors of each calibrator, and of all that is on by default, from the 100 even photographs of
../shared (or TENFOLD_SHARED) onto the odd ones, judged by ONNX Runtime in f32; then times at batch 1, the four in turns, medians. Needs
NumPy, onnx, onnxruntime and Pillow (script/bootstrap python). Each even photograph stands twice in the data, so that all give ranges.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime as ort

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests'))
import accuracy_test  # noqa: E402
from float_form import float_form  # noqa: E402

SHAPE = '3x244x244'


def run(tenfold, *flags):
    done = subprocess.run([tenfold, 'exec', *flags], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def build(tenfold, plan, *flags, largest=1):
    shapes = [f'--{which}Shapes=image:{n}x{SHAPE}' for which, n in (('min', 1), ('opt', 1), ('max', largest))]
    return run(tenfold, '--onnx=floats.onnx', *flags, *shapes, f'--saveEngine={plan}', '--buildOnly')


def errors(tenfold, judged, labels, expected):
    rows = [(name, 'none') for name in ('minmax', 'entropy', 'mse', 'percentile')] + [('auto', 'equalize,smooth,round,bias')]
    for name, corrections in rows:
        build(tenfold, 'm.plan', '--int8', '--data=data.npy', '--samples=200', f'--calibrator={name}', f'--corrections={corrections}',
              '--builderOptimizationLevel=1', largest=20)
        got = []
        for i in range(0, len(judged), 20):
            np.save('in.npy', judged[i:i + 20])
            run(tenfold, '--loadEngine=m.plan', '--loadInputs=image:in.npy', '--exportOutput=out.npz', '--iterations=1', '--duration=0',
                '--warmUp=0')
            got.append(np.load('out.npz')['scores'])
        got = np.concatenate(got)
        error = np.linalg.norm(got - expected) / np.linalg.norm(expected)
        same, right = (got.argmax(1) == expected.argmax(1)).mean(), (got.argmax(1) == labels).sum()
        print(f'| {name}, {corrections} | {error:.4f} | {same:.0%} | {right} |', flush=True)


class Reader:
    def __init__(self, pictures):
        self.left = iter(pictures)

    def get_next(self):
        picture = next(self.left, None)
        return None if picture is None else {'image': picture[None]}


def times(tenfold, a, even):
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    quantize_static('floats.onnx', 'theirs.onnx', Reader(even), activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                    quant_format=QuantFormat.QDQ)
    build(tenfold, 'f32.plan', f'--threads={a.threads}')
    build(tenfold, 'int8.plan', '--int8', '--data=data.npy', '--samples=200', f'--threads={a.threads}')
    options = ort.SessionOptions()
    options.intra_op_num_threads = a.threads

    def ours(plan):
        output = run(tenfold, f'--loadEngine={plan}', f'--threads={a.threads}', '--duration=1')
        return float(re.search(r'Latency: .*?median = ([\d.]+)', output)[1])

    def theirs(session):
        took = []
        for _ in range(60):
            start = time.perf_counter()
            session.run(None, {'image': even[:1]})
            took.append((time.perf_counter() - start) * 1e3)
        return statistics.median(took)
    sessions = [ort.InferenceSession(name, options, providers=['CPUExecutionProvider']) for name in ('floats.onnx', 'theirs.onnx')]
    rows = {'Tenfold f32': lambda: ours('f32.plan'), 'Tenfold int8': lambda: ours('int8.plan'),
            'ONNX Runtime f32': lambda: theirs(sessions[0]), 'ONNX Runtime int8': lambda: theirs(sessions[1])}
    taken = {name: [] for name in rows}
    for _ in range(a.rounds):
        for name, measure in rows.items():
            taken[name].append(measure())
    for name, ms in taken.items():
        print(f'| {name} | {statistics.median(ms):.2f} ms ({min(ms):.2f}-{max(ms):.2f}) |')


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('tenfold')
    p.add_argument('--rounds', type=int, default=7)
    p.add_argument('--threads', type=int, default=1)
    a = p.parse_args()
    tenfold = os.path.abspath(a.tenfold)
    pictures, labels = accuracy_test.Accuracy().photographs()
    even, judged = pictures[0::2], pictures[1::2]
    model = float_form(onnx.load(accuracy_test.shared('models', 'mobilenet_v2_int8_qdq.onnx')))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        onnx.save(model, 'floats.onnx')
        np.save('data.npy', np.repeat(even, 2, axis=0))
        session = ort.InferenceSession('floats.onnx', providers=['CPUExecutionProvider'])
        expected = np.concatenate([session.run(None, {'image': x[None]})[0] for x in judged])
        print(f'ONNX Runtime {ort.__version__}; right in f32: {(expected.argmax(1) == labels[1::2]).sum()} of {len(judged)}')
        errors(tenfold, judged, labels[1::2], expected)
        times(tenfold, a, even)
        os.chdir('/')


if __name__ == '__main__':
    main()
