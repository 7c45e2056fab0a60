#!/usr/bin/env python3
"""Writes one machine's section of docs/performance.md from the runs of script/bench: performance_table.py BENCH_FOLDER OUT.md [TITLE]

    performance_table.py --near BENCH_FOLDER    only names the rows whose ratio is within 3 % of what is wanted, for they are run again

A section of the same title is replaced, the others stay. Without a title it names the widest instructions and the CPU.
BENCH_FOLDER holds rows-*.json (one judge's run each; rows-signed-*.json: signed activations) and the plans' *.facts.
"""
import datetime
import glob
import json
import math
import os
import pathlib
import re
import statistics
import sys

RIVALS = ('onnxruntime', 'openvino')


def read_runs(folder):
    """{(case, threads): [{peer: row} for each run]}, and the facts of the first run."""
    table, about = {}, None
    for path in sorted(glob.glob(os.path.join(folder, 'rows-*.json'))):
        with open(path) as f:
            data = json.load(f)
        about = about or data
        of_run, signed = {}, 'signed' in os.path.basename(path)
        for r in data['rows']:
            if signed and '.int8' not in r['case']:
                continue
            case = r['case'] + (' (s8)' if signed else '')
            of_run.setdefault((case, r['threads']), {})[r['peer']] = r
        for key, peers in of_run.items():
            if 'tenfold' in peers:
                table.setdefault(key, []).append(peers)
    return table, about


def plan_bytes(folder, case, threads):
    """Weights, arena and the workers' scratch of the plan of a row, or None."""
    if '(s8)' in case:
        folder, case = os.path.join(folder, 'signed'), case.removesuffix(' (s8)')
    model, _, rest = case.partition('-s') if '-s' in case else case.rpartition('-b')
    batch, sequence = case.rsplit('-b', 1)[1], rest.split('-b')[0] if '-s' in case else None
    shape = f'_{batch}x{sequence}' if sequence else f'_{batch}x'
    for path in glob.glob(os.path.join(folder, f'{glob.escape(model)}-fp32-t{threads}-*.plan.facts')):
        if shape in os.path.basename(path):
            with open(path) as f:
                facts = json.load(f)
            return facts['weight_bytes'] + facts['arena_bytes'] + facts['scratch_bytes']
    return None


def ratios(runs, rival, ours='tenfold'):
    return [p[rival]['median_ms'] / p[ours]['median_ms'] for p in runs if rival in p and ours in p]


def spread(values):
    return f'{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})' if values else '-'


def median_of(runs, peer, field):
    values = [p[peer][field] for p in runs if peer in p and p[peer].get(field) is not None]
    return statistics.median(values) if values else None


# The ratio to the better of the peers that is wanted of a model in f32; AMX: of one that is quantised, and of --bf16 beside OpenVINO's.
WANTED = {'minilm-l6-s16': 1.4, 'minilm-l6': 1.15, 'bert-base': 1.15, 'vit-b16': 1.15, 'resnet50': 1.0, 'mobilenet_v2': 1.3, 'unet3d': 1.1,
          'smallcnn': 1.4, 'mlp256': 3.0}
WANTED_INT8 = {True: 1.2, False: 1.15}
WANTED_BF16 = 1.1


def wanted(case, amx):
    return WANTED_INT8[amx] if '.int8' in case else next(ratio for name, ratio in WANTED.items() if case.startswith(name))


def to_the_better(runs, rivals=RIVALS, ours='tenfold'):
    """The median over the runs of the ratio to the faster of the rivals in that run."""
    return statistics.median(min(p[r]['median_ms'] for r in rivals if r in p) / p[ours]['median_ms'] for p in runs)


