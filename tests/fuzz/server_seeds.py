#!/usr/bin/env python3
"""Seeds for the fuzzers of the server: server_seeds.py FOLDER writes FOLDER/http_request, grpc_connection, v2_request, config_text and
grpc_frames."""

import json
import os
import pathlib
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import http2_frames as h2


def http_requests():
    body = b'{"inputs": []}'
    length = b'Content-Length: %d\r\n' % len(body)
    packed = zlib.compress(body)
    infer = b'POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\n'
    yield b'GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n' * 3
    yield infer + length + b'\r\n' + body
    yield infer + length + b'Expect: 100-continue\r\nAuthorization: Bearer key\r\n\r\n' + body + b'HEAD /metrics HTTP/1.0\r\n\r\n'
    yield infer + b'Content-Encoding: deflate\r\nContent-Length: %d\r\n\r\n' % len(packed) + packed
    yield infer + b'Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: x\r\n\r\n' + b'GET / HTTP/1.1\r\n\r\n'
    yield b'POST /v2/repository/models/%6d/load?x=1 HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
    yield b'OPTIONS * HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd'


def grpc_connections():
    def call(stream, method, *messages, end=h2.END_STREAM, more=()):
        return (h2.frame(h2.HEADERS, h2.END_HEADERS, stream, h2.request_headers('/t.T/' + method, *more)) +
                h2.frame(h2.DATA, end, stream, b''.join(h2.message(m) for m in messages)))

    settings = h2.frame(h2.SETTINGS) + h2.frame(h2.SETTINGS, h2.ACK)
    yield settings + call(1, 'Echo', b'hello') + call(3, 'Stream', b'one', b'two') + h2.frame(h2.PING, payload=bytes(8))
    yield settings + call(1, 'Wait', b'x') + h2.frame(h2.RST_STREAM, 0, 1, struct.pack('>I', h2.CANCEL))
    yield settings + call(1, 'Echo', b'x', more=[(b'grpc-timeout', b'1n'), (b'grpc-accept-encoding', b'gzip')]) + call(3, 'None', b'')
    yield settings + call(1, 'Stream', b'a', end=0) + h2.frame(h2.WINDOW_UPDATE, 0, 1, struct.pack('>I', 1000)) + h2.frame(
        h2.DATA, h2.END_STREAM, 1, h2.message(b'b'))
    packed = zlib.compress(b'x' * 5000)
    yield settings + h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.request_headers('/t.T/Echo', (b'grpc-encoding', b'deflate'))) + h2.frame(
        h2.DATA, h2.END_STREAM, 1, h2.message(packed, flag=1))
    block = h2.request_headers('/t.T/Echo')
    yield settings + h2.frame(h2.HEADERS, 0, 1, block[:20]) + h2.frame(h2.CONTINUATION, h2.END_HEADERS, 1, block[20:]) + h2.frame(
        h2.DATA, h2.END_STREAM, 1, h2.message(b'y')) + h2.frame(h2.GOAWAY, 0, 0, bytes(8))


def v2_requests():
    x = {'name': 'x', 'datatype': 'FP32', 'shape': [2, 2], 'data': [[1, 2.5], [-3e4, 0]]}
    s = {'name': 's', 'datatype': 'BYTES', 'shape': [2], 'data': ['a', 'größer']}
    i = {'name': 'i', 'datatype': 'INT64', 'shape': [2, 1], 'data': [2**63 - 1, -(2**63)]}
    yield b'\n' + json.dumps({'id': '1', 'inputs': [x]}).encode()
    yield b'\n' + json.dumps({'inputs': [x, s, i], 'outputs': [{'name': 't'}], 'parameters': {'timeout': 5, 'priority': 1}}).encode()
    outputs = [{'name': 'y', 'parameters': {'binary_data': True}}]
    binary = dict(x, parameters={'binary_data_size': 16})
    del binary['data']
    text = json.dumps({'inputs': [binary], 'outputs': outputs}).encode()
    yield b'%d\n' % len(text) + text + struct.pack('<4f', 1, 2, 3, 4)
    strings = dict(s, parameters={'binary_data_size': 11})
    del strings['data']
    text = json.dumps({'inputs': [x, strings, i], 'parameters': {'binary_data_output': True}}).encode()
    yield b'%d\n' % len(text) + text + struct.pack('<I', 3) + b'abc' + struct.pack('<I', 0)
    yield b'0\n' + struct.pack('<4f', 1, 2, 3, 4)
    yield b'\n{"inputs":' + b'[' * 200
    yield b'1e3\n{}'


def configs():
    yield b'name: "m"\nbackend: "tenfold"\nmax_batch_size: 8\ninput [{ name: "x" data_type: TYPE_FP32 dims: [ -1, 6 ] }]\n'
    yield (b'platform: "onnxruntime_onnx" # words\noutput { name: "y" data_type: TYPE_FP32 dims: 4 label_filename: "l.txt" }\n'
           b'instance_group [ { kind: KIND_CPU count: 2 } ] dynamic_batching { preferred_batch_size: [ 4, 8 ] default_queue_policy '
           b'{ timeout_action: DELAY max_queue_size: 7 } priority_queue_policy { key: 1 value { allow_timeout_override: true } } }\n'
           b'parameters { key: "tenfold.precision" value { string_value: "fp16" } } version_policy: { specific: { versions: [1, 3] } }\n')
    yield b'{"name": "m", "max_batch_size": 4, "input": [{"name": "x", "data_type": "TYPE_INT64", "dims": ["-1", 2]}]}'
    yield b'input ' + b'{' * 300


def main(folder):
    for name, seeds, mark in (('http_request', http_requests(), b'\x07'), ('grpc_connection', grpc_connections(), b'\x3f'),
                              ('v2_request', v2_requests(), b''), ('config_text', configs(), b'')):
        place = pathlib.Path(folder) / name
        place.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds):
            (place / f'seed_{number}').write_bytes(mark + seed)
    place = pathlib.Path(folder) / 'grpc_frames'
    place.mkdir(parents=True, exist_ok=True)
    (place / 'seed_0').write_bytes(b'\x03' + h2.message(b'hello') + h2.message(zlib.compress(b'x' * 100), flag=1) + h2.message(b''))


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
