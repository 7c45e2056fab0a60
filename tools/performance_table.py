#!/usr/bin/env python3
"""Writes one machine's section of docs/lab/performance-cpu.md from the runs of script/bench.

    performance_table.py BENCH_FOLDER OUT.md [TITLE]
    performance_table.py --ages PAGE           marks what its commits' code has had since, and nothing else
    performance_table.py --few BENCH_FOLDER    only names the cases that an engine was timed on fewer than ten times: they are run again

A section of the same title is replaced, the others stay. Without a title it names the widest instructions and the CPU. BENCH_FOLDER holds
rows-*.json (one judge's run each; rows-signed-*.json: signed activations), and the plans with their *.facts and *.counts.
"""
import datetime
import os
import pathlib
import re
import statistics
import sys

import age
from performance_rows import (AS_IT_COMES, AUTO, EXACT, NAMES, RIVALS, ROUNDED, commit, few, geometric_mean, import_floor_mb, median_of,
                              plan_bytes, ratios, read_runs, start_ms, there, timed_runs, to_the_better, version)

# Equal terms first: f32 beside f32. Then our default, which rounds, and each engine as it comes; last, where both may take bf16.
PAIRS = [(EXACT, RIVALS[0]), (EXACT, RIVALS[1]), (ROUNDED, RIVALS[0]), (ROUNDED, RIVALS[1]), (ROUNDED, AS_IT_COMES), (AUTO, AS_IT_COMES)]
GROUPS = {'f32': lambda case: '.int8' not in case, 'int8': lambda case: '.int8' in case and '(s8)' not in case,
          'int8, signed activations': lambda case: '(s8)' in case}


def spread(values):
    return f'{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})' if values else '-'


def cell(value, form='.2f'):
    return '-' if value is None else format(value, form)


def error(case, runs, engine):
    """How far an engine's output is from the judge's truth, with the verdict where it is not agreement. f32: the largest difference by the
    largest output; where bf16 may be taken: also the cosine; int8: the cosine to the f32 model."""
    rows = [p[engine] for p in runs if engine in p]
    if not rows:
        return '-'
    if rows[0].get('agrees') is None:
        return 'not compared'
    if '.int8' in case:
        text = f'{min(r["cosine_fp32"] for r in rows):.4f}'
    elif engine in (AUTO, AS_IT_COMES):
        text = f'{max(r["max_rel_diff"] for r in rows):.0e}, cosine {min(r["cosine"] for r in rows):.5f}'
    else:
        text = f'{max(r["max_rel_diff"] for r in rows):.0e}'
    return text if all(r.get('agrees') for r in rows) else f'**DIFFERS** {text}'


def pairs_of(table):
    engines = there(table)
    return [(ours, rival) for ours, rival in PAIRS if ours in engines and rival in engines]


def speed_lines(folder, table, pairs):
    ours = [e for e in (EXACT, ROUNDED, AUTO) if e in there(table)]
    titles = ['model', 'threads', *(f'{NAMES[e]}, ms' for e in ours), *(f'{NAMES[a]} to {NAMES[b]}' for a, b in pairs), 'timed runs']
    yield '| ' + ' | '.join(titles) + ' |'
    yield '|---' * len(titles) + '|'
    for (case, threads), runs in table.items():
        cells = [case, str(threads), *(cell(median_of(runs, e, 'median_ms'), '.3f') for e in ours),
                 *(spread(ratios(runs, b, a)) for a, b in pairs), str(timed_runs(folder, case, threads, runs))]
        yield '| ' + ' | '.join(cells) + ' |'


def cost_lines(folder, table, floors):
    engines = [e for e in (EXACT, ROUNDED, AUTO, *RIVALS[1:], AS_IT_COMES) if e in there(table)]
    rivals = [r for r in RIVALS if r in there(table)]
    mine = ROUNDED if ROUNDED in there(table) else EXACT
    titles = ['model', 'threads', *(f'{NAMES[e]}: error' for e in engines), 'MB', 'weights + arena, MB',
              *(f'{NAMES[r]} MB' for r in rivals),
              'start, ms', *(f'{NAMES[r]} start, ms' for r in rivals)]
    yield '| ' + ' | '.join(titles) + ' |'
    yield '|---' * len(titles) + '|'
    for (case, threads), runs in table.items():
        planned = plan_bytes(folder, case, threads)
        cells = [case, str(threads), *(error(case, runs, e) for e in engines), cell(median_of(runs, mine, 'rss_mb'), '.0f'),
                 cell(planned and planned / 1e6, '.0f'), *(over_floor(runs, r, floors) for r in rivals),
                 cell(start_ms(runs, mine), '.0f'), *(cell(start_ms(runs, r), '.0f') for r in rivals)]
        yield '| ' + ' | '.join(cells) + ' |'


