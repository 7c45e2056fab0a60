#!/usr/bin/env python3
"""Checks Tenfold on a GPU: operator cases, model outputs against ONNX Runtime on the CPU, times beside torch.compile.

    run OUT [--rows mlp256:1,resnet50:32,...] [--modes fp16,fp32] [--peers] [--no-sweep] [--no-tests]
            [--sanitize memcheck,racecheck,initcheck] [--seconds 2] [--exec 'more flags']

Writes OUT/rows.json, OUT/performance-gpu.md and logs. Part of the bundle that script/gpu-check makes.
"""
import argparse, json, os, re, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SEQUENCE = 128
PEER = {'minilm-l6': 'minilm-l6-s128', 'bert-base': 'bert-base-s128', 'resnet50': 'resnet50', 'mlp256': 'mlp256',
        'smallcnn': 'smallcnn32', 'unet3d': 'unet3d-64', 'vit-b16': 'vit-b16'}
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
    tag = f'{name}-b{batch}-{mode}'
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
               f'--timingCacheFile={a.out}/timing.cache', *flags, *a.exec]
    code, text, seconds = shell(command, os.path.join(a.out, tag + '.log'))
    row = dict(model=name, batch=batch, mode=mode, code=code, wall_s=round(seconds, 1))
    if code != 0:
        row['error'] = text.strip().splitlines()[-1][:300] if text.strip() else 'no output'
        return row
    result = json.loads(text.strip().splitlines()[-1])
    row.update(event_ms=result['gpu_compute_ms'], host_ms=result['median_ms'], p99_ms=result['p99_ms'], build_s=result['build_s'])
    row['host_steps'] = len(re.findall(r'  host$|  host ', text))
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


def in_shares(tag, command, shares, variable, limit, log):
    """Runs `command` as `shares` processes, each told its share by an environment variable or by {share} in its words: True if all pass."""
    def one(k):
        env = dict(os.environ, **({variable: f'{k}/{shares}'} if variable else {}))
        words = [word.replace('{share}', f'{k}/{shares}') for word in command]
        return shell(words, os.path.join(log, f'{tag}-{k}.log'), limit, env)
    with ThreadPoolExecutor(shares) as pool:
        results = list(pool.map(one, range(1, shares + 1)))
    bad = [(k + 1, code, text) for k, (code, text, _) in enumerate(results) if code]
    verdict = f'{len(bad)} of {shares} shares failed' if bad else 'passed'
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
    return in_shares(tool, [found, f'--tool={tool}', '--error-exitcode=9', '--print-limit=20', os.path.join(HERE, 'backends_test'),
                            '--gtest_filter=Backends/Conformance.EveryCase*/cuda'], a.shares, 'TENFOLD_CASES', 200, a.out)


def tests(a):
    """What is neither speed nor a model: the run time's promises, graphs at random, the ONNX suite under CUDA plans."""
    good = in_shares('gpu_test', [os.path.join(HERE, 'gpu_test')], 1, None, 200, a.out)
    os.environ.update(TENFOLD_DEVICE='cuda:0', TENFOLD_GRAPH_SECONDS='45')
    good = in_shares('random graphs', [os.path.join(HERE, 'random_graph_test')], 1, None, 200, a.out) and good
    if os.path.isdir(os.path.join(HERE, 'conformance')):
        os.environ['TENFOLD_SHARED'] = HERE
        suite = [os.path.join(HERE, 'optimised_suite'), '--device', 'cuda:0', '--share', '{share}']
        good = in_shares('ONNX suite', suite, a.shares, None, 300, a.out) and good
    return good


