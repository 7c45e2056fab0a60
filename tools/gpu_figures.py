"""Figures that are no row of a table: real sentences, text without padding, fp8 beside fp16, latency, times of builds and of loading. Part
of the bundle that script/gpu-check makes; gpu_check.py --figures calls it.

Plans that are compared are timed in turns, ROUNDS times each; medians of these.
"""
import json, os, re, shutil, statistics, subprocess, sys, time

from gpu_common import HERE, TENFOLD, mixed_lengths, np, saved, spec, stamp, truth

ROUNDS = 5
DEVICE = os.environ.get('TENFOLD_DEVICE', 'cuda:0')   # another one only to try this file


class Failed(Exception):
    pass


class NotHere(Exception):
    """What a part needs is not in the bundle: nothing is measured, and what was measured before stays."""


def run(log, *words, limit=200):
    """What tenfold says in JSON, and the seconds of the whole process."""
    start = time.time()
    done = subprocess.run([TENFOLD, 'exec', f'--device={DEVICE}', '--json', *words], capture_output=True, text=True, timeout=limit)
    seconds = time.time() - start
    with open(log, 'a') as f:
        f.write(' '.join(words) + '\n' + done.stderr + done.stdout)
    if done.returncode != 0:
        raise Failed((done.stderr + done.stdout).strip().splitlines()[-1][:300])
    return json.loads(done.stdout.strip().splitlines()[-1]), seconds


def in_turns(log, plans, words, key):
    """The median over ROUNDS rounds of `key`, by name of the plan."""
    found = {name: [] for name in plans}
    for _ in range(ROUNDS):
        for name, plan in plans.items():
            found[name].append(run(log, f'--loadEngine={plan}', *words)[0][key])
    return {name: statistics.median(values) for name, values in found.items()}


def sentences(a, model_of, log):
    """MiniLM with its real weights on real sentences, beside ONNX Runtime in fp32: the means of their embeddings' cosines."""
    from gpu_sentences import FOLDER, cosines
    folder = os.path.join(HERE, FOLDER)
    if not os.path.isdir(folder):
        raise NotHere('the bundle has no sentences: script/gpu-check says what it wants for them')
    model = os.path.join(folder, 'model.onnx')
    with np.load(os.path.join(folder, 'tokens.npz')) as arrays:
        values = dict(arrays)
    expected, = truth(model, values).values()
    inputs, shapes, out = saved(a.models, 'sentences', values), spec(values), os.path.join(a.models, 'sentences.npz')
    count, tokens = len(expected), values['attention_mask'].sum()
    for name, minimum, flags in (('fp32, no TF32', 0.9999, ['--noTF32']), ('fp16', 0.9999, ['--fp16']), ('bf16', 0.999, ['--bf16']),
                               ('fp16, padding not computed', 0.9999, ['--fp16', '--packTokens'])):
        run(log, f'--onnx={model}', shapes, inputs, f'--exportOutput={out}', f'--timingCacheFile={a.out}/timing.cache', '--iterations=1',
            '--duration=0', '--warmUp=0', *flags)
        with np.load(out) as arrays:
            found = cosines(next(iter(dict(arrays).values())), expected)
        yield (f'MiniLM-L6, real weights, {count} real sentences of {tokens / count:.0f} tokens in the mean, {name}: mean cosine', minimum,
               float(found.mean()), f'{found.min():.6f} at least')


def unpadded(a, model_of, log):
    """128 sentences of 40 tokens in the mean through MiniLM, computed with and without their padding."""
    lengths = mixed_lengths()
    rng = np.random.default_rng(0)
    mask = (np.arange(128)[None, :] < lengths[:, None]).astype(np.int64)
    values = {'input_ids': rng.integers(1000, 30000, mask.shape, dtype=np.int64) * mask, 'attention_mask': mask}
    inputs, shapes = saved(a.models, 'mixed', values), spec(values)
    plans = {}
    for name, flags in (('padded', []), ('packed', ['--packTokens'])):
        plans[name] = os.path.join(a.models, f'mixed-{name}.plan')
        run(log, f"--onnx={model_of('minilm-l6')}", '--fp16', shapes, inputs, f'--saveEngine={plans[name]}', '--duration=0', *flags,
            f'--exportOutput={plans[name]}.npz', f'--timingCacheFile={a.out}/timing.cache')
    words = [inputs, shapes, f'--duration={a.seconds}']
    event = in_turns(log, plans, words, 'gpu_compute_ms')
    host = in_turns(log, plans, words, 'median_ms')
    x, y = (np.load(plans[name] + '.npz') for name in plans)
    agree = min(float((x[k] * y[k]).sum() / np.linalg.norm(x[k]) / np.linalg.norm(y[k])) for k in x.files)
    tokens = int(mask.sum())
    yield (f'MiniLM-L6 fp16, 128 sentences of {tokens / 128:.0f} tokens in the mean, the longest 128: padded / unpadded, GPU time', 2.0,
           event['padded'] / event['packed'], f"{event['padded']:.3f} / {event['packed']:.3f} ms, cosine {agree:.6f}")
    yield ('the same, host to host', None, host['padded'] / host['packed'], f"{host['padded']:.3f} / {host['packed']:.3f} ms")


