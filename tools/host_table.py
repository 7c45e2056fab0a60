#!/usr/bin/env python3
"""Latency over numbers of threads beside ONNX Runtime and OpenVINO, made to bear a machine that others use, too.

    host_table.py ONE_MODEL MODELS JUDGE OUT.md [--threads 1,2,4,8,16] [--cases bert-base-s128-b1,...] [--seconds S] [--rounds N]
                  [--budget SECONDS] [--plans FOLDER] [--title TITLE] [--json FILE]

ONE_MODEL is build/release/bench/one_model, JUDGE ../shared/peers/cpu_peers.py, which names the cases and holds the peers; MODELS holds what
../shared/peers/make_models.py writes. Plans are built and all engines loaded before anything is timed; who is not timed is stopped. A round
visits all rows, and in each row all engines in turn, so that a row's rounds lie far apart. A ratio is of one round: the better peer's
median by ours. After the rounds those rows whose ratios spread most are timed again, as long as the budget lasts; no round is left out.
Cells are the median of the rounds, in brackets their 10th and 90th percentile. The section of the title in OUT.md is replaced.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import cold_start
import engines
import performance_table

OURS = {'fp32': 'fp32', 'bf16': '--bf16'}


def build(a, jobs):
    """Plans on processors of their own beside each other, as many as fit: tuning times kernels, and must not share processors."""
    free, running = sorted(os.sched_getaffinity(0)), []
    todo = sorted(jobs, key=lambda job: -job[0].threads)
    while todo or running:
        for process, cores, what in [r for r in running if r[0].poll() is not None]:
            if process.returncode:
                sys.exit(f'{what} was not built')
            free = sorted(free + cores)
            running = [r for r in running if r[0] is not process]
        for row, precision in todo:
            if row.threads <= len(free):
                cores, free = free[:row.threads], free[row.threads:]
                plan = row.plan(a, precision)
                process = subprocess.Popen(['taskset', '-c', ','.join(map(str, cores)), a.one_model, 'build', row.path, plan,
                                            str(row.threads), row.shapes, precision], stdout=subprocess.DEVNULL)
                running.append((process, cores, plan))
                todo.remove((row, precision))
                break
        else:
            time.sleep(0.05)


def load(judge, a, rows):
    with concurrent.futures.ThreadPoolExecutor(max(1, a.processors // 2)) as pool:
        made = [(row, p, pool.submit(engines.Ours, a.one_model, row, row.plan(a, p))) for row in rows for p in row.precisions]
        made += [(row, p, pool.submit(engines.Theirs, judge, row, p)) for row in rows for p in row.peers]
        for row, name, engine in made:
            if engine.exception() is None:   # to be closed, whatever becomes of the others
                row.engines[name] = engine.result()
        for _, _, engine in made:
            engine.result()


def measure(a, rows):
    end = time.monotonic() + a.budget
    for r in range(a.rounds):
        if r >= 2 and time.monotonic() >= end:
            break
        for row in rows:
            if r < 2 or time.monotonic() < end:
                row.time(a.seconds)
        print(f'round {r + 1}, {max(0, end - time.monotonic()):.0f} s left', file=sys.stderr, flush=True)
        write(a, rows)   # what has been timed is kept, whatever ends this program
    while a.budget < float('inf') and time.monotonic() < end and len(rows[0].rounds) > 1:
        max(rows, key=lambda row: row.unrest() / len(row.rounds)).time(a.seconds)
    write(a, rows)


def spread(values, form):
    low, high = np.percentile(values, (10, 90))
    return f'{format(statistics.median(values), form)} ({format(low, form)}-{format(high, form)})'


def digits(value):
    return '.1f' if value >= 10 else '.2f' if value >= 1 else '.3f'


def lines(a, rows):
    cpu = next((line.split(':')[1].strip() for line in open('/proc/cpuinfo') if line.startswith('model name')), '?')
    yield (f'{cpu}, {a.processors} processors; {datetime.datetime.now():%F %H:%M}, `script/bench --host MODELS` (`tools/host_table.py`): '
           f'plans built before, {a.seconds} s for each engine and round. Milliseconds.')
    yield ''
    titles = {'onnxruntime': 'ONNX Runtime', 'openvino': 'OpenVINO', 'openvino_default': "OpenVINO's bf16"}
    columns = ['fp32', 'onnxruntime', 'openvino'] + (['bf16', 'openvino_default'] if a.bf16 else [])
    names = ['model', 'threads', 'rounds']
    for c in columns:
        names += [OURS.get(c) or titles[c], *(['ratio'] if c in ('openvino', 'openvino_default') else [])]
    yield '| ' + ' | '.join(names) + ' |'
    yield '|---' * len(names) + '|'
    for row in rows:
        cells = [row.case, str(row.threads), str(len(row.rounds))]
        for c in columns:
            times = [r[c] for r in row.rounds if c in r]
            cells += [spread(times, digits(times[0])) if times else '-']
            if c in ('openvino', 'openvino_default'):
                cells += [spread(row.ratios('bf16' if c == 'openvino_default' else 'fp32'), '.2f') if times else '-']
        yield '| ' + ' | '.join(cells) + ' |'
    yield ''
    yield ("ratio: the better of ONNX Runtime and OpenVINO by ours, OpenVINO's bf16 by our `--bf16`, each of one round; medians, in "
           'brackets the 10th and 90th percentile.')


def write(a, rows):
    timed = [row for row in rows if row.rounds]
    text = open(a.out).read() if os.path.exists(a.out) else '# Performance\n'
    with open(a.out, 'w') as f:
        f.write(performance_table.replace_section(text, a.title, '\n'.join(lines(a, timed))))
    if a.json:
        with open(a.json, 'w') as f:
            json.dump([{'case': r.case, 'threads': r.threads, 'rounds': r.rounds} for r in timed], f, indent=1)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('one_model', 'models', 'judge', 'out'):
        p.add_argument(name)
    cores = len(os.sched_getaffinity(0))
    p.add_argument('--threads', type=lambda t: [int(v) for v in t.split(',')], default=[t for t in (1, 2, 4, 8, 16) if t <= cores])
    p.add_argument('--cases', type=lambda t: t.split(','), default=['bert-base-s128-b1', 'resnet50-b1', 'unet3d-b1'])
    p.add_argument('--seconds', type=float, default=0.2)
    p.add_argument('--rounds', type=int, default=7)
    p.add_argument('--budget', type=float, default=float('inf'),
                   help='seconds of timing, but two rounds at least; what the rounds leave goes to uneven rows')
    p.add_argument('--plans', default='build/bench/host')
    p.add_argument('--title', default=f'Threads ({cores} processors)')
    p.add_argument('--json')
    a = p.parse_args()
    a.one_model = os.path.abspath(a.one_model)
    judge = cold_start.load(a.judge)
    a.bf16, a.processors = 'amx_bf16' in judge.CPU_FLAGS, cores
    os.makedirs(a.plans, exist_ok=True)
    with tempfile.TemporaryDirectory() as a.scratch:
        rows = [engines.Row(judge, a, case, threads) for case in a.cases for threads in a.threads]
        begin = time.monotonic()
        build(a, [(row, precision) for row in rows for precision in row.precisions])
        print(f'plans: {time.monotonic() - begin:.0f} s', file=sys.stderr, flush=True)
        try:
            load(judge, a, rows)
            print(f'engines: {time.monotonic() - begin:.0f} s', file=sys.stderr, flush=True)
            measure(a, rows)
        finally:
            for row in rows:
                for engine in row.engines.values():
                    engine.close()


if __name__ == '__main__':
    main()