def write_table(a, rows, rival):
    query = ['nvidia-smi', '--query-gpu=name,driver_version,clocks.sm,clocks.max.sm', '--format=csv,noheader']
    machine = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    with open(os.path.join(a.out, 'performance-gpu.md'), 'w') as f:
        f.write('# Speed on a GPU\n\nWritten by `script/gpu-check`. '
                f'{time.strftime("%Y-%m-%d")}, {machine} (name, driver, SM clock at the end, SM clock at most).\n\n'
                'Event time: between two events around one replay of the graph, median. torch.compile: `../shared/peers/gpu_peers.py`, '
                'reduce-overhead, fp16, channels-last, same run. Cosine: all outputs against ONNX Runtime on the CPU in fp32, '
                'the same inputs.\n\n'
                '| model | batch | mode | event ms | torch.compile ms | ratio | host to host ms | cosine | build s |\n'
                '|---|---|---|---|---|---|---|---|---|\n')
        for r in rows:
            if 'event_ms' not in r:
                f.write(f"| {r['model']} | {r['batch']} | {r['mode']} | failed | | | | | |\n")
                continue
            other = rival.get((PEER[r['model']], r['batch'])) if r['mode'] == 'fp16' else None
            ratio = f"{other / r['event_ms']:.2f}" if other else ''
            rival_ms = f'{other:.4f}' if other else ''
            f.write(f"| {r['model']} | {r['batch']} | {r['mode']} | {r['event_ms']:.4f} | {rival_ms} | {ratio} | "
                    f"{r['host_ms']:.4f} | {r['cosine']:.6f} | {r['build_s']:.1f} |\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('out')
    p.add_argument('--rows', default='mlp256:1,resnet50:1,minilm-l6:1,bert-base:1')
    p.add_argument('--modes', default='fp16')
    p.add_argument('--peers', action='store_true')
    p.add_argument('--peer-seconds', type=int, default=300)
    p.add_argument('--no-sweep', action='store_true')
    p.add_argument('--no-tests', action='store_true')
    p.add_argument('--sanitize', metavar='TOOLS', type=lambda text: text.split(','), default=[],
                   help='run the operator cases under these tools of compute-sanitizer: memcheck,racecheck,initcheck')
    p.add_argument('--shares', type=int, default=12, help='processes that share long tests')
    p.add_argument('--seconds', type=float, default=1)
    p.add_argument('--exec', type=str.split, default=[])
    a = p.parse_args()
    os.makedirs(a.out, exist_ok=True)
    a.models = os.environ.get('TENFOLD_MODELS', '/tmp/tenfold_models')
    os.makedirs(a.models, exist_ok=True)
    wanted_rows = [(r.split(':')[0], int(r.split(':')[1])) for r in a.rows.split(',')]
    names = list(dict.fromkeys(n for n, _ in wanted_rows))
    print(shell([os.path.join(HERE, 'tenfold'), 'devices'], os.path.join(a.out, 'devices.log'))[1])
    make = [n for n in names if not os.path.exists(os.path.join(a.models, n + '.onnx'))]
    with ThreadPoolExecutor(8) as pool:   # models are made on the CPU while the GPU runs the cases
        script = [sys.executable, os.path.join(HERE, 'make_models.py'), a.models, '--only']
        making = {n: pool.submit(shell, [*script, n], os.path.join(a.out, f'make-{n}.log')) for n in make}
        failed = False
        if not a.no_sweep:
            sweep = [os.path.join(HERE, 'backends_test'), '--gtest_filter=Backends/Conformance.*/cuda']
            failed = not in_shares('operator cases', sweep, a.shares, 'TENFOLD_CASES', 200, a.out)
        if not a.no_tests:
            failed = not tests(a) or failed
        for tool in a.sanitize:
            failed = not sanitize(a, tool) or failed
        rows = []
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
                rows.append(row)
                print('ok ' if good else 'BAD', json.dumps(row), flush=True)
                json.dump(rows, open(os.path.join(a.out, 'rows.json'), 'w'), indent=1)
    rival = peers(a, wanted_rows) if a.peers else {}
    write_table(a, rows, rival)
    print(open(os.path.join(a.out, 'performance-gpu.md')).read())
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
