#!/usr/bin/env python3
"""torch.compile(backend="tenfold") beside inductor, with and without freezing, on a CPU: the table of docs/guides/torch.md.

    torch_compile.py [--rows resnet50:1,...] [--seconds 6]     least milliseconds of single calls, all interleaved in one process
    torch_compile.py --float32 tf32                            the same with torch.backends.fp32_precision = "tf32", for all sides
    torch_compile.py --first [--rows ...] [--times 1]          seconds of the first call, each in a process with empty caches, then
                                                               with full ones; "empty" is a backend that computes nothing; the least
    torch_compile.py --device cuda --first|--overhead          the same on a GPU, in fp16; torch_compile_gpu.py has the times of its calls
    torch_compile.py --overhead                                microseconds of a call over a backend that computes nothing, 200 weights,
                                                               with the engine's own run and without it

Two threads, float32 unrounded unless told, random weights. It wants torch, torchvision, transformers and the wheel.
"""
import argparse
import copy
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from unittest import mock

import torch

TIMES_WORSE = 2        # how much further off than the worse of eager mode and inductor a result may be
ROUNDED = 5e-5         # how far off it may be at least where float32 may be rounded, before that factor
ROWS = ('resnet50', 'mobilenet_v2', 'bert', 'minilm', 'unet', 'mlp')
THREADS = 2


class UNet(torch.nn.Module):
    """Four levels of 32 to 256 channels, two convolutions each, nearest upsampling and concatenation."""

    def __init__(self, channels=(32, 64, 128, 256)):
        super().__init__()

        def block(a, b):
            return torch.nn.Sequential(torch.nn.Conv2d(a, b, 3, padding=1), torch.nn.GroupNorm(8, b), torch.nn.SiLU(),
                                       torch.nn.Conv2d(b, b, 3, padding=1), torch.nn.GroupNorm(8, b), torch.nn.SiLU())
        self.down = torch.nn.ModuleList(block(a, b) for a, b in zip((3, *channels), channels, strict=False))
        self.up = torch.nn.ModuleList(block(a + b, a) for a, b in zip(channels, channels[1:], strict=False))
        self.last = torch.nn.Conv2d(channels[0], 3, 1)

    def forward(self, x):
        kept = []
        for level, block in enumerate(self.down):
            x = block(torch.nn.functional.max_pool2d(x, 2) if level else x)
            kept.append(x)
        for block, other in zip(reversed(self.up), reversed(kept[:-1]), strict=True):
            x = block(torch.cat([torch.nn.functional.interpolate(x, scale_factor=2.0), other], 1))
        return self.last(x)


def encoder(hidden, layers, heads):
    import transformers
    config = transformers.BertConfig(hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=4 * hidden)
    return transformers.BertModel(config, add_pooling_layer=False)


def made(name, batch):
    """A module and its keywords."""
    torch.manual_seed(0)
    if name in ('bert', 'minilm'):
        module = encoder(768, 12, 12) if name == 'bert' else encoder(384, 6, 12)
        ids = torch.randint(0, 30000, (batch, 128))
        return module.eval(), {'input_ids': ids, 'attention_mask': torch.ones_like(ids)}
    if name == 'unet':
        return UNet().eval(), {'x': torch.randn(batch, 3, 128, 128)}
    if name == 'mlp':
        layers = [torch.nn.Linear(256, 256) if i % 2 == 0 else torch.nn.ReLU() for i in range(7)]
        return torch.nn.Sequential(*layers).eval(), {'input': torch.randn(batch, 256)}
    import torchvision
    module = torchvision.models.get_model(name, weights=None).eval()
    if name.startswith('vit'):                               # whose last weights are zeros before training
        torch.nn.init.normal_(module.heads.head.weight, std=0.02)
    return module, {'x': torch.randn(batch, 3, 224, 224)}


def compiled(module, which):
    if which == 'eager':
        return module
    if which == 'tenfold':
        return torch.compile(module, backend='tenfold')
    if which == 'empty':
        return torch.compile(module, backend=nothing)
    import torch._inductor.config as inductor
    inductor.freezing = which == 'freezing'
    return torch.compile(module)


