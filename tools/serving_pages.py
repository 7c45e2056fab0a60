#!/usr/bin/env python3
"""docs/reference/serving-verdicts.md and performance-serving.md, from what script/serve-check and script/bench --serve kept.

    serving_pages.py                          writes both from docs/serving-results
    serving_pages.py --take FIGURES.json      first takes over rows that bench/serve_figures.py wrote
    serving_pages.py --check                  whether both are what those files say
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / 'docs' / 'serving-results'
VERDICTS = '''# Checks of the server under load

`script/serve-check` runs these for as long as it takes to tell, on a machine of its own, and writes this page from
[what it kept](../serving-results). CI runs a short form of each. A verdict names the load average before it began:
where that is above 1, others used the machine, and times are theirs as well.

| check | asks | verdict | what it saw | measured |
|---|---|---|---|---|
'''
# What each asks, in the order of the page.
CHECKS = {
    'mixing': '10^6 tagged requests of random shapes, priorities and timeouts over HTTP and gRPC: each answer is that of its solo run',
    'overload': '4 times as many requests as the server can answer for 120 s, by the clock: p99 of those admitted at most twice that at '
                '90 %, 95 % of capacity answered, refusals in 10 ms at p99, as before after 2 s',
    'drops': '100,000 requests, half dropped at random points: 99.9 % of those that waited never run, counters exact',
    'timeouts': 'requests whose timeout passes while the model is busy: refused 1 ms after it in the median, 5 ms at p99',
    'stop': '200 times SIGTERM with 1,000 requests in flight: none lost',
    'growth': '20 minutes, 10^6 requests: no growth of memory, descriptors, threads',
    'network': '10,000 connections, slow clients, floods, exhausted descriptors: nobody hangs, 500 MB',
    'supervisor': 'workers that crash or are replaced under load: no request that was not accepted by the crashed one fails',
    'loads': 'builds killed at 200 moments, full disks: the next start is right',
    'reload': '1,000 reloads under load: no request fails; with five a second p99 is at most 1.5 times that without',
    'h2load': 'nghttp2\'s h2load: 600,000 requests on many streams, processes killed with theirs open: none fails, counters exact',
    'kserve': "KServe's clients for REST and gRPC, as they come",
    'schemathesis': 'schemathesis on the OpenAPI file of the server, as it comes',
}
FIGURES = '''# Performance of the server

`script/bench --serve` measures these and writes this page from [what it kept](../serving-results). A figure is CPU
time of all processes of the server, user and system, divided by the requests: it does not depend on who else uses the
machine as rates and latencies do. All servers of a row are up at the same time and take turns under the same load
(`bench/serve_load`, one thread, answers checked); figures are medians over the turns, ratios are of one turn, with
the lowest and highest in brackets. Triton is 2.51. With `libtriton_tenfold.so` it has the same engine, precision and
threads as ours, so that the rest is the server's.
'''
SIDES = {'tenfold': 'tenfold serve', 'triton': 'Triton, libtriton_tenfold.so', 'python': 'Triton, ONNX Runtime in Python'}
PRODUCT_SIDES = {'tenfold': 'tenfold serve', 'fastapi': 'FastAPI, tokenizers, ONNX Runtime', 'infinity': 'infinity-emb, optimum',
                 'python': SIDES['python'], 'exec': 'tenfold exec, without a server'}
LATER = {'MiniLM, a sentence a request': '`script/bench --serve --only minilm`',
         'MiniLM in int8, the others in fp32': '`script/bench --serve --only minilm`',
         'ResNet-50, 600 kB by shared memory': '`script/bench --serve --only resnet --models FOLDER`'}


def load(name):
    path = KEPT / name
    return json.loads(path.read_text()) if path.exists() else None


def measured(*rows):
    loads = sorted(row['load_before'] for row in rows)
    load = f'{loads[0]}' if loads[0] == loads[-1] else f'{loads[0]} to {loads[-1]}'
    return f"{rows[0]['date']}, {rows[0]['machine']}, commit {rows[0]['commit']}, load average before {load}"


def verdicts():
    kept = load('verdicts.json') or {}
    lines = []
    for name, asks in CHECKS.items():
        v = kept.get(name)
        said = ('not run', '', '') if not v else ('passed' if v['good'] else 'FAILED', f"{v['said']} ({v['seconds']} s)", measured(v))
        lines.append(f'| {name} | {asks} | ' + ' | '.join(text.replace('|', '/') for text in said) + ' |\n')
    return VERDICTS + ''.join(lines)


def compared(rows):
    yield '| row | protocol | clients | server | CPU, us a request | ratio | p50, us | p99, us | requests a second |'
    yield '|---|---|---|---|---|---|---|---|---|'
    for row in rows:
        for side, name in SIDES.items():
            if side not in row:
                continue
            ratios = row['ratios'].get(side)
            ratio = f'{sorted(ratios)[len(ratios) // 2]:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})' if ratios else ''
            cpu, rate, p50, p99 = row[side]
            asked = f"{row['row']} | {row['protocol']} | {row['clients']}"
            yield f'| {asked} | {name} | {cpu:.0f} | {ratio} | {p50:.0f} | {p99:.0f} | {rate:.0f} |'


def products(rows):
    yield '| row | clients | server | a second | ours beside it | p50, us | p99, us | CPU, us a request |'
    yield '|---|---|---|---|---|---|---|---|'
    for row in rows:
        for side, name in PRODUCT_SIDES.items():
            if side not in row:
                continue
            rates = row['rates'].get(side)
            times = f'{sorted(rates)[len(rates) // 2]:.2f} times ({rates[0]:.2f} to {rates[-1]:.2f})' if rates else ''
            cpu, rate, p50, p99 = row[side]
            spent = f'{cpu:.0f}' if cpu else ''
            yield f"| {row['row']} | {row['clients']} | {name} | {rate:.1f} | {times} | {p50:.0f} | {p99:.0f} | {spent} |"


def figures():
    rows = load('figures.json') or []
    lines = [FIGURES]
    if compared_rows := [row for row in rows if 'ratios' in row]:
        lines += ['"ratio": ours divided by that server\'s.\n', *compared(compared_rows), '']
        terms = {(row['date'], row['machine'], row['commit']) for row in compared_rows}
        for one in sorted(terms):
            lines.append(f"Measured {measured(*(r for r in compared_rows if (r['date'], r['machine'], r['commit']) == one))}.")
    if product_rows := [row for row in rows if 'rates' in row]:
        lines += ['', 'Products, with all processors; an answer of each server was compared with ONNX Runtime\'s before:', '',
                  *products(product_rows), '', *(f"{row['row']}: measured {measured(row)}." for row in product_rows)]
    for row in rows:
        if row['row'] == 'server alone':
            lines += ['', '| server alone | |', '|---|---|', f"| memory after the start, one small model | {row['memory_mb']:.0f} MB |",
                      f"| after load of 64 clients on each protocol | {row['memory_after_load_mb']:.0f} MB |",
                      f"| CPU of an idle server, of a core | {row['idle_percent_of_a_core']:.2f} % |",
                      f"| start to ready, plan cached | {row['ready_ms']} ms |",
                      f"| a scrape of /metrics | {row['scrape_ms']:.1f} ms |", '',
                      f'Measured {measured(row)}.']
        if row['row'] == 'start to ready, 10 models':
            lines += ['', f"Start to ready with 10 models whose plans are cached: {row['tenfold_ms']} ms"
                      + (f", Triton {row['triton_ms']} ms" if 'triton_ms' in row else '') + f'. Measured {measured(row)}.']
    if later := [f'* {row}: {command}' for row, command in LATER.items() if row not in {one['row'] for one in rows}]:
        lines += ['', '## Not measured yet', '', *later]
    return '\n'.join(lines) + '\n'


PAGES = {ROOT / 'docs' / 'reference' / 'serving-verdicts.md': verdicts, ROOT / 'docs' / 'reference' / 'performance-serving.md': figures}


def main():
    if sys.argv[1:2] == ['--take']:
        new = json.loads(pathlib.Path(sys.argv[2]).read_text())
        key = lambda row: (row['row'], row.get('protocol'), row.get('clients'))
        kept = {key(row): row for row in (load('figures.json') or []) + new}
        (KEPT / 'figures.json').write_text(json.dumps(list(kept.values()), indent=1) + '\n')
    wrong = [path for path, page in PAGES.items() if not path.exists() or path.read_text() != page()]
    if sys.argv[1:] == ['--check']:
        for path in wrong:
            print(f'{path.relative_to(ROOT)} is not what docs/serving-results says: tools/serving_pages.py writes it')
        return 1 if wrong else 0
    for path in wrong:
        path.write_text(PAGES[path]())
    return 0


if __name__ == '__main__':
    sys.exit(main())
