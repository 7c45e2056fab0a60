"""SIGTERM with a thousand requests in flight: all that the server had accepted are answered, and it ends by itself."""
import random
import signal
import time

import numpy as np
from serve_checks.common import require, result, save_row, write_requests

SECONDS = 600
CLIENTS = 1000


def one_stop(context, model, files, protocol, delay):
    clients = CLIENTS if protocol == 'http' else 200
    with context.server(model, '--max-batch=16', '--max-queue-size=0') as server:
        load = context.begin_load(server, files[protocol], grpc=protocol == 'grpc', clients=clients, seconds=60, retire=True,
                                  say_when_warm=True)
        require(load.stderr.readline() == 'warm\n', f'{protocol}: not all clients were answered')
        time.sleep(delay)
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait(60)
        r = result(load)
        require(code == 0, f'{protocol}: the server ended with {code}: {server.log.read_text()[-500:]}')
    require(r['ok']['count'] > 0, f'{protocol}: no answer before the signal: {r}')
    require(not any(r[key] for key in ('lost', 'wrong', 'unanswered')), f'{protocol}: {r}')
    return r['sent'], r['refused']['count']


def check(context):
    stops = 6 if context.short else 200
    rng, numbers = random.Random(12), np.random.default_rng(12)
    model = save_row(context.folder / 'm.onnx')
    with context.server(model, '--max-batch=16') as server:
        files = write_requests(context, server, [numbers.normal(size=(1, 6)).astype(np.float32) for _ in range(50)])
    sent = refused = 0
    for i in range(stops):
        some, others = one_stop(context, model, files, ('http', 'grpc')[i % 2], rng.random() / 3)
        sent, refused = sent + some, refused + others
    return f'{stops} signals, {sent} requests, none lost; {refused} were refused while the server stopped'
