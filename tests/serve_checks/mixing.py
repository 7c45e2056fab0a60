"""Tagged requests of random shapes, priorities and timeouts over both protocols: each answer is that of its solo run."""
import numpy as np
from serve_checks.common import counters, faults, require, result, save_open, write_requests

SECONDS = 600
LEVELS = 3
CONFIG = 'max_batch_size: 16\ndynamic_batching {{ max_queue_delay_microseconds: 200 {} }}\n'
PRIORITIES = f'priority_levels: {LEVELS} default_priority_level: 2'


def begin(context):
    """The server, and whether it has levels of priority."""
    try:
        return context.repository_server(save_open, CONFIG.format(PRIORITIES)), True
    except RuntimeError as error:
        if "'dynamic_batching.priority_levels' is not supported yet" not in str(error):
            raise
    return context.repository_server(save_open, CONFIG.format(''), name='n'), False


def check(context):
    rng = np.random.default_rng(7)
    total, distinct = (20_000, 200) if context.short else (1_000_000, 2000)
    inputs = [rng.normal(size=(rng.integers(1, 5), rng.integers(1, 9), 16)).astype(np.float32) for _ in range(distinct)]
    # A tenth may wait for a moment only; of these some are refused.
    parameters = {i: {'priority': int(rng.integers(0, LEVELS + 1))} for i in range(distinct)}
    for i in range(0, distinct, 10):
        parameters[i]['timeout'] = int(rng.integers(200, 5000))
    server, levels = begin(context)
    if not levels:
        for more in parameters.values():
            del more['priority']
    with server:
        files = write_requests(context, server, inputs, parameters=parameters, model='m' if levels else 'n')
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
    without = '' if levels else ', without priorities, which it does not have yet'
    return (f'{total} requests of {distinct} kinds{without}, {refused} refused by their timeout, '
            f'{succeeded / max(runs, 1):.1f} requests a run')
