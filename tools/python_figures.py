"""The Python package's own costs beside onnxruntime's, and on a GPU beside torch's: a table in Markdown.

    python3 tools/python_figures.py [--rounds 9] [--json FILE] [--wheel WHEEL]

It wants an environment with the wheel, onnx, onnxruntime and, for the GPU, torch. With --wheel that file's sizes stand first.

Contenders take turns; each figure is the median of the rounds, and each round times many calls (of whole processes: the least of the
rounds). Microseconds unless it says otherwise.
"""
import argparse
import concurrent.futures
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def mlp():
    """x f32[batch, 256] -> 256 -> 10, as the GPU's row mlp256."""
    random = np.random.default_rng(0)
    weights = [random.standard_normal(shape).astype(np.float32) / 16 for shape in ((256, 256), (256,), (256, 10), (10,))]
    nodes = [helper.make_node('Gemm', ['x', 'w0', 'w1'], ['h']), helper.make_node('Relu', ['h'], ['r']),
             helper.make_node('Gemm', ['r', 'w2', 'w3'], ['y'])]
    return model(nodes, ['batch', 256], ['batch', 10], [numpy_helper.from_array(w, f'w{i}') for i, w in enumerate(weights)]), weights


def model(nodes, x, y, initializers=()):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, 'g', [info('x', TensorProto.FLOAT, x)], [info('y', TensorProto.FLOAT, y)], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10)


def turns(contenders, calls, rounds, after=lambda: None):
    """Medians over rounds of the microseconds of one call; `after` (not timed) follows every 20 calls."""
    taken = {name: [] for name in contenders}
    for turn in range(rounds + 1):
        for name, call in contenders.items():
            total = 0
            for _ in range(calls // 20):
                start = time.perf_counter_ns()
                for _ in range(20):
                    call()
                total += time.perf_counter_ns() - start
                after()
            if turn:      # the first round warms up
                taken[name].append(total / (calls // 20 * 20) / 1e3)
    return {name: statistics.median(values) for name, values in taken.items()}


def starts(code, rounds, *arguments):
    """Milliseconds of whole processes, in turns: {name: the least}, for what else a machine does only adds to it."""
    taken = {name: [] for name in code}
    for turn in range(rounds + 1):
        for name, text in code.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, '-c', text, *arguments], check=True, env=dict(os.environ, OMP_NUM_THREADS='1'))
            if turn:      # the first round reads the files from the disk
                taken[name].append((time.perf_counter() - start) * 1e3)
    return {name: min(values) for name, values in taken.items()}


def on_the_cpu(rounds):
    import onnxruntime
    import tenfold
    yield 'wheel imported, ms above bare Python', 'at most 60', starts({'bare': 'pass', 'tenfold': 'import tenfold'}, rounds), 'bare'
    one = model([helper.make_node('Relu', ['x'], ['y'])], [1, 8], [1, 8])
    x = np.ones((1, 8), np.float32)
    theirs = onnxruntime.InferenceSession(one.SerializeToString(), providers=['CPUExecutionProvider'])
    ours = tenfold.Session(one, providers=['CPUExecutionProvider'], tune='never')
    yield 'one node: Session.run', '0.6 of theirs', turns({'tenfold': lambda: ours.run(None, {'x': x}),
                                                           'onnxruntime': lambda: theirs.run(None, {'x': x})}, 4000, rounds), ''
    context = tenfold.build(one, device='cpu', optimization_level=0).create_context()
    y, binding = np.empty_like(x), theirs.io_binding()
    context.bind('x', x), context.bind('y', y)
    binding.bind_cpu_input('x', x), binding.bind_output('y')
    yield 'one node: bound arrays', '0.6 of theirs', turns({'tenfold': context.run,
                                                            'onnxruntime': lambda: theirs.run_with_iobinding(binding)}, 4000, rounds), ''
    threads = concurrent.futures.ThreadPoolExecutor(4)
    engine = tenfold.build(one, device='cpu', optimization_level=0, threads=1)

    def called_back():
        done = threading.Event()
        theirs.run_async(None, {'x': x}, lambda results, user, error: done.set(), None)
        done.wait()
    yield 'one node: a future and its result', '', turns({'tenfold': lambda: engine.run_async(x).result(),
                                                          'a pool of threads': lambda: threads.submit(engine, x).result(),
                                                          'onnxruntime': called_back}, 400, rounds), ''
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'mlp.onnx')
        onnx.save(mlp()[0], path)
        run = ('; s = o.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"]%s)'
               '; s.run(None, {"x": np.ones((1, 256), np.float32)})')
        yield 'first answer from mlp.onnx, ms above Python with NumPy', '0.5 of theirs', starts(
            {'bare': 'import numpy', 'tenfold': 'import sys, numpy as np, tenfold.onnxruntime as o' + run % ', tune="never"',
             'onnxruntime': 'import sys, numpy as np, onnxruntime as o' + run % ''}, rounds, path), 'bare'


