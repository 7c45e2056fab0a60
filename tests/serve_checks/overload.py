"""Four times as many requests as the server can answer, by the clock: those admitted are answered, the others refused at once."""
import numpy as np
from serve_checks.common import faults, require, save_busy, slowness, write_requests

SECONDS = 260
QUEUE = 32   # which bounds the time that an admitted request waits


def check(context):
    seconds = 1.5 if context.short else 30
    rng = np.random.default_rng(8)
    said = []
    with context.server(save_busy(context.folder / 'm.onnx'), '--max-batch=4', f'--max-queue-size={QUEUE}') as server:
        files = write_requests(context, server, [rng.normal(size=(1, 64)).astype(np.float32) for _ in range(64)])
        for protocol, file in files.items():
            ask = lambda **flags: context.load(server, file, grpc=protocol == 'grpc', **flags)
            capacity = ask(clients=16, seconds=seconds, warmup=0.5)['per_second']
            usual = ask(clients=512, rate=0.9 * capacity, seconds=seconds, warmup=1)
            over = ask(clients=512, rate=4 * capacity, seconds=seconds if context.short else 120, warmup=1)
            later = ask(clients=512, rate=0.9 * capacity, seconds=seconds, warmup=2)
            slow = slowness()
            p99, p99_over, p99_later = (r['ok']['p99_us'] / 1e3 for r in (usual, over, later))
            said.append(f'{protocol}: {capacity:.0f} a second; p99 {p99:.0f} ms at 90 %, {p99_over:.0f} ms of those admitted at 400 %, '
                        f'{p99_later:.0f} ms 2 s later; answered {over["per_second"] / capacity:.0%} of capacity; refused in '
                        f'{over["refused"]["p99_us"] / 1e3:.1f} ms at p99; a sleep of 1 ms took {slow} ms longer at p99')
            for r in (usual, over, later):
                require(not faults(r), f'{said[-1]}: {faults(r)}')
            require(over['refused']['count'] > over['ok']['count'], f'{said[-1]}: it was no overload')
            if context.short:   # times are for a machine of one's own
                continue
            require(p99_over <= 2 * p99 + slow, said[-1])
            require(over['per_second'] >= 0.95 * capacity, said[-1])
            require(over['refused']['p99_us'] / 1e3 <= 10 + slow, said[-1])
            require(p99_later <= 2 * p99 + slow, said[-1])
    return '; '.join(said)
