#!/usr/bin/env python3
"""CPU time of a request in a real Triton: libtriton_tenfold.so beside a model in Python that runs ONNX Runtime.

    triton_figures.py TRITON.SH SERVER ENVIRONMENT [--rounds 5] [--seconds 4] [--clients 1,16] [--threads 1]

The model is tests/triton_models.py's MLP 784-512-10 in float32, with dynamic batching of up to 16 rows. One server has both
models, and perf_analyzer asks them in turns. The time is that of all processes of the server, user and system, divided by the requests that
Triton counts: perf_analyzer, which takes a core of its own, is not in it. script/triton-check --figures calls this.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / 'tests'), str(ROOT / 'bench')]
import onnx
import tritonclient.http as http_client
import triton_models
from serve_common import PYTHON_MODEL, cpu_seconds

HTTP, GRPC, METRICS = 18210, 18211, 18212
CONFIG = '''max_batch_size: 16
input {{ name: "x" data_type: TYPE_FP32 dims: [ 784 ] }}
output {{ name: "y" data_type: TYPE_FP32 dims: [ 10 ] }}
dynamic_batching {{ }}
instance_group {{ count: 1 kind: KIND_CPU }}
backend: "{}"
'''


def write_repository(folder, packages, threads):
    for name, backend in (('tenfold', 'tenfold'), ('python', 'python')):
        (folder / name / '1').mkdir(parents=True)
        onnx.save(triton_models.mlp(), folder / name / '1' / 'model.onnx')
        (folder / name / 'config.pbtxt').write_text(CONFIG.format(backend))
    with open(folder / 'tenfold' / 'config.pbtxt', 'a') as config:
        config.write(f'parameters {{ key: "tenfold.threads" value {{ string_value: "{threads}" }} }}\n')
    (folder / 'python' / '1' / 'model.py').write_text(
        PYTHON_MODEL.format(packages=packages, threads=threads, model=str(folder / 'python' / '1' / 'model.onnx'),
                            input='x', output='y'))


def measure(args, client, server, model, protocol, clients):
    """Microseconds of CPU for a request, and perf_analyzer's median and p99 of the round trip."""
    count = lambda: int(client.get_inference_statistics(model)['model_stats'][0]['inference_stats']['success']['count'])
    runs = lambda: int(client.get_inference_statistics(model)['model_stats'][0]['execution_count'])
    before, cpu, executions = count(), cpu_seconds(server), runs()
    done = subprocess.run(['bash', args.triton, 'perf', args.server, '-m', model, '-i', protocol,
                           '-u', f'localhost:{HTTP if protocol == "http" else GRPC}', f'--concurrency-range={clients}',
                           f'--input-data={args.data}', f'--measurement-interval={args.seconds * 1000 // 3}', '--max-trials=3',
                           '--stability-percentage=999'],
                          capture_output=True, text=True)
    requests = count() - before
    spent = cpu_seconds(server) - cpu
    if 'p99 latency' not in done.stdout:
        sys.exit(done.stdout + done.stderr)
    percentiles = [float(re.search(rf'p{p} latency: (\d+)', done.stdout)[1]) for p in (50, 99)]
    return spent / requests * 1e6, requests / (runs() - executions), *percentiles


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('triton', 'server', 'environment'):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=int, default=4)
    parser.add_argument('--clients', default='1,16')
    parser.add_argument('--threads', type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = pathlib.Path(folder) / 'models'
        args.data = pathlib.Path(folder) / 'data.json'
        triton_models.write_perf_analyzer_data(args.data)
        write_repository(models, next(str(p) for p in pathlib.Path(args.environment).glob('lib/python*/site-packages')), args.threads)
        with open(pathlib.Path(folder) / 'log', 'w') as log:
            server = subprocess.Popen(['bash', args.triton, 'serve', args.server, str(models), f'--http-port={HTTP}', f'--grpc-port={GRPC}',
                                       f'--metrics-port={METRICS}', f'--backend-config=tenfold,plan-cache-dir={folder}/plans'],
                                      stdout=log, stderr=subprocess.STDOUT)
        try:
            client = http_client.InferenceServerClient(f'localhost:{HTTP}')
            for _ in range(300):
                try:
                    if client.is_server_ready():
                        break
                except OSError:
                    pass
                time.sleep(0.2)
            else:
                sys.exit((pathlib.Path(folder) / 'log').read_text())
            print('| protocol | clients | tenfold, us CPU | Python + ONNX Runtime | ratio | requests a run | p50, us | p99, us |')
            print('|---|---|---|---|---|---|---|---|')
            for protocol in ('grpc', 'http'):
                for clients in map(int, args.clients.split(',')):
                    figures = {'tenfold': [], 'python': []}
                    for _ in range(args.rounds):
                        for model, taken in figures.items():
                            taken.append(measure(args, client, server.pid, model, protocol, clients))
                    ours, theirs = ([statistics.median(f[i] for f in figures[model]) for i in range(4)] for model in figures)
                    ratios = sorted(a[0] / b[0] for a, b in zip(figures['tenfold'], figures['python'], strict=True))
                    print(f'| {protocol} | {clients} | {ours[0]:.0f} | {theirs[0]:.0f} | '
                          f'{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) | '
                          f'{ours[1]:.1f}, {theirs[1]:.1f} | {ours[2]:.0f}, {theirs[2]:.0f} | {ours[3]:.0f}, {theirs[3]:.0f} |', flush=True)
        finally:
            server.terminate()
            server.wait(60)


if __name__ == '__main__':
    main()
