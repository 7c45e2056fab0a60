"""The rows of the table: reference models at their batches, outputs beside ONNX Runtime's, times beside torch.compile's."""
import json, os, re, subprocess, sys, time

from gpu_common import HERE, TENFOLD, Power, cosine, keep, kept, last_line, mixed_lengths, np, saved, shell, spec, stamp

SEQUENCE = 128
PEER = {'minilm-l6': 'minilm-l6-s128', 'bert-base': 'bert-base-s128', 'resnet50': 'resnet50', 'mlp256': 'mlp256',
        'smallcnn': 'smallcnn32', 'unet3d': 'unet3d-64', 'vit-b16': 'vit-b16'}
# Rows with what is wanted of them: times as fast as torch.compile in fp16; and their limit in ms: the sum over operators of what each
# takes at 745 TFLOP/s (ViT: 790) or, if that is more, at 4.3 TB/s, operands and results in fp16, without launches.
ROWS = {'minilm-l6:1': (1.7, 0.009), 'minilm-l6:32': (1.6, 0.163), 'minilm-l6:128': (1.5, 0.651),
        'bert-base:1': (1.6, 0.054), 'bert-base:32': (1.3, 1.11), 'bert-base:128': (1.3, 4.46),
        'resnet50:1': (1.6, 0.025), 'resnet50:32': (1.6, 0.547), 'resnet50:128': (1.65, 2.18),
        'vit-b16:1': (1.45, 0.062), 'vit-b16:32': (1.5, 1.58), 'unet3d:1': (1.45, 0.169), 'unet3d:4': (1.5, 0.67),
        'smallcnn:1': (4, 0.00011), 'smallcnn:32': (3, 0.0024), 'mlp256:1': (12, 0.00006)}
# Rows whose torch.compile is tried with max-autotune, too, which takes 76 to 203 s to build each; and rows of text with real masks.
MOST_TUNED = ['minilm-l6:32', 'bert-base:32', 'resnet50:32', 'vit-b16:32']
MASKED = ['minilm-l6:32', 'minilm-l6:128', 'bert-base:32', 'bert-base:128']
LEAST = {'fp32': 0.9999, 'fp16': 0.999, 'bf16': 0.999}   # cosine of outputs with ONNX Runtime's


def by_model(rows):
    """Rows 'bert-base:32' under their models."""
    found = {}
    for row in rows:
        found.setdefault(row.split(':')[0], []).append(row)
    return found


def feeds(name, batch):
    sys.path.insert(0, HERE)
    import make_models
    return make_models.inputs(name, batch=batch, seq=SEQUENCE)


def check_row(a, name, batch, mode, expected, values):
    start = time.time()
    row = measured(a, name, batch, mode, expected, values, f'{name}-b{batch}-{mode}', [])
    if a.native and row['code'] == 0:   # our own kernels alone
        alone = measured(a, name, batch, mode, expected, values, f'{name}-b{batch}-{mode}-native', ['--tacticSources=-cublas_lt,-cudnn'])
        row['native_ms'], row['native_cosine'] = alone.get('event_ms'), alone.get('cosine')
        row['native_error'] = alone.get('error')
    if a.memory and row['code'] == 0:
        row.update(memory(a, f'{name}-b{batch}-{mode}', sum(v.nbytes for v in [*values.values(), *expected.values()])))
    if row['code'] == 0 and row['event_ms'] > 0.5:   # long enough for its power to be seen
        row.update(power(a, f'{name}-b{batch}-{mode}'))
    row['took_s'], row['measured'] = round(time.time() - start, 1), stamp()
    return row


def power(a, tag):
    """Watts and MHz while the row's plan runs for two seconds."""
    plan = os.path.join(a.models, tag + '.plan')
    with Power() as seen:
        shell([TENFOLD, 'exec', f'--loadEngine={plan}', '--device=cuda:0', open(plan + '.shapes').read(), '--duration=2',
               '--noDataTransfers'], os.path.join(a.out, tag + '-power.log'))
    return seen.said()


def memory(a, tag, bindings):
    """MB of the GPU's memory beyond weights, arena and the context's copies of inputs and outputs: with libraries, and with our own kernels
    alone; and MB of the arena that libraries work in. Nobody else may use the GPU meanwhile."""
    found = {}
    for key, plan in (('beyond_mb', tag), ('beyond_native_mb', tag + '-native')):
        path = os.path.join(a.models, plan + '.plan')
        if not os.path.exists(path):
            continue
        code, text, _ = shell([TENFOLD, 'exec', f'--loadEngine={path}', '--device=cuda:0', open(path + '.shapes').read(),
                               '--monitorMemory', '--json', '--duration=0', '--iterations=3', '--warmUp=0'],
                              os.path.join(a.out, plan + '-memory.log'))
        if code == 0:
            said = json.loads(text.strip().splitlines()[-1])
            found[key] = round((said['device_bytes'] - said['weight_bytes'] - said['arena_bytes'] - bindings) / 1e6, 1)
            if plan == tag:
                found['library_mb'] = round(said['library_workspace_bytes'] / 1e6, 1)
    return found


