"""Plans in 8 bits beside fp16 at the same batch: what gpu_figures.py's parts `narrow-...` measure. Part of the bundle that script/gpu-check
makes.

Text and ViT are quantized by quantize_products.py: every product with weights, int8 or e4m3. ResNet-50 comes as it is and gets its ranges
from random images, as a user's plain model does (--int8 --data, --fp8 --data); its weights are random, so its cosine is the worst case.
`rows`: a plain model whose rows are quantized as they run (--int8). `fp8-attention`: e4m3 in the products of attention, too.
"""
import os, statistics, subprocess, sys

from gpu_common import HERE, np, saved, spec

# Model, batch, type, at least how many times as fast as fp16.
ROWS = [('resnet50', 32, 'int8', 1.5), ('resnet50', 32, 'fp8', 1), ('resnet50', 128, 'int8', 1.5), ('vit-b16', 32, 'fp8', 1.35),
        ('minilm-l6', 128, 'fp8', 1.3), ('bert-base', 128, 'fp8', 1.5), ('bert-base', 128, 'int8', 1.5), ('bert-base', 32, 'fp8', 1.5),
        ('bert-base', 32, 'int8', 1.5), ('bert-base', 32, 'rows', 1), ('bert-base', 32, 'fp8-attention', 1)]
ROUNDS = 5
KIND = {'fp8': 'float8', 'int8': 'int8', 'fp8-attention': 'float8-attention'}


def quantized(a, name, kind, model):
    """The model's file with its products quantized, made once."""
    small = os.path.join(a.models, f'{name}.{kind}.onnx')
    if not os.path.exists(small):
        subprocess.run([sys.executable, os.path.join(HERE, 'quantize_products.py'), model, small, KIND[kind], '2'], check=True, timeout=200)
    return small


PLAIN = {('resnet50', 'int8'): ['--int8', '--calibrator=mse'], ('resnet50', 'fp8'): ['--fp8']}


def samples(a, name, kind):
    """Random inputs that give ranges, as --data takes them."""
    import make_models
    path = os.path.join(a.models, f'{name}-samples.npz')
    if not os.path.exists(path):
        np.savez(path, **make_models.inputs(name, batch=32, seq=128, seed=9))
    return [*PLAIN[name, kind], f'--data={path}', f"--calib={os.path.join(a.models, f'{name}-{kind}.cache')}"]


def rows(a, models, model_of, run):
    """What, wanted, got and detail of each row of these models; `run` is gpu_figures' own."""
    import make_models
    for name, batch in dict.fromkeys((name, batch) for name, batch, _, _ in ROWS if name in models):
        kinds = {kind: minimum for n, b, kind, minimum in ROWS if (n, b) == (name, batch)}
        values = make_models.inputs(name, batch=batch, seq=128)
        inputs, shapes, plans = saved(a.models, f'narrow-{name}', values), spec(values), {}
        for kind in ['fp16', *kinds]:
            plain = kind in ('fp16', 'rows') or (name, kind) in PLAIN
            source = model_of(name) if plain else quantized(a, name, kind, model_of(name))
            plans[kind] = os.path.join(a.models, f'narrow-{name}-{batch}-{kind}.plan')
            more = ['--int8'] if kind == 'rows' else samples(a, name, kind) if (name, kind) in PLAIN else []
            run(f'--onnx={source}', '--fp16', shapes, inputs, f'--saveEngine={plans[kind]}', '--duration=0',
                f'--exportOutput={plans[kind]}.npz', f'--timingCacheFile={a.out}/timing.cache', *more)
        found = {kind: [] for kind in plans}
        for _ in range(ROUNDS):
            for kind, plan in plans.items():
                output, _ = run(f'--loadEngine={plan}', inputs, shapes, f'--duration={a.seconds}', '--noDataTransfers')
                found[kind].append(output['gpu_compute_ms'])
        wide = statistics.median(found['fp16'])
        expected = np.load(plans['fp16'] + '.npz')
        for kind, minimum in kinds.items():
            ms, got = statistics.median(found[kind]), np.load(plans[kind] + '.npz')
            agree = min(float((expected[k].astype(float) * got[k]).sum() /
                              np.linalg.norm(expected[k].astype(float)) / np.linalg.norm(got[k]))
                        for k in expected.files)
            yield (f'{name}, batch {batch}: fp16 / {kind}', minimum, wide / ms,
                   f'{wide:.4f} / {ms:.4f} ms, {min(found[kind]):.4f} to {max(found[kind]):.4f}, cosine of the two {agree:.6f}')
