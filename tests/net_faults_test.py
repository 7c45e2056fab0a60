#!/usr/bin/env python3
"""What clients can do to tenfold-server through its sockets: net_faults_test.py TENFOLD [--full]

Nobody hangs, memory stays bounded, and the next client is served. --full: thousands of connections in place of hundreds, and timeouts
that take half a minute; script/serve-check runs that."""

import json
import os
import random
import resource
import signal
import socket
import struct
import sys
import time

import cli_case
import http2_frames as h2
from serve_case import INFER, ServeCase, Server, json_request, rows

FULL = '--full' in sys.argv
if FULL:
    sys.argv.remove('--full')
MANY = 10_000 if FULL else 300
SLOW = 5_000 if FULL else 100
DROPPED = 10_000 if FULL else 200
PATIENCE = 120   # s: beyond this it hangs; a machine that is busy with other things is slow, too
MOST_MEMORY = 500 << 20
LIVE = b'GET /v2/health/live HTTP/1.1\r\n\r\n'
SERVICE = '/inference.GRPCInferenceService/'


def grpc_port(server):
    return int(server.start.split('gRPC on ')[1].split(':')[1].split()[0].strip('"'))


def resident(server):
    with open(f'/proc/{server.process.pid}/statm') as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def descriptors(server):
    return len(os.listdir(f'/proc/{server.process.pid}/fd'))


def connect(port):
    return socket.create_connection(('127.0.0.1', port), timeout=PATIENCE)


def closed(s, seconds=PATIENCE):
    """Whether the server closes the connection in that time, whatever it says before."""
    s.settimeout(seconds)
    try:
        while s.recv(65536):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def infer_request(x):
    """A ModelInferRequest for model m, by hand: model_name 1; inputs 5 (name 1, datatype 2, shape 3); raw_input_contents 7."""

    def field(number, data):
        size = bytes([len(data)]) if len(data) < 128 else bytes([len(data) & 127 | 128, len(data) >> 7])
        return bytes([number << 3 | 2]) + size + data

    tensor = field(1, b'x') + field(2, b'FP32') + field(3, bytes(x.shape))
    return field(1, b'm') + field(5, tensor) + field(7, x.tobytes())


