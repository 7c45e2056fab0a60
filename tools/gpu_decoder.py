"""A decoder on a GPU: its greedy tokens beside those of the CPU, and what a prompt and a step take. Part of the bundle that
script/gpu-check carries."""
import json
import os
import subprocess
import sys

from gpu_common import TENFOLD

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 300


def rows(a, device, log):
    folder = os.path.join(a.models, 'decoder')
    if not os.path.exists(os.path.join(folder, 'model.safetensors')):
        subprocess.run([sys.executable, os.path.join(HERE, 'decoder_models.py'), 'smollm-135m', folder], check=True, timeout=LIMIT)

    def said(*flags):
        words = [TENFOLD, 'generate', folder, '--maxLength=1024', '--json', f'--planCache={a.models}/decoder-plans', *flags]
        run = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT)
        with open(log, 'a') as file:
            file.write(' '.join(words) + '\n' + run.stdout + run.stderr)
        run.check_returncode()
        return json.loads(run.stdout)

    prompt = ['--prompt=' + 'a b ? ' * 20, '--maxTokens=48', '--ignoreEnd', '--precision=fp32']
    here, there = said(*prompt)['ids'], said(*prompt, f'--device={device}')['ids']
    same = next((i for i, pair in enumerate(zip(here, there)) if pair[0] != pair[1]), len(here))
    yield 'decoder of 135M parameters: greedy tokens in fp32 that are the CPU\'s, of 48', 48.0, float(same), ''
    for precision in ('fp32', 'fp16', 'bf16'):
        times = said('--benchmark', '--promptTokens=480', '--maxTokens=64', f'--precision={precision}', f'--device={device}')
        yield (f'the same, {precision}: a step, ms', -2.0, times['step_ms'],
               f"prompt of 480 {times['prompt_ms']:.2f} ms, weights {times['weight_bytes'] / 1e6:.0f} MB")
