"""Tagged requests of random shapes and timeouts over both protocols: each answer is that of its solo run."""
import numpy as np
from serve_checks.common import counters, faults, require, result, save_open, write_requests

SECONDS = 600


def check(context):
    rng = np.random.default_rng(7)
    total, distinct = (20_000, 200) if context.short else (1_000_000, 2000)
    inputs = [rng.normal(size=(rng.integers(1, 5), rng.integers(1, 9), 16)).astype(np.float32) for _ in range(distinct)]
    # A tenth may wait for a moment only; of these some are refused.
    timed = {i: {'timeout': int(rng.integers(200, 5000))} for i in range(0, distinct, 10)}
    with context.server(save_open(context.folder / 'm.onnx'), '--max-batch=16', '--max-queue-delay-us=200') as server:
        files = write_requests(context, server, inputs, parameters=timed)
        before = counters(server)
        loads = {p: context.begin_load(server, files[p], grpc=p == 'grpc', clients=16, count=total // 2, seconds=3600, shuffle=True, seed=3)
                 for p in files}
        results = {p: result(load) for p, load in loads.items()}
        after = counters(server)
    refused = 0
    for protocol, r in results.items():
        require(not faults(r), f'{protocol}: {faults(r)}')
        require(r['refused_untimed'] == 0, f'{protocol}: {r["refused_untimed"]} requests without a timeout were refused')
        require(r['ok']['count'] + r['refused']['count'] == r['sent'] == total // 2, f'{protocol}: {r["sent"]} requests, other counts: {r}')
        refused += r['refused']['count']
    succeeded = after['nv_inference_request_success'] - before['nv_inference_request_success']
    require(succeeded == total - refused, f'the server counts {succeeded:.0f} answers, its clients {total - refused}')
    runs = after['nv_inference_exec_count'] - before['nv_inference_exec_count']
    return f'{total} requests of {distinct} kinds, {refused} refused by their timeout, {succeeded / max(runs, 1):.1f} requests a run'
