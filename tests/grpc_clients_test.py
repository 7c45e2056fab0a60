"""The transport of gRPC, asked by Python's grpcio. Argument: the program grpc_trial.

It needs grpcio, grpcio-health-checking and grpcio-reflection (script/bootstrap clients), and is skipped without.
"""
import contextlib
import signal
import socket
import sys
import threading
import time
import unittest

import http2_frames as h2
import report_skips
from grpc_trial_case import ECHO, STREAM, SLOW, NEVER, ZEROS, SEEN, REFUSE, PROGRAM, server

try:
    import grpc
    from grpc_health.v1 import health_pb2, health_pb2_grpc
    from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
except ImportError as error:
    grpc, ABSENT = None, f'Python has no grpcio with health and reflection: {error}'
else:
    ABSENT = ''


def echo_stream(channel, requests, **options):
    return channel.stream_stream(STREAM)(iter(requests), **options)


@unittest.skipIf(not grpc, ABSENT)
class Grpcio(unittest.TestCase):
    @contextlib.contextmanager
    def channel(self, *options, **arguments):
        with server(*options) as process, grpc.insecure_channel(f'127.0.0.1:{process.trial_port}', **arguments) as channel:
            self.process = process
            yield channel

    def fails(self, code, call, *arguments, **options):
        with self.assertRaises(grpc.RpcError) as raised:
            call(*arguments, **options)
        self.assertEqual(raised.exception.code(), code, raised.exception.details())
        return raised.exception.details()

    def test_unary(self):
        with self.channel() as channel:
            echo = channel.unary_unary(ECHO)
            for size in (0, 1, 5, 16384, 65536, 1_000_000, 4_000_000):
                text = bytes(i % 251 for i in range(min(size, 251))) * (size // 251 + 1)
                self.assertEqual(echo(text[:size]), text[:size])
            calls = [echo.future(b'%d' % i) for i in range(500)]
            self.assertEqual([c.result() for c in calls], [b'%d' % i for i in range(500)])
            self.assertEqual(channel.unary_unary(SLOW)(b'later'), b'later')

    def test_names(self):
        with self.channel() as channel:
            for path in ('/trial.Trial/None', '/none/Echo', '/x'):
                self.fails(grpc.StatusCode.UNIMPLEMENTED, channel.unary_unary(path), b'')

    def test_statuses(self):
        with self.channel() as channel:
            for text in ('plain', '100 %', 'line\nbreak', 'Größe \u4e2d', '', '\x01\x7f'):
                details = self.fails(grpc.StatusCode.FAILED_PRECONDITION, channel.unary_unary(REFUSE), text.encode())
                self.assertEqual(details, text)

    def test_streaming_in_order(self):
        with self.channel() as channel:
            texts = [b'%d' % i * (i % 7) for i in range(5000)]
            self.assertEqual(list(echo_stream(channel, texts)), texts)
            large = [bytes([i]) * 300_000 for i in range(100)]
            self.assertEqual(list(echo_stream(channel, large)), large)
            self.assertEqual(list(echo_stream(channel, [])), [])

    def test_answers_while_requests_go_on(self):
        with self.channel() as channel:
            gate = threading.Semaphore(1)

            def requests():
                for i in range(20):
                    if not gate.acquire(timeout=10):
                        return
                    yield b'%d' % i
            for i, answer in enumerate(echo_stream(channel, requests())):
                self.assertEqual(answer, b'%d' % i)
                gate.release()

    def test_deadlines(self):
        with self.channel() as channel:
            for path in (NEVER, SLOW):
                began = time.monotonic()
                self.fails(grpc.StatusCode.DEADLINE_EXCEEDED, channel.unary_unary(path), b'', timeout=0.1)
                self.assertLess(time.monotonic() - began, 2)
            self.wait_until(lambda: self.seen(channel) == (1, 0))

    def test_deadline_ends_it_at_the_server(self):
        """By hand: grpcio ends the call by itself, too."""
        with server() as process:
            connection = h2.Connection(process.trial_port)
            began = time.monotonic()
            connection.call(1, NEVER, h2.message(b''), (b'grpc-timeout', b'100m'))
            self.assertEqual(connection.answer(1), b'')
            self.assertGreater(time.monotonic() - began, 0.09)
            connection.close()

    def seen(self, channel):
        words = channel.unary_unary(SEEN)(b'').split()
        return int(words[1]), int(words[3])

    def wait_until(self, true, seconds=10):
        stop = time.monotonic() + seconds
        while not true():
            self.assertLess(time.monotonic(), stop, 'it did not come to that')
            time.sleep(0.01)

    def test_cancel(self):
        with self.channel() as channel:
            calls = [channel.unary_unary(NEVER).future(b'') for _ in range(50)]
            self.wait_until(lambda: self.seen(channel)[1] == 50)
            for call in calls:
                call.cancel()
            self.wait_until(lambda: self.seen(channel) == (50, 0))
            stream = echo_stream(channel, iter(lambda: time.sleep(0.05) or b'x', None))
            next(stream)
            stream.cancel()
            self.assertEqual(channel.unary_unary(ECHO)(b'next'), b'next')

    def test_gzip(self):
        text = b'the same again ' * 100_000
        with self.channel('gzip=6', 'message=2000000', compression=grpc.Compression.Gzip) as channel:
            self.assertEqual(channel.unary_unary(ECHO)(text), text)
            self.assertEqual(list(echo_stream(channel, [text, b'', b'short'])), [text, b'', b'short'])
            details = self.fails(grpc.StatusCode.RESOURCE_EXHAUSTED, channel.unary_unary(ECHO), bytes(2_000_001))
            self.assertIn('decompression', details)
            # 1 MB of zeros are sent as about 1 kB: in a window that this client does not open any further.
        with server('gzip=6') as process:
            connection = h2.Connection(process.trial_port)
            connection.call(1, ZEROS, h2.message(b'1000000'), (b'grpc-accept-encoding', b'identity, gzip'))
            answer = connection.answer(1)
            self.assertEqual(answer[0], 1)
            self.assertLess(len(answer), 5000)
            connection.close()
        with self.channel(compression=grpc.Compression.Deflate) as channel:
            self.assertEqual(channel.unary_unary(ECHO)(text), text)

    def test_too_large(self):
        with self.channel('message=1000') as channel:
            self.assertEqual(len(channel.unary_unary(ECHO)(bytes(1000))), 1000)
            details = self.fails(grpc.StatusCode.RESOURCE_EXHAUSTED, channel.unary_unary(ECHO), bytes(1001))
            self.assertIn('1001 vs. 1000', details)
            self.fails(grpc.StatusCode.RESOURCE_EXHAUSTED, channel.unary_unary(ECHO), bytes(3_000_000))
            self.fails(grpc.StatusCode.RESOURCE_EXHAUSTED, channel.unary_unary(ECHO), b'', metadata=[(f'x-{i}', 'y') for i in range(120)])

    def test_more_calls_than_streams(self):
        with self.channel('streams=8') as channel:
            calls = [channel.unary_unary(SLOW).future(b'%d' % i) for i in range(40)]
            self.assertEqual([c.result() for c in calls], [b'%d' % i for i in range(40)])

    def test_health(self):
        with self.channel() as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            serving, not_serving = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
            self.assertEqual(stub.Check(health_pb2.HealthCheckRequest()).status, serving)
            self.fails(grpc.StatusCode.NOT_FOUND, stub.Check, health_pb2.HealthCheckRequest(service='none'))
            watch = stub.Watch(health_pb2.HealthCheckRequest())
            self.assertEqual(next(watch).status, serving)
            for expected in (not_serving, serving):
                self.process.send_signal(signal.SIGUSR1)
                self.assertEqual(next(watch).status, expected)
            unknown = stub.Watch(health_pb2.HealthCheckRequest(service='none'))
            self.assertEqual(next(unknown).status, health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)
            unknown.cancel()

    def test_reflection(self):
        from google.protobuf import descriptor_pb2
        with self.channel() as channel:
            stub = reflection_pb2_grpc.ServerReflectionStub(channel)
            ask = reflection_pb2.ServerReflectionRequest
            answers = list(stub.ServerReflectionInfo(iter([
                ask(list_services=''), ask(file_containing_symbol='grpc.health.v1.Health'), ask(file_containing_symbol='none'),
                ask(file_by_filename='reflection.proto')])))
            names = {s.name for s in answers[0].list_services_response.service}
            self.assertLessEqual({'grpc.health.v1.Health', 'grpc.reflection.v1.ServerReflection', 'trial.Trial'}, names)
            file = descriptor_pb2.FileDescriptorProto.FromString(answers[1].file_descriptor_response.file_descriptor_proto[0])
            self.assertEqual([m.name for m in file.service[0].method], ['Check', 'Watch'])
            self.assertEqual(answers[2].error_response.error_code, 5)
            self.assertEqual(answers[3].file_descriptor_response.file_descriptor_proto[0][:2], b'\x0a\x10')
            raw = channel.stream_stream('/grpc.reflection.v1.ServerReflection/ServerReflectionInfo')
            self.assertIn(b'grpc.health.v1.Health', next(raw(iter([ask(list_services='').SerializeToString()]))))


@unittest.skipIf(not grpc, ABSENT)
class Shutdown(unittest.TestCase):
    def test_calls_end(self):
        """What runs is answered, those who watch are told, and the program ends."""
        with server() as process, grpc.insecure_channel(f'127.0.0.1:{process.trial_port}') as channel:
            watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
            next(watch)
            calls = [channel.unary_unary(SLOW).future(b'%d' % i) for i in range(50)]
            time.sleep(0.2)
            process.send_signal(signal.SIGTERM)
            self.assertEqual([c.result() for c in calls], [b'%d' % i for i in range(50)])
            self.assertEqual(next(watch).status, health_pb2.HealthCheckResponse.NOT_SERVING)
            self.assertEqual(process.wait(timeout=10), 0)

    def test_patience_ends(self):
        with server() as process, grpc.insecure_channel(f'127.0.0.1:{process.trial_port}') as channel:
            call = channel.unary_unary(NEVER).future(b'')
            time.sleep(0.3)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=10), 0)
            self.assertEqual(call.exception().code(), grpc.StatusCode.UNAVAILABLE)
            with self.assertRaises(OSError):
                socket.create_connection(('127.0.0.1', process.trial_port), timeout=2)


if __name__ == '__main__':
    PROGRAM[0] = sys.argv.pop(1)
    report_skips.run()
