"""Twenty minutes of requests, of which some are dropped and some time out: memory, descriptors and threads do not grow."""
import os
import time

import numpy as np
import serve_common
from serve_checks.common import faults, require, result, save_open, write_requests

SECONDS = 1300
EACH = 10   # seconds between two looks


def look(server):
    there = serve_common.processes(server.pid)
    try:
        count = lambda what: sum(len(os.listdir(f'/proc/{pid}/{what}')) for pid in there)
        return serve_common.resident_mb(server.pid), count('fd'), count('task')
    except FileNotFoundError:
        now = serve_common.processes(server.pid)
        raise AssertionError(f'of the processes {sorted(there)} now {sorted(now)} are there: {server.log.read_text()[-1000:]}') from None


def check(context):
    seconds, total = (8, 8_000) if context.short else (1200, 1_000_000)
    rng = np.random.default_rng(13)
    inputs = [rng.normal(size=(rng.integers(1, 5), rng.integers(1, 9), 16)).astype(np.float32) for _ in range(500)]
    timed = {i: {'timeout': int(rng.integers(200, 5000))} for i in range(0, len(inputs), 10)}
    with context.server(save_open(context.folder / 'm.onnx'), '--max-batch=16') as server:
        files = write_requests(context, server, inputs, parameters=timed)
        rest = look(server)
        loads = [context.begin_load(server, files[p], grpc=p == 'grpc', clients=64, rate=total / 2 / seconds, seconds=seconds, shuffle=True,
                                    drop=0.05, drop_within_ms=2) for p in files]
        looks = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.5 if context.short else EACH)
            looks.append(look(server))
        results = [result(load) for load in loads]
        time.sleep(1)
        after = look(server)
    for r in results:
        require(not faults(r), faults(r))
    quarter = len(looks) // 4
    second, last = (np.median([m for m, *_ in some]) for some in (looks[quarter:2 * quarter], looks[-quarter:]))
    sent, dropped = (sum(r[key] for r in results) for key in ('sent', 'dropped'))
    said = (f'{sent} requests, {dropped} dropped: {second:.1f} MB in the second quarter, {last:.1f} in the last; descriptors '
            f'{rest[1]} before, {after[1]} after; threads {rest[2]} and {after[2]}')
    require(last <= second + max(0.02 * second, 2), said)
    require(after[1] <= rest[1] + 2 and after[2] <= rest[2], said)
    require(sent >= 0.9 * total, f'{said}: the machine was too busy to send {total}')
    return said