def narrow(*models):
    """8 bits beside fp16, the rows of docs/lab/precision.md that these models have."""
    def part(a, model_of, log):
        import gpu_narrow
        yield from gpu_narrow.rows(a, models, model_of, lambda *words: run(log, *words))
    return part


def fp8(a, model_of, log):
    """BERT-base whose products are quantized to e4m3, beside fp16, 32 sentences of 128 tokens."""
    import make_models
    source, small = model_of('bert-base'), os.path.join(a.models, 'bert-base.fp8.onnx')
    if not os.path.exists(small):
        subprocess.run([sys.executable, os.path.join(HERE, 'quantize_products.py'), source, small, 'float8', '2'], check=True, timeout=200)
    values = make_models.inputs('bert-base', batch=32, seq=128)
    inputs, shapes, plans = saved(a.models, 'fp8', values), spec(values), {}
    for name, model in (('fp16', source), ('fp8', small)):
        plans[name] = os.path.join(a.models, f'bert-{name}.plan')
        run(log, f'--onnx={model}', '--fp16', shapes, inputs, f'--saveEngine={plans[name]}', '--duration=0',
            f'--exportOutput={plans[name]}.npz', f'--timingCacheFile={a.out}/timing.cache')
    event = in_turns(log, plans, [inputs, shapes, f'--duration={a.seconds}'], 'gpu_compute_ms')
    x, y = (np.load(plans[name] + '.npz') for name in plans)
    agree = min(float((x[k] * y[k]).sum() / np.linalg.norm(x[k]) / np.linalg.norm(y[k])) for k in x.files)
    yield ('BERT-base, batch 32: fp16 / fp8', 1.3, event['fp16'] / event['fp8'],
           f"{event['fp16']:.4f} / {event['fp8']:.4f} ms, cosine of the two {agree:.6f}")


def latency(a, model_of, log):
    """Host to host, through a context, inputs in pageable memory: the median of ROUNDS processes."""
    import make_models
    values = make_models.inputs('mlp256', batch=1)
    inputs, shapes, plan = saved(a.models, 'latency', values), spec(values), os.path.join(a.models, 'latency.plan')
    run(log, f"--onnx={model_of('mlp256')}", '--fp16', shapes, f'--saveEngine={plan}', '--duration=0')
    output = [run(log, f'--loadEngine={plan}', inputs, shapes, '--duration=1')[0] for _ in range(ROUNDS)]
    middle, late = (statistics.median(s[key] for s in output) * 1e3 for key in ('median_ms', 'p99_ms'))
    yield 'MLP 256-256-10, host to host: median, us', -12.0, middle, f"{min(s['median_ms'] for s in output) * 1e3:.1f} at best"
    yield 'the same: p99, us', -30.0, late, f"{max(s['p99_ms'] for s in output) * 1e3:.1f} at worst"


def builds(a, model_of, log):
    """Builds without and with timing and kernel caches; and what lies between the start of a process and its first answer."""
    import make_models
    cache = os.path.join(a.out, 'build-cache')
    for name in ('resnet50', 'bert-base'):
        for batch in (1, 32):
            values = make_models.inputs(name, batch=batch, seq=128)
            plan = os.path.join(a.models, f'{name}-built.plan')
            words = [f'--onnx={model_of(name)}', '--fp16', spec(values), f'--timingCacheFile={cache}/timing.cache', '--duration=0',
                     f'--saveEngine={plan}']
            shutil.rmtree(cache, ignore_errors=True)
            os.makedirs(cache)
            cold = run(log, *words)[0]['build_s']
            cached = statistics.median(run(log, *words)[0]['build_s'] for _ in range(3))
            yield f'{name}, batch {batch}: cold build, s', -10.0, cold, f'{os.cpu_count()} processors'
            yield 'the same with caches, s', -1.0, cached, ''
    shutil.rmtree(cache, ignore_errors=True)
    values = make_models.inputs('bert-base', batch=1, seq=128)
    words = [f"--loadEngine={os.path.join(a.models, 'bert-base-built.plan')}", spec(values), '--iterations=1', '--duration=0', '--warmUp=0']
    run(log, f"--onnx={model_of('bert-base')}", '--fp16', spec(values), f"--saveEngine={words[0].split('=')[1]}", '--duration=0',
        f'--timingCacheFile={a.out}/timing.cache')
    whole, driver = [], []
    for _ in range(3):
        whole.append(run(log, *words)[1])
        start = time.time()
        subprocess.run([TENFOLD, 'devices'], capture_output=True)
        driver.append(time.time() - start)
    whole, driver = statistics.median(whole), statistics.median(driver)
    yield ('bert-base: from start of the process to the first answer of a loaded plan, beside `tenfold devices`, s', -0.5, whole - driver,
           f'{whole:.2f} in all, {driver:.2f} for `tenfold devices`')


