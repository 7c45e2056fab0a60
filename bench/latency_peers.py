#!/usr/bin/env python3
"""Time the models of low latency beside ONNX Runtime and OpenVINO: one sample, medians in microseconds.

    python bench/latency_models.py MODELS
    python bench/latency_peers.py --tenfold=build/release/cli/tenfold MODELS [--only=tcn,lstm_a] [--threads=1] [--rounds=5]
                                  [--seconds=1] [--flags='--noTF32'] [--json=ROWS.json]

Every round times every engine in turn, so that neighbors on the machine hit all of them alike. A figure is the median
of the rounds' medians. `ratio` is that of the better peer to ours. `error` is the largest difference to ONNX Runtime's
outputs on the same input, beside the largest output. *_step runs with the states that it was given each time. With
--flags=--newestRow=x:1 ours is what follows the newest row's arrival, beside the peers' whole window; `early` is what
came before it.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np


def inputs_of(session):
    random = np.random.default_rng(3)
    return {i.name: (random.standard_normal(i.shape) * (0.3 if i.name[0] in 'hc' else 1)).astype(np.float32)
            for i in session.get_inputs()}


class OnnxRuntime:
    name = 'ONNX Runtime'

    def __init__(self, path, threads):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
        self.inputs = inputs_of(self.session)
        self.binding = self.session.io_binding()
        for name, value in self.inputs.items():
            self.binding.bind_cpu_input(name, value)
        self.names = [o.name for o in self.session.get_outputs()]
        for name in self.names:
            self.binding.bind_output(name)

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def outputs(self):
        return dict(zip(self.names, self.session.run(None, self.inputs)))


class OpenVino:
    name = 'OpenVINO'

    def __init__(self, path, threads, inputs):
        import openvino
        model = openvino.Core().compile_model(path, 'CPU', {'INFERENCE_NUM_THREADS': threads, 'PERFORMANCE_HINT': 'LATENCY',
                                                            'INFERENCE_PRECISION_HINT': 'f32'})
        self.request = model.create_infer_request()
        for name, value in inputs.items():
            self.request.set_tensor(name, openvino.Tensor(value))

    def run(self):
        self.request.infer()


def timed(run, seconds):
    for _ in range(3):
        run()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    times.sort()
    return statistics.median(times) * 1e6, times[len(times) * 99 // 100] * 1e6, len(times)


class Tenfold:
    """Plans are built once; each round loads the plan and runs it."""

    def __init__(self, program, path, threads, flags, inputs, folder):
        self.program, self.threads, self.folder = program, threads, pathlib.Path(folder)
        self.load = []
        for name, value in inputs.items():
            value.tofile(self.folder / f'{name}.bin')
            self.load.append(f'{name}:{self.folder / name}.bin')
        self.plan = self.folder / 'model.plan'
        self.call([f'--onnx={path}', f'--saveEngine={self.plan}', '--buildOnly', *flags])

    def call(self, words):
        done = subprocess.run([self.program, 'exec', f'--threads={self.threads}', '--json', *words], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f'{done.stderr}{done.stdout}\n{self.program} exec {" ".join(words)}: exit code {done.returncode}')
        return json.loads(done.stdout.splitlines()[-1])

    def timed(self, seconds):
        result = self.call([f'--loadEngine={self.plan}', f'--duration={seconds}', f'--loadInputs={",".join(self.load)}'])
        self.early = result.get('precompute_ms', 0) * 1e3
        return result['median_ms'] * 1e3, result['p99_ms'] * 1e3, int(result['throughput_qps'] * seconds)

    def outputs(self):
        out = self.folder / 'out.npz'
        self.call([f'--loadEngine={self.plan}', '--duration=0', '--warmUp=0', '--iterations=1', f'--loadInputs={",".join(self.load)}',
                   f'--exportOutput={out}'])
        return dict(np.load(out))


def error_of(outputs, truth):
    return max(float(np.abs(outputs[n] - truth[n]).max() / max(np.abs(truth[n]).max(), 1e-30)) for n in truth)


def row_of(path, options):
    with tempfile.TemporaryDirectory() as folder:
        ort = OnnxRuntime(str(path), options.threads)
        vino = OpenVino(str(path), options.threads, ort.inputs)
        ours = Tenfold(options.tenfold, path, options.threads, options.flags.split(), ort.inputs, folder)
        rows = {'ONNX Runtime': [], 'OpenVINO': [], 'Tenfold': []}
        for _ in range(options.rounds):
            rows['ONNX Runtime'].append(timed(ort.run, options.seconds))
            rows['OpenVINO'].append(timed(vino.run, options.seconds))
            rows['Tenfold'].append(ours.timed(options.seconds))
        row = {'model': path.stem, 'threads': options.threads, 'flags': options.flags}
        for name, rounds in rows.items():
            row[name] = statistics.median(r[0] for r in rounds)
            row[name + ' p99'] = statistics.median(r[1] for r in rounds)
            row[name + ' runs'] = sum(r[2] for r in rounds)
        row['ratio'] = min(row['ONNX Runtime'], row['OpenVINO']) / row['Tenfold']
        row['early'] = ours.early
        row['error'] = error_of(ours.outputs(), ort.outputs())
        return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('models')
    parser.add_argument('--tenfold', required=True)
    parser.add_argument('--only', default='')
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=1)
    parser.add_argument('--flags', default='')
    parser.add_argument('--json')
    options = parser.parse_args()
    import onnxruntime
    import openvino
    print(f'ONNX Runtime {onnxruntime.__version__}, OpenVINO {openvino.__version__}, {options.threads} threads {options.flags}')
    heads = ''.join(f'{word:>10}' for word in ('ORT', 'p99', 'OpenVINO', 'p99', 'Tenfold', 'p99'))
    print(f'{"model":14}{heads}{"ratio":>7}{"error":>9}{"runs":>8}{"early":>10}')
    rows = []
    expected = [w for w in options.only.split(',') if w]
    paths = sorted(pathlib.Path(options.models).glob('*.onnx'))
    for path in paths:
        if expected and path.stem not in expected:
            continue
        row = row_of(path, options)
        rows.append(row)
        figures = ''.join(f'{row[k]:10.1f}' for name in ('ONNX Runtime', 'OpenVINO', 'Tenfold') for k in (name, name + ' p99'))
        print(f'{row["model"]:14}{figures}{row["ratio"]:7.2f}{row["error"]:9.1e}{row["Tenfold runs"]:8}{row["early"]:10.1f}', flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + '\n')


if __name__ == '__main__':
    main()
