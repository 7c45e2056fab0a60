#!/usr/bin/env python3
"""Time 8 bits from plain files beside ONNX Runtime and OpenVINO.

    int8_peers.py TENFOLD FOLDER [--only mobilenet,...] [--threads 1,2] [--batch 1,8]

Makes the models in FOLDER (bench/int8_models.py) and quantizes each with everybody's own tools from the same data: ours as it builds, ONNX
Runtime by quantize_static (u8, weights i8 by channel, min-max) and quantize_dynamic, OpenVINO by NNCF. Each engine is a process of its own
on the same processors, stopped while another one is timed; every round visits all of them, each round beginning with another. Medians.
--isa=vnni or avx2 narrows ours (--cpuFeatures) and OpenVINO (ONEDNN_MAX_CPU_ISA). ONNX Runtime has no such switch: --preload names the
library of bench/refuse_amx.c, which keeps AMX from it; AVX-512 cannot be.
Needs numpy, onnx, onnxruntime, openvino and nncf. What cannot be imported is left out.
"""
import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time

import numpy as np

import int8_models

SAMPLES = 8   # that give ranges
ISA = {'all': ('', ''), 'vnni': ('avx2,avx512,vnni', 'AVX512_CORE_VNNI'), 'avx2': ('avx2', 'AVX2')}


# ------------------------------------------------------------------------------------------------ models, quantized by each

def prepare(name, folder):
    path = os.path.join(folder, name)
    if not os.path.exists(path + '.onnx'):
        import onnx
        onnx.save(int8_models.build(name), path + '.onnx')
    samples = [int8_models.inputs(name, 1, 100 + i) for i in range(SAMPLES)]
    # Ours takes ranges from every second sample.
    np.savez(path + '.npz', **{k: np.repeat(np.concatenate([s[k] for s in samples]), 2, axis=0) for k in samples[0]})
    attempt(path + '.ort.onnx', lambda out: by_onnxruntime(name, path + '.onnx', out, samples))
    if name in int8_models.TRANSFORMERS:
        attempt(path + '.dynamic.onnx', lambda out: by_onnxruntime_dynamic(path + '.onnx', out))
    attempt(path + '.ov.xml', lambda out: by_nncf(name, path + '.onnx', out, samples))


def attempt(out, make):
    if os.path.exists(out):
        return
    try:
        make(out)
    except Exception as e:
        print(f'{os.path.basename(out)} is not there: {e!r}', flush=True)


def by_onnxruntime(name, path, out, samples):
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader:
        left = iter(samples)

        def get_next(self):
            return next(self.left, None)
    scope = {}
    if name in int8_models.TRANSFORMERS:   # only what goes into products: a quantized sum or mask costs accuracy and gains no speed
        scope = dict(op_types_to_quantize=['MatMul', 'Gemm'], extra_options={'OpTypesToExcludeOutputQuantization': ['MatMul', 'Gemm']})
    quant_pre_process(path, out + '.tmp', skip_symbolic_shape=True)
    quantize_static(out + '.tmp', out, Reader(), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt8, **scope)
    os.remove(out + '.tmp')


def by_onnxruntime_dynamic(path, out):
    from onnxruntime.quantization import QuantType, quantize_dynamic
    quantize_dynamic(path, out, per_channel=True, weight_type=QuantType.QInt8)


def by_nncf(name, path, out, samples):
    import nncf
    import openvino as ov
    kind = dict(model_type=nncf.ModelType.TRANSFORMER) if name in int8_models.TRANSFORMERS else dict(preset=nncf.QuantizationPreset.MIXED)
    ov.save_model(nncf.quantize(ov.Core().read_model(path), nncf.Dataset(samples), subset_size=SAMPLES, **kind), out)


# ------------------------------------------------------------------------------------------------ the engines

def onnxruntime(path, threads, x):
    import onnxruntime as ort
    o = ort.SessionOptions()
    o.intra_op_num_threads, o.inter_op_num_threads = threads, 1
    s = ort.InferenceSession(path, o, providers=['CPUExecutionProvider'])
    io = s.io_binding()
    for name, v in x.items():
        io.bind_cpu_input(name, v)
    io.bind_output(s.get_outputs()[0].name, 'cpu')
    return ort.__version__, lambda: s.run_with_iobinding(io), lambda: io.copy_outputs_to_cpu()[0]


def openvino(path, threads, x):
    import openvino as ov
    core = ov.Core()
    model = core.read_model(path)
    model.reshape({name: list(v.shape) for name, v in x.items()})
    config = {'PERFORMANCE_HINT': 'LATENCY', 'INFERENCE_NUM_THREADS': threads}
    if 'ONEDNN_MAX_CPU_ISA' in os.environ:
        config['INFERENCE_PRECISION_HINT'] = 'f32'   # it would choose bf16 by what the CPU has, and emulate that
    request = core.compile_model(model, 'CPU', config).create_infer_request()
    for name, v in x.items():
        request.set_tensor(name, ov.Tensor(v, shared_memory=True))
    return ov.__version__, lambda: request.infer(share_outputs=True), lambda: request.get_output_tensor(0).data


