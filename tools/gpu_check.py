#!/usr/bin/env python3
"""Checks Tenfold on a GPU: operator cases, model outputs against ONNX Runtime on the CPU, times beside torch.compile.

    run OUT [--rows mlp256:1,resnet50:32,...] [--modes fp16,fp32] [--native] [--memory] [--peers] [--no-sweep] [--no-tests]
            [--figures all|unpadded,fp8,latency,builds] [--minute] [--sanitize memcheck,racecheck,initcheck [--sanitize-shares 1-4]]
            [--seconds 2] [--exec 'more flags']
    run OUT --all      every row, and all of the above but the sanitizers

Writes OUT/rows.json, OUT/promises.json, OUT/figures.json, OUT/performance-gpu.md and logs; what is there already is kept, so that
several calls with parts of the work fill one table. Part of the bundle that script/gpu-check makes.
"""
import argparse, json, os, re, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import gpu_figures

HERE = os.path.dirname(os.path.abspath(__file__))
SEQUENCE = 128
PEER = {'minilm-l6': 'minilm-l6-s128', 'bert-base': 'bert-base-s128', 'resnet50': 'resnet50', 'mlp256': 'mlp256',
        'smallcnn': 'smallcnn32', 'unet3d': 'unet3d-64', 'vit-b16': 'vit-b16'}
# Rows with what is wanted of them: times as fast as torch.compile in fp16.
ROWS = {'minilm-l6:1': 1.7, 'minilm-l6:32': 1.6, 'minilm-l6:128': 1.5, 'bert-base:1': 1.6, 'bert-base:32': 1.3, 'bert-base:128': 1.3,
        'resnet50:1': 1.6, 'resnet50:32': 1.6, 'resnet50:128': 1.65, 'vit-b16:1': 1.45, 'vit-b16:32': 1.5,
        'unet3d:1': 1.45, 'unet3d:4': 1.5, 'smallcnn:1': 4, 'smallcnn:32': 3, 'mlp256:1': 12}
LEAST = {'fp32': 0.9999, 'fp16': 0.999, 'bf16': 0.999}   # cosine of outputs with ONNX Runtime's


def shell(command, log, limit=300, env=None):
    start = time.time()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=env)
        text, code = done.stderr + done.stdout, done.returncode   # the result is the last line of stdout
    except subprocess.TimeoutExpired as e:
        text, code = f'{e.stdout or b""}\n{e.stderr or b""}\ntimed out', 124
    with open(log, 'w') as f:
        f.write(' '.join(command) + '\n' + text)
    return code, text, time.time() - start


def cosine(a, b):
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-30))


def feeds(name, batch):
    sys.path.insert(0, HERE)
    import make_models
    return make_models.inputs(name, batch=batch, seq=SEQUENCE)


def truth(model, values):
    import onnxruntime as ort
    session = ort.InferenceSession(model, providers=['CPUExecutionProvider'])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, values)))


def check_row(a, name, batch, mode, wanted, values):
    start = time.time()
    row = measured(a, name, batch, mode, wanted, values, f'{name}-b{batch}-{mode}', [])
    if a.native and row['code'] == 0:   # our own kernels alone
        alone = measured(a, name, batch, mode, wanted, values, f'{name}-b{batch}-{mode}-native', ['--tacticSources=-cublas_lt,-cudnn'])
        row['native_ms'], row['native_cosine'] = alone.get('event_ms'), alone.get('cosine')
        row['native_error'] = alone.get('error')
    if a.memory and row['code'] == 0:
        row.update(memory(a, f'{name}-b{batch}-{mode}', sum(v.nbytes for v in [*values.values(), *wanted.values()])))
    row['took_s'] = round(time.time() - start, 1)
    return row


def memory(a, tag, bindings):
    """MB of the GPU's memory beyond weights, arena and the context's copies of inputs and outputs: with libraries and their workspaces, and
    with our own kernels alone. Nobody else may use the GPU meanwhile."""
    found = {}
    for key, plan in (('beyond_mb', tag), ('beyond_native_mb', tag + '-native')):
        path = os.path.join(a.models, plan + '.plan')
        if not os.path.exists(path):
            continue
        shapes = open(path + '.shapes').read()
        code, text, _ = shell([os.path.join(HERE, 'tenfold'), 'exec', f'--loadEngine={path}', '--device=cuda:0', f'--shapes={shapes}',
                               '--monitorMemory', '--json', '--duration=0', '--iterations=3', '--warmUp=0'],
                              os.path.join(a.out, plan + '-memory.log'))
        if code == 0:
            said = json.loads(text.strip().splitlines()[-1])
            found[key] = round((said['device_bytes'] - said['weight_bytes'] - said['arena_bytes'] - bindings) / 1e6, 1)
    return found