class Faults(ServeCase):
    FLAGS = ('--max-queue-size=0', '--no-supervisor',   # so that the process is the one that serves
             f'--max-connections={MANY + 1000}')

    def check_served(self, server=None):
        """One call on each protocol, in time."""
        server = server or self.server
        http = server.connect(PATIENCE)
        http.request('POST', INFER, json.dumps(json_request(rows(1))))
        response = http.getresponse()
        self.assertEqual(response.status, 200, response.read())
        http.close()
        grpc = h2.Connection(grpc_port(server), timeout=PATIENCE)
        grpc.call(1, SERVICE + 'ModelInfer', h2.message(infer_request(rows(1))))
        self.assertTrue(grpc.answer(1))
        grpc.close()

    def until(self, true, words):
        end = time.monotonic() + PATIENCE
        while not true():
            self.assertLess(time.monotonic(), end, words)
            time.sleep(0.05)

    def test_many_connections(self):
        grpc = grpc_port(self.server), h2.PREFACE + h2.frame(h2.SETTINGS), b''
        for port, hello, answer in ((self.server.port, LIVE, b'HTTP/1.1 200'), grpc):
            with self.subTest(port):
                before = descriptors(self.server)
                idle = [connect(port) for _ in range(MANY)]
                for s in idle:
                    s.sendall(hello)
                for s in idle:
                    got = s.recv(4096)
                    self.assertTrue(got and got.startswith(answer))
                self.check_served()
                self.assertLess(resident(self.server), MOST_MEMORY)
                for s in idle:
                    s.close()
                self.until(lambda most=before + 4: descriptors(self.server) <= most, 'connections stay open')
                self.check_served()

    def test_more_connections_than_may_be(self):
        server = Server(self.model, '--no-supervisor', f'--plan-cache-dir={self.folder.name}/plans', '--max-connections=20')
        self.addCleanup(server.stop)
        for port in (server.port, grpc_port(server)):
            held = [connect(port) for _ in range(20)]
            for s in held:                              # all of them are accepted
                s.sendall(LIVE if port == server.port else h2.PREFACE + h2.frame(h2.SETTINGS))
                self.assertTrue(s.recv(4096))
            for _ in range(10):
                s = connect(port)
                self.assertTrue(closed(s), 'a connection beyond the limit hangs')
                s.close()
            for s in held:
                s.close()
        self.until(lambda: server.raw(LIVE).startswith(b'HTTP/1.1 200'), 'it refuses after the others have left')
        self.check_served(server)

    def test_descriptors_are_exhausted_and_come_back(self):
        most = 160
        server = Server(self.model, '--no-supervisor', f'--plan-cache-dir={self.folder.name}/plans')
        self.addCleanup(server.stop)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (most, most))
        held = []
        for i in range(2 * most):
            port = server.port if i % 2 else grpc_port(server)
            held.append(connect(port))
            try:
                held[-1].sendall(LIVE if i % 2 else h2.PREFACE + h2.frame(h2.SETTINGS))
            except OSError:
                pass                                    # it was refused already
        answered = 0
        for s in held:                                  # each is served or closed: none hangs
            try:
                answered += bool(s.recv(4096))
            except OSError as error:
                self.assertNotIsInstance(error, TimeoutError)
        self.assertGreater(answered, most // 4)
        self.assertLess(answered, most)
        for s in held:
            s.close()
        self.until(lambda: descriptors(server) < most // 2, 'connections stay open')
        self.check_served(server)

    def test_slow_readers_and_writers(self):
        before, slow = resident(self.server), []
        for i in range(SLOW):
            slow.append(connect(self.server.port))
            slow[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            if i % 3 == 0:                              # a head that does not end
                slow[-1].sendall(b'POST /v2 HTTP/1.1\r\nContent-Le')
            elif i % 3 == 1:                            # a body that does not come
                slow[-1].sendall(b'POST %s HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n{' % INFER.encode())
            else:                                       # responses that are not read
                slow[-1].setblocking(False)
                try:
                    for _ in range(200):
                        slow[-1].sendall(b'GET /metrics HTTP/1.1\r\n\r\n' * 100)
                except BlockingIOError:
                    pass
        for i in range(SLOW // 10):                     # gRPC: calls without an end, and answers for which there is no window
            slow.append(connect(grpc_port(self.server)))
            settings = h2.frame(h2.SETTINGS, payload=struct.pack('>HI', 4, 0))
            calls = b''.join(h2.frame(h2.HEADERS, h2.END_HEADERS, stream, h2.request_headers(SERVICE + 'ServerMetadata')) +
                             h2.frame(h2.DATA, h2.END_STREAM if i % 2 else 0, stream, h2.message(b'')[: 5 if i % 2 else 3])
                             for stream in range(1, 100, 2))
            slow[-1].sendall(h2.PREFACE + settings + calls)
        self.check_served()
        self.assertLess(resident(self.server), MOST_MEMORY)
        if FULL:
            time.sleep(45)                              # 30 s for a head, 40 s for such a body
            self.assertTrue(closed(slow[0], 1))
            self.assertTrue(closed(slow[1], 1))
            self.check_served()
        for s in slow:
            s.close()
        # What they took goes back to the system, but for what pays no more.
        self.until(lambda: resident(self.server) < before + (48 << 20), 'memory stays')

    def test_a_pipeline_that_is_not_read_is_not_kept(self):
        """Of requests whose answers nobody reads the server holds some kilobytes, and the system the rest."""
        server = Server(self.model, '--no-supervisor', f'--plan-cache-dir={self.folder.name}/plans')
        self.addCleanup(server.stop)
        self.check_served(server)
        before, clients = resident(server), []
        for _ in range(40):
            clients.append(connect(server.port))
            clients[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            clients[-1].setblocking(False)
        for _ in range(20):                             # while it answers, there is room for more
            for s in clients:
                try:
                    for _ in range(200):
                        s.sendall(b'GET /v2 HTTP/1.1\r\n\r\n' * 1000)
                except BlockingIOError:
                    pass
            time.sleep(0.1)
        each = (resident(server) - before) / len(clients)
        self.assertLess(each, 100_000, f'bytes for each of {len(clients)} clients')
        for s in clients:
            s.close()
        self.check_served(server)

    def test_floods(self):
        reset = b''.join(h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.request_headers(SERVICE + 'ModelInfer')) for _ in range(1))
        for name, data in (('settings', h2.frame(h2.SETTINGS) * 200), ('ping', h2.frame(h2.PING, payload=bytes(8)) * 200),
                           ('priority', h2.frame(h2.PRIORITY, 0, 1, bytes(5)) * 200),
                           ('empty data', reset + h2.frame(h2.DATA, 0, 1) * 5000),
                           ('continuation', reset[:4] + b'\0' + reset[5:] + h2.frame(h2.CONTINUATION, 0, 1) * 200)):
            with self.subTest(name):
                connection = h2.Connection(grpc_port(self.server), timeout=PATIENCE)
                self.assertTrue(connection.flood(data, PATIENCE), 'it is not closed')
                connection.close()
        with self.subTest('resets'):
            connection, stream, stop = h2.Connection(grpc_port(self.server), timeout=PATIENCE), 1, time.monotonic() + PATIENCE
            try:
                while time.monotonic() < stop:
                    headers = h2.request_headers(SERVICE + 'ModelInfer')
                    connection.send(b''.join(h2.frame(h2.HEADERS, h2.END_HEADERS, s, headers) +
                                             h2.frame(h2.RST_STREAM, 0, s, struct.pack('>I', h2.CANCEL))
                                             for s in range(stream, stream + 200, 2)))
                    stream += 200
                self.fail('it is not closed')
            except OSError:
                pass
            connection.close()
        with self.subTest('chunks'), connect(self.server.port) as s:
            s.sendall(b'POST %s HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n' % INFER.encode())
            try:
                for _ in range(1000):
                    s.sendall(b'1\r\nx\r\n' * 1000)
            except OSError:
                pass
            self.assertTrue(closed(s))
        with self.subTest('the head of a chunk'), connect(self.server.port) as s:
            s.sendall(b'POST %s HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;' % INFER.encode())
            try:
                for _ in range(2000):
                    s.sendall(b'x' * 65536)
                self.fail('it is read without end')
            except OSError:
                pass
        self.check_served()
        self.assertLess(resident(self.server), MOST_MEMORY)

    def test_bytes_in_flight_of_both_protocols(self):
        server = Server(self.model, '--no-supervisor', f'--plan-cache-dir={self.folder.name}/plans', '--max-bytes-in-flight=400000')
        self.addCleanup(server.stop)
        head = b'POST %s HTTP/1.1\r\nContent-Length: %d\r\n\r\n'
        with connect(server.port) as s:                 # what can never be taken
            s.sendall(head % (INFER.encode(), 500_000))
            self.assertTrue(s.recv(4096).startswith(b'HTTP/1.1 413'))
        holder = connect(server.port)
        holder.sendall(head % (INFER.encode(), 350_000) + b'x' * 300_000)
        refused = b''

        def is_refused():
            nonlocal refused
            with connect(server.port) as s:
                # No room for it means that all of the holder's 300,000 bytes were read: asked sooner, the holder is refused below.
                s.sendall(head % (INFER.encode(), 100_001))   # and nothing of the body
                s.settimeout(1)
                try:
                    refused = s.recv(4096)
                except TimeoutError:
                    refused = b''
            return refused.startswith(b'HTTP/1.1 503')

        self.until(is_refused, 'it takes more than the budget')
        self.assertIn(b'Retry-After: 1\r\n', refused)
        grpc = h2.Connection(grpc_port(server), timeout=PATIENCE)
        grpc.acknowledge()                              # what follows is more than the window of a stream before its settings
        grpc.send(h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.request_headers(SERVICE + 'ModelInfer')))
        for _ in range(10):
            grpc.send(h2.frame(h2.DATA, 0, 1, h2.message(b'', length=200_000) + b'x' * 15_000))
        frames = grpc.until(lambda f: f[0] == h2.HEADERS and f[1] & h2.END_STREAM)
        self.assertIn(b'\x0214', frames[-1][3])         # grpc-status: UNAVAILABLE
        self.assertEqual(server.get('/v2/health/ready')[0], 200)   # what has no body is answered
        holder.close()
        self.until(lambda: server.infer(json_request(rows(1)))[0] == 200 and not is_refused(), 'it does not come back')
        self.check_served(server)

    def test_clients_that_leave(self):
        server = Server(self.model, '--no-supervisor', f'--plan-cache-dir={self.folder.name}/plans', '--max-queue-delay-us=3000000',
                        '--max-batch=1024', '--max-queue-size=0')
        self.addCleanup(server.stop)
        body = json.dumps(json_request(rows(1))).encode()
        http = [connect(server.port) for _ in range(20)]
        for s in http:
            s.sendall(b'POST %s HTTP/1.1\r\nContent-Length: %d\r\n\r\n' % (INFER.encode(), len(body)) + body)
        grpc = h2.Connection(grpc_port(server), timeout=PATIENCE)
        for stream in range(1, 41, 2):
            grpc.call(stream, SERVICE + 'ModelInfer', h2.message(infer_request(rows(1))))
        other = h2.Connection(grpc_port(server), timeout=PATIENCE)
        other.call(1, SERVICE + 'ModelInfer', h2.message(infer_request(rows(1))))
        time.sleep(0.3)
        for s in http:
            s.close()
        for stream in range(1, 41, 2):
            grpc.send(h2.frame(h2.RST_STREAM, 0, stream, struct.pack('>I', h2.CANCEL)))
        other.close()

        def counts():
            inference = server.statistics()['inference_stats']
            return inference['success']['count'], inference['fail']['count']

        self.until(lambda: sum(counts()) == 41, 'requests are left')
        success, fail = counts()
        self.assertEqual(success + fail, 41)
        self.assertLess(success, 5, 'requests ran whose clients had left')   # 0, unless this machine slept for seconds

    def test_dropped_anywhere(self):
        random.seed(7)
        body = json.dumps(json_request(rows(1))).encode()
        http = b'POST %s HTTP/1.1\r\nContent-Length: %d\r\n\r\n' % (INFER.encode(), len(body)) + body
        grpc = (h2.PREFACE + h2.frame(h2.SETTINGS) + h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.request_headers(SERVICE + 'ModelInfer')) +
                h2.frame(h2.DATA, h2.END_STREAM, 1, h2.message(infer_request(rows(1)))))
        for i in range(DROPPED):
            port, data = (self.server.port, http) if i % 2 else (grpc_port(self.server), grpc)
            s = connect(port)
            s.sendall(data[: random.randint(0, len(data))])
            if i % 3 == 0:                              # a reset in place of an end
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            s.close()
        self.check_served()
        self.assertIsNone(self.server.process.poll())


def main():
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), 'tenfold-server')):
        print('skipped: tenfold-server is not built (script/bootstrap build installs what it needs)')
        sys.exit(77)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = 65536 if most == resource.RLIM_INFINITY else max(most, 65536)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(most, wanted)))   # which root may
    except (ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    cli_case.main()


if __name__ == '__main__':
    main()
