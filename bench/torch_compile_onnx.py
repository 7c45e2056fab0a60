#!/usr/bin/env python3
"""Each architecture of docs/guides/torch.md, as torch.compile(backend="tenfold") runs it, beside the engine of its own ONNX export.

    torch_compile_onnx.py [--rows resnet50,vit_b_16:32,...] [--type f16] [--device cuda] [--seconds 0.5] [--keep FILE]
    torch_compile_onnx.py --export FOLDER [--rows ...]     writes the ONNX files without weights, for machines without onnxscript
    torch_compile_onnx.py --files FOLDER ...               takes these

Of each way, the least milliseconds of the engine's own run in turns, and the steps that only move elements. None should be above 1.05 of
its ONNX export. --keep: rows are written there as they end, and rows that are there are left out, so that a run that was ended goes on.
Random weights; a row NAME:BATCH has images of the model's own size. --device cpu is a trial of this script.
"""
import argparse
import json
import os
import sys
import time

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'python', 'tests', 'torch_backend')]
import architectures_case as beside  # noqa: E402
import torch_compile  # noqa: E402

import tenfold  # noqa: E402

PACKED = os.path.join(os.path.dirname(HERE), 'onnx')     # by script/gpu-check
LARGE = ('vit_b_16:32', 'resnet50:32', 'bert:32', 'minilm:8', 'unet:32')     # of torch_compile.py
MOST = 1.05
TYPES = {'f32': torch.float32, 'f16': torch.float16, 'bf16': torch.bfloat16}
SMALL = 1024     # bytes: larger weights are left out of files


def module_of(row, dtype, device):
    """A module, its arguments and keywords."""
    name, _, batch = row.partition(':')
    if batch:
        module, keywords = torch_compile.made(name, int(batch))
        return module.to(device, dtype), (), torch_compile.converted(keywords, device, dtype)
    module, args, keywords = beside.made(name, dtype)

    def there(value):
        return value.to(device) if isinstance(value, torch.Tensor) else value
    return module.to(device), tuple(map(there, args)), {k: there(v) for k, v in keywords.items()}


def weights_of(module):
    named = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {name: value.detach().cpu().contiguous() for name, value in named.items()}


def export(row, dtype, folder):
    """The model without its larger weights, which the module has under the same names."""
    module, args, keywords = module_of(row, dtype, 'cpu')
    model, known = beside.onnx_of(module, args, keywords), weights_of(module)
    for tensor in model.graph.initializer:
        if tensor.name in known and len(tensor.raw_data) > SMALL:
            tensor.ClearField('raw_data')
            tensor.data_location = tensor.EXTERNAL
            entry = tensor.external_data.add()
            entry.key, entry.value = 'location', 'weights'
    with open(os.path.join(folder, row.replace(':', '_') + '.onnx'), 'wb') as file:
        file.write(model.SerializeToString())


def onnx_engine(row, module, args, keywords, files, options):
    if not files:
        return beside.onnx_engine(beside.onnx_of(module, args, keywords), **options)
    with open(os.path.join(files, row.replace(':', '_') + '.onnx'), 'rb') as file:
        data = file.read()
    known = weights_of(module)
    return tenfold.build(data, initializers={name: value for name, value in known.items() if name.encode() in data}, **options)


def run_of(engine, given, device):
    context = engine.create_context()
    for i, value in enumerate(given):
        context.bind(i, value)
    if device == 'cpu':
        return context.run
    context.prepare()
    return lambda: context.enqueue(torch.cuda.current_stream())


def timed(runs, device, seconds):
    """The least milliseconds of each, in turns; on a GPU of ten runs between two events."""
    times, end = {which: [] for which in runs}, time.perf_counter() + seconds
    while time.perf_counter() < end or not all(times.values()):
        for which, run in runs.items():
            if device == 'cpu':
                begin = time.perf_counter()
                run()
                times[which].append((time.perf_counter() - begin) * 1e3)
                continue
            first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            first.record()
            for _ in range(10):
                run()
            last.record()
            torch.cuda.synchronize()
            times[which].append(first.elapsed_time(last) / 10)
    return {which: round(min(t), 4) for which, t in times.items()}


def measured(row, a):
    torch.manual_seed(0)
    module, args, keywords = module_of(row, TYPES[a.type], a.device)
    options = {'optimization_level': a.level}
    ours, given = beside.compiled_engine(module, args, keywords, frozen=True, **options)
    place = {'device': 'cuda:0'} if a.device == 'cuda' else {'device': 'cpu', 'threads': torch.get_num_threads()}
    theirs = onnx_engine(row, module, args, keywords, a.files, {**options, **place, **rounding(a.device)})
    inputs = [b for b in theirs.bindings if b.is_input]
    if [tuple(t.shape) for t in given] != [tuple(b.shape) for b in inputs]:
        raise ValueError(f'inputs {[tuple(t.shape) for t in given]} and {[tuple(b.shape) for b in inputs]}')
    times = timed({'torch': run_of(ours, given, a.device), 'onnx': run_of(theirs, given, a.device)}, a.device, a.seconds)
    moving = {which: sum(beside.moving(beside.steps(engine)).values()) for which, engine in (('torch', ours), ('onnx', theirs))}
    return {'row': row, 'type': a.type, 'ms': times, 'ratio': round(times['torch'] / times['onnx'], 3), 'moving': moving}


def rounding(device):
    """What torch's switches let the backend round, for the other engine, too."""
    from tenfold.torch._options import may_round
    return may_round(torch.device(device))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--rows', default=','.join([*LARGE, *beside.ARCHITECTURES]))
    p.add_argument('--type', default='f16', choices=TYPES)
    p.add_argument('--device', default='cuda', choices=('cuda', 'cpu'))
    p.add_argument('--level', type=int, default=3, help='optimization_level of both')
    p.add_argument('--seconds', type=float, default=0.5)
    p.add_argument('--limit', type=float, default=1e9, help='seconds after which no further row begins')
    p.add_argument('--keep')
    p.add_argument('--export')
    p.add_argument('--files', default=PACKED if os.path.isdir(PACKED) else None)
    a = p.parse_args()
    begin, done = time.perf_counter(), []
    if a.keep and os.path.exists(a.keep):
        with open(a.keep) as file:
            done = [json.loads(line) for line in file]
    for row in a.rows.split(','):
        if any(d['row'] == row and d['type'] == a.type and 'ratio' in d for d in done):
            continue
        if time.perf_counter() - begin > a.limit:
            print('no time was left for', row, flush=True)
            return 1
        try:
            if a.export:
                os.makedirs(a.export, exist_ok=True)
                export(row, TYPES[a.type], a.export)
                continue
            done.append(measured(row, a))
        except Exception as error:      # one row must not cost the others
            done.append({'row': row, 'type': a.type, 'failed': f'{type(error).__name__}: {error}'[:500]})
            print(json.dumps(done[-1]), flush=True)
            continue
        print(json.dumps(done[-1]), flush=True)
        if a.keep:
            with open(a.keep, 'a') as file:
                file.write(json.dumps(done[-1]) + '\n')
    slow = [d['row'] for d in done if d.get('ratio', 0) > MOST]
    print(f'{len(done)} rows, above {MOST}: {", ".join(slow) or "none"}; failed: {sum("failed" in d for d in done)}')
    return int(bool(slow) or any('failed' in d for d in done))


if __name__ == '__main__':
    sys.exit(main())
