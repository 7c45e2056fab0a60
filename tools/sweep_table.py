#!/usr/bin/env python3
"""Writes docs/lab/performance-sweep.md from the lines of bench/sweep: sweep_table.py RESULTS_FOLDER ONEDNN_VERSION OUT.md

RESULTS_FOLDER holds *.tsv; of lines of the same problem and number of threads the last one counts.
"""
import datetime
import glob
import math
import os
import re
import sys

HEAD = """# Random products and convolutions beside oneDNN

300 random matrix products and 300 random convolutions against the primitives of oneDNN {version}, made by `script/bench --sweep`; the
problems come from a fixed seed (`bench/sweep_problem.cpp`). Sizes are log-uniform and know nothing of vectors:

* products: 1 to 512 rows, a quarter of them 1 to 8, a tenth sequences of 77, others in batches of 3; K and N 1 to 4096; constant weights,
  some transposed; bias, ReLU, erf-GELU or none;
* convolutions: one to three dims, 1 to 512 channels, kernels 1 to 7, strides and dilations 1 to 3, pads, depthwise, groups, batch 1 to 3;
* at most 0.5 GFLOP and 4 million elements each.

Ours is a model of that one node, built through the public builder API, oneDNN off, all else at its default: the tuner chooses, few rows may
read weights of 24 bits, 3x3 windows may take Winograd's way, tiles of AMX terms of bf16. What a run costs around the node, somewhat less
than 0.1 us, is included.
oneDNN's side is the faster of matmul and inner product, or of direct and automatic convolution, through its C++ API with
`format_tag::any`, its memory and arguments made beforehand. Weights are packed on both sides. Images lie channels-last on ours: the model
transposes them at both ends, which takes no step where the convolution reads and writes channels-last, and is included where it
does not. On oneDNN's side they lie as it likes, nothing is reordered in its time. Both take turns in slices of 0.3 ms or one call; the
least time of a slice counts, by the thread's own clock where there is one thread. With more, each side first runs for 3 ms, and OpenMP's
workers look for work as long as ours: spinning for 15 ms, as is their default, they keep ours from the processor. `ratio` is oneDNN's
time by ours: above 1 we are faster. `difference` is that of the results, relative to the largest value.
"""


def read(folder):
    rows = {}
    for path in sorted(glob.glob(os.path.join(folder, '*.tsv'))):
        with open(path) as f:
            for line in f:
                kind, index, threads, ours, theirs, difference, flops, text, tactics, implementation = line.rstrip('\n').split('\t')
                rows[kind, int(index), int(threads)] = {
                    'ours': float(ours), 'theirs': float(theirs), 'ratio': float(theirs) / float(ours), 'difference': float(difference),
                    'flops': float(flops), 'text': text, 'tactics': tactics, 'implementation': implementation}
    return rows


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def tactic(row):
    """The product's own tactic, without its config and what stands around it."""
    names = [part.split()[0] for part in row['tactics'].split('; ') if part.startswith(('matmul', 'conv'))]
    return names[0] if names else row['tactics'].split()[0]


def summary(name, rows):
    ratios = sorted(r['ratio'] for r in rows)
    at = [ratios[round(q * (len(ratios) - 1))] for q in (0, 0.05, 0.25, 0.5, 0.75, 0.95)]
    return (f'| {name} | {len(rows)} | {mean(ratios):.2f} | ' + ' | '.join(f'{v:.2f}' for v in at) +
            f' | {sum(v < 0.6 for v in ratios)} | {sum(v >= 1 for v in ratios)} | {max(r["difference"] for r in rows):.0e} |')


def parts(kind, rows):
    """Ratios of kinds of problems, for whoever looks for what is slow."""
    if kind == 'product':
        sizes = lambda r: [int(v) for v in re.findall(r'\d+', r['text'].split(',')[0].replace('^T', ''))]
        names = {'1 to 8 rows': lambda r: math.prod(sizes(r)[:-3]) <= 8, 'more rows': lambda r: math.prod(sizes(r)[:-3]) > 8,
                 'below 0.1 MFLOP': lambda r: r['flops'] < 1e5, 'from 10 MFLOP': lambda r: r['flops'] >= 1e7}
    else:
        spatial = lambda r: r['text'].split(',')[0].count('x') - 1
        depthwise = lambda r: 'groups' in r['text'] and re.search(r'kernel \d+x1x', r['text'])
        names = {'1-D': lambda r: spatial(r) == 1, '2-D': lambda r: spatial(r) == 2, '3-D': lambda r: spatial(r) == 3,
                 'one channel a group': depthwise, 'other groups': lambda r: 'groups' in r['text'] and not depthwise(r),
                 'dilated': lambda r: 'dilations' in r['text'], 'from 10 MFLOP': lambda r: r['flops'] >= 1e7}
    found = [(name, [r['ratio'] for r in rows if of(r)]) for name, of in names.items()]
    return ', '.join(f'{name} {mean(v):.2f} ({len(v)})' for name, v in found if v)


def cpu_name():
    with open('/proc/cpuinfo') as f:
        info = f.read()
    flags = 'AMX' if 'amx_int8' in info else 'AVX-512 VNNI' if 'avx512_vnni' in info else 'AVX-512' if 'avx512f' in info else 'AVX2'
    return re.search(r'model name\s*: (.*)', info).group(1) + ', ' + flags


def main(folder, version, out):
    rows = read(folder)
    lines = [HEAD.format(version=version), f'{cpu_name()}; {datetime.date.today()}.', '']
    for threads in sorted({key[2] for key in rows}):
        lines += [f'## {threads} thread' + ('s' if threads > 1 else ''), '',
                  '| problems | number | geometric mean | least | 5 % | 25 % | median | 75 % | 95 % | below 0.6 | 1 or more '
                  '| largest difference |',
                  '|---|---|---|---|---|---|---|---|---|---|---|---|']
        kinds = {kind: [r for (k, _, t), r in sorted(rows.items()) if k == kind and t == threads] for kind in ('product', 'convolution')}
        kinds = {kind: found for kind, found in kinds.items() if found}
        lines += [summary(kind + 's', found) for kind, found in kinds.items()] + ['']
        lines += [f'* {kind}s, geometric means: {parts(kind, found)}' for kind, found in kinds.items()] + ['']
        for kind, found in kinds.items():
            lines += [f'### The 20 slowest {kind}s, {threads} thread' + ('s' if threads > 1 else ''), '',
                      '| ratio | ours us | oneDNN us | problem | tactic | of oneDNN |', '|---|---|---|---|---|---|']
            for r in sorted(found, key=lambda r: r['ratio'])[:20]:
                lines.append(f'| {r["ratio"]:.2f} | {r["ours"] / 1e3:.1f} | {r["theirs"] / 1e3:.1f} | {r["text"]} | {tactic(r)} | '
                             f'{r["implementation"]} |')
            lines.append('')
    with open(out, 'w') as f:
        f.write('\n'.join(lines))


if __name__ == '__main__':
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
