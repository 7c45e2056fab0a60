#!/usr/bin/env python3
"""The slowest hundredth of runs beside ONNX Runtime's and OpenVINO's: p99 by the median.

    tails.py ONE_MODEL[,OTHER_BUILD...] MODELS JUDGE OUT.md [--threads 1,2] [--cases A,B] [--seconds S] [--plans FOLDER] [--add]

Arguments as of host_table.py. Every engine is a process that lives from the first to the last slice and times its own runs; who has no turn
is stopped, and nothing looks at the one that has. A slice takes 0.5 s, its first tenth is not counted: caches that others filled cost an
engine up to 40 ms. Each round begins with another engine. All runs count, for all engines had the same time: 0.12 s in which the machine is
slow are one hundredth of 12 s, so fewer seconds make p99 a matter of luck. "others" is the share of the processors' time that went to
anything but the engines; far from 1 % p99 is theirs. Rows with fewer than 300 runs of an engine are left out. The section is replaced; with
--add rows go to those there are.
"""
import argparse
import datetime
import os
import subprocess
import tempfile
import time

import numpy as np

import cold_start
import engines
import performance_rows
import performance_table

SLICE, LEAST = 0.5, 300
SECTION = 'The slowest hundredth of runs'
CASES = ['minilm-l6-s16-b1', 'minilm-l6-s128-b1', 'mobilenet_v2-b1', 'smallcnn-b1', 'mlp256-b1', 'minilm-l6.int8-s128-b1',
         'resnet50.int8-b1', 'mobilenet_v2.int8-b1']


class Others:
    """Processor time since it was made that went to none of these processes, by all processors' time."""

    def __init__(self, processes):
        self.processes, self.begin = processes, time.monotonic()
        self.used = self.elsewhere()

    def elsewhere(self):
        with open('/proc/stat') as f:
            user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
        ours = 0
        for pid in self.processes:
            with open(f'/proc/{pid}/stat') as f:
                ours += sum(map(int, f.read().rsplit(')', 1)[1].split()[11:13]))
        return user + nice + system + irq + softirq + steal - ours

    def share(self):
        ticks = (time.monotonic() - self.begin) * os.sysconf('SC_CLK_TCK') * os.cpu_count()
        return max(0, self.elsewhere() - self.used) / ticks


def pooled(judge, a, case, threads):
    """{engine: times of its runs}, and the share of the processors that others had meanwhile."""
    row = engines.Row(judge, a, case, threads)
    plan = row.plan(a, 'fp32')
    if not os.path.exists(plan):
        subprocess.run([a.one_model[0], 'build', row.path, plan, str(threads), row.shapes, 'fp32'], check=True)
    loaded = {}
    try:
        for i, program in enumerate(a.one_model):
            loaded['tenfold' + (str(i) if i else '')] = engines.Ours(program, row, plan)
        for peer in a.peers:
            loaded[peer] = engines.Theirs(judge, row, peer)
        names, times = list(loaded), {name: [] for name in loaded}
        others = Others([engine.pid for engine in loaded.values()] + [os.getpid()])
        for turn in range(max(1, round(a.seconds / SLICE))):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                times[name].append(np.array(loaded[name].times(SLICE)))
        return {name: np.concatenate(times[name]) for name in names}, others.share()
    finally:
        for engine in loaded.values():
            engine.close()


def cells(case, threads, found, others):
    yield from (case, str(threads), str(min(map(len, found.values()))), f'{others:.1%}')
    for times in found.values():
        middle, p95, p99, p999 = np.percentile(times, (50, 95, 99, 99.9))
        yield f'{middle:.3f}'
        yield ', '.join(f'{late / middle:.2f}' for late in (p95, p99, p999)[:3 if len(times) >= 3000 else 2])


def table(a, rows):
    yield (f'{datetime.datetime.now():%F %H:%M}, {len(os.sched_getaffinity(0))} processors, `script/bench --tails MODELS`: median in ms '
           'and, by it, the 95th, 99th and, of')
    yield "3000 runs, 99.9th percentile; runs: the slowest engine's; others: what other programs had of the processors' time."
    yield ''
    names = {'tenfold': 'ours'} | {f'tenfold{i}': f'build {i}' for i in range(1, 9)} | performance_rows.NAMES
    titles = ['model', 'threads', 'runs', 'others'] + [t for engine in rows[0][2] for t in (names[engine], 'tail')]
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
    p.add_argument('--seconds', type=float, default=12, help='of each engine in each row')
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
                found, others = pooled(judge, a, case, threads)
                print(*cells(case, threads, found, others), flush=True)
                if min(map(len, found.values())) >= LEAST:
                    rows.append((case, threads, found, others))
    if not rows:
        return
    text = open(a.out).read() if os.path.exists(a.out) else '# Performance\n'
    written = list(table(a, rows))
    if a.add and f'\n## {SECTION}\n' in text:
        before = text.split(f'\n## {SECTION}\n')[1].split('\n## ')[0].strip().split('\n')
        written = before + written[5:]
    with open(a.out, 'w') as f:
        f.write(performance_table.replace_section(text, SECTION, '\n'.join(written)))


if __name__ == '__main__':
    main()