def measured(a, name, batch, mode, wanted, values, tag, more):
    model = os.path.join(a.models, name + '.onnx')
    files = []
    for key, value in values.items():
        path = os.path.join(a.models, f'{name}-b{batch}-{key}.npy')
        np.save(path, value)
        files.append(f'{key}:{path}')
    out = os.path.join(a.models, tag + '.npz')
    shapes = ','.join(f"{k}:{'x'.join(map(str, v.shape))}" for k, v in values.items())
    flags = {'fp16': ['--fp16'], 'bf16': ['--bf16'], 'fp32': ['--noTF32'], 'tf32': []}[mode]
    command = [os.path.join(HERE, 'tenfold'), 'exec', f'--onnx={model}', '--device=cuda:0', f'--shapes={shapes}',
               f"--loadInputs={','.join(files)}",
               f'--exportOutput={out}', f'--duration={a.seconds}', '--json', '--dumpLayerInfo', '--dumpProfile',
               f'--exportTimes={a.models}/times.json',
               f'--timingCacheFile={a.out}/timing.cache', *flags, *more, *a.exec]
    if a.memory:
        plan = os.path.join(a.models, tag + '.plan')
        command.append(f'--saveEngine={plan}')
        with open(plan + '.shapes', 'w') as f:
            f.write(shapes)
    code, text, seconds = shell(command, os.path.join(a.out, tag + '.log'))
    row = dict(model=name, batch=batch, mode=mode, code=code, wall_s=round(seconds, 1))
    if code != 0:
        row['error'] = text.strip().splitlines()[-1][:300] if text.strip() else 'no output'
        return row
    result = json.loads(text.strip().splitlines()[-1])
    row.update(event_ms=result['gpu_compute_ms'], host_ms=result['median_ms'], p99_ms=result['p99_ms'], build_s=result['build_s'])
    row['host_steps'] = len(re.findall(r', operands and results copied|, before the GPU begins|, the host (?:decides|counts)', text))
    got = np.load(out)
    row['cosine'] = min(cosine(got[k], v) for k, v in wanted.items())
    row['finite'] = all(bool(np.isfinite(got[k]).all()) for k in wanted)
    row['largest_error'] = max(float(np.abs(got[k].astype(np.float64) - v).max()) for k, v in wanted.items())
    return row


def peers(a, rows):
    names = ','.join(dict.fromkeys(PEER[name] for name, _ in rows))
    os.environ['OUT'] = a.out
    command = [sys.executable, os.path.join(HERE, 'gpu_peers.py'), str(a.peer_seconds), 'compile16', names]
    shell(command, os.path.join(a.out, 'peers.log'), a.peer_seconds + 120)
    path = os.path.join(a.out, 'results.json')
    return {(r['model'], r['batch']): r['event_ms'] for r in json.load(open(path))} if os.path.exists(path) else {}


def remember(a, what, good, took, detail=''):
    """One line of the table of promises."""
    path = os.path.join(a.out, 'promises.json')
    all_of_them = json.load(open(path)) if os.path.exists(path) else {}
    all_of_them[what] = dict(good=good, took_s=round(took, 1), detail=detail)
    json.dump(all_of_them, open(path, 'w'), indent=1)


def in_shares(tag, command, shares, variable, limit, log, only=None):
    """Runs `command` as `shares` processes (or `only` some of them), each told its share by an environment variable or by {share} in its
    words: True if all pass."""
    def one(k):
        env = dict(os.environ, **({variable: f'{k}/{shares}'} if variable else {}))
        words = [word.replace('{share}', f'{k}/{shares}') for word in command]
        return shell(words, os.path.join(log, f'{tag}-{k}.log'), limit, env)
    which = only or list(range(1, shares + 1))
    with ThreadPoolExecutor(len(which)) as pool:
        results = list(pool.map(one, which))
    bad = [(k, code, text) for k, (code, text, _) in zip(which, results) if code]
    verdict = f'{len(bad)} of {len(which)} shares failed' if bad else 'passed'
    print(f'{tag}: {verdict}, {max(s for _, _, s in results):.0f} s', flush=True)
    for k, code, text in bad:
        print(f'  share {k}: exit {code}\n' + '\n'.join('    ' + line[:200] for line in text.splitlines()[-25:]))
    return not bad


