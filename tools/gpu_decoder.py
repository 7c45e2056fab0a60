"""Decoders on a GPU: greedy tokens beside those of the CPU, what a prompt and a step take, and steps beside torch.compile's with a static
cache. Part of the bundle that script/gpu-check carries."""
import json
import os
import subprocess
import sys

from gpu_common import TENFOLD

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 200
COMPARED = 'wide-8'   # as fast as torch.compile builds it: a minute


def made(a, shape):
    folder = os.path.join(a.models, shape)
    if not os.path.exists(os.path.join(folder, 'model.safetensors')):
        subprocess.run([sys.executable, os.path.join(HERE, 'decoder_models.py'), shape, folder], check=True, timeout=LIMIT)
    return folder


def said(a, shape, log, *flags):
    words = [TENFOLD, 'generate', made(a, shape), '--maxLength=1024', '--json', f'--planCache={a.models}/decoder-plans', *flags]
    run = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT)
    with open(log, 'a') as file:
        file.write(' '.join(words) + '\n' + run.stdout + run.stderr)
    run.check_returncode()
    return json.loads(run.stdout)


def tokens(a, device, log):
    prompt = ['--prompt=' + 'a b ? ' * 20, '--maxTokens=48', '--ignoreEnd']
    here = said(a, 'smollm-135m', log, *prompt, '--precision=fp32')['ids']
    for precision, least in (('fp32', 48.0), ('fp16', 24.0), ('bf16', 4.0)):   # random weights: many logits are nearly equal
        there = said(a, 'smollm-135m', log, *prompt, f'--precision={precision}', f'--device={device}')['ids']
        same = next((i for i, pair in enumerate(zip(here, there)) if pair[0] != pair[1]), min(len(here), len(there)))
        yield f"decoder of 135M parameters: greedy tokens in {precision} that are those of fp32 on the CPU, of 48", least, float(same), ''


def times(a, device, log):
    for shape, most in (('smollm-135m', -1.0), (COMPARED, -0.25), ('llama-1b', -0.58)):
        for precision in ('fp32', 'fp16', 'bf16') if shape != 'llama-1b' else ('fp16',):   # a build of 36 s
            # --verbose: which kernels were tried, and what each took
            found = said(a, shape, log, '--benchmark', '--promptTokens=480', '--maxTokens=64', f'--precision={precision}',
                         f'--device={device}', '--verbose')
            yield (f'decoder {shape}, {precision}: a step, ms', most if precision != 'fp32' else 2 * most, found['step_ms'],
                   f"prompt of 480 {found['prompt_ms']:.2f} ms, weights {found['weight_bytes'] / 1e6:.0f} MB")


def beside(a, device, log):
    rows = os.path.join(a.out, 'decoder-peers.json')
    words = [sys.executable, os.path.join(HERE, 'decoder_peers.py'), made(a, COMPARED), f'--device={device}', f'--tenfold={TENFOLD}',
             f'--plans={a.models}/decoder-plans', '--sides=tenfold-fp16,compile-fp16', '--rounds=1', '--threads=16', f'--json={rows}']
    run = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT)
    with open(log, 'a') as file:
        file.write(' '.join(words) + '\n' + run.stdout + run.stderr)
    run.check_returncode()
    with open(rows) as file:
        ours, theirs = (sides[0]['step_ms'] for sides in json.load(file).values())
    yield (f"decoder {COMPARED}, fp16: torch.compile's step (reduce-overhead, StaticCache) over ours, by the clock", 1.3, theirs / ours,
           f'{ours:.3f} and {theirs:.3f} ms, logits on the host')


def rows(a, device, log):
    for part in (tokens, times, beside):
        yield from part(a, device, log)
