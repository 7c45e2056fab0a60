"""Clients that leave at random points while the model is busy: what they had asked for is not run, and the counters add up.

A first request occupies the model. Behind it half of the clients leave: in the middle of the head or body, or when the whole request is
there and waits. When the model is free again, it must run the requests of those that have stayed, and no others.
"""
import http.client
import random
import select
import socket
import struct
import time

import numpy as np
import serve_requests
from serve_checks.common import counters, require, save_busy, solo

SECONDS = 400
CLIENTS = 500
LONG = 4096   # rows of the request that occupies the model: some 0.5 s
RUN = 'nv_inference_count'


class Client:
    def __init__(self, port):
        self.port = port
        self.socket = None

    def send(self, request):
        if self.socket is None:
            self.socket = socket.create_connection(('127.0.0.1', self.port))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(request)

    def leave(self, by_reset):
        if by_reset:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        self.socket.close()
        self.socket = None

    def answer(self):
        response = http.client.HTTPResponse(self.socket)
        response.begin()
        return response.status, response.read()


def one_round(rng, clients, long, requests, server):
    """Whole requests that were dropped, those of them that ran, and whether all were dropped while the model was busy."""
    before = counters(server)[RUN]
    busy = Client(server.http)
    busy.send(long)
    time.sleep(0.05)   # it runs
    dropping = rng.sample(range(len(clients)), len(clients) // 2)
    leaves, waiting = set(dropping), 0
    for i, client in enumerate(clients):
        whole = requests[i % len(requests)][0]
        # In a quarter of those that leave, the request is not whole.
        part = i in leaves and rng.random() < 0.25
        client.send(whole[:rng.randrange(1, len(whole))] if part else whole)
        waiting += i in leaves and not part
    rng.shuffle(dropping)
    for i in dropping:
        clients[i].leave(rng.random() < 0.5)
    time.sleep(0.02)   # the server has seen it
    busy_yet = not select.select([busy.socket], [], [], 0)[0]
    stayed = [i for i in range(len(clients)) if i not in leaves]
    status, _ = busy.answer()
    require(status == 200, f'the long request was answered with {status}')
    for i in stayed:
        status, body = clients[i].answer()
        expected = requests[i % len(requests)][1]
        require(status == 200, f'a client that stayed was answered with {status}: {body[:200]}')
        got = np.frombuffer(body[-expected.nbytes:], np.float32)
        require(np.allclose(got, expected, atol=1e-5 * abs(expected).max()), 'a wrong answer')
    return waiting, counters(server)[RUN] - before - len(stayed) - LONG, busy_yet


def check(context):
    rounds = 4 if context.short else 200
    clients = 200 if context.short else CLIENTS
    rng, numbers = random.Random(11), np.random.default_rng(11)
    inputs = [numbers.normal(size=(1, 64)).astype(np.float32) for _ in range(50)]
    weights = save_busy(context.folder / 'm.onnx')
    with context.server(weights, f'--max-batch={LONG}') as server:
        requests = [(serve_requests.http('m', {'x': x}), solo(server, {'x': x})) for x in inputs]
        long = serve_requests.http('m', {'x': numbers.normal(size=(LONG, 64)).astype(np.float32)})
        before = counters(server)
        sockets = [Client(server.http) for _ in range(clients)]
        whole = ran = judged = ran_of_judged = slow = 0
        for _ in range(rounds):
            dropped, more, busy_yet = one_round(rng, sockets, long, requests, server)
            whole, ran = whole + dropped, ran + more
            if busy_yet:
                judged, ran_of_judged = judged + dropped, ran_of_judged + more
            slow += not busy_yet
        after = counters(server)
    delta = {key: after[key] - before.get(key, 0) for key in after}
    succeeded = delta['nv_inference_request_success']
    failed = sum(count for key, count in delta.items() if key.startswith('nv_inference_request_failure'))
    said = (f'{rounds * clients} requests, {rounds * (clients // 2)} dropped, {judged} of them while they waited: {ran_of_judged:.0f} ran; '
            f'{succeeded:.0f} answered, {failed:.0f} ended without an answer; {slow} of {rounds} rounds took longer than the run that '
            f'they were behind, and are not judged')
    require(slow <= rounds / 2, said)
    require(ran_of_judged <= 0.001 * judged, said)
    stayed = rounds * (clients - clients // 2 + 1)
    require(succeeded == stayed + ran, f'{said}: {stayed} were answered, and {ran:.0f} ran for nobody')
    require(failed == whole - ran, f'{said}: {whole} had come whole and were dropped, {ran:.0f} of them ran')
    return said
