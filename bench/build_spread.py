#!/usr/bin/env python3
"""How much the plans of one model differ when they are built again and again, in quiet and beside a load on all processors.

    build_spread.py TENFOLD MODEL.onnx[:INPUT:1x3x224x224,...]... [--threads 1,2] [--builds 10] [--seconds 4] [--page FILE] [--out FILE]

Every second build has a busy program beside it on each processor. After all builds the plans of a model run in turns in one process, in
quiet. A machine's own speed may change by a third within seconds, so a plan's time is divided by that of all plans in the same round;
printed are the medians of these, over that of the best. Ends with 1 if a plan built in quiet took more than 1.05 times the best, or one
built beside the load more than 1.10. The interpreter needs the package tenfold.
"""
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import tenfold

PAGE = """# Builds of one model, again and again

How far apart are plans that are built again from one file? `script/bench --builds MODELS` builds each model {builds} times with an empty
timing cache, every second time beside a busy program on each processor. Then all plans of a model run in turns, in quiet. A figure is a
plan's time over that of the best one, in each list from the best to the worst. Wanted are 1.05 in quiet and 1.10 beside the load.

{cpu}, {processors} processors, {date}, commit {commit}.

| model | threads | the best, ms | built in quiet | built beside a load | seconds of a build, in quiet and beside it |
|---|---|---|---|---|---|
{table}"""
LIMITS = {False: 1.05, True: 1.10}   # by whether there was a load beside the build


@contextlib.contextmanager
def load_on_all_processors():
    busy = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
        for process in busy:
            process.wait()


def build(args, model, shapes, threads, beside_load, plan):
    with load_on_all_processors() if beside_load else contextlib.nullcontext():
        command = [args.tenfold.resolve(), 'exec', f'--onnx={model}', *([f'--shapes={shapes}'] if shapes else []), f'--threads={threads}',
                   f'--saveEngine={plan}', '--skipInference', *args.flags.split()]
        found = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    return float(re.search(r'Engine built in ([\d.]+) sec', found)[1])


def time_in_turns(args, plans, threads):
    """Milliseconds of each plan, of all rounds. In a round each runs for as long as the others, in another order."""
    engines = [tenfold.load(plan, device='cpu', threads=threads) for plan in plans]
    inputs = {b.name: np.ones(engines[0].profile_shapes(0, b.name)[1], b.numpy_dtype) for b in engines[0].bindings if b.is_input}
    contexts = [engine.create_context() for engine in engines]
    for context in contexts:
        for name, array in inputs.items():
            context.bind(name, array)
    times = [[] for _ in plans]
    order = list(range(len(plans)))
    ends = time.monotonic() + args.seconds * len(plans)
    while time.monotonic() < ends or len(times[0]) < 5:
        random.shuffle(order)
        for i in order:
            found = []
            while len(found) < 3 or sum(found) < 0.005:
                start = time.perf_counter()
                contexts[i].run()
                found.append(time.perf_counter() - start)
            times[i].append(1e3 * statistics.median(found[1:]))   # the first one brings its weights into the caches
    return times


def spread(args, given, threads, folder):
    model, _, shapes = given.partition(':')
    name = pathlib.Path(model).stem
    plans = [(folder / f'{name}.{threads}.{i}.plan', i % 2 == 1) for i in range(args.builds)]
    seconds = [build(args, model, shapes, threads, beside_load, plan) for plan, beside_load in plans]
    times = time_in_turns(args, [plan for plan, _ in plans], threads)
    rounds = [statistics.mean(found) for found in zip(*times, strict=True)]
    relative = [statistics.median(ms / of_all for ms, of_all in zip(found, rounds, strict=True)) for found in times]
    best = relative.index(min(relative))
    row = {'model': name, 'threads': threads, 'rounds': len(rounds), 'best_ms': statistics.median(times[best])}
    for beside_load, key in ((False, 'quiet'), (True, 'beside_load')):
        row[key] = sorted(ratio / relative[best] for ratio, (_, loaded) in zip(relative, plans, strict=True) if loaded == beside_load)
        row[f'{key}_build_s'] = statistics.median(s for s, (_, loaded) in zip(seconds, plans, strict=True) if loaded == beside_load)
    return row


def tell(row):
    ratios = lambda key: ' '.join(f'{ratio:.2f}' for ratio in row[key])
    print(f'{row["model"]}, {row["threads"]} threads, best {row["best_ms"]:.3f} ms; in quiet ({row["quiet_build_s"]:.1f} s a build): '
          f'{ratios("quiet")}; beside a load ({row["beside_load_build_s"]:.1f} s): {ratios("beside_load")}', flush=True)


def write_page(args, rows):
    told = lambda row, key: ' '.join(f'{ratio:.2f}' for ratio in row[key])
    commit = subprocess.run(['git', 'rev-parse', '--short=8', 'HEAD'], cwd=pathlib.Path(__file__).parent, check=True, capture_output=True,
                            text=True).stdout.strip()
    cpu = next(d.name for d in tenfold.devices() if d.device == 'cpu')
    table = ''.join(f'| {row["model"]} | {row["threads"]} | {row["best_ms"]:.2f} | {told(row, "quiet")} | {told(row, "beside_load")} | '
                    f'{row["quiet_build_s"]:.1f}, {row["beside_load_build_s"]:.1f} |\n' for row in rows)
    args.page.write_text(PAGE.format(cpu=cpu, date=datetime.date.today(), commit=commit, builds=args.builds, processors=os.cpu_count(),
                                     table=table))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('tenfold', type=pathlib.Path)
    parser.add_argument('models', nargs='+', metavar='MODEL.onnx[:SHAPES]')
    parser.add_argument('--threads', default='1,2')
    parser.add_argument('--builds', type=int, default=10)
    parser.add_argument('--seconds', type=float, default=4, help='that each plan runs')
    parser.add_argument('--flags', default='', help='of tenfold exec, for the builds')
    parser.add_argument('--keep', type=pathlib.Path, help='a folder for the plans')
    parser.add_argument('--out', type=pathlib.Path, help='a JSON file')
    parser.add_argument('--page', type=pathlib.Path, help='a page of documentation')
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as own:
        folder = args.keep or pathlib.Path(own)
        folder.mkdir(exist_ok=True)
        for threads in map(int, args.threads.split(',')):
            for model in args.models:
                rows.append(spread(args, model, threads, folder))
                tell(rows[-1])
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1) + '\n')
    if args.page:
        write_page(args, rows)
    far = [row for row in rows if row['quiet'][-1] > LIMITS[False] or (row['beside_load'] and row['beside_load'][-1] > LIMITS[True])]
    sys.exit(1 if far else 0)


if __name__ == '__main__':
    main()
