"""The rows of the table: reference models at their batches, outputs beside ONNX Runtime's, times beside torch.compile's."""
import json, os, re, sys, time

import numpy as np

from gpu_common import HERE, TENFOLD, cosine, last_line, saved, shell, spec

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
LEAST = {'fp32': 0.9999, 'fp16': 0.999, 'bf16': 0.999}   # cosine of outputs with ONNX Runtime's


def feeds(name, batch):
    sys.path.insert(0, HERE)
    import make_models
    return make_models.inputs(name, batch=batch, seq=SEQUENCE)


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


def measured(a, name, batch, mode, wanted, values, tag, more):
    model = os.path.join(a.models, name + '.onnx')
    out = os.path.join(a.models, tag + '.npz')
    flags = {'fp16': ['--fp16'], 'bf16': ['--bf16'], 'fp32': ['--noTF32'], 'tf32': []}[mode]
    command = [TENFOLD, 'exec', f'--onnx={model}', '--device=cuda:0', spec(values), saved(a.models, f'{name}-b{batch}', values),
               f'--exportOutput={out}', f'--duration={a.seconds}', '--json', '--dumpLayerInfo', '--dumpProfile',
               f'--exportTimes={a.models}/times.json', f'--timingCacheFile={a.out}/timing.cache', *flags, *more, *a.exec]
    if a.memory:
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
    row['cosine'] = min(cosine(got[k], v) for k, v in wanted.items())
    row['finite'] = all(bool(np.isfinite(got[k]).all()) for k in wanted)
    row['largest_error'] = max(float(np.abs(got[k].astype(np.float64) - v).max()) for k, v in wanted.items())
    return row


def good(row):
    return row['code'] == 0 and row['finite'] and row['cosine'] >= LEAST.get(row['mode'], 0.99)


def peers(a, rows):
    names = ','.join(dict.fromkeys(PEER[name] for name, _ in rows))
    command = [sys.executable, os.path.join(HERE, 'gpu_peers.py'), str(a.peer_seconds), 'compile16', names]
    shell(command, os.path.join(a.out, 'peers.log'), a.peer_seconds + 120, dict(os.environ, OUT=a.out))
