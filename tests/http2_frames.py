"""HTTP/2 by hand, for tests that send what no library would: frames, headers without compression, a connection to a server."""
import socket
import struct
import time

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
NO_ERROR, PROTOCOL_ERROR, REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM = 0, 1, 7, 8, 11
PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'


def frame(kind, flags=0, stream=0, payload=b''):
    return struct.pack('>I', len(payload))[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + payload


def _length(number):
    """An integer of HPACK with a prefix of 7 bits."""
    if number < 127:
        return bytes([number])
    out, number = b'\x7f', number - 127
    while number >= 128:
        out, number = out + bytes([number % 128 + 128]), number // 128
    return out + bytes([number])


def header_block(*pairs):
    return b''.join(b'\x00' + _length(len(n)) + n + _length(len(v)) + v for n, v in pairs)


def request_headers(path, *more):
    return header_block((b':method', b'POST'), (b':scheme', b'http'), (b':path', path.encode()), (b':authority', b'test'),
                        (b'content-type', b'application/grpc'), (b'te', b'trailers'), *more)


def message(text, flag=0, length=None):
    return bytes([flag]) + struct.pack('>I', len(text) if length is None else length) + text


class Connection:
    """Each wait ends: `timeout` seconds after the last byte it fails."""

    def __init__(self, port, settings=b'', timeout=10, hello=True):
        self.socket = socket.create_connection(('127.0.0.1', port), timeout=timeout)
        self.buffer = b''
        if hello:
            self.send(PREFACE + frame(SETTINGS, payload=settings))

    def send(self, data):
        self.socket.sendall(data)

    def call(self, stream, path, body, *more, end=True):
        self.send(frame(HEADERS, END_HEADERS, stream, request_headers(path, *more)) + frame(DATA, END_STREAM if end else 0, stream, body))

    def read(self):
        """The next frame as (kind, flags, stream, payload); None: the server has closed."""
        while True:
            if len(self.buffer) >= 9:
                size = int.from_bytes(self.buffer[:3], 'big')
                if len(self.buffer) >= 9 + size:
                    head, payload, self.buffer = self.buffer[:9], self.buffer[9:9 + size], self.buffer[9 + size:]
                    return head[3], head[4], int.from_bytes(head[5:9], 'big'), payload
            try:
                more = self.socket.recv(65536)
            except (ConnectionResetError, BrokenPipeError):
                return None
            if not more:
                return None
            self.buffer += more

    def until(self, wanted):
        """Frames up to the first for which wanted(frame) is true, which is the last; all, if the server closes before."""
        frames = []
        while (got := self.read()) is not None:
            frames.append(got)
            if wanted(got):
                break
        return frames

    def acknowledge(self):
        """Reads the server's settings and accepts them: its window for a stream is theirs from here on, no longer 65,535 bytes."""
        self.until(lambda f: f[0] == SETTINGS and not f[1] & ACK)
        self.send(frame(SETTINGS, ACK))

    def answer(self, stream):
        """DATA of a stream until it ends; None: it was reset, or the connection ended first."""
        frames = self.until(lambda f: f[2] == stream and (f[0] == RST_STREAM or f[0] in (HEADERS, DATA) and f[1] & END_STREAM))
        if not frames or frames[-1][2] != stream or frames[-1][0] == RST_STREAM:
            return None
        return b''.join(f[3] for f in frames if f[0] == DATA and f[2] == stream)

    def end(self):
        """The error code of the server's GOAWAY, after which it closed; None: it closed without."""
        frames = self.until(lambda f: False)
        codes = [int.from_bytes(f[3][4:8], 'big') for f in frames if f[0] == GOAWAY]
        return codes[-1] if codes else None

    def flood(self, data, seconds=5):
        """Sends the bytes over and over until the server closes; whether it did in that time."""
        stop = time.monotonic() + seconds
        try:
            while time.monotonic() < stop:
                self.send(data)
        except OSError:
            return True
        return False

    def close(self):
        self.socket.close()
