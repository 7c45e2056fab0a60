"""A thousand reloads under load, each of another file: no request fails, and live traffic hardly waits."""
import time
import urllib.request

import numpy as np
import onnx
from serve_checks.common import faults, require, result, save_row, slowness, write_requests

SECONDS = 900
PROTOCOLS = 'http', 'grpc'
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


def reloads_under_load(server, file, begin, count, seconds, pause):
    """The results of the loads meanwhile; `pause`: seconds from the end of a reload to the next."""
    done, loads = 0, []
    while done < count:
        some = [begin(protocol, seconds) for protocol in PROTOCOLS]
        while done < count and any(load.poll() is None for load in some):
            change(file, f'{pause} {done}')
            reload(server)
            time.sleep(pause)
            done += 1
        loads += [result(load) for load in some]
    return loads


def p99_of(loads):
    return float(np.median([r['ok']['p99_us'] for r in loads])) / 1e3


def check(context):
    reloads, seconds = (4, 2) if context.short else (1000, 30)
    rng = np.random.default_rng(14)
    with context.repository_server(save_row, CONFIG, *FLAGS) as server:
        file = context.folder / 'repository-m' / 'm' / '1' / 'model.onnx'
        files = write_requests(context, server, [rng.normal(size=(1, 6)).astype(np.float32) for _ in range(50)])
        begin = lambda protocol, time: context.begin_load(server, files[protocol], grpc=protocol == 'grpc', clients=16, rate=200,
                                                          seconds=time)
        calm = [result(load) for load in [begin(protocol, seconds) for protocol in PROTOCOLS]]
        often = reloads_under_load(server, file, begin, reloads // 2, seconds, 0)
        paced = reloads_under_load(server, file, begin, reloads // 2, seconds, 0.2)
        slow = slowness()
    loads = often + paced
    for r in loads:
        require(not faults(r) and r['refused']['count'] == 0, f'{reloads} reloads: {faults(r)}, {r["refused"]["count"]} refused')
    said = (f'{reloads} reloads, {sum(r["ok"]["count"] for r in loads)} requests meanwhile, none failed; p99 {p99_of(calm):.1f} ms without '
            f'reloads, {p99_of(paced):.1f} ms with five a second, {p99_of(often):.1f} ms with one behind the other, which keeps a '
            f'processor busy; a sleep of 1 ms took {slow} ms longer at p99')
    require(context.short or p99_of(paced) <= 1.5 * p99_of(calm) + slow, said)
    return said
