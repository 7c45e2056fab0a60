#!/usr/bin/env python3
"""The slowest hundredth of runs beside ONNX Runtime's and OpenVINO's: p99 by the median.

    tails.py ONE_MODEL[,OTHER_BUILD...] MODELS JUDGE OUT.md [--threads 1,2] [--cases A,B] [--seconds S] [--plans FOLDER] [--add]

Arguments as of host_table.py. Every engine is a process that lives from the first to the last slice and times its own runs; who has no
turn is stopped, and nothing looks at the one that has. Slices are short (0.15 s), each round begins with another engine, so that what
disturbs the machine disturbs all alike. Of each slice counts the same number of runs of each engine, the first ones, as many as the slowest
made; a percentile is of all these. Rows with fewer than 300 are left out. The section is replaced; with --add rows go to those there are.
"""
import argparse
import datetime
import os
import subprocess
import tempfile

import numpy as np

import cold_start
import engines
import performance_table

SLICE, LEAST = 0.15, 300
SECTION = 'The slowest hundredth of runs'
CASES = ['minilm-l6-s16-b1', 'minilm-l6-s128-b1', 'mobilenet_v2-b1', 'smallcnn-b1', 'mlp256-b1', 'minilm-l6.int8-s128-b1',
         'resnet50.int8-b1', 'mobilenet_v2.int8-b1']


def pooled(judge, a, case, threads):
    """{engine: times}, equally many."""
    row = engines.Row(judge, a, case, threads)
    plan = row.plan(a, 'fp32')
    if not os.path.exists(plan):
        subprocess.run([a.one_model[0], 'build', row.path, plan, str(threads), row.shapes, 'fp32'], check=True)
    loaded, turns = {}, []
    try:
        for i, program in enumerate(a.one_model):
            loaded['tenfold' + (str(i) if i else '')] = engines.Ours(program, row, plan)
        for peer in a.peers:
            loaded[peer] = engines.Theirs(judge, row, peer)
        names = list(loaded)
        for turn in range(max(1, round(a.seconds / SLICE))):
            first = turn % len(names)
            turns.append({name: loaded[name].times(SLICE) for name in names[first:] + names[:first]})
    finally:
        for engine in loaded.values():
            engine.close()
    return {name: [t for turn in turns for t in turn[name][:min(map(len, turn.values()))]] for name in names}


def cells(case, threads, found):
    yield from (case, str(threads), str(len(next(iter(found.values())))))
    for times in found.values():
        middle, p95, p99, p999 = np.percentile(times, (50, 95, 99, 99.9))
        yield f'{middle:.3f}'
        yield ', '.join(f'{late / middle:.2f}' for late in (p95, p99, p999)[:3 if len(times) >= 3000 else 2])


def table(a, rows):
    yield (f'{datetime.datetime.now():%F %H:%M}, {len(os.sched_getaffinity(0))} processors, `script/bench --tails MODELS`: median in ms '
           'and, by it, the 95th, 99th and, of 3000 runs, 99.9th percentile.')
    yield ''
    names = {'tenfold': 'ours'} | {f'tenfold{i}': f'build {i}' for i in range(1, 9)} | performance_table.NAMES
    titles = ['model', 'threads', 'runs'] + [t for engine in rows[0][2] for t in (names[engine], 'tail')]
    yield '| ' + ' | '.join(titles) + ' |'
    yield '|---' * len(titles) + '|'
    for row in rows:
        yield '| ' + ' | '.join(cells(*row)) + ' |'


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('one_model', 'models', 'judge', 'out'):
        p.add_argument(name)
    p.add_argument('--threads', type=lambda t: [int(v) for v in t.split(',')], default=[1, 2])
    p.add_argument('--cases', type=lambda t: t.split(','), default=CASES)
    p.add_argument('--peers', type=lambda t: [v for v in t.split(',') if v], default=['onnxruntime', 'openvino'])
    p.add_argument('--seconds', type=float, default=8, help='of each engine in each row')
    p.add_argument('--plans', default='build/bench/tails')
    p.add_argument('--add', action='store_true')
    a = p.parse_args()
    a.one_model, a.bf16 = [os.path.abspath(program) for program in a.one_model.split(',')], False
    judge = cold_start.load(a.judge)
    os.makedirs(a.plans, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as a.scratch:
        for case in a.cases:
            for threads in a.threads:
                found = pooled(judge, a, case, threads)
                print(*cells(case, threads, found), flush=True)
                if len(next(iter(found.values()))) >= LEAST:
                    rows.append((case, threads, found))
    if not rows:
        return
    text = open(a.out).read() if os.path.exists(a.out) else '# Performance\n'
    written = list(table(a, rows))
    if a.add and f'\n## {SECTION}\n' in text:
        before = text.split(f'\n## {SECTION}\n')[1].split('\n## ')[0].strip().split('\n')
        written = before + written[4:]
    with open(a.out, 'w') as f:
        f.write(performance_table.replace_section(text, SECTION, '\n'.join(written)))


if __name__ == '__main__':
    main()