def sanitize(a, tool):
    """The operator cases under one tool of compute-sanitizer: False if it finds something."""
    from glob import glob
    from shutil import which
    found = which('compute-sanitizer') or next(iter(sorted(glob('/usr/local/cuda*/bin/compute-sanitizer'), reverse=True)), None)
    if not found:
        print('compute-sanitizer is not here: memory was not checked')
        return True
    start = time.time()
    os.environ['TENFOLD_TACTICS'] = 'native'   # racecheck reports cuBLASLt's own kernels, too
    if tool == 'racecheck':   # it does not see that __syncwarp orders a warp before the one lane that arrives for it
        os.environ['TENFOLD_EVERY_LANE_ARRIVES'] = '1'
    which = a.sanitize_shares or list(range(1, a.shares + 1))
    good = in_shares(tool, [found, f'--tool={tool}', '--error-exitcode=9', '--print-limit=20', os.path.join(HERE, 'backends_test'),
                            '--gtest_filter=Backends/Conformance.EveryCase*/cuda'], a.shares, 'TENFOLD_CASES', a.limit, a.out, which)
    del os.environ['TENFOLD_TACTICS']
    os.environ.pop('TENFOLD_EVERY_LANE_ARRIVES', None)
    remember(a, f'compute-sanitizer {tool}, operator cases through our own tactics, shares {which[0]} to {which[-1]} of {a.shares}', good,
             time.time() - start)
    return good


def minute(a):
    """Eight threads with eight contexts for a minute; 1,000 contexts made, run and destroyed: right answers, and memory where it was."""
    os.environ['TENFOLD_SECONDS'] = '60'
    good = True
    for test, what in (('Gpu.EightContextsOnEightThreads', 'eight threads with eight contexts for a minute'),
                       ('Gpu.CreatingAndDestroyingLeavesMemoryWhereItWas',
                        '1,000 contexts made, run and destroyed: memory is where it was')):
        start = time.time()
        code, text, _ = shell([os.path.join(HERE, 'gpu_test'), f'--gtest_filter={test}'], os.path.join(a.out, test + '.log'), 200)
        runs = re.search(r'(\d+) runs', text)
        remember(a, what, code == 0, time.time() - start, runs.group(0) if runs else '')
        verdict = 'passed' if code == 0 else f'FAILED, exit {code}'
        print(f'{what}: {verdict}', runs.group(0) if runs else '', f'{time.time() - start:.0f} s', flush=True)
        good = good and code == 0
    del os.environ['TENFOLD_SECONDS']
    return good



def tests(a):
    """What is neither speed nor a model: the run time's promises, graphs at random, the ONNX suite under CUDA plans."""
    def part(what, tag, command, shares, limit):
        start = time.time()
        good = in_shares(tag, command, shares, None, limit, a.out)
        remember(a, what, good, time.time() - start)
        return good
    good = part('the run time: callers\' streams and memory, overlap, lack of memory, lost device', 'gpu_test',
                [os.path.join(HERE, 'gpu_test')], 1, 200)
    good = part('packed text: wherever the mask lies, enqueued, bad offsets', 'packed_gpu_test', [os.path.join(HERE, 'packed_gpu_test')], 1,
                60) and good
    os.environ.update(TENFOLD_DEVICE='cuda:0', TENFOLD_GRAPH_SECONDS='45')
    good = part('random graphs against the reference', 'random graphs', [os.path.join(HERE, 'random_graph_test')], 1, 200) and good
    if os.path.isdir(os.path.join(HERE, 'conformance')):
        os.environ['TENFOLD_SHARED'] = HERE
        suite = [os.path.join(HERE, 'optimised_suite'), '--device', 'cuda:0', '--share', '{share}']
        good = part('ONNX suite: what the CPU runs, loops and sizes without a bound included', 'ONNX suite', suite, a.shares, 300) and good
    return good


def figures(a, making):
    """Those of a.figures; True if all are as wanted."""
    for one in making.values():   # nothing runs beside what is timed
        one.result()
    return gpu_figures.measure(a, a.figures, lambda name: os.path.join(a.models, name + '.onnx'))


