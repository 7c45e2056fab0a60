"""The transport of gRPC: clients that send what none should, byte by byte. Argument: the program grpc_trial."""
import struct
import sys
import threading
import time
import unittest

import http2_frames as h2
import report_skips
from grpc_trial_case import ECHO, STREAM, SLOW, NEVER, ZEROS, SEEN, PROGRAM, server


class Bytes(unittest.TestCase):
    def served(self, port):
        """The next connection is: with the right bytes, soon."""
        connection = h2.Connection(port)
        connection.call(1, ECHO, h2.message(b'still there'))
        self.assertEqual(connection.answer(1), h2.message(b'still there'))
        connection.close()

    def seen(self, port):
        connection = h2.Connection(port)
        connection.call(1, SEEN, h2.message(b''))
        words = connection.answer(1)[5:].split()
        connection.close()
        return int(words[1]), int(words[3])

    def calmed(self, attack, *options):
        """The flood ends with GOAWAY(ENHANCE_YOUR_CALM), or with a closed connection where the client's writes filled up first."""
        with server(*options) as process:
            connection = h2.Connection(process.trial_port)
            reader = []
            thread = threading.Thread(target=lambda: reader.append(connection.end()))
            thread.start()
            self.assertTrue(attack(connection), 'the server went on reading')
            thread.join(15)
            self.assertFalse(thread.is_alive(), 'the server did not close')
            self.assertIn(reader[0], (h2.ENHANCE_YOUR_CALM, None))
            connection.close()
            self.served(process.trial_port)
            return self.seen(process.trial_port)

    def test_resets(self):
        def attack(connection):
            stop = time.monotonic() + 20
            try:
                for stream in range(1, 1 << 31, 2):
                    if time.monotonic() > stop:
                        return False
                    connection.send(h2.frame(h2.HEADERS, h2.END_HEADERS, stream, h2.request_headers(NEVER)) +
                                    h2.frame(h2.DATA, h2.END_STREAM, stream, h2.message(b'')) +
                                    h2.frame(h2.RST_STREAM, 0, stream, struct.pack('>I', h2.CANCEL)))
            except OSError:
                return True
        cancelled, running = self.calmed(attack)
        self.assertGreater(cancelled, 100)
        self.assertEqual(running, 0)

    def test_settings(self):
        self.calmed(lambda c: c.flood(h2.frame(h2.SETTINGS) * 100))

    def test_pings(self):
        self.calmed(lambda c: c.flood(h2.frame(h2.PING, payload=bytes(8)) * 100))

    def test_empty_data(self):
        def attack(connection):
            connection.call(1, STREAM, h2.message(b'x'), end=False)
            return connection.flood(h2.frame(h2.DATA, 0, 1) * 100)
        self.calmed(attack)

    def test_continuations(self):
        def attack(connection, block):
            connection.send(h2.frame(h2.HEADERS, 0, 1, h2.request_headers(ECHO)))
            return connection.flood(h2.frame(h2.CONTINUATION, 0, 1, block) * 10)
        for block in (b'', h2.header_block((b'x-long', b'y' * 1000))):
            with self.subTest(len(block)):
                self.calmed(lambda c, block=block: attack(c, block))

    def test_work_of_cancelled_calls_counts(self):
        with server('streams=4') as process:
            connection = h2.Connection(process.trial_port)
            for stream in range(1, 20, 2):
                connection.call(stream, SLOW, h2.message(b''))
                if stream < 8:
                    connection.send(h2.frame(h2.RST_STREAM, 0, stream, struct.pack('>I', h2.CANCEL)))
            refused = [connection.until(lambda f: f[0] == h2.RST_STREAM)[-1] for _ in range(6)]
            self.assertEqual({f[2] for f in refused}, set(range(9, 20, 2)))
            self.assertEqual({int.from_bytes(f[3], 'big') for f in refused}, {h2.REFUSED_STREAM})
            time.sleep(0.8)                      # the work is done: its places are free again
            connection.call(21, ECHO, h2.message(b'now'))
            self.assertEqual(connection.answer(21), h2.message(b'now'))
            connection.close()

    def test_cut_anywhere(self):
        whole = (h2.PREFACE + h2.frame(h2.SETTINGS) + h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.request_headers(ECHO)) +
                 h2.frame(h2.DATA, h2.END_STREAM, 1, h2.message(b'text')))
        with server() as process:
            for size in range(len(whole)):
                connection = h2.Connection(process.trial_port, hello=False)
                connection.send(whole[:size])
                connection.close()
            self.served(process.trial_port)
            self.assertEqual(self.seen(process.trial_port)[1], 0)

    def test_one_byte_at_a_time(self):
        whole = (h2.PREFACE + h2.frame(h2.SETTINGS) + h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.request_headers(ECHO)) +
                 b''.join(h2.frame(h2.DATA, 0, 1, bytes([b])) for b in h2.message(b'text')) + h2.frame(h2.DATA, h2.END_STREAM, 1))
        with server() as process:
            connection = h2.Connection(process.trial_port, hello=False)
            for byte in whole:
                connection.send(bytes([byte]))
            self.assertEqual(connection.answer(1), h2.message(b'text'))
            connection.close()

    def test_wrong_messages(self):
        """Each ends its call alone: the same connection serves the next one."""
        bodies = {'too long': h2.message(b'', length=1 << 30), 'compressed unasked': h2.message(b'x', flag=1),
                  'first byte': h2.message(b'x', flag=7), 'none': b'', 'cut prefix': b'\0\0',
                  'cut': h2.message(b'abc', length=9), 'two': h2.message(b'a') * 2}
        with server() as process:
            connection = h2.Connection(process.trial_port)
            for number, (name, body) in enumerate(bodies.items()):
                with self.subTest(name):
                    stream = 4 * number + 1
                    connection.call(stream, ECHO, body)
                    self.assertEqual(connection.answer(stream), b'')
                    connection.call(stream + 2, ECHO, h2.message(b'next'))
                    self.assertEqual(connection.answer(stream + 2), h2.message(b'next'))
            connection.close()

    def test_other_protocols(self):
        with server() as process:
            connection = h2.Connection(process.trial_port, hello=False)
            connection.send(b'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
            answer = connection.socket.recv(4096)
            self.assertTrue(answer.startswith(b'HTTP/1.1 400 '), answer)
            head, body = answer.split(b'\r\n\r\n')
            self.assertIn(b'Content-Length: %d' % len(body), head)
            connection.close()
            connection = h2.Connection(process.trial_port, hello=False)
            connection.send(b'\x16\x03\x01' + bytes(200))    # TLS
            self.assertIn(connection.end(), (h2.PROTOCOL_ERROR, None))
            connection.close()
            self.served(process.trial_port)

    def test_silence(self):
        """No preface, half a request, half a message: all end after the time for reading, and so does what the client does not read."""
        with server('read=500', 'write=500') as process:
            port = process.trial_port
            silent = h2.Connection(port, hello=False)
            half = h2.Connection(port)
            half.send(h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.request_headers(ECHO)))
            piece = h2.Connection(port)
            piece.call(1, STREAM, h2.message(b'abc', length=9), end=False)
            unread = h2.Connection(port)
            unread.call(1, ZEROS, h2.message(b'10000000'))
            self.assertEqual(half.answer(1), b'')
            self.assertEqual(piece.answer(1), b'')
            self.assertIsNone(unread.answer(1))
            self.assertIsNone(silent.end())
            # A stream at rest between two messages is not one of them.
            rest = h2.Connection(port)
            rest.call(1, STREAM, h2.message(b'a'), end=False)
            time.sleep(2)
            rest.send(h2.frame(h2.DATA, h2.END_STREAM, 1, h2.message(b'b')))
            self.assertEqual(rest.answer(1), h2.message(b'a') + h2.message(b'b'))
            self.served(port)

    def test_keepalive(self):
        with server('keepalive=500') as process:
            mute = h2.Connection(process.trial_port)
            frames = mute.until(lambda f: f[0] == h2.PING)
            self.assertEqual(frames[-1][0], h2.PING)
            self.assertIsNone(mute.end())        # it does not answer
            self.served(process.trial_port)

    def test_bytes_in_flight(self):
        with server('budget=1000000') as process:
            connection = h2.Connection(process.trial_port)
            for stream in range(1, 40, 2):       # of 60,000 bytes each, in messages that are not whole yet
                connection.call(stream, ECHO, h2.message(b'', length=100_000), end=False)
                for _ in range(4):
                    connection.send(h2.frame(h2.DATA, 0, stream, b'x' * 15000))
            for stream in (35, 37, 39):
                self.assertEqual(connection.answer(stream), b'')
            for stream in range(1, 33, 2):
                connection.send(h2.frame(h2.RST_STREAM, 0, stream, struct.pack('>I', h2.CANCEL)))
            connection.call(41, ECHO, h2.message(b'free again'))
            self.assertEqual(connection.answer(41), h2.message(b'free again'))
            connection.close()


if __name__ == '__main__':
    PROGRAM[0] = sys.argv.pop(1)
    report_skips.run()
