#!/usr/bin/env python3
"""torch.compile(backend="tenfold") on a GPU in fp16, beside inductor's reduce-overhead and eager mode: tables of docs/guides/torch.md.

    torch_compile_gpu.py [--rows resnet50:1,decoder:32:dynamic,...] [--seconds 3] [--jobs 4] [--device cpu]

Each row is a process; it compiles beside others and measures alone. Of each way, the least milliseconds of single calls in turns: between
two events around the call, on a GPU that was kept busy until all was asked of it, and by the clock with a wait behind it. `engine` is the
engine's own run on torch's stream, as `tenfold exec` times it; `empty` a backend that computes nothing. A row NAME:BATCH:dynamic has a
batch that may vary from 2 to 64; NAME:BATCH:int8 has products of 8 bits, of images by ranges of four batches, of text by rows that are
quantized as they run. Random weights. `decoder` is one step of 12 layers of 768 that reads a cache of 256 places. It wants torch,
torchvision, transformers and the wheel. --device cpu is a trial of this script.
"""
import argparse
import fcntl
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import torch
from torch_compile import TIMES_WORSE, compiled, converted, judged, made, tensors, truth_of

ROWS = ('mlp:1', 'mlp:8', 'minilm:1', 'minilm:8', 'resnet50:1', 'resnet50:32', 'resnet50:32:dynamic', 'unet:1', 'unet:32',
        'bert:1', 'bert:32', 'bert:32:dynamic', 'bert:32:int8', 'decoder:1', 'decoder:32', 'vit_b_16:1', 'vit_b_16:32',
        'resnet50:32:int8')      # last, for its calibration on the host takes minutes
SLEEP = 4_000_000   # cycles, 2 ms: longer than any way takes to ask for its work, but eager mode
ROWS_OF_BYTES = {'int8': True, 'calibration': {'method': 'dynamic'}}


class Decoder(torch.nn.Module):
    """One step of a decoder: ids [batch, 1] and a cache [layers, 2, batch, heads, places, size] give logits and the cache's new row."""

    def __init__(self, layers=12, width=768, heads=12, words=32000):
        super().__init__()
        self.heads = heads
        self.words = torch.nn.Embedding(words, width)
        self.layers = torch.nn.ModuleList(torch.nn.ModuleDict({
            'before': torch.nn.LayerNorm(width), 'qkv': torch.nn.Linear(width, 3 * width), 'out': torch.nn.Linear(width, width),
            'behind': torch.nn.LayerNorm(width), 'up': torch.nn.Linear(width, 4 * width), 'down': torch.nn.Linear(4 * width, width),
        }) for _ in range(layers))
        self.last = torch.nn.LayerNorm(width)
        self.head = torch.nn.Linear(width, words, bias=False)

    def forward(self, ids, cache):
        x, fresh = self.words(ids), []
        for layer, (keys, values) in zip(self.layers, cache, strict=True):
            split = layer['qkv'](layer['before'](x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
            query, key, value = split.unbind(0)
            fresh.append(torch.stack([key, value]))
            seen = torch.nn.functional.scaled_dot_product_attention(query, torch.cat([keys, key], 2), torch.cat([values, value], 2))
            x = x + layer['out'](seen.transpose(1, 2).flatten(2))
            x = x + layer['down'](torch.nn.functional.gelu(layer['up'](layer['behind'](x))))
        return self.head(self.last(x)), torch.stack(fresh)


def module_of(name, batch):
    if name != 'decoder':
        return made(name, batch)
    torch.manual_seed(0)
    return Decoder().eval(), {'ids': torch.randint(0, 30000, (batch, 1)), 'cache': torch.randn(12, 2, batch, 12, 256, 64)}


def timed_once(device, run):
    """Milliseconds of a call: between two events, while the GPU is kept busy until all is asked of it, and by the clock with a wait behind
    it."""
    if device == 'cpu':
        begin = time.perf_counter()
        run()
        return ((time.perf_counter() - begin) * 1e3,) * 2
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin = time.perf_counter()
    run()
    torch.cuda.synchronize()
    wall = (time.perf_counter() - begin) * 1e3
    torch.cuda._sleep(SLEEP)
    first.record()
    run()
    last.record()
    torch.cuda.synchronize()
    return first.elapsed_time(last), wall


def engine_run(module, keywords, options):
    """The compiled module, and a run of its engine at this call's tensors, which are bound; None: it is not one engine."""
    from tenfold.torch._subgraph import Subgraph
    seen, call = [], Subgraph.__call__

    def kept(self, args):
        seen.append((self, list(args)))
        return call(self, args)
    run = torch.compile(module, backend='tenfold', options=options)
    with mock.patch.object(Subgraph, '__call__', kept):
        for _ in range(3):
            seen.clear()
            run(**keywords)
    if len(seen) != 1:
        return run, None
    subgraph, args = seen[0]
    engine = subgraph._last[1]
    bound = [args[i] for i in subgraph._inputs]
    context = engine.create_context()
    for i, value in enumerate(bound):
        context.bind(i, value)
    found = engine(*bound)
    for o, value in enumerate([found] if len(subgraph.results.names) == 1 else [found[n] for n in subgraph.results.names]):
        context.bind(len(bound) + o, value)
    context.prepare()
    return run, (lambda: context.enqueue(torch.cuda.current_stream())) if bound[0].is_cuda else context.run


def ways_of(module, keywords):
    torch._dynamo.reset()
    ways = {'inductor': torch.compile(module, mode='reduce-overhead'), 'eager': module, 'empty': compiled(module, 'empty')}
    for which, run in ways.items():
        for _ in range(4):                                   # reduce-overhead records behind its first calls
            run(**keywords)
    return ways


def with_tenfold(ways, module, keywords, mode):
    if mode == 'dynamic':
        keywords = {name: value.clone() for name, value in keywords.items()}   # which nobody else compiles for
        for value in keywords.values():
            torch._dynamo.mark_dynamic(value, 2 if value.dim() == 6 else 0, min=2, max=64)
    if mode == 'int8' and 'x' in keywords:                   # convolutions want ranges
        ways['tenfold'] = calibrated(module, keywords['x'])
        return
    options = {'fp16': True, 'plan_cache': False, **(ROWS_OF_BYTES if mode == 'int8' else {})}
    ways['tenfold'], engine = engine_run(module, keywords, options)
    if engine is not None:
        ways['engine'] = engine


def calibrated(module, x):
    from tenfold import torch_tensorrt
    batches = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(4 * len(x), *x.shape[1:], dtype=x.dtype)), len(x))
    calibrator = torch_tensorrt.ptq.DataLoaderCalibrator(batches, use_cache=False)
    return torch_tensorrt.compile(module, inputs=[x], enabled_precisions={torch.float16, torch.int8}, calibrator=calibrator)


