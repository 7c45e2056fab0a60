"""Weights of 4 bits on a GPU: products alone at 1, 16 and 64 rows, a decoder's greedy tokens beside the CPU's, and its steps and prompt
beside torch's int4 product. Part of the bundle that script/gpu-check carries."""
import json
import os
import subprocess
import sys

from gpu_common import HERE, TENFOLD, np
from gpu_decoder import LIMIT, made, said

WIDE, NARROW, GROUP, LAYERS = 14336, 4096, 128, 8   # more weights than a second cache holds
SHAPE, WEIGHTS = 'llama-1b', '--weights=int4:g128'


def products(a, device, log):
    """A chain of products, up and down in turns, by events; microseconds of one."""
    import onnx
    from onnx import TensorProto, helper
    path, rng = os.path.join(a.models, 'int4-products.onnx'), np.random.default_rng(7)
    if not os.path.exists(path):
        nodes, constants = [], []
        for i in range(LAYERS):
            k, n = (NARROW, WIDE) if i % 2 == 0 else (WIDE, NARROW)
            values = rng.integers(0, 256, k * n // 2, dtype=np.uint8).tobytes()
            scales = (rng.random((k // GROUP, n), dtype=np.float32) + 0.5) / (5 * k ** 0.5)   # results stay as large as operands
            constants += [helper.make_tensor(f'w{i}', TensorProto.INT4, (k, n), values, raw=True),
                          helper.make_tensor(f's{i}', TensorProto.FLOAT, scales.shape, scales.tobytes(), raw=True)]
            nodes += [helper.make_node('DequantizeLinear', [f'w{i}', f's{i}'], [f'd{i}'], axis=0, block_size=GROUP),
                      helper.make_node('MatMul', [f'x{i}', f'd{i}'], [f'x{i + 1}'])]
        ends = [helper.make_tensor_value_info(f'x{i}', TensorProto.FLOAT, ['rows', NARROW]) for i in (0, LAYERS)]
        graph = helper.make_graph(nodes, 'products', ends[:1], ends[1:], constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10), path)
    for rows, most in ((1, 12.0), (16, 14.0), (64, 20.0)):
        words = [TENFOLD, 'exec', f'--onnx={path}', f'--device={device}', '--fp16', f'--shapes=x0:{rows}x{NARROW}', '--json',
                 '--verbose', '--duration=2', '--noDataTransfers', f'--timingCacheFile={a.out}/timing.cache']
        run = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT)
        with open(log, 'a') as file:
            file.write(' '.join(words) + '\n' + run.stdout + run.stderr)
        run.check_returncode()
        us = json.loads(run.stdout.strip().splitlines()[-1])['gpu_compute_ms'] * 1e3 / LAYERS
        yield (f'int4 g{GROUP}, {WIDE} x {NARROW}, {rows} rows, fp16: us', -most, us,
               f'mean of {LAYERS} in one graph, half of them transposed')


def tokens(a, device, log):
    prompt = ['--prompt=' + 'a b ? ' * 20, '--maxTokens=48', '--ignoreEnd', '--weights=int4:g32']
    here = said(a, 'smollm-135m', log, *prompt, '--precision=fp32')['ids']
    for precision, least in (('tf32', 40.0), ('fp16', 24.0), ('bf16', 4.0)):   # random weights: many logits are nearly equal
        there = said(a, 'smollm-135m', log, *prompt, f'--precision={precision}', f'--device={device}')['ids']
        same = next((i for i, pair in enumerate(zip(here, there)) if pair[0] != pair[1]), min(len(here), len(there)))
        yield f'decoder of 135M parameters, int4:g32: greedy tokens in {precision} that are those of fp32 on the CPU', least, same, 'of 48'


def steps(a, device, log):
    for shape, most in (('wide-8', -0.20), (SHAPE, -0.45)):
        found = said(a, shape, log, '--benchmark', '--promptTokens=480', '--maxTokens=64', '--precision=fp16', WEIGHTS,
                     f'--device={device}', '--verbose')
        yield (f'decoder {shape}, int4 g128, fp16: a step, ms', most, found['step_ms'],
               f"prompt of 480 {found['prompt_ms']:.2f} ms, weights {found['weight_bytes'] / 1e6:.0f} MB")


def beside(a, device, log):
    rows = os.path.join(a.out, 'decoder-int4-peers.json')
    words = [sys.executable, os.path.join(HERE, 'decoder_peers.py'), made(a, SHAPE), f'--device={device}', f'--tenfold={TENFOLD}',
             f'--plans={a.models}/decoder-plans', '--sides=tenfold-int4:g128,compile-int4:g128', '--rounds=1', '--threads=16',
             f'--json={rows}']
    run = subprocess.run(words, capture_output=True, text=True, timeout=2 * LIMIT)
    with open(log, 'a') as file:
        file.write(' '.join(words) + '\n' + run.stdout + run.stderr)
    run.check_returncode()
    with open(rows) as file:
        ours, theirs = (sides[0] for sides in json.load(file).values())
    for part, least in (('step', 1.6), ('prompt', 1.0)):
        mine, other = ours[part + '_ms'], theirs[part + '_ms']
        yield (f"decoder {SHAPE}, int4 g128: {part} with torch's int4 product (torch.compile, StaticCache, bf16) over ours, by the clock",
               least, other / mine, f'{mine:.3f} and {other:.3f} ms, logits on the host')


def rows(a, device, log):
    for part in (products, tokens, steps, beside):
        yield from part(a, device, log)
