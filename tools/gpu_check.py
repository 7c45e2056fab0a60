#!/usr/bin/env python3
"""Checks Tenfold on a GPU: operator cases, model outputs against ONNX Runtime on the CPU, times beside torch.compile.

    run OUT --all                  every row and figure of docs/reference/performance-gpu.md: the commands below, each ten minutes at most
    run OUT --command tests        one of them (--commands lists them): repeatable alone, in any order, on any day
    run OUT [--rows mlp256:1,resnet50:32,...] [--modes fp16,fp32] [--native] [--memory] [--peers] [--no-sweep] [--no-tests] [--no-rows]
            [--figures all|embed,serve,decoder,decoder-int4,sentences,fp8,narrow-images,narrow-text,unpadded,latency,host,builds]
            [--kernels] [--masks] [--most-tuned]
            [--sharp] [--suite] [--minute]
            [--seconds 1] [--exec 'more flags'] [--sanitize memcheck,racecheck,initcheck [--sanitize-shares 1-4]]

Keeps what it measures in OUT as JSON (rows, results of torch.compile, masked, most_tuned, promises, figures, kernels), each record with its
date, device and commit; what earlier commands left there stays. The page is written from these alone: gpu_table.py. Part of the bundle
that script/gpu-check makes.
"""
import argparse, json, os, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

import gpu_cli, gpu_figures, gpu_kernels, gpu_promises, gpu_rows, gpu_sharp, gpu_table
from gpu_commands import COMMANDS
from gpu_common import HERE, TENFOLD, keep, kept, shell, truth


def run_all(out, names):
    """Each command in a process of its own, ended after ten minutes; True if all end well."""
    verdicts = []
    for name in names:
        start = time.time()
        try:
            code = subprocess.run([sys.executable, os.path.abspath(__file__), out, '--command', name], timeout=600).returncode
        except subprocess.TimeoutExpired:
            code = 'more than ten minutes'
        print(f'{name}: {"passed" if code == 0 else f"FAILED, {code}"}, {time.time() - start:.0f} s', flush=True)
        verdicts.append(code == 0)
    return all(verdicts)


def range_of(text):
    return list(range(int(text.split('-')[0]), int(text.split('-')[-1]) + 1))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('out')
    p.add_argument('--rows', default='mlp256:1,resnet50:1,minilm-l6:1,bert-base:1')
    p.add_argument('--modes', default='fp16')
    p.add_argument('--peers', action='store_true')
    p.add_argument('--peer-seconds', type=int, default=240)
    p.add_argument('--no-sweep', action='store_true')
    p.add_argument('--no-tests', action='store_true')
    p.add_argument('--no-rows', action='store_true', help='no models: only the tests asked for')
    p.add_argument('--native', action='store_true', help='time each row with our own kernels alone, too')
    p.add_argument('--memory', action='store_true', help="measure each row's GPU memory beyond weights and arena")
    p.add_argument('--kernels', action='store_true', help='what ncu reads of the main kernels of rows that miss their aim')
    p.add_argument('--cli', action='store_true', help='lists of devices, flags, exported times and NVTX ranges')
    p.add_argument('--figures', metavar='PARTS', type=lambda text: text.split(','), default=[],
                   help='all, or some of ' + ','.join(gpu_figures.PARTS))
    p.add_argument('--all', action='store_true', help='all of --commands')
    p.add_argument('--command', choices=COMMANDS)
    p.add_argument('--commands', action='store_true', help='lists them')
    p.add_argument('--only-peers', action='store_true', help='of --rows only torch.compile')
    p.add_argument('--only-kernels', action='store_true', help='of --rows only what ncu reads')
    p.add_argument('--masks', nargs='?', const=gpu_rows.MASKED, type=lambda text: text.split(','), default=[],
                   help='sentences of mixed lengths, padded, beside masks that are all ones, for these rows')
    p.add_argument('--most-tuned', nargs='?', const=gpu_rows.MOST_TUNED, type=lambda text: text.split(','),
                   help="torch.compile's max-autotune for these rows")
    p.add_argument('--sharp', action='store_true', help='networks of sharp weights in f32 beside f64')
    p.add_argument('--suite', action='store_true', help='the ONNX suite')
    p.add_argument('--detection', action='store_true', help='a detection network under initcheck')
    p.add_argument('--minute', action='store_true', help='eight threads for a minute')
    p.add_argument('--sanitize-shares', type=range_of, help='of --shares only these, 1-4, so that several short calls do it all')
    p.add_argument('--limit', type=int, default=200, help='seconds for each share under a sanitizer')
    p.add_argument('--sanitize', metavar='TOOLS', type=lambda text: text.split(','), default=[],
                   help='run the operator cases under these tools of compute-sanitizer: memcheck,racecheck,initcheck')
    p.add_argument('--shares', type=int, default=16, help='processes that share long tests')
    p.add_argument('--seconds', type=float, default=1)
    p.add_argument('--exec', type=str.split, default=[])
    a = p.parse_args()
    if a.command:
        a = p.parse_args([a.out, *COMMANDS[a.command]])
    if a.only_peers or a.only_kernels:
        a.no_sweep = a.no_tests = True
        a.kernels, a.peers = a.kernels or a.only_kernels, a.peers or a.only_peers
    if a.figures == ['all']:
        a.figures = list(gpu_figures.PARTS)
    if unknown := [part for part in a.figures if part not in gpu_figures.PARTS]:
        p.error(f'--figures: {", ".join(unknown)}: not one of all, {", ".join(gpu_figures.PARTS)}')
    return a