def nothing(graph, inputs):
    """A backend whose results are made once."""
    from torch._functorch.aot_autograd import aot_module_simplified, make_boxed_func

    def stored(aten, _):
        kept = []

        def run(*args):
            if not kept:
                kept.append(aten(*args))
            return kept[0]
        return make_boxed_func(run)
    with torch.no_grad():
        return aot_module_simplified(graph, inputs, fw_compiler=stored)


def tensors(value):
    parts = () if isinstance(value, torch.Tensor) else value.values() if hasattr(value, 'values') else value
    return [t for v in parts for t in tensors(v)] or [value]


def converted(keywords, device, dtype):
    return {k: v.to(device, dtype) if v.is_floating_point() else v.to(device) for k, v in keywords.items()}


def truth_of(module, keywords, device):
    """Results in 64 bits."""
    with torch.no_grad():
        return tensors(copy.deepcopy(module).double()(**converted(keywords, device, torch.float64)))


def error(found, truth):
    """The furthest that an element is off, beside the largest one; the worst of the results."""
    return max(float((f.double() - t).abs().max() / t.abs().max()) for f, t in zip(tensors(found), truth, strict=True))


def judged(name, results, truth, dtype, times=TIMES_WORSE, least=1e-5):
    """Errors by backend. Ours may be `times` as far off as the worse of eager mode and inductor, one rounding of the type, or `least`."""
    errors = {which: error(found, truth) for which, found in results.items()}
    bound = times * max([torch.finfo(dtype).eps, least, *(e for which, e in errors.items() if which != 'tenfold')])
    if not errors['tenfold'] <= bound:
        sys.exit(f'{name}: wrong results: {errors}, the bound is {bound}')
    return errors


def interleaved(name, batch, seconds):
    """The least milliseconds by backend, since others may share the machine, and errors; each round calls every backend, in turn."""
    module, keywords = made(name, batch)
    torch._dynamo.reset()
    ways, results = {}, {}
    for which in ('tenfold', 'inductor', 'freezing', 'eager'):
        ways[which] = compiled(module, which)
        results[which] = ways[which](**keywords)
    least = 1e-5 if torch.backends.fp32_precision == 'none' else ROUNDED
    errors = judged(name, results, truth_of(module, keywords, 'cpu'), torch.float32, least=least)
    taken = {which: [] for which in ways}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(taken['eager']) < 5:
        for which, run in ways.items():
            calls = max(1, int(0.003 / max(min(taken[which], default=0.003), 1e-6)))
            begin = time.perf_counter()
            for _ in range(calls):
                run(**keywords)
            taken[which].append((time.perf_counter() - begin) / calls)
    return {which: min(t) * 1e3 for which, t in taken.items()}, errors


def first_call(name, batch, which, device):
    """In this process; on a GPU in fp16, and its context is there."""
    module, keywords = made(name, batch)
    if device == 'cuda':
        module, keywords = module.half().to(device), converted(keywords, device, torch.float16)
        torch.cuda.synchronize()
    importlib.import_module('torch._dynamo')
    run = compiled(module, which)
    begin = time.perf_counter()      # what a backend imports counts
    with torch.no_grad():
        run(**keywords)
    if device == 'cuda':
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def firsts(name, batch, times, device):
    """Seconds of the first call, cold and warm, by backend: the least, since others may share the machine."""
    found = {}
    for which in ('empty', 'inductor', 'tenfold') * times:
        with tempfile.TemporaryDirectory() as folder:
            for caches in ('cold', 'warm'):
                command = [sys.executable, __file__, '--device', device, '--one', f'{name}:{batch}:{which}']
                done = subprocess.run(command, capture_output=True, text=True,
                                      env={**os.environ, 'TORCHINDUCTOR_CACHE_DIR': folder, 'XDG_CACHE_HOME': folder})
                if done.returncode != 0:
                    sys.exit(done.stderr)
                found.setdefault(f'{which}_{caches}', []).append(float(done.stdout.split()[-1]))
    return {which: min(seconds) for which, seconds in found.items()}


class Folded(torch.nn.Module):
    """200 weights, of which little is left to compute: their sum follows from them alone."""

    def __init__(self):
        super().__init__()
        self.weights = torch.nn.ParameterList(torch.randn(8) for _ in range(200))

    def forward(self, x):
        return torch.tanh(torch.relu(x * 2 + torch.stack(list(self.weights)).sum(0)) * x).exp()


