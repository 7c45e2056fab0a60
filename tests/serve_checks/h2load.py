"""nghttp2's h2load, as it comes, at the port of gRPC and at that of HTTP: many streams on many connections, and processes of it that are
killed with all their streams open. No request of those that stay fails, and the counters add up."""
import re
import shutil
import signal
import struct
import subprocess
import time

import numpy as np
import serve_requests
from serve_checks.common import counters, require, save_row

SECONDS = 120
GRPC = ['-H', 'content-type: application/grpc', '-H', 'te: trailers']
COUNTS = re.compile(r'requests: (\d+) total, \d+ started, (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout')


class H2load:
    def __init__(self, context, server):
        x = {'x': np.random.default_rng(3).normal(size=(1, 6)).astype(np.float32)}
        message = serve_requests.grpc('m', x)
        head, body = serve_requests.http('m', x).split(b'\r\n\r\n', 1)
        length = re.search(r'(?i)inference-header-content-length: \d+', head.decode())[0]
        (context.folder / 'grpc.body').write_bytes(struct.pack('>BI', 0, len(message)) + message)
        (context.folder / 'http.body').write_bytes(body)
        self.lines = {
            'grpc': [*GRPC, '-d', f'{context.folder}/grpc.body',
                     f'http://127.0.0.1:{server.grpc}/inference.GRPCInferenceService/ModelInfer'],
            'http': ['--h1', '-H', length, '-d', f'{context.folder}/http.body', f'http://127.0.0.1:{server.http}/v2/models/m/infer'],
        }

    def begin(self, protocol, *flags):
        return subprocess.Popen(['h2load', *flags, *self.lines[protocol]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, protocol, requests, *flags):
        out = self.begin(protocol, f'-n{requests}', *flags).communicate(timeout=600)[0]
        found = COUNTS.search(out)
        require(found, f'h2load, {protocol}: {out[-500:]}')
        total, done, succeeded, *bad = map(int, found.groups())
        require((total, done, succeeded, sum(bad)) == (requests, requests, requests, 0), f'{protocol} {flags}: {found[0]}')
        return total


def check(context):
    if not shutil.which('h2load'):
        return 'left out: there is no h2load, which is in the package nghttp2-client'
    scale = 1 if context.short else 25
    with context.server(save_row(context.folder / 'm.onnx'), '--max-batch=16', '--max-queue-size=0') as server:
        load = H2load(context, server)
        before = counters(server)
        sent = load.run('grpc', 8000 * scale, '-c20', '-m100')
        sent += load.run('grpc', 8000 * scale, '-c2', '-m1000')       # more streams than a connection may have
        sent += load.run('grpc', 2000 * scale, '-c200', '-m1')
        sent += load.run('http', 4000 * scale, '-c50', '-m8')         # pipelined
        answered = counters(server)['nv_inference_request_success'] - before['nv_inference_request_success']
        require(answered == sent, f'h2load saw {sent} answers, the server counts {answered:.0f}')   # h2load does not read grpc-status
        killed = 4 * scale
        for i in range(killed):
            process = load.begin(('grpc', 'http')[i % 2], '-n100000000', '-c20', '-m100')
            time.sleep(0.3)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        sent += load.run('grpc', 2000 * scale, '-c20', '-m100')
        time.sleep(1)
        after = counters(server)
    delta = {key: after[key] - before.get(key, 0) for key in after}
    received, success = delta['tenfold_request_received_total'], delta['nv_inference_request_success']
    failed = sum(count for key, count in delta.items() if key.startswith('nv_inference_request_failure'))
    said = (f'{sent} requests on up to 200 connections with up to 1,000 streams, none failed; {killed} times h2load was killed with its '
            f'streams open; {received:.0f} received, {success:.0f} answered, {failed:.0f} ended')
    require(received == success + failed, said)
    return said