def on_the_gpu(rounds):
    import tenfold
    import torch
    proto, weights = mlp()
    shapes = {'x': ([1, 256], [1, 256], [1, 256])}
    engine = tenfold.build(proto, profiles=shapes, device='cuda:0', fp16=True)
    x, y = torch.ones(1, 256, device='cuda'), torch.empty(1, 10, device='cuda')
    w = [torch.from_numpy(v).cuda().half() for v in weights]
    half = x.half()

    def network(x):
        return torch.addmm(w[3], torch.relu(torch.addmm(w[1], x, w[0])), w[2])
    compiled = torch.compile(network, mode='reduce-overhead')
    context, stream = engine.create_context(), torch.cuda.current_stream().cuda_stream
    context.bind('x', x), context.bind('y', y), context.prepare()
    engine(x, out=y), torch.cuda.synchronize()
    assert torch.allclose(y, network(half).float(), atol=2e-2), 'another result than torch'
    with torch.no_grad():
        yield 'MLP, torch tensors: enqueued', '6', turns({
            'tenfold': lambda: engine(x, out=y), 'tenfold, bound': lambda: context.enqueue(stream), 'torch eager': lambda: network(half),
            'torch.compile': lambda: compiled(half)}, 2000, rounds, torch.cuda.synchronize), ''
    host, result, own = np.ones((1, 256), np.float32), np.empty((1, 10), np.float32), engine.create_context()
    own.bind('x', host), own.bind('y', result)

    def eager():
        return compiled(torch.from_numpy(host).half().cuda()).cpu()
    with torch.no_grad():
        yield 'MLP, host to host', '14', turns({'tenfold': lambda: engine(host, out=result), 'tenfold, bound': own.run,
                                                'torch.compile': eager}, 2000, rounds), ''


def sizes(path):
    """Of a wheel, as it is loaded and installed."""
    with zipfile.ZipFile(path) as wheel:
        installed = sum(item.file_size for item in wheel.infolist())
    for what, maximum, size in (('wheel, MB', 12, os.path.getsize(path)), ('wheel installed, MB', 35, installed)):
        yield what, f'at most {maximum}', {'tenfold': size / 1e6}, ''


def machine():
    import tenfold
    with open('/proc/cpuinfo') as f:
        output = {key.strip(): value.strip() for key, _, value in (line.partition(':') for line in f.read().split('\n\n')[0].splitlines())}
    cpu = f"{output.get('model name', 'unknown')} (family {output.get('cpu family')} model {output.get('model')})"
    return ', '.join([*(d.name for d in tenfold.devices() if d.device != 'cpu'), f'{cpu}, {len(os.sched_getaffinity(0))} processors'])


def commit():
    """Of the bundle that this file is part of, or of its checkout."""
    here = os.path.dirname(os.path.abspath(__file__))
    if os.path.exists(os.path.join(here, 'commit')):
        with open(os.path.join(here, 'commit')) as f:
            return f.read().strip()
    return subprocess.run(['git', '-C', here, 'rev-parse', '--short', 'HEAD'], capture_output=True, text=True).stdout.strip() or 'unknown'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('--json', help='a file that gets the same')
    parser.add_argument('--wheel')
    a = parser.parse_args()
    rounds, records = a.rounds, []
    import tenfold
    gpu = any(d.device != 'cpu' for d in tenfold.devices())
    versions = [f'{name} {importlib.metadata.version(name)}' for name in ('tenfold', 'numpy', 'onnxruntime', *(['torch'] if gpu else []))]
    print(f'{time.strftime("%Y-%m-%d")}, Python {sys.version.split()[0]}, {", ".join(versions)}; {tenfold.devices()}; '
          f'medians of {rounds} rounds\n\n| what | wanted | measured |\n|---|---|---|')
    parts = [sizes(a.wheel)] if a.wheel else []
    for part in (*parts, on_the_cpu(rounds), *([on_the_gpu(rounds)] if gpu else [])):
        for what, wanted, medians, bare in part:
            below = medians.pop(bare) if bare else 0
            above = {name: value - below for name, value in medians.items()}
            records.append(dict(what=what, wanted=wanted, measured={name: round(value, 3) for name, value in above.items()}))
            print(f'| {what} | {wanted} |', ', '.join(f'{name} {value:.2f}' for name, value in above.items()), '|', flush=True)
    if a.json:
        with open(a.json, 'w') as f:
            json.dump(dict(date=time.strftime('%Y-%m-%d'), commit=commit(), machine=machine(), python=sys.version.split()[0],
                           versions=versions, rounds=rounds, rows=records), f, indent=1)


if __name__ == '__main__':
    main()