def cell(row, key, digits):
    return f'{row[key]:.{digits}f}' if row.get(key) is not None else ''


def write_promises(f, a, rows):
    """Our own kernels alone beside all sources; memory; and the tests of what was promised."""
    if any('native_ms' in r or 'beyond_mb' in r for r in rows):
        f.write('\n## Own kernels alone, and memory\n\n'
                'Own kernels: `--tacticSources=-cublas_lt,-cudnn`; at most 1.5 times the time of all sources is wanted. Memory: MB that a '
                'loaded plan and one context take of the GPU beyond weights, arena, inputs and outputs, libraries with their workspaces '
                'included, and with own kernels alone; at most 64 is wanted.\n\n'
                '| model | batch | mode | all sources ms | own kernels ms | ratio | cosine of own | MB beyond | MB beyond, own |\n'
                '|---|---|---|---|---|---|---|---|---|\n')
        for r in rows:
            if 'event_ms' not in r:
                continue
            ratio = f"{r['native_ms'] / r['event_ms']:.2f}" if r.get('native_ms') else (r.get('native_error') or '')[:60]
            f.write(f"| {r['model']} | {r['batch']} | {r['mode']} | {r['event_ms']:.4f} | {cell(r, 'native_ms', 4)} | {ratio} | "
                    f"{cell(r, 'native_cosine', 6)} | {cell(r, 'beyond_mb', 1)} | {cell(r, 'beyond_native_mb', 1)} |\n")
    gpu_figures.write(f, a)
    path = os.path.join(a.out, 'promises.json')
    if os.path.exists(path):
        f.write('\n## Promises tested\n\n| what | verdict | seconds |\n|---|---|---|\n')
        for what, said in json.load(open(path)).items():
            f.write(f"| {what} | {'passed' if said['good'] else 'FAILED'}{', ' + said['detail'] if said['detail'] else ''} | "
                    f"{said['took_s']} |\n")