def rows_near(table, about):
    amx = 'amx_tile' in about.get('flags', ())
    for (case, threads), runs in table.items():
        pairs = [(to_the_better(runs), wanted(case, amx))]
        if amx and '.int8' not in case and all('tenfold_bf16' in p and 'openvino_default' in p for p in runs):
            pairs.append((to_the_better(runs, ('openvino_default',), 'tenfold_bf16'), WANTED_BF16))
        if any(abs(ratio / goal - 1) <= 0.03 for ratio, goal in pairs):
            yield case, threads


def cell(value, form):
    return '-' if value is None else format(value, form)


NAMES = {'onnxruntime': 'ONNX Runtime', 'openvino': 'OpenVINO', 'openvino_default': "OpenVINO's bf16"}
BF16 = ('onnxruntime', 'openvino_default')   # what --bf16 is compared with: OpenVINO chooses bf16 by itself where the CPU has AMX


def agreement(case, runs):
    """How far outputs are from the first peer's: f32 by the largest difference, --bf16 by the cosine; int8 by the cosine to the f32 model,
    and the peers' own."""
    if not all(p['tenfold'].get('agrees') for p in runs):
        return '**differs**' if runs[0]['tenfold'].get('agrees') is not None else 'not compared'
    first = runs[0]
    if '.int8' in case:
        return ', '.join(f'{first[peer]["cosine_fp32"]:.4f}' for peer in ('tenfold', *RIVALS) if peer in first)
    bf16 = f', bf16 {first["tenfold_bf16"]["cosine"]:.5f}' if 'tenfold_bf16' in first else ''
    return f'{max(p["tenfold"]["max_rel_diff"] for p in runs):.0e}{bf16}'


def table_lines(folder, table, amx):
    there = {peer for runs in table.values() for p in runs for peer in p}
    shown = [(rival, 'tenfold', f'to {NAMES[rival]}') for rival in RIVALS if rival in there]
    if 'tenfold_no_tf32' in there:
        shown += [(rival, 'tenfold_no_tf32', f'--noTF32 to {NAMES[rival]}') for rival in RIVALS if rival in there]
    if 'tenfold_bf16' in there:
        shown += [(rival, 'tenfold_bf16', f'--bf16 to {NAMES[rival]}') for rival in BF16 if rival in there]
    timed = ['tenfold', *(rival for rival in RIVALS if rival in there)]
    others = ', '.join(NAMES[rival] for rival in timed[1:])
    titles = ['model', 'threads', 'ms', 'wanted', *(title for _, _, title in shown), f'MB: ours, {others}',
              'weights + arena', 'start ms', 'ONNX Runtime start', 'difference']
    yield '| ' + ' | '.join(titles) + ' |'
    yield '|---' * len(titles) + '|'
    for (case, threads), runs in table.items():
        planned = plan_bytes(folder, case, threads)
        cells = [case, str(threads), f'{median_of(runs, "tenfold", "median_ms"):.3f}', f'{wanted(case, amx):g}',
                 *(spread(ratios(runs, rival, ours)) for rival, ours, _ in shown),
                 ', '.join(cell(median_of(runs, peer, 'rss_mb'), '.0f') for peer in timed), cell(planned and planned / 1e6, '.0f'),
                 cell(median_of(runs, 'tenfold', 'cold_ms'), '.0f'), cell(median_of(runs, RIVALS[0], 'cold_ms'), '.0f'),
                 agreement(case, runs)]
        yield '| ' + ' | '.join(cells) + ' |'


def summary_lines(table):
    groups = {'fp32': lambda c: '.int8' not in c, 'int8, unsigned activations': lambda c: '.int8' in c and '(s8)' not in c,
              'int8, signed activations': lambda c: '(s8)' in c}
    for kind, wanted in groups.items():
        pairs = [(rival, 'tenfold') for rival in RIVALS]
        if kind == 'fp32':
            pairs += [(rival, 'tenfold_no_tf32') for rival in RIVALS] + [(rival, 'tenfold_bf16') for rival in BF16]
        for rival, ours in pairs:
            rows = [ratios(runs, rival, ours) for (case, _), runs in table.items() if wanted(case)]
            found = [statistics.median(r) for r in rows if r]
            if found:
                name = {'tenfold': kind, 'tenfold_no_tf32': '--noTF32', 'tenfold_bf16': '--bf16'}[ours]
                mean = math.exp(sum(map(math.log, found)) / len(found))
                yield f'* {name}, geometric mean to {NAMES[rival]}: {mean:.2f} over {len(found)} rows, the least {min(found):.2f}'