def measured(a, name, batch, mode, expected, values, tag, more):
    model = os.path.join(a.models, name + '.onnx')
    out = os.path.join(a.models, tag + '.npz')
    flags = {'fp16': ['--fp16'], 'bf16': ['--bf16'], 'fp32': ['--noTF32'], 'tf32': []}[mode]
    command = [TENFOLD, 'exec', f'--onnx={model}', '--device=cuda:0', spec(values), saved(a.models, f'{name}-b{batch}', values),
               f'--exportOutput={out}', f'--duration={a.seconds}', '--json', '--dumpLayerInfo', '--dumpProfile',
               f'--exportTimes={a.models}/times.json', f'--timingCacheFile={a.out}/timing.cache', *flags, *more, *a.exec]
    plan = os.path.join(a.models, tag + '.plan')
    command.append(f'--saveEngine={plan}')
    with open(plan + '.shapes', 'w') as f:
        f.write(spec(values))
    code, text, seconds = shell(command, os.path.join(a.out, tag + '.log'))
    row = dict(model=name, batch=batch, mode=mode, code=code, wall_s=round(seconds, 1))
    if code != 0:
        row['error'] = last_line(text)
        return row
    result = json.loads(text.strip().splitlines()[-1])
    row.update(event_ms=result['gpu_compute_ms'], host_ms=result['median_ms'], p99_ms=result['p99_ms'], build_s=result['build_s'])
    row['host_steps'] = len(re.findall(r', operands and results copied|, before the GPU begins|, the host (?:decides|counts)', text))
    got = np.load(out)
    row['cosine'] = min(cosine(got[k], v) for k, v in expected.items())
    row['finite'] = all(bool(np.isfinite(got[k]).all()) for k in expected)
    row['largest_error'] = max(float(np.abs(got[k].astype(np.float64) - v).max()) for k, v in expected.items())
    return row


def good(row):
    return row['code'] == 0 and row['finite'] and row['cosine'] >= LEAST.get(row['mode'], 0.99)


def peers(a, rows):
    """torch.compile, reduce-overhead: each row with the power that it took."""
    names = ','.join(dict.fromkeys(PEER[name] for name, _ in rows))
    command = [sys.executable, os.path.join(HERE, 'gpu_peers.py'), str(a.peer_seconds), 'compile16', names]
    found = {(r['model'], r['batch']): r for r in kept(a, 'results.json', [])}
    own = os.path.join(a.out, 'peers')
    os.makedirs(own, exist_ok=True)
    with open(os.path.join(a.out, 'peers.log'), 'w') as log, Power() as seen:
        with subprocess.Popen(['timeout', str(a.peer_seconds + 120), *command], stdout=subprocess.PIPE, stderr=log, text=True,
                              env=dict(os.environ, OUT=own)) as process:
            said = {}
            for line in process.stdout:   # one for each row, once it is timed
                log.write(line)
                words = line.split()
                if ' event ' in line:
                    said[words[0], int(line.split('b=')[1].split()[0])] = seen.said(time.time() - 0.5)
    path = os.path.join(own, 'results.json')
    for r in json.load(open(path)) if os.path.exists(path) else []:
        key = r['model'], r['batch']
        found[key] = dict(r, **said.get(key, {}), measured=stamp())
    keep(a, 'results.json', list(found.values()))


def torch_rows(a, mode, rows, limit):
    """What gpu_torch.py says, a dictionary for each row."""
    code, text, _ = shell([sys.executable, os.path.join(HERE, 'gpu_torch.py'), a.out, mode, ','.join(rows)],
                          os.path.join(a.out, f'torch-{mode}.log'), limit, dict(os.environ, PYTHONUNBUFFERED='1'))
    found = [json.loads(line) for line in text.splitlines() if line.startswith('{"model"')]
    print(f'torch.compile, {mode}: {len(found)} of {len(rows)} rows, exit {code}', flush=True)
    return [dict(r, measured=stamp()) for r in found]


def most_tuned(a):
    """Adds torch.compile's max-autotune to OUT/most_tuned.json."""
    found = {(r['model'], r['batch']): r for r in kept(a, 'most_tuned.json', [])}
    found.update({(r['model'], r['batch']): r for r in torch_rows(a, 'max-autotune', a.most_tuned, 540)})
    keep(a, 'most_tuned.json', list(found.values()))


def masked(a, rows):
    """Sentences of mixed lengths, padded to the longest, beside masks that are all ones: ours and torch.compile's, in OUT/masked.json."""
    found = {(r['model'], r['batch']): r for r in kept(a, 'masked.json', [])}
    rival = torch_rows(a, 'reduce-overhead', [row + mask for row in rows for mask in ('', ':mixed')], 300) if a.peers else []
    for row in rows:
        name, batch = row.split(':')[0], int(row.split(':')[1])
        values, said = feeds(name, batch), dict(model=name, batch=batch, measured=stamp())
        plan = os.path.join(a.models, f'{name}-b{batch}-masked.plan')
        for mask in ('ones', 'mixed'):
            if mask == 'mixed':
                real = (np.arange(SEQUENCE)[None, :] < mixed_lengths(batch, SEQUENCE)[:, None]).astype(np.int64)
                values = dict(values, attention_mask=real)
            built = [f"--onnx={os.path.join(a.models, name + '.onnx')}", '--fp16', f'--saveEngine={plan}',
                     f'--timingCacheFile={a.out}/timing.cache'] if mask == 'ones' else [f'--loadEngine={plan}']
            code, text, _ = shell([TENFOLD, 'exec', *built, '--device=cuda:0', spec(values), saved(a.models, f'{name}-{mask}', values),
                                   f'--duration={a.seconds}', '--json'], os.path.join(a.out, f'{name}-b{batch}-{mask}.log'))
            said[mask + '_ms'] = json.loads(text.strip().splitlines()[-1])['gpu_compute_ms'] if code == 0 else None
        for r in rival:
            if (r['model'], r['batch']) == (name, batch):
                said[f"torch_{r['mask']}_ms"] = r['event_ms']
        print('masks', json.dumps(said), flush=True)
        found[name, batch] = said
    keep(a, 'masked.json', list(found.values()))
