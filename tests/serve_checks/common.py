"""What the checks of a server under load share: models, servers, loads, answers of solo runs."""
import http.client
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / 'tests'), str(ROOT / 'bench')]
import numpy as np
import onnx
import serve_common
import serve_requests
import triton_models
from onnx import TensorProto as T
from onnx import helper


ENGINE = ''.join(f'parameters {{ key: "tenfold.{key}" value {{ string_value: "{value}" }} }}\n'
                 for key, value in (('threads', 1), ('precision', 'fp32'), ('tune', 'never')))


class Context:
    """Of one check: where programs and files are, whether the short form is asked for."""

    def __init__(self, build, folder, short):
        self.build, self.folder, self.short = pathlib.Path(build), pathlib.Path(folder), short
        self.logs = 0

    def server(self, model, *flags, name='m'):
        self.logs += 1
        return serve_common.Tenfold(self.build / 'cli/tenfold', model, self.folder / f'server-{self.logs}.log', f'--name={name}',
                                    '--device=cpu', '--threads=1', '--precision=fp32', '--tune=never',
                                    f'--plan-cache-dir={self.folder}/plans', *flags)

    def repository_server(self, model, config, *flags, name='m'):
        """A server of one model of a repository, by its configuration."""
        folder = self.folder / f'repository-{name}' / name / '1'
        folder.mkdir(parents=True)
        model(folder / 'model.onnx')
        (folder.parent / 'config.pbtxt').write_text('backend: "tenfold"\ninstance_group { count: 1 kind: KIND_CPU }\n' + ENGINE + config)
        self.logs += 1
        return serve_common.Tenfold(self.build / 'cli/tenfold', None, self.folder / f'server-{self.logs}.log',
                                    f'--model-repository={folder.parent.parent}', f'--plan-cache-dir={self.folder}/plans', *flags)

    def begin_load(self, server, requests, *, grpc=False, **flags):
        """serve_load as a process; True is a flag without a value. result() waits for it."""
        words = [f'--{key.replace("_", "-")}' + ('' if value is True else f'={value}') for key, value in flags.items()]
        return subprocess.Popen([self.build / 'bench/serve_load/serve_load', f'--requests={requests}',
                                 f'--port={server.grpc if grpc else server.http}', *words, *(['--grpc'] if grpc else [])],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def load(self, server, requests, **flags):
        return result(self.begin_load(server, requests, **flags))


def result(load):
    out, errors = load.communicate()
    if load.returncode != 0:
        raise RuntimeError(f'serve_load: {errors}')
    return json.loads(out)


def faults(loaded):
    """What no load may have."""
    return {key: loaded[key] for key in ('wrong', 'failed', 'lost', 'unanswered', 'first_wrong', 'first_failed') if loaded[key]}


def require(holds, text):
    if not holds:
        raise AssertionError(text)


def save_busy(path):
    """64-2048-2048-64: a row takes milliseconds, a hundred rows a good part of a second."""
    rng = np.random.default_rng(4)
    shapes = ((64, 2048), (2048, 2048), (2048, 64))
    weights = [(f'w{i}', (rng.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)) for i, shape in enumerate(shapes)]
    nodes = [helper.make_node('MatMul', ['x', 'w0'], ['a']), helper.make_node('Tanh', ['a'], ['b']),
             helper.make_node('MatMul', ['b', 'w1'], ['c']), helper.make_node('Tanh', ['c'], ['d']),
             helper.make_node('MatMul', ['d', 'w2'], ['y'])]
    onnx.save(triton_models.model(nodes, [('x', T.FLOAT, ['batch', 64])], [('y', T.FLOAT, ['batch', 64])], weights), path)
    return path


def save_open(path):
    """Rows of any number of vectors: tanh(x w)."""
    weights = np.random.default_rng(5).normal(size=(16, 8)).astype(np.float32)
    nodes = [helper.make_node('MatMul', ['x', 'w'], ['t']), helper.make_node('Tanh', ['t'], ['y'])]
    onnx.save(triton_models.model(nodes, [('x', T.FLOAT, ['batch', 'length', 16])], [('y', T.FLOAT, ['batch', 'length', 8])],
                                  [('w', weights)]), path)
    return path


def save_row(path):
    """tanh(x w) of rows of 6: it takes microseconds."""
    weights = np.random.default_rng(1).normal(size=(6, 4)).astype(np.float32)
    nodes = [helper.make_node('MatMul', ['x', 'w'], ['t']), helper.make_node('Tanh', ['t'], ['y'])]
    onnx.save(triton_models.model(nodes, [('x', T.FLOAT, ['batch', 6])], [('y', T.FLOAT, ['batch', 4])], [('w', weights)]), path)
    return path


def solo(server, inputs, model='m'):
    """The output of a request that is alone in the server."""
    connection = http.client.HTTPConnection('127.0.0.1', server.http, timeout=60)
    connection.connect()
    connection.sock.sendall(serve_requests.http(model, inputs))
    response = http.client.HTTPResponse(connection.sock)
    response.begin()
    body = response.read()
    require(response.status == 200, f'a request alone was answered with {response.status}: {body[:300]}')
    length = int(response.headers['Inference-Header-Content-Length'])
    connection.close()
    return np.frombuffer(body[length:], np.float32)


def write_requests(context, server, inputs, *, parameters=None, model='m'):
    """Files of requests for HTTP and gRPC, with tags and the answers of solo runs. `parameters` are those of each request, by index."""
    records = {'http': [], 'grpc': []}
    for i, x in enumerate(inputs):
        tag, more = f'tag{i:06}', (parameters or {}).get(i, {})
        expected = solo(server, {'x': x}, model)
        timeout = more.get('timeout', 0)
        bodies = {'http': serve_requests.http(model, {'x': x}, id=tag, parameters=more),
                  'grpc': serve_requests.grpc(model, {'x': x}, id=tag, parameters=more)}
        for protocol, body in bodies.items():
            records[protocol].append(serve_requests.record(body, tag, timeout, expected))
    for protocol, some in records.items():
        serve_requests.write(context.folder / f'requests.{protocol}', some)
    return {protocol: context.folder / f'requests.{protocol}' for protocol in records}


def statistics(server, model='m'):
    return json.loads(server.get(f'/v2/models/{model}/stats'))['model_stats'][0]


def counters(server):
    """Counters of /metrics, summed over labels other than the reason of a failure."""
    sums = {}
    for line in server.get('/metrics').decode().splitlines():
        if line.startswith('#') or not line:
            continue
        name, value = line.rsplit(' ', 1)
        family, _, labels = name.partition('{')
        reason = labels.partition('reason="')[2].partition('"')[0]
        key = f'{family} {reason}' if reason else family
        sums[key] = sums.get(key, 0) + float(value)
    return sums


def slowness():
    """How much longer than asked a sleep of a millisecond takes, in ms, at p99: other work on the machine shows here."""
    late = []
    for _ in range(200):
        begun = time.monotonic()
        time.sleep(0.001)
        late.append((time.monotonic() - begun) * 1e3 - 1)
    return round(float(np.quantile(late, 0.99)), 2)


def cores():
    return len(os.sched_getaffinity(0))