def check_rows(a, wanted_rows, making):
    """Measures the rows; True if all are right."""
    rows, right = kept(a, 'rows.json', []), True
    for name, batch in wanted_rows:
        if name in making and making[name].result()[0] != 0:
            print(f'{name} could not be made:', making[name].result()[1][-500:])
            right = False
            continue
        values = gpu_rows.feeds(name, batch)
        expected = truth(os.path.join(a.models, name + '.onnx'), values)
        for mode in a.modes.split(','):
            row = gpu_rows.check_row(a, name, batch, mode, expected, values)
            right = gpu_rows.good(row) and right
            rows = [r for r in rows if (r['model'], r['batch'], r['mode']) != (name, batch, mode)] + [row]
            print('ok ' if gpu_rows.good(row) else 'BAD', json.dumps(row), flush=True)
            keep(a, 'rows.json', rows)
    return right


def main():
    if '--commands' in sys.argv:
        print('\n'.join(f"{name}: {' '.join(words)}" for name, words in COMMANDS.items()))
        return 0
    a = arguments()
    os.makedirs(a.out, exist_ok=True)
    if a.all:
        return 0 if run_all(a.out, COMMANDS) else 1
    a.models = os.environ.get('TENFOLD_MODELS', '/tmp/tenfold_models')
    os.makedirs(a.models, exist_ok=True)
    wanted_rows = [(r.split(':')[0], int(r.split(':')[1])) for r in a.rows.split(',')] if not a.no_rows else []
    read_rows = [row for row in gpu_kernels.AIMS if a.kernels and row in wanted_rows]
    names = dict.fromkeys(([] if a.only_peers else [n for n, _ in wanted_rows]) +
                          [n for part in a.figures for n in gpu_figures.MODELS[part]] + (['mlp256', 'smallcnn'] if a.cli else []) +
                          ([row.split(':')[0] for row in a.masks]))
    found = shell([TENFOLD, 'devices'], os.path.join(a.out, 'devices.log'))[1]
    print(found, flush=True)
    if 'cuda:0' not in found:
        sys.exit('there is no GPU here')   # tests would only be skipped
    verdicts = []
    with ThreadPoolExecutor(8) as pool:   # models are made on the CPU while the GPU runs the cases
        script = [sys.executable, os.path.join(HERE, 'make_models.py'), a.models, '--only']
        making = {n: pool.submit(shell, [*script, n], os.path.join(a.out, f'make-{n}.log'))
                  for n in names if not os.path.exists(os.path.join(a.models, n + '.onnx'))}
        if not a.no_sweep:
            verdicts.append(gpu_promises.sweep(a))
        if not a.no_tests:
            verdicts.append(gpu_promises.together(a))
            verdicts.append(gpu_promises.alone(a))
        for tool in a.sanitize:
            verdicts.append(gpu_promises.sanitize(a, tool))
        if a.detection:
            verdicts.append(gpu_promises.detection(a))
        if a.sharp:
            verdicts.append(gpu_sharp.check(a))
        if a.suite:
            verdicts.append(gpu_promises.suite(a))
        if a.cli or a.figures or read_rows or a.masks:
            for one in making.values():   # nothing runs beside what is timed
                one.result()
        if a.cli:
            verdicts.append(gpu_cli.check(a))
        if not (a.only_peers or a.only_kernels):
            verdicts.append(check_rows(a, wanted_rows, making))
        if a.figures:
            verdicts.append(gpu_figures.measure(a, a.figures, lambda name: os.path.join(a.models, name + '.onnx')))
    gpu_kernels.measure(a, read_rows)
    if a.masks:
        gpu_rows.masked(a, a.masks)
    if a.most_tuned:
        gpu_rows.most_tuned(a)
    if a.peers and wanted_rows:
        gpu_rows.peers(a, wanted_rows)
    print(gpu_table.page(a.out))
    return 0 if all(verdicts) else 1


if __name__ == '__main__':
    sys.exit(main())
