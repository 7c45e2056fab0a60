#!/usr/bin/env python3
"""What bounds each step of a model: step_profile.py TENFOLD GEMM_BENCH MODEL.onnx|PLAN [flags of tenfold exec]   (--threads=1)

For every step: time, arithmetic as a share of the peak of the unit that it runs on, bytes as a share of the rate of memory, and
which of the two binds. The FMA peak and memory's rate are measured; VNNI has 4 times the FMA rate, AMX 16 (bf16) or 32 (int8); f32 that
goes through a unit in parts has that rate by the number of products of parts. Arithmetic is that of the definition, so Winograd's and
Strassen's may pass 100 %; bytes are those that the second cache cannot hold: a step's operands and results where they are more, and
its weights (as they are packed) where all weights of the model are more.
"""
import json
import math
import re
import subprocess
import sys
import tempfile

SIZES = {'f64': 8, 'i64': 8, 'f32': 4, 'i32': 4, 'f16': 2, 'bf16': 2, 'i16': 2, 'u16': 2, 'i8': 1, 'u8': 1, 'bool': 1}


def machine(gemm_bench, threads):
    text = subprocess.run([gemm_bench, str(threads), 'peaks'], check=True, capture_output=True, text=True).stdout
    found = re.search(r'peak ([\d.]+) GFLOP/s\nmemory ([\d.]+) GB/s, features (.*)', text)
    return float(found[1]), float(found[2]), found[3].split()