def embed(a, model_of, log):
    """From texts to vectors on one GPU and on several."""
    import gpu_embed
    yield from gpu_embed.rows(a, DEVICE, log)


def serve(a, model_of, log):
    """Lists of texts over HTTP."""
    import gpu_serve
    yield from gpu_serve.rows(a, DEVICE, log)


def decoder(a, model_of, log):
    """Prompts and steps of a decoder."""
    import gpu_decoder
    yield from gpu_decoder.rows(a, DEVICE, log)


def decoder_int4(a, model_of, log):
    """Products with weights of 4 bits, and a decoder's prompts and steps with them."""
    import gpu_int4
    yield from gpu_int4.rows(a, DEVICE, log)


def host(a, model_of, log):
    """Images from the host's memory to results there."""
    import gpu_host
    yield from gpu_host.rows(a, run, log, model_of)


NARROW = {'narrow-images': ['resnet50', 'vit-b16'], 'narrow-text': ['minilm-l6', 'bert-base']}
PARTS = {'embed': embed, 'serve': serve, 'decoder': decoder, 'decoder-int4': decoder_int4, 'sentences': sentences, 'fp8': fp8,
         **{name: narrow(*models) for name, models in NARROW.items()},
         'unpadded': unpadded, 'latency': latency, 'host': host, 'builds': builds}
MODELS = {'embed': [], 'serve': [], 'decoder': [], 'decoder-int4': [], 'sentences': [], 'fp8': ['bert-base'], **NARROW,
          'unpadded': ['minilm-l6'], 'latency': ['mlp256'], 'host': ['resnet50', 'vit-b16'],
          'builds': ['resnet50', 'bert-base']}


def measure(a, parts, model_of):
    """Adds to OUT/figures.json: what, wanted (at least; at most where it is below 0), got, detail. True if all is as wanted."""
    path = os.path.join(a.out, 'figures.json')
    kept = json.load(open(path)) if os.path.exists(path) else []
    good = True
    for part in parts:
        found = []
        try:
            for what, wanted, got, detail in PARTS[part](a, model_of, os.path.join(a.out, part + '.log')):
                found.append(dict(part=part, what=what, wanted=wanted, got=got, detail=detail, measured=stamp()))
                print('figure', json.dumps(found[-1]), flush=True)
        except NotHere as e:
            print(f'figure {part} not measured: {e}', flush=True)
            continue
        except Exception as e:   # whatever it is, the other parts go on
            found.append(dict(part=part, what=part, wanted=None, got=None, detail=f'failed: {e}', measured=stamp()))
            good = False
            print('figure', json.dumps(found[-1]), flush=True)
        for f in found:
            good = good and (f['wanted'] is None or meets(f))
        kept = [k for k in kept if k['part'] != part] + found
        json.dump(kept, open(path, 'w'), indent=1)
    return good


LEAST_COSINE = 0.99   # to the wider plan: what 8 bits gain counts from there on


def too_far(figure):
    """The cosine of plans in 8 bits that is below that, or None."""
    reported = re.search(r'cosine of the two ([\d.]+)', figure['detail'])
    return float(reported[1]) if reported and float(reported[1]) < LEAST_COSINE else None


def meets(figure):
    wanted, got = figure['wanted'], figure['got']
    return got is not None and too_far(figure) is None and (got >= wanted if wanted >= 0 else got <= -wanted)


def table(results):
    """What measure() kept, as Markdown."""
    out = ('\n## Further figures\n\nRatios: plans timed in turns, medians of five. Speedups of 8 bits count only if the cosine of both '
           f'plans is {LEAST_COSINE} or more.\n\n| what | target | result | | card | measured |\n|---|---|---|---|---|---|\n')
    for k in results.all['figures']:
        wanted = '' if k['wanted'] is None else f"at least {k['wanted']:g}" if k['wanted'] >= 0 else f"at most {-k['wanted']:g}"
        digits = 6 if 'cosine' in k['what'] else 2
        got = '' if k['got'] is None else f"{k['got']:.{digits}f}" + ('' if k['wanted'] is None or meets(k) else ' (missed)')
        if too_far(k) is not None:
            got = got.replace('(missed)', f'(does not count: cosine {too_far(k):.3f})')
        out += f"| {k['what']} | {wanted} | {got} | {k['detail']} | {results.measured(k)} |\n"
    there = {k['part'] for k in results.all['figures']}
    return out + ''.join(f'| {part} | | | | | not measured |\n' for part in PARTS if part not in there)