def measured(name, batch, mode, seconds, device):
    """By way: the least milliseconds by events and by the clock, and errors beside results in 64 bits."""
    module, keywords = module_of(name, batch)
    module, keywords = module.half().to(device), converted(keywords, device, torch.float16)
    ways = ways_of(module, keywords)
    truth = truth_of(module, keywords, device)
    with open(os.path.join(tempfile.gettempdir(), 'torch_compile_gpu.lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)                     # kernels are timed by the build, too
        begin = time.perf_counter()
        with_tenfold(ways, module, keywords, mode)
        built = time.perf_counter() - begin
        results = {which: [t.clone() for t in tensors(ways[which](**keywords))] for which in ('tenfold', 'inductor', 'eager')}
        errors = judged(name, results, truth, torch.float16, 100 if mode == 'int8' else TIMES_WORSE)
        events, walls = ({which: [] for which in ways} for _ in range(2))
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for which, run in ways.items():
                event, wall = timed_once(device, run if which == 'engine' else lambda run=run: run(**keywords))
                events[which].append(event), walls[which].append(wall)
    return {'event': {which: round(min(t), 4) for which, t in events.items()},
            'wall': {which: round(min(t), 4) for which, t in walls.items()},
            'wall_median': {which: round(statistics.median(t), 4) for which, t in walls.items()},
            'error': {which: float(f'{e:.2g}') for which, e in errors.items()}, 'first_s': round(built, 1)}


def one_row(row, a):
    command = [sys.executable, __file__, '--one', row, '--seconds', str(a.seconds), '--device', a.device]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(row, 'FAILED', done.stderr[-2000:], flush=True)
        return None
    told = [line for line in done.stderr.splitlines() if 'reference kernels' in line or 'torch computes' in line]
    found = json.loads(done.stdout.splitlines()[-1])
    print(row, json.dumps(found), *told, flush=True)
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--rows', default=','.join(ROWS))
    p.add_argument('--seconds', type=float, default=3)
    p.add_argument('--jobs', type=int, default=4)
    p.add_argument('--device', default='cuda', choices=('cuda', 'cpu'))
    p.add_argument('--one', help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.one:
        name, batch, *mode = a.one.split(':')
        with torch.no_grad():
            return print(json.dumps(measured(name, int(batch), mode[0] if mode else '', a.seconds, a.device)))
    with ThreadPoolExecutor(a.jobs) as pool:
        rows = list(pool.map(lambda row: one_row(row, a), a.rows.split(',')))
    for kind in ('event', 'wall'):
        ratios = [r[kind]['inductor'] / r[kind]['tenfold'] for r in rows if r]
        if ratios:
            print(f'{kind}: geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}')
    return int(not all(rows))


if __name__ == '__main__':
    sys.exit(main())
