#!/usr/bin/env python3
"""What bounds each step of a model: step_profile.py TENFOLD GEMM_BENCH MODEL.onnx|PLAN [flags of tenfold exec]   (--threads=1)

For every step: time, arithmetic as a share of the peak of the unit that it runs on, bytes as a share of the rate of memory, and
which of the two binds. The FMA peak and memory's rate are measured; VNNI has 4 times the FMA rate, AMX 16 (bf16) or 32 (int8).
Arithmetic is that of the definition, so Winograd's and Strassen's may pass 100 %; bytes are those of operands and results
once, wherever they lie.
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
            return [x for x in json.load(t) if 'name' in x], json.load(l)['Layers']


def size(operand):
    words = operand['Format/Datatype'].replace(' packed', '').split()
    return math.prod(operand['Dimensions']) * SIZES.get(words[-1], 4)


def operations(layer):
    """Multiplications and additions of products; 0 for everything else."""
    dims = [x['Dimensions'] for x in layer['Inputs']]
    result = math.prod(layer['Outputs'][0]['Dimensions']) if layer['Outputs'] else 0
    kind = layer['LayerType'].split('+')[0]
    if kind in ('Conv', 'ConvInteger'):
        return 2 * result * math.prod(dims[1][1:])
    if kind == 'ExpandDepthwise':
        return 2 * math.prod(dims[0]) * dims[1][0] + 2 * result * math.prod(dims[3][2:])
    if kind == 'ConvTranspose':
        return 2 * math.prod(dims[0]) * math.prod(dims[1][1:])
    if kind in ('MatMul', 'MatMulInteger'):
        return 2 * result * dims[0][-1]
    if kind == 'Attention' and len(dims[0]) == len(dims[1]) == 4:
        return 4 * math.prod(dims[0]) * dims[1][2]
    return 0


def unit(layer, features):
    """Name of the unit and how often its rate is that of FMA."""
    tactic = layer.get('TacticName', '')
    if 'amx_bf16' in tactic:
        return 'amx', 16
    if 'int8' in tactic and 'depthwise' not in tactic and 'amxint8' in features:
        return 'amx', 32
    return ('vnni', 4) if 'int8' in tactic and 'vnni' in features else ('fma', 1)


def bound(us, compute, memory):
    if memory > 1.05 and compute < 0.5:  # then it is not memory that they come from
        return 'caches'
    if max(compute, memory) >= 0.5:
        return 'arithmetic' if compute >= min(memory, 1) else 'memory'
    return 'overhead of a step' if us < 2 else 'caches and latency'


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    tenfold, gemm_bench, model, *flags = sys.argv[1:]
    threads = next((int(f.split('=')[1]) for f in flags if f.startswith('--threads=')), 1)
    if not any(f.startswith('--threads=') for f in flags):
        flags.append('--threads=1')
    fma, memory_rate, features = machine(gemm_bench, threads)
    times, layers = profile(tenfold, model, flags)
    if [t['name'] for t in times] != [l['Name'] for l in layers][:len(times)]:
        sys.exit('the profile and the layers differ: a model with several profiles is read one plan at a time')
    print(f'{threads} thread(s): FMA {fma:.0f} GFLOP/s, memory {memory_rate:.1f} GB/s; {" ".join(features)}')
    print(f'{"us":>9} {"of all":>6} {"peak":>10} {"memory":>6}  bound by              tactic                step')
    total = sum(t['medianMs'] for t in times)
    for t, layer in zip(times, layers):
        us, (name, factor) = t['medianMs'] * 1e3, unit(layer, features)
        compute = operations(layer) / (fma * factor * 1e3) / us
        memory = sum(map(size, layer['Inputs'] + layer['Outputs'])) / (memory_rate * 1e3) / us
        share = f'{name} {compute:4.0%}' if compute else '-'
        print(f'{us:9.1f} {us / total / 1e3:6.1%} {share:>10} {memory:6.0%}  {bound(us, compute, memory):20}  '
              f'{layer.get("TacticName", "-"):20}  {t["name"][-60:]}')
    work = sum(map(operations, layers[:len(times)]))
    print(f'{total * 1e3:9.1f} us in all, {work / total / 1e6:.1f} GFLOP/s')


if __name__ == '__main__':
    main()
