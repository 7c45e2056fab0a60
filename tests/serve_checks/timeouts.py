"""Requests whose timeout passes while the model is busy: they are refused when it is due."""
import numpy as np
import serve_requests
from serve_checks.common import faults, require, result, save_busy, slowness

SECONDS = 60


def write(path, make, rows, timeouts):
    rng = np.random.default_rng(9)
    records = []
    for timeout in timeouts:
        x = rng.normal(size=(rows, 64)).astype(np.float32)
        records.append(serve_requests.record(make('m', {'x': x}, parameters={'timeout': timeout} if timeout else {}), '', timeout))
    serve_requests.write(path, records)
    return path


def check(context):
    seconds = 2 if context.short else 20
    timeouts = [int(t) for t in np.random.default_rng(10).integers(5_000, 60_000, 200)]
    said = []
    with context.server(save_busy(context.folder / 'm.onnx'), '--max-batch=512') as server:
        long = write(context.folder / 'long', serve_requests.http, 512, [0])
        for protocol, make in (('http', serve_requests.http), ('grpc', serve_requests.grpc)):
            # Two clients keep the model busy for a good part of a second each; what comes behind them can only wait.
            busy = context.begin_load(server, long, clients=2, seconds=seconds + 1)
            timed = context.load(server, write(context.folder / protocol, make, 1, timeouts), grpc=protocol == 'grpc', clients=64, rate=100,
                                 seconds=seconds, warmup=0.5)
            kept = result(busy)
            slow = slowness()
            late, early = timed['late'], timed['early']
            said.append(f'{protocol}: {late["count"]} refused, {late["p50_us"] / 1e3:.2f} ms after it was due in the median, '
                        f'{late["p99_us"] / 1e3:.2f} ms at p99; {timed["ok"]["count"]} answered; a run took '
                        f'{kept["ok"]["p50_us"] / 2e3:.0f} ms; a sleep of 1 ms took {slow} ms longer at p99')
            require(not faults(timed) and not faults(kept), f'{said[-1]}: {faults(timed)} {faults(kept)}')
            require(early == 0, f'{said[-1]}: {early} were refused early')
            require(late['count'] > 10 * seconds, f'{said[-1]}: too few to tell')
            # Where others use the machine, a thread that is due waits for a processor more than once.
            median, p99 = (20 + 3 * slow, 100 + 10 * slow) if context.short else (1 + slow, 5 + slow)
            require(late['p50_us'] / 1e3 <= median, said[-1])
            require(late['p99_us'] / 1e3 <= p99, said[-1])
    return '; '.join(said)