def profile(tenfold, model, flags):
    source = '--onnx=' if model.endswith('.onnx') else '--loadEngine='
    with tempfile.TemporaryDirectory() as folder:
        times, layers = folder + '/times.json', folder + '/layers.json'
        run = subprocess.run([tenfold, 'exec', source + model, '--exportProfile=' + times, '--exportLayerInfo=' + layers,
                              '--profilingVerbosity=detailed', *flags], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(run.stdout[-2000:] + run.stderr[-2000:])
        with open(times) as t, open(layers) as l:
            reported = json.load(l)
            return [x for x in json.load(t) if 'name' in x], reported['Layers'], reported['Summary']['WeightBytes']


def size(operand):
    if 'PackedBytes' in operand:
        return operand['PackedBytes']
    words = operand['Format/Datatype'].replace(' packed', '').split()
    return math.prod(operand['Dimensions']) * SIZES.get(words[-1], 4)


def far_bytes(layer, near, weights_are_far):
    """Bytes that do not come from the second cache, of `near` bytes; of a table from which rows are gathered only those rows."""
    operands = layer['Inputs'] + layer['Outputs']
    if layer['LayerType'].split('+')[0] == 'Gather':
        operands = layer['Inputs'][1:] + 2 * layer['Outputs']
    weights = sum(size(o) for o in operands if o['Location'].startswith('constant'))
    values = sum(map(size, operands)) - weights
    return weights * weights_are_far + values * (values > near)


def operations(layer):
    """Multiplications and additions of products; 0 for everything else."""
    dims = [x['Dimensions'] for x in layer['Inputs']]
    result = math.prod(layer['Outputs'][0]['Dimensions']) if layer['Outputs'] else 0
    kind = layer['LayerType'].split('+')[0]
    if kind in ('Conv', 'ConvFloat8', 'ConvInteger'):
        return 2 * result * math.prod(dims[1][1:])
    if kind == 'ExpandDepthwise':
        return 2 * math.prod(dims[0]) * dims[1][0] + 2 * result * math.prod(dims[3][2:])
    if kind == 'ConvTranspose':
        return 2 * math.prod(dims[0]) * math.prod(dims[1][1:])
    if kind in ('MatMul', 'MatMulFloat8', 'MatMulInteger'):
        return 2 * result * dims[0][-1]
    if kind in ('Attention', 'FusedAttention') and len(dims[0]) == len(dims[2]) == 4:   # the keys may come transposed
        return 2 * math.prod(dims[0][:3]) * dims[2][2] * (dims[0][3] + dims[2][3])
    return 0


# What a tactic multiplies with: a part of its name, the feature without which it falls back, the unit, its rate in FMAs of f32.
UNITS = [
    ('amx_s24', 'amxint8', 'amx int8', 32 / 6),              # six of the nine products of bytes
    ('conv_transpose_amx_split', 'amxbf16', 'amx', 16 / 6),  # three terms, six of nine products
    ('conv_amx_split', 'amxbf16', 'amx', 16 / 6),
    ('conv_pointwise_split', 'amxbf16', 'amx', 16 / 6),
    ('expand_depthwise_lines', 'amxbf16', 'amx', 16 / 6),
    ('amx_whole', 'amxbf16', 'amx', 16 / 6),
    ('amx_split', 'amxbf16', 'amx', 16 / 3),                 # two terms
    ('amx_bf16', 'amxbf16', 'amx', 16),
    ('gemv_bf16', 'avx512bf16', 'bf16', 2),
    ('gemv_s16', 'vnni', 'vnni', 1),                         # 16-bit pairs, and two products for the bytes of an activation
    ('int8_depthwise', 'vnni', 'vnni', 4),
    ('int8', 'amxint8', 'amx int8', 32),
    ('int8', 'vnni', 'vnni', 4),
]


def unit(layer, features):
    """Name of the unit and how often its rate is that of FMA."""
    tactic = layer.get('TacticName', '')
    return next(((name, rate) for part, feature, name, rate in UNITS if part in tactic and feature in features), ('fma', 1))


def second_cache():
    """Bytes of a core's second cache; 1 MiB where the system does not tell."""
    try:
        with open('/sys/devices/system/cpu/cpu0/cache/index2/size') as f:
            return int(f.read().strip().removesuffix('K')) * 1024
    except (OSError, ValueError):
        return 1 << 20


def bound(us, compute, memory):
    if max(compute, memory) >= 0.5:
        return 'arithmetic' if compute >= min(memory, 1) else 'memory' if memory <= 1.05 else 'third cache'   # faster than memory
    return 'overhead of a step' if us < 2 else 'second cache, latency'


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    tenfold, gemm_bench, model, *flags = sys.argv[1:]
    threads = next((int(f.split('=')[1]) for f in flags if f.startswith('--threads=')), 1)
    if not any(f.startswith('--threads=') for f in flags):
        flags.append('--threads=1')
    fma, memory_rate, features = machine(gemm_bench, threads)
    times, layers, weights = profile(tenfold, model, flags)
    if [t['name'] for t in times] != [l['Name'] for l in layers][:len(times)]:
        sys.exit('the profile and the layers differ: a model with several profiles is read one plan at a time')
    print(f'{threads} thread(s): FMA {fma:.0f} GFLOP/s, memory {memory_rate:.1f} GB/s; {" ".join(features)}')
    print(f'{"us":>9} {"of all":>6} {"peak":>13} {"memory":>6}  bound by               tactic                  step')
    total, near, by_tactic = sum(t['medianMs'] for t in times), second_cache() * threads, {}
    for t, layer in zip(times, layers):
        us, (name, factor) = t['medianMs'] * 1e3, unit(layer, features)
        compute = operations(layer) / (fma * factor * 1e3) / us
        memory = far_bytes(layer, near, weights > near) / (memory_rate * 1e3) / us
        tactic = layer.get('TacticName', '-')
        by_tactic[tactic] = by_tactic.get(tactic, 0) + us
        share, far = f'{name} {compute:4.0%}' if compute else '-', f'{memory:.0%}' if memory else '-'
        print(f'{us:9.1f} {us / total / 1e3:6.1%} {share:>13} {far:>6}  {bound(us, compute, memory):21}  '
              f'{tactic:22}  {t["name"][-60:]}')
    work = sum(map(operations, layers[:len(times)]))
    print(f'{total * 1e3:9.1f} us in all, {work / total / 1e6:.1f} GFLOP/s')
    for tactic, us in sorted(by_tactic.items(), key=lambda x: -x[1]):
        print(f'{us:9.1f} {us / total / 1e3:6.1%}  {tactic}')


if __name__ == '__main__':
    main()