def worker(kind, path, threads, inputs):
    """Loads, answers with version and the output, then runs for as long as a line says, and answers with the median."""
    talk = os.fdopen(os.dup(1), 'w', buffering=1)
    os.dup2(2, 1)
    x = dict(np.load(inputs))   # outlives the tensors that share its memory
    version, run, output = globals()[kind](path, int(threads), x)
    run()
    print(json.dumps([version, np.array(output()).ravel().tolist()[:4096]]), file=talk)
    for line in sys.stdin:
        times, end = [], time.perf_counter() + float(line)
        run(), run()
        while not times or time.perf_counter() < end:
            start = time.perf_counter()
            run()
            times.append((time.perf_counter() - start) * 1e3)
        print(json.dumps(statistics.median(times)), file=talk)


class Peer:
    def __init__(self, name, kind, path, threads, inputs, cpus, env):
        self.name, self.cpus = name, cpus
        command = [sys.executable, os.path.abspath(__file__), '--worker', kind, path, str(threads), inputs]
        self.p = subprocess.Popen(command, text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  env={**os.environ, **env}, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        self.version, output = self.answer()
        self.output = np.array(output)
        self.p.send_signal(signal.SIGSTOP)   # no spinning threads while others are timed

    def answer(self):
        line = self.p.stdout.readline()
        if not line:
            raise RuntimeError(f'{self.name} ended with {self.p.wait()}')
        return json.loads(line)

    def time(self, seconds):
        self.p.send_signal(signal.SIGCONT)
        self.p.stdin.write(f'{seconds}\n')
        taken = self.answer()
        self.p.send_signal(signal.SIGSTOP)
        return taken

    def close(self):
        self.p.kill()
        self.p.wait()


class Ours:
    def __init__(self, name, flags, case, a, cpus):
        self.name, self.cpus, self.plan, self.a, self.case = name, cpus, f'{case["path"]}.{os.getpid()}.{name}.plan', a, case
        shapes = ','.join(f'{k}:{"x".join(map(str, v.shape))}' for k, v in case['x'].items())
        fixed = (f'--{which}Shapes={shapes}' for which in ('min', 'opt', 'max'))
        features = [f'--cpuFeatures={ISA[a.isa][0]}'] if ISA[a.isa][0] else []
        self.run(f'--onnx={case["path"]}.onnx', *fixed, '--buildOnly', *flags, f'--builderOptimizationLevel={a.level}', *features,
                 f'--timingCacheFile={a.folder}/times.{case["threads"]}.{a.isa}', f'--saveEngine={self.plan}')
        for k, v in case['x'].items():
            np.save(f'{self.plan}.{k}.npy', v)
        loads = ','.join(f'{k}:{self.plan}.{k}.npy' for k in case['x'])
        self.run(f'--loadEngine={self.plan}', f'--loadInputs={loads}', f'--exportOutput={self.plan}.npz', '--iterations=1', '--duration=0',
                 '--warmUp=0')
        self.output = next(iter(np.load(self.plan + '.npz').values())).ravel()[:4096]

    def run(self, *flags):
        done = subprocess.run([self.a.tenfold, 'exec', *flags, f'--threads={self.case["threads"]}'], capture_output=True, text=True,
                              preexec_fn=lambda: os.sched_setaffinity(0, self.cpus))
        if done.returncode:
            raise RuntimeError(done.stderr[-500:])
        return done.stdout

    def time(self, seconds):
        printed = self.run(f'--loadEngine={self.plan}', f'--duration={seconds}', '--warmUp=100')
        return float(re.search(r'Latency: .*?median = ([\d.]+)', printed)[1])

    def close(self):
        for at in os.listdir(self.a.folder):
            if at.startswith(os.path.basename(self.plan)):
                os.remove(os.path.join(self.a.folder, at))


# ------------------------------------------------------------------------------------------------ rows

def one_of_each_core():
    """Processors that share no core with each other."""
    seen, cpus = set(), []
    for cpu in sorted(os.sched_getaffinity(0)):
        try:
            with open(f'/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list') as f:
                core = f.read().strip()
        except OSError:
            core = str(cpu)
        if core not in seen:
            seen.add(core), cpus.append(cpu)
    return cpus


def cosine(a, b):
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def measure(name, batch, threads, a):
    path = os.path.join(a.folder, name)
    case = dict(path=path, threads=threads, x=int8_models.inputs(name, batch))
    inputs = f'{path}.{batch}.{os.getpid()}.npz'
    np.savez(inputs, **case['x'])
    cpus = set(one_of_each_core()[a.first_core:a.first_core + threads])
    env = {'ONEDNN_MAX_CPU_ISA': ISA[a.isa][1]} if ISA[a.isa][1] else {}
    if a.preload:
        env['LD_PRELOAD'] = os.path.abspath(a.preload)
    by_data = ('--int8', f'--data={path}.npz', f'--samples={2 * SAMPLES}', '--calibrator=minmax')
    makers = {'Tenfold': lambda n: Ours(n, by_data, case, a, cpus),
              'ONNX Runtime': lambda n: Peer(n, 'onnxruntime', path + '.ort.onnx', threads, inputs, cpus, env),
              'OpenVINO': lambda n: Peer(n, 'openvino', path + '.ov.xml', threads, inputs, cpus, env)}
    if name in int8_models.TRANSFORMERS:
        makers['Tenfold rows'] = lambda n: Ours(n, ('--int8',), case, a, cpus)
        makers['ONNX Runtime dynamic'] = lambda n: Peer(n, 'onnxruntime', path + '.dynamic.onnx', threads, inputs, cpus, env)
    exact = Peer('f32', 'onnxruntime', path + '.onnx', threads, inputs, cpus, env)
    exact.close()
    peers = []
    for n, make in makers.items():
        if a.peers and n not in a.peers:
            continue
        try:
            peers.append(make(n))
        except Exception as e:
            print(f'{name} b{batch} t{threads} {n}: {e}', flush=True)
    times = {p.name: [] for p in peers}
    for r in range(a.rounds):
        for p in peers[r % len(peers):] + peers[:r % len(peers)]:
            times[p.name].append(p.time(a.seconds / a.rounds))
    row = dict(model=name, batch=batch, threads=threads, isa=a.isa)
    row['ms'] = {n: statistics.median(t) for n, t in times.items()}
    row['spread'] = {n: [min(t), max(t)] for n, t in times.items()}
    row['cosine'] = {p.name: cosine(exact.output, p.output) for p in peers}
    row['versions'] = {p.name: p.version for p in peers if isinstance(p, Peer)}
    for p in peers:
        p.close()
    os.remove(inputs)
    return row


def ratio(row, ours, theirs):
    best = min((row['ms'][n] for n in theirs if n in row['ms']), default=None)
    return best / row['ms'][ours] if best and ours in row['ms'] else None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('tenfold', type=os.path.abspath)
    p.add_argument('folder', type=os.path.abspath)
    p.add_argument('--only', default=list(int8_models.NAMES), type=lambda s: s.split(','))
    p.add_argument('--threads', default=[1, 2], type=lambda s: [int(v) for v in s.split(',')])
    p.add_argument('--batch', default=[1, 8], type=lambda s: [int(v) for v in s.split(',')])
    p.add_argument('--isa', default='all', choices=list(ISA))
    p.add_argument('--peers', type=lambda s: s.split(','), help='only these, by their names in the table')
    p.add_argument('--preload', help='a library for all but ours, as LD_PRELOAD')
    p.add_argument('--level', default=3, type=int, help='of the tuner')
    p.add_argument('--seconds', type=float, default=3, help='timed for each engine of a row')
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('--first-core', type=int, default=0, help='the first of the cores to run on')
    p.add_argument('--prepare-only', action='store_true')
    p.add_argument('--out', default='int8_peers.json')
    a = p.parse_args()
    os.makedirs(a.folder, exist_ok=True)
    for name in a.only:
        prepare(name, a.folder)
    if a.prepare_only:
        return
    rows = []
    for name in a.only:
        for batch in a.batch:
            for threads in a.threads:
                row = measure(name, batch, threads, a)
                rows.append(row)
                row['gain'] = ratio(row, 'Tenfold', ('ONNX Runtime', 'OpenVINO'))
                row['gain_rows'] = ratio(row, 'Tenfold rows', ('ONNX Runtime dynamic',))
                reported = '  '.join(f'{n} {ms:.3f} (cos {row["cosine"][n]:.4f})' for n, ms in row['ms'].items())
                gains = '  '.join(f'{k} {row[k]:.2f}' for k in ('gain', 'gain_rows') if row[k])
                print(f'{name} b{batch} t{threads} {a.isa}: {reported}  {gains}', flush=True)
                with open(a.out, 'w') as f:
                    json.dump(rows, f, indent=1)
    for key in ('gain', 'gain_rows'):
        gains = [r[key] for r in rows if r[key]]
        if gains:
            print(f'{key}: geometric mean {statistics.geometric_mean(gains):.3f}, least {min(gains):.3f}, of {len(gains)} rows')


if __name__ == '__main__':
    if sys.argv[1:2] == ['--worker']:
        worker(*sys.argv[2:])
    else:
        main()
