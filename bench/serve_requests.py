"""Requests over HTTP and gRPC as bytes, and files of them for bench/serve_load (serve_load/requests.h). script/gpu-check's bundle has it,
too."""
import json
import struct

import numpy as np

JSON = {'Content-Type': 'application/json'}
DATATYPES = {'float32': 'FP32', 'int64': 'INT64', 'int32': 'INT32', 'float16': 'FP16'}


def post(path, body, headers):
    lines = ''.join(f'{name}: {value}\r\n' for name, value in {**headers, 'Content-Length': len(body)}.items())
    return f'POST {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n'.encode() + body


def texts(model, given):
    """Body in OpenAI's form: a text or a list of them, vectors as base64."""
    return json.dumps({'model': model, 'input': given, 'encoding_format': 'base64'}).encode()


def http(model, inputs, outputs=(), **more):
    """POST of the v2 protocol's infer with binary tensors; `more` are members of the JSON: id, parameters."""
    described = [{'name': name, 'datatype': DATATYPES[str(x.dtype)], 'shape': list(x.shape), 'parameters': {'binary_data_size': x.nbytes}}
                 for name, x in inputs.items()]
    head = {'inputs': described, **more}
    if outputs:
        head['outputs'] = [{'name': name, 'parameters': {'binary_data': True}} for name in outputs]
    else:
        head['parameters'] = {**head.get('parameters', {}), 'binary_data_output': True}
    text = json.dumps(head, separators=(',', ':')).encode()
    body = text + b''.join(np.ascontiguousarray(x).tobytes() for x in inputs.values())
    return post(f'/v2/models/{model}/infer', body, {'Content-Type': 'application/octet-stream',
                                                    'Inference-Header-Content-Length': len(text)})


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def _field(number, content):
    content = content.encode() if isinstance(content, str) else content
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def grpc(model, inputs, outputs=(), id='', parameters=None):
    """The message ModelInferRequest; parameters are whole numbers."""
    message = _field(1, model) + (_field(3, id) if id else b'')
    for name, value in (parameters or {}).items():
        message += _field(4, _field(1, name) + _field(2, b'\x10' + _varint(value)))
    for name, x in inputs.items():
        message += _field(5, _field(1, name) + _field(2, DATATYPES[str(x.dtype)]) + _field(3, b''.join(map(_varint, x.shape))))
    message += b''.join(_field(6, _field(1, name)) for name in outputs)
    return message + b''.join(_field(7, np.ascontiguousarray(x).tobytes()) for x in inputs.values())


def record(request, tag='', timeout_us=0, expected=()):
    expected = np.asarray(expected, np.float32)
    return b''.join((struct.pack('<I', len(request)), request, struct.pack('<I', len(tag)), tag.encode(),
                     struct.pack('<II', timeout_us, expected.size), expected.tobytes()))


def write(path, records):
    with open(path, 'wb') as file:
        file.write(struct.pack('<I', len(records)))
        file.writelines(records)