def default_title(about):
    flags = about.get('flags', ())
    isa = 'AMX' if 'amx_tile' in flags else 'AVX-512 VNNI' if 'avx512_vnni' in flags else 'AVX-512' if 'avx512f' in flags else 'AVX2'
    return f'{isa} ({about["cpu"]}, {about["cores"]} processors)'


def lines(folder, table, about):
    counts = sorted({len(runs) for runs in table.values()})
    more = f' ({counts[-1]} of rows within 3 % of what is wanted)' if len(counts) > 1 else ''
    yield (f'{about["cpu"]}, {about["cores"]} processors; {datetime.date.today()}; {counts[0]} runs{more}, in each all engines take turns, '
           f'{about["seconds"]} s a row.')
    yield ''
    yield from table_lines(folder, table, 'amx_tile' in about.get('flags', ()))
    yield ''
    yield from summary_lines(table)


README = pathlib.Path(__file__).resolve().parent.parent / 'README.md'
SHORT = ['minilm-l6-s128-b1', 'bert-base-s128-b1', 'resnet50-b1', 'mobilenet_v2-b1', 'vit-b16-b1', 'unet3d-b1', 'minilm-l6.int8-s128-b1',
         'resnet50.int8-b1']


def short_lines(table, about):
    """What README.md shows of it: some models at two threads."""
    yield '| model | ms | speed-up over ONNX Runtime | MB | ONNX Runtime MB |'
    yield '|---|---|---|---|---|'
    for case in SHORT:
        runs = table.get((case, 2))
        if not runs:
            continue
        ratio = statistics.median(ratios(runs, RIVALS[0], 'tenfold'))
        yield (f'| {case} | {median_of(runs, "tenfold", "median_ms"):.2f} | {ratio:.2f} | {median_of(runs, "tenfold", "rss_mb"):.0f} | '
               f'{median_of(runs, RIVALS[0], "rss_mb"):.0f} |')
    yield ''
    yield f'{about["cpu"]}, two threads, {datetime.date.today()}; medians of {min(map(len, table.values()))} interleaved runs or more.'


def replace_in_readme(table, about):
    if not README.exists():   # a bundle without it
        return
    start, end = '<!-- from tools/performance_table.py -->\n', '<!-- end -->'
    text = README.read_text()
    before, rest = text.split(start)
    README.write_text(before + start + '\n'.join(short_lines(table, about)) + '\n' + rest[rest.index(end):])


def replace_section(text, title, body):
    """The text with the section `## title` replaced, or appended."""
    parts = re.split(r'(?m)^(?=## )', text)
    section = f'## {title}\n\n{body}\n'
    kept = [section if p.startswith(f'## {title}\n') else p for p in parts]
    if section not in kept:
        kept.append(section)
    return '\n\n'.join(p.strip('\n') for p in kept if p.strip()) + '\n'


if __name__ == '__main__':
    if len(sys.argv) == 3 and sys.argv[1] == '--near':
        print(*sorted({case for case, _ in rows_near(*read_runs(sys.argv[2]))}), sep=',')
        sys.exit()
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    table, about = read_runs(sys.argv[1])
    title = sys.argv[3] if len(sys.argv) == 4 else default_title(about)
    before = open(sys.argv[2]).read() if os.path.exists(sys.argv[2]) else '# Performance\n'
    text = replace_section(before, title, '\n'.join(lines(sys.argv[1], table, about)))
    with open(sys.argv[2], 'w') as f:
        f.write(text)
    replace_in_readme(table, about)
