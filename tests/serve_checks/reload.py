"""A thousand reloads under load, each of another file: no request fails, and live traffic hardly waits."""
import urllib.request

import numpy as np
import onnx
from serve_checks.common import faults, require, result, save_row, slowness, write_requests

SECONDS = 900
CONFIG = 'max_batch_size: 16\ndynamic_batching { }\n'
FLAGS = ('--model-control-mode=explicit', '--load-model=m')


def change(path, turn):
    """Other bytes, the same answers."""
    model = onnx.load(path)
    model.doc_string = f'turn {turn}'
    onnx.save(model, path)


def reload(server):
    request = urllib.request.Request(f'http://127.0.0.1:{server.http}/v2/repository/models/m/load', data=b'', method='POST')
    with urllib.request.urlopen(request, timeout=120) as response:
        require(response.status == 200, f'a load was answered with {response.status}')


def check(context):
    reloads, seconds = (4, 2) if context.short else (1000, 30)
    rng = np.random.default_rng(14)
    with context.repository_server(save_row, CONFIG, *FLAGS) as server:
        file = context.folder / 'repository-m' / 'm' / '1' / 'model.onnx'
        files = write_requests(context, server, [rng.normal(size=(1, 6)).astype(np.float32) for _ in range(50)])
        begin = lambda protocol, time: context.begin_load(server, files[protocol], grpc=protocol == 'grpc', clients=16, rate=200,
                                                          seconds=time)
        calm = [result(load) for load in [begin(protocol, seconds) for protocol in files]]
        done, loads = 0, []
        while done < reloads:
            some = [begin(protocol, seconds) for protocol in files]
            while done < reloads and any(load.poll() is None for load in some):
                change(file, done)
                reload(server)
                done += 1
            loads += [result(load) for load in some]
        slow = slowness()
    for r in loads:
        require(not faults(r) and r['refused']['count'] == 0, f'after {done} reloads: {faults(r)}, {r["refused"]["count"]} refused')
    p99, p99_calm = (float(np.median([r['ok']['p99_us'] for r in some])) / 1e3 for some in (loads, calm))
    said = (f'{done} reloads, {sum(r["ok"]["count"] for r in loads)} requests meanwhile, none failed; p99 {p99:.1f} ms, {p99_calm:.1f} ms '
            f'without reloads; a sleep of 1 ms took {slow} ms longer at p99')
    require(context.short or p99 <= 1.5 * p99_calm + slow, said)
    return said
