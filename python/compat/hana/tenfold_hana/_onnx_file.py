"""ONNX files in protobuf's wire form: a graph of nodes, weights and named inputs and outputs. Field numbers are onnx.proto's."""
from __future__ import annotations

import struct
from typing import Any

_TYPES = {'f32': 1, 'i32': 6, 'i64': 7, 'bool': 9, 'f16': 10, 'bf16': 16}
_NUMPY = {'float32': 'f32', 'int32': 'i32', 'int64': 'i64', 'bool': 'bool', 'float16': 'f16', 'bfloat16': 'bf16'}
OPSET = 20        # the newest whose operators other engines of these years read
_IR_VERSION = 9   # that goes with it
_MOST_BYTES = (1 << 31) - 1   # protobuf's limit


def element_type(name: str) -> int:
    return _TYPES[name]


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _tensor(name: str, array: Any) -> bytes:
    body = b''.join(_number(1, extent) for extent in array.shape) + _number(2, _TYPES[_NUMPY[array.dtype.name]])
    return body + _bytes(8, name) + _bytes(9, array.tobytes())


def _attribute(name: str, value: Any) -> bytes:
    """AttributeProto: the kinds that nodes of encoders have."""
    body = _bytes(1, name)
    if isinstance(value, float):
        return body + _varint(2 << 3 | 5) + struct.pack('<f', value) + _number(20, 1)
    if isinstance(value, int):
        return body + _number(3, value) + _number(20, 2)
    if isinstance(value, str):
        return body + _bytes(4, value) + _number(20, 3)
    if hasattr(value, 'dtype'):
        return body + _bytes(5, _tensor('', value)) + _number(20, 4)
    values = list(value)
    if any(isinstance(one, float) for one in values):
        return body + b''.join(_varint(7 << 3 | 5) + struct.pack('<f', one) for one in values) + _number(20, 6)
    return body + b''.join(_number(8, one) for one in values) + _number(20, 7)


def _value(name: str, dtype: str, dims: tuple[int | str, ...]) -> bytes:
    extents = b''.join(_bytes(1, _number(1, d) if isinstance(d, int) else _bytes(2, d)) for d in dims)
    tensor = _number(1, _TYPES[dtype]) + _bytes(2, extents)
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor))


class Graph:
    """An ONNX model that is written node by node. Names are the caller's."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._parts: list[bytes] = []

    def node(self, op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> str:
        """A node; the name of its first result."""
        body = b''.join(_bytes(1, one) for one in inputs) + b''.join(_bytes(2, one) for one in outputs)
        body += _bytes(3, f'{op}_{outputs[0]}') + _bytes(4, op)
        self._parts.append(_bytes(1, body + b''.join(_bytes(5, _attribute(key, value)) for key, value in attributes.items())))
        return outputs[0]

    def weight(self, name: str, array: Any) -> str:
        self._parts.append(_bytes(5, _tensor(name, array)))
        return name

    def input(self, name: str, dtype: str, dims: tuple[int | str, ...]) -> str:
        self._parts.append(_bytes(11, _value(name, dtype, dims)))
        return name

    def output(self, name: str, dtype: str, dims: tuple[int | str, ...]) -> None:
        self._parts.append(_bytes(12, _value(name, dtype, dims)))

    def write(self, path: Any) -> None:
        """Raises OSError, or ValueError for a model of 2 GiB and more."""
        graph = sum(map(len, self._parts))
        if graph > _MOST_BYTES:
            raise ValueError(f'the model takes {graph >> 20} MB, and an ONNX file in one piece has room for less than 2048')
        head = _number(1, _IR_VERSION) + _bytes(2, 'tenfold-hana') + _bytes(8, _bytes(1, '') + _number(2, OPSET))
        with open(path, 'wb') as file:
            file.write(head + _varint(7 << 3 | 2) + _varint(graph + len(_bytes(2, self.name))) + _bytes(2, self.name))
            file.writelines(self._parts)