def write_table(a, rows, rival):
    query = ['nvidia-smi', '--query-gpu=name,driver_version,clocks.sm,clocks.max.sm', '--format=csv,noheader']
    machine = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    with open(os.path.join(a.out, 'performance-gpu.md'), 'w') as f:
        f.write('# Speed on a GPU\n\nWritten by `script/gpu-check`. '
                f'{time.strftime("%Y-%m-%d")}, {machine} (name, driver, SM clock at the end, SM clock at most).\n\n'
                'Event time: between two events around one replay of the graph, median. torch.compile: `../shared/peers/gpu_peers.py`, '
                'reduce-overhead, fp16, channels-last, same run. Cosine: all outputs against ONNX Runtime on the CPU in fp32, '
                'the same inputs.\n\n'
                '| model | batch | mode | event ms | torch.compile ms | ratio | wanted | host to host ms | cosine | build s |\n'
                '|---|---|---|---|---|---|---|---|---|---|\n')
        for r in rows:
            if 'event_ms' not in r:
                f.write(f"| {r['model']} | {r['batch']} | {r['mode']} | failed | | | | | | |\n")
                continue
            other = rival.get((PEER[r['model']], r['batch'])) if r['mode'] == 'fp16' else None
            ratio = f"{other / r['event_ms']:.2f}" if other else ''
            rival_ms = f'{other:.4f}' if other else ''
            wanted = ROWS.get(f"{r['model']}:{r['batch']}", '') if r['mode'] == 'fp16' else ''
            f.write(f"| {r['model']} | {r['batch']} | {r['mode']} | {r['event_ms']:.4f} | {rival_ms} | {ratio} | "
                    f"{wanted} | {r['host_ms']:.4f} | {r['cosine']:.6f} | {r['build_s']:.1f} |\n")
        write_promises(f, a, rows)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('out')
    p.add_argument('--rows', default='mlp256:1,resnet50:1,minilm-l6:1,bert-base:1')
    p.add_argument('--modes', default='fp16')
    p.add_argument('--peers', action='store_true')
    p.add_argument('--peer-seconds', type=int, default=300)
    p.add_argument('--no-sweep', action='store_true')
    p.add_argument('--no-tests', action='store_true')
    p.add_argument('--no-rows', action='store_true', help='no models: only the tests asked for')
    p.add_argument('--native', action='store_true', help='time each row with our own kernels alone, too')
    p.add_argument('--memory', action='store_true', help="measure each row's GPU memory beyond weights and arena")
    p.add_argument('--figures', metavar='PARTS', type=lambda text: text.split(','), default=[],
                   help='all, or some of ' + ','.join(gpu_figures.PARTS))
    p.add_argument('--all', action='store_true', help='every row, with own kernels alone, memory, peers, the minute, and all figures')
    p.add_argument('--minute', action='store_true', help='eight threads for a minute, and 1,000 contexts')
    p.add_argument('--sanitize-shares', type=lambda t: list(range(int(t.split('-')[0]), int(t.split('-')[-1]) + 1)),
                   help='of --shares only these, 1-4, so that several short calls do it all')
    p.add_argument('--limit', type=int, default=200, help='seconds for each share under a sanitizer')
    p.add_argument('--sanitize', metavar='TOOLS', type=lambda text: text.split(','), default=[],
                   help='run the operator cases under these tools of compute-sanitizer: memcheck,racecheck,initcheck')
    p.add_argument('--shares', type=int, default=12, help='processes that share long tests')
    p.add_argument('--seconds', type=float, default=1)
    p.add_argument('--exec', type=str.split, default=[])
    a = p.parse_args()
    if a.all:
        a.rows, a.figures, a.native, a.memory, a.peers, a.minute = ','.join(ROWS), ['all'], True, True, True, True
    os.makedirs(a.out, exist_ok=True)
    a.models = os.environ.get('TENFOLD_MODELS', '/tmp/tenfold_models')
    os.makedirs(a.models, exist_ok=True)
    wanted_rows = [(r.split(':')[0], int(r.split(':')[1])) for r in a.rows.split(',')] if not a.no_rows else []
    if a.figures == ['all']:
        a.figures = list(gpu_figures.PARTS)
    if unknown := [part for part in a.figures if part not in gpu_figures.PARTS]:
        p.error(f'--figures: {", ".join(unknown)}: not one of all, {", ".join(gpu_figures.PARTS)}')
    names = list(dict.fromkeys([n for n, _ in wanted_rows] + [n for part in a.figures for n in gpu_figures.MODELS[part]]))
    print(shell([os.path.join(HERE, 'tenfold'), 'devices'], os.path.join(a.out, 'devices.log'))[1])
    make = [n for n in names if not os.path.exists(os.path.join(a.models, n + '.onnx'))]
    with ThreadPoolExecutor(8) as pool:   # models are made on the CPU while the GPU runs the cases
        script = [sys.executable, os.path.join(HERE, 'make_models.py'), a.models, '--only']
        making = {n: pool.submit(shell, [*script, n], os.path.join(a.out, f'make-{n}.log')) for n in make}
        failed = False
        if not a.no_sweep:
            sweep = [os.path.join(HERE, 'backends_test'), '--gtest_filter=Backends/Conformance.*/cuda']
            start = time.time()
            failed = not in_shares('operator cases', sweep, a.shares, 'TENFOLD_CASES', 200, a.out)
            remember(a, 'operator cases through every CUDA tactic that accepts them', not failed, time.time() - start)
        if not a.no_tests:
            failed = not tests(a) or failed
        if a.minute:
            failed = not minute(a) or failed
        for tool in a.sanitize:
            failed = not sanitize(a, tool) or failed
        kept = os.path.join(a.out, 'rows.json')
        rows = json.load(open(kept)) if os.path.exists(kept) else []
        for name, batch in wanted_rows:
            if name in making and making[name].result()[0] != 0:
                print(f'{name} could not be made:', making[name].result()[1][-500:])
                continue
            values = feeds(name, batch)
            wanted = truth(os.path.join(a.models, name + '.onnx'), values)
            for mode in a.modes.split(','):
                row = check_row(a, name, batch, mode, wanted, values)
                good = row['code'] == 0 and row['finite'] and row['cosine'] >= LEAST.get(mode, 0.99)
                failed = failed or not good
                rows = [r for r in rows if (r['model'], r['batch'], r['mode']) != (name, batch, mode)] + [row]
                print('ok ' if good else 'BAD', json.dumps(row), flush=True)
                json.dump(rows, open(os.path.join(a.out, 'rows.json'), 'w'), indent=1)
        if a.figures:
            failed = not figures(a, making) or failed
    rival = peers(a, wanted_rows) if a.peers else {}
    write_table(a, rows, rival)
    print(open(os.path.join(a.out, 'performance-gpu.md')).read())
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
