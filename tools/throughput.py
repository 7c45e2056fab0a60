#!/usr/bin/env python3
"""Inferences a second on the whole machine, beside OpenVINO.

    throughput.py TENFOLD MODELS_FOLDER [--only bert-base,resnet50] [--bf16] [--batch 1,8] [--threads 1,2] [--pin] [--rounds N]
                  [--plans FOLDER]

Ours: `tenfold exec --hint=throughput`, and with fewer streams of more threads each (--infStreams, --threads); contexts share weights.
OpenVINO: its THROUGHPUT hint with as many requests as it asks for, kept busy by an AsyncInferQueue, and the number of streams it chose.
Every round runs each in turn, so that noise hits all alike; a line tells the median of the rounds, the least and the largest, a ratio is of
one round. What a batch holds counts as so many inferences. Plans are made before, or found in the folder. Needs openvino and numpy;
MODELS_FOLDER holds what ../shared/peers/make_models.py writes.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

SHAPES = {'unet3d': (1, 64, 64, 64)}


def inputs(model, batch):
    if model.startswith(('bert', 'minilm')):
        rng = np.random.default_rng(0)
        return {'input_ids': rng.integers(1000, 30000, (batch, 128)), 'attention_mask': np.ones((batch, 128), np.int64)}
    shape = SHAPES.get(model.removesuffix('.int8'), (3, 224, 224))
    return {'input': np.random.default_rng(0).standard_normal((batch, *shape), dtype=np.float32)}


def openvino_worker(path, folder, precision, batch):
    """Compiles once, then times the seconds that stdin asks for and prints inferences a second."""
    import openvino as ov
    core = ov.Core()
    model = core.read_model(path)
    given = {name.removesuffix('.npy'): np.load(os.path.join(folder, name)) for name in os.listdir(folder)}
    model.reshape({name: list(v.shape) for name, v in given.items()})
    config = {'PERFORMANCE_HINT': 'THROUGHPUT', **({'INFERENCE_PRECISION_HINT': precision} if precision else {})}
    compiled = core.compile_model(model, 'CPU', config)
    queue = ov.AsyncInferQueue(compiled)
    for i in range(len(queue)):
        for name, v in given.items():
            queue[i].set_tensor(name, ov.Tensor(v.copy(), shared_memory=False))

    def run(seconds):
        begin, count = time.perf_counter(), 0
        while time.perf_counter() - begin < seconds:
            queue.start_async()
            count += 1
        queue.wait_all()
        return count * int(batch) / (time.perf_counter() - begin)

    run(0.5)
    print(json.dumps({'streams': compiled.get_property('NUM_STREAMS'), 'requests': len(queue)}), flush=True)
    for line in sys.stdin:
        print(run(float(line)), flush=True)


class OpenVino:
    def __init__(self, path, folder, batch, precision):
        command = [sys.executable, os.path.abspath(__file__), '--worker', path, folder, precision, str(batch)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        facts = json.loads(self.process.stdout.readline())
        self.name = f"OpenVINO {precision or 'default'}, {facts['streams']} streams, {facts['requests']} requests"

    def slice(self, seconds):
        self.process.stdin.write(f'{seconds}\n')
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Tenfold:
    def __init__(self, program, path, given, threads, streams, bf16, pinned, plans):
        self.name = f'Tenfold{" --bf16" if bf16 else ""}{" --pinThreads" if pinned else ""}, {streams} streams of {threads}'
        self.batch = len(next(iter(given.values())))
        plan = os.path.join(plans, f'{os.path.basename(path)}-{"bf16" if bf16 else "fp32"}-b{self.batch}-t{threads}.plan')
        shapes = '--shapes=' + ','.join(f'{n}:{"x".join(map(str, v.shape))}' for n, v in given.items())
        if not os.path.exists(plan):
            subprocess.run([program, 'exec', f'--onnx={path}', shapes, f'--threads={threads}', f'--saveEngine={plan}',
                            '--skipInference', *(['--bf16'] if bf16 else [])],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.command = [program, 'exec', f'--loadEngine={plan}', shapes, '--hint=throughput', f'--threads={threads}',
                        f'--infStreams={streams}', '--json', '--warmUp=200', '--iterations=1', *(['--pinThreads'] if pinned else [])]

    def slice(self, seconds):
        output = subprocess.run([*self.command, f'--duration={seconds}'], check=True, capture_output=True, text=True).stdout
        return json.loads(output.strip().splitlines()[-1])['throughput_qps'] * self.batch

    def close(self):
        pass


def measure(a, model, batch):
    path, cores = os.path.join(a.models, model + '.onnx'), len(os.sched_getaffinity(0))
    given = inputs(model, batch)
    splits = [(t, cores // t) for t in dict.fromkeys(a.threads or (1, 2, 4, cores)) if t <= cores and cores % t == 0]
    groups = []   # of engines that compute with the same precision, OpenVINO last
    with tempfile.TemporaryDirectory() as folder:
        for name, v in given.items():
            np.save(os.path.join(folder, name + '.npy'), v)
        for bf16 in [False, True] if a.bf16 and '.int8' not in model else [False]:
            ours = [Tenfold(a.tenfold, path, given, t, s, bf16, pinned, a.plans)
                    for t, s in splits for pinned in ([False, True] if a.pin else [False])]
            groups.append([*ours, OpenVino(path, folder, batch, '' if bf16 else 'f32')])
        engines = sum(groups, [])
        found = {e.name: [] for e in engines}
        for r in range(a.rounds):
            for e in engines[r % len(engines):] + engines[:r % len(engines)]:
                found[e.name].append(e.slice(a.seconds))
        for e in engines:
            e.close()
    for group in groups if a.rounds else []:
        for e in group:
            values, theirs = found[e.name], found[group[-1].name]
            ratios = [v / t for v, t in zip(values, theirs)]
            print(f'| {model} | {batch} | {e.name} | {statistics.median(values):.1f} ({min(values):.1f}-{max(values):.1f}) | '
                  f'{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f}) |', flush=True)


def main():
    if sys.argv[1:2] == ['--worker']:
        return openvino_worker(*sys.argv[2:6])
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('tenfold')
    p.add_argument('models')
    p.add_argument('--only', type=lambda t: t.split(','), default=['bert-base', 'resnet50'])
    p.add_argument('--bf16', action='store_true', help='--bf16 beside OpenVINO in its default precision')
    p.add_argument('--batch', type=lambda t: [int(v) for v in t.split(',')], default=[1])
    p.add_argument('--threads', type=lambda t: [int(v) for v in t.split(',')], help='of a stream: 1, 2, 4 and all')
    p.add_argument('--pin', action='store_true', help='ours with --pinThreads, too')
    p.add_argument('--seconds', type=float, default=2)
    p.add_argument('--rounds', type=int, default=5, help='0 makes plans alone')
    p.add_argument('--plans', default='build/bench/throughput')
    a = p.parse_args()
    os.makedirs(a.plans, exist_ok=True)
    print('| model | batch | engine | inferences a second | to OpenVINO |\n|---|---|---|---|---|')
    for model in a.only:
        for batch in a.batch:
            measure(a, model, batch)


if __name__ == '__main__':
    main()
