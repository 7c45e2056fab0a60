#!/usr/bin/env python3
"""Writes docs/performance.md from the rows of a comparison: performance_table.py ROWS.json OUT.md"""
import datetime
import json
import math
import sys


def by_row(rows):
    table = {}
    for r in rows:
        table.setdefault((r['case'], r['threads']), {})[r['peer']] = r
    return {key: peers for key, peers in table.items() if 'tenfold' in peers}


def ratio(peers, name):
    return peers[name]['median_ms'] / peers['tenfold']['median_ms'] if name in peers else None


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def cell(value, form):
    return '-' if value is None else format(value, form)


def lines(data):
    table, rivals = by_row(data['rows']), ('onnxruntime', 'openvino')
    yield '# Performance'
    yield ''
    yield f'{data["cpu"]}, {data["cores"]} processors; {datetime.date.today()}; {data["rounds"]} interleaved rounds, {data["seconds"]} s a row.'
    yield 'A ratio is the other engine\'s median time by ours: above 1 we are faster. Made by `script/bench`.'
    yield ''
    yield '| model | threads | ms | p99 ms | to ONNX Runtime | to OpenVINO | MB | ONNX Runtime MB | output |'
    yield '|---|---|---|---|---|---|---|---|---|'
    for (case, threads), peers in table.items():
        ours, rival = peers['tenfold'], peers.get('onnxruntime', {})
        agrees = {True: 'agrees', False: '**differs**', None: 'not compared'}[ours.get('agrees')]
        yield f'| {case} | {threads} | {ours["median_ms"]:.3f} | {ours["p99_ms"]:.3f} | ' + \
            ' | '.join(cell(ratio(peers, name), '.2f') for name in rivals) + \
            f' | {ours["rss_mb"]:.0f} | {cell(rival.get("rss_mb"), ".0f")} | {agrees} |'
    yield ''
    for kind, wanted in (('fp32', False), ('int8', True)):
        chosen = [p for (case, _), p in table.items() if ('.int8' in case) == wanted]
        for name in rivals:
            ratios = [r for r in (ratio(p, name) for p in chosen) if r]
            if ratios:
                yield f'* {kind}, geometric mean to {name}: {mean(ratios):.2f} over {len(ratios)} rows, the least {min(ratios):.2f}'


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as f:
        text = '\n'.join(lines(json.load(f)))
    with open(sys.argv[2], 'w') as f:
        f.write(text + '\n')