def over_floor(runs, peer, floors):
    mb = median_of(runs, peer, 'rss_mb')
    return '-' if mb is None else f'{mb - (floors.get(peer) or 0):.0f}'


def summary_lines(table):
    for kind, of_kind in GROUPS.items():
        rows = [runs for (case, _), runs in table.items() if of_kind(case)]
        for ours, rivals in ((EXACT, RIVALS), (ROUNDED, RIVALS), (ROUNDED, (AS_IT_COMES,)), (AUTO, (AS_IT_COMES,))):
            found = [statistics.median(r) for r in (to_the_better(runs, ours, rivals) for runs in rows) if r]
            if found and (kind == 'f32' or ours == ROUNDED and rivals == RIVALS):
                name = 'the better peer' if len(rivals) > 1 else NAMES[rivals[0]]
                behind = sum(v < 1 for v in found)
                yield (f'* {kind}, {NAMES[ours]} to {name}: geometric mean {geometric_mean(found):.2f} over {len(found)} rows, the least '
                       f'{min(found):.2f}; {behind} below 1')


def default_title(about):
    flags = about.get('flags', ())
    isa = 'AMX' if 'amx_tile' in flags else 'AVX-512 VNNI' if 'avx512_vnni' in flags else 'AVX-512' if 'avx512f' in flags else 'AVX2'
    return f'{isa} ({about["cpu"]}, {about["cores"]} processors)'


def with_ages(text):
    """"Tenfold COMMIT" of each section, with what the CPU's code has had since."""
    return re.sub(r'Tenfold ([0-9a-f]{7,40})\b', lambda m: m[0] + age.mark(m[1], age.CPU), age.without_marks(text))


def terms(table, about):
    """Who was measured, how often, on what."""
    versions = ', '.join(f'{NAMES[r]} {version(table, r)}' for r in RIVALS if version(table, r))
    counts = sorted({len(runs) for runs in table.values()})
    return (f'{about["cpu"]}, {about["cores"]} processors; {datetime.date.today()}; Tenfold {commit()}, {versions}; {counts[0]}'
            + (f' to {counts[-1]}' if len(counts) > 1 else '') + ' runs in which all engines take turns')


def lines(folder, table, about, floors):
    taken = ', '.join(f'{mb:.0f} MB of {NAMES[peer]}\'s' for peer, mb in floors.items() if mb)
    yield terms(table, about) + '.'
    yield ''
    yield from speed_lines(folder, table, pairs_of(table))
    yield ''
    yield from summary_lines(table)
    yield ''
    yield (f'Taken off the peers\' memory: an interpreter that has imported NumPy and the engine ({taken or "not measured"}); off their '
           'start: the same imports. Ours is a C++ program that loads a plan.')
    yield ''
    yield from cost_lines(folder, table, floors)


def middle(values):
    return statistics.median(values) if values else None


def replace_section(text, title, body):
    """The text with the section `## title` replaced, or appended."""
    parts = re.split(r'(?m)^(?=## )', text)
    section = f'## {title}\n\n{body}\n'
    kept = [section if p.startswith(f'## {title}\n') else p for p in parts]
    if section not in kept:
        kept.append(section)
    return '\n\n'.join(p.strip('\n') for p in kept if p.strip()) + '\n'


if __name__ == '__main__':
    if len(sys.argv) == 3 and sys.argv[1] == '--few':
        print(*sorted({case for case, _ in few(sys.argv[2], read_runs(sys.argv[2])[0])}), sep=',')
        sys.exit()
    if len(sys.argv) == 3 and sys.argv[1] == '--ages':
        page = pathlib.Path(sys.argv[2])
        page.write_text(with_ages(page.read_text()))
        sys.exit()
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    table, about = read_runs(sys.argv[1])
    title = sys.argv[3] if len(sys.argv) == 4 else default_title(about)
    floors = {peer: import_floor_mb(peer) for peer in RIVALS}
    before = open(sys.argv[2]).read() if os.path.exists(sys.argv[2]) else '# Performance\n'
    text = replace_section(before, title, '\n'.join(lines(sys.argv[1], table, about, floors)))
    with open(sys.argv[2], 'w') as f:
        f.write(with_ages(text))