def run_of(module, x):
    """Calls of the engine's own run, arrays bound: what a call of it takes without torch, dynamo and Python's arguments."""
    from tenfold.torch._subgraph import Subgraph
    made, build = [], Subgraph._build

    def kept(*args):
        made.append(build(*args))
        return made[-1]
    with mock.patch.object(Subgraph, '_build', kept):
        torch.compile(module, backend='tenfold')(x)
    (engine,) = made
    context = engine.create_context()
    context.bind(0, x), context.bind(1, engine(x))
    return lambda _: context.run()


def overhead_of(module, x):
    """Microseconds of a call by each backend, and of the engine's own run: the least, and the median, of rounds in which all take turns."""
    torch._dynamo.reset()
    taken = {}
    for which, options in (('run', {}), ('empty', {}), ('tenfold', {}), ('frozen', {'frozen': True})):
        taken[which] = run_of(module, x) if which == 'run' else compiled(module, which) if which == 'empty' else torch.compile(
            module, backend='tenfold', options=options)
        taken[which](x)
    times = {which: [] for which in taken}
    for _ in range(300):
        for which, run in taken.items():
            begin = time.perf_counter()
            for _ in range(20):
                run(x)
            times[which].append((time.perf_counter() - begin) / 20 * 1e6)
    return [{which: round(of(t), 1) for which, t in times.items()} for of in (min, statistics.median)]


def overhead(device):
    """Of 100 layers of 2 by 2, whose arithmetic is in the figures, and of 200 weights with hardly any arithmetic."""
    layers = torch.nn.Sequential(*(torch.nn.Linear(2, 2) for _ in range(100)))
    for name, module, x in (('100 layers', layers, torch.randn(1, 2)), ('200 folded weights', Folded(), torch.randn(8))):
        module, x = module.to(device), x.to(device)
        for what, found in zip(('least', 'median'), overhead_of(module.eval(), x), strict=True):
            over = {which: round(found[which] - found['empty'], 1) for which in ('tenfold', 'frozen')}
            beside_run = {which: round(over[which] - found['run'], 1) for which in over}
            print(name, what, json.dumps({'call': found, 'over empty': over, 'without the run': beside_run}), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--rows', default=','.join(f'{r}:{b}' for r in ROWS for b in (1, 8)))
    p.add_argument('--seconds', type=float, default=6)
    p.add_argument('--float32', default='none', choices=('none', 'tf32', 'bf16'), help='what torch may round of float32')
    p.add_argument('--first', action='store_true')
    p.add_argument('--times', type=int, default=1, help='with --first: processes of each kind')
    p.add_argument('--overhead', action='store_true')
    p.add_argument('--device', default='cpu', choices=('cuda', 'cpu'), help='with --first and --overhead')
    p.add_argument('--one', help=argparse.SUPPRESS)
    a = p.parse_args()
    torch.set_num_threads(THREADS)
    torch.backends.fp32_precision = a.float32
    if a.one:
        name, batch, which = a.one.split(':')
        return print(first_call(name, int(batch), which, a.device))
    if a.overhead:
        return overhead(a.device)
    with tempfile.TemporaryDirectory() as folder:
        os.environ['XDG_CACHE_HOME'] = folder          # no plan of another build
        return rows(a)


def rows(a):
    ratios = []
    for row in a.rows.split(','):
        name, batch = row.split(':')
        if a.first:
            print(row, json.dumps({k: round(v, 2) for k, v in firsts(name, int(batch), a.times, a.device).items()}), flush=True)
            continue
        with torch.no_grad():
            taken, errors = interleaved(name, int(batch), a.seconds)
        ratios.append(min(taken['inductor'], taken['freezing']) / taken['tenfold'])
        print(f'| {name} | {batch} | ' + ' | '.join(f'{taken[w]:.3f}' for w in ('tenfold', 'inductor', 'freezing', 'eager')) +
              f' | {ratios[-1]:.2f} | {errors["tenfold"]:.1e} | {errors["eager"]:.1e} |', flush=True)
    if ratios:
        print(f'geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}')


if __name__ == '__main__':
    main()
