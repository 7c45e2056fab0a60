"""Rows as text and as JSON."""
from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import onnxruntime

import tenfold
from tenfold.beside_onnxruntime._nodes import Node, Skipped
from tenfold.beside_onnxruntime._options import Options
from tenfold.beside_onnxruntime._times import Times


MOST_ROWS = 30   # of a model, those first that lose most


@dataclass
class Report:
    path: str
    whole: Times | None = None
    problem: str = ''
    nodes: list[tuple[Node, Times]] = field(default_factory=list)
    failed: list[tuple[Node, str]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def lost_us(row: tuple[Node, Times]) -> float:
    node, times = row
    return node.count * (times.ours_us - times.theirs_us)


def mean_ratio(rows: list[tuple[Node, Times]]) -> float:
    return math.exp(sum(math.log(t.theirs_us / t.ours_us) for _, t in rows) / len(rows))


def print_report(report: Report, options: Options | None) -> None:
    """`options`: in front of the first report, what is compared."""
    if options:
        print_head(options)
    print(report.path)
    if report.problem:
        print('  ' + report.problem)
    if report.whole:
        t = report.whole
        print(f'  whole: {t.ours_us / 1e3:.4f} ms, ONNX Runtime {t.theirs_us / 1e3:.4f} ms: {t.theirs_us / t.ours_us:.2f} times as fast; '
              f'largest difference {t.difference:.2g} of the largest value')
    if report.nodes:
        print_nodes(report)
    for node, why in report.failed:
        print(f'  not compared: {node.operator} {node.name}: {why}')
    reasons: dict[str, int] = {}
    for one in report.skipped:
        reasons[one.reason] = reasons.get(one.reason, 0) + 1
    for reason, count in reasons.items():
        print(f'  {count} node{"s" * (count > 1)} left out: {reason}')


def print_nodes(report: Report) -> None:
    rows = sorted(report.nodes, key=lost_us, reverse=True)
    print(f'  {"us":>10} {"ONNX Rt us":>10} {"ratio":>6} {"nodes":>5}  {"difference":>10}  operator, first node, inputs: kernel')
    for node, t in rows[:MOST_ROWS]:
        print(f'  {t.ours_us:10.1f} {t.theirs_us:10.1f} {t.theirs_us / t.ours_us:6.2f} {node.count:5}  {t.difference:10.2g}  '
              f'{node.operator}, {node.name}, {node.shapes}: {t.kernels}')
    if len(rows) > MOST_ROWS:
        print(f'  {len(rows) - MOST_ROWS} more rows; --json has them')
    slower = sum(t.ours_us > t.theirs_us for _, t in rows)
    print(f'  {len(rows)} distinct nodes, each alone, so without fusion: geometric mean {mean_ratio(rows):.2f} times as fast; '
          f'{slower} slower than ONNX Runtime')


def times_json(times: Times) -> dict[str, Any]:
    return {'us': times.ours_us, 'onnxruntimeUs': times.theirs_us, 'ratio': times.theirs_us / times.ours_us,
            'difference': times.difference if math.isfinite(times.difference) else None, 'kernels': times.kernels}


def print_json(reports: list[Report], options: Options) -> None:
    models = []
    for r in reports:
        nodes = [{'name': n.name, 'operator': n.operator, 'inputs': n.shapes, 'count': n.count, **times_json(t)}
                 for n, t in sorted(r.nodes, key=lost_us, reverse=True)]
        models.append({
            'path': r.path, 'problem': r.problem or None, 'whole': times_json(r.whole) if r.whole else None, 'nodes': nodes,
            'notCompared': [{'name': n.name, 'operator': n.operator, 'reason': why} for n, why in r.failed]
            + [{'name': s.name, 'operator': s.operator, 'reason': s.reason} for s in r.skipped]})
    print(json.dumps({'tenfold': tenfold.__version__, 'onnxruntime': onnxruntime.__version__, 'threads': options.threads,
                      'models': models}))


def print_head(options: Options) -> None:
    precision = 'float32' if options.build.get('tf32') is False else 'float32, whose products may be rounded to bfloat16 (--noTF32: not)'
    print(f'Tenfold {tenfold.__version__} ({precision}) beside ONNX Runtime {onnxruntime.__version__} (float32), {options.threads} '
          f'thread{"s" * (options.threads > 1)} each; medians of slices in turns; ratio: above 1 Tenfold is faster')
