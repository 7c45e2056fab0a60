"""Tensors behind the JSON: header lengths, sizes, raw bodies, compression."""

import gzip
import json
import zlib

import numpy as np

from .ask import Http
from .json_bodies import INFER, inference, json_request, rows
from .models import TYPES, values

LENGTH = "Inference-Header-Content-Length"


def binary(size=24, length=None, more=b"", data=None, outputs=(), **parameters):
    """The body and headers of a request for `m`."""
    tensor = {"name": "x", "datatype": "FP32", "shape": [1, 6], "parameters": {"binary_data_size": size, **parameters}}
    request = {"inputs": [tensor], **({"outputs": list(outputs)} if outputs else {})}
    text = json.dumps(request).encode()
    data = rows(0).tobytes() if data is None else data
    return text + data + more, {LENGTH: str(len(text)) if length is None else length}


def of_types(shift=0, output=True):
    """All types as bytes; `shift`: bytes that the second input says to have more, and the third less."""
    tensors, data = [], b""
    for name, x in values().items():
        size = x.nbytes + {"u": shift, "b": -shift}.get(name, 0)
        tensors.append({"name": name, "datatype": TYPES[name][0], "shape": [1, 2], "parameters": {"binary_data_size": size}})
        data += x.tobytes()
    text = json.dumps({"inputs": tensors, "parameters": {"binary_data_output": output}}).encode()
    return text + data, {LENGTH: len(text)}


def strings(*elements, sizes=None):
    """Both inputs of `strings` with these elements, each with its length in front (or other lengths)."""
    sizes = sizes or [len(one) for one in elements]
    data = b"".join(size.to_bytes(4, "little") + one for size, one in zip(sizes, elements))
    tensors = [{"name": n, "datatype": "BYTES", "shape": [1, 2], "parameters": {"binary_data_size": len(data)}} for n in "ab"]
    text = json.dumps({"inputs": tensors, "parameters": {"binary_data_output": True}}).encode()
    return text + data * 2, {LENGTH: len(text)}


def sizes():
    yield Http("binary", INFER, *binary())
    yield Http("binary, and the answer", INFER, *binary(outputs=[{"name": "y", "parameters": {"binary_data": True}}]))
    yield Http("binary, the answer as JSON", INFER, *binary(outputs=[{"name": "y", "parameters": {"binary_data": False}}]))
    yield Http("binary of 5 types", inference("types"), *of_types())
    yield Http("binary strings", inference("strings"), *strings(b"a", b""))
    yield Http("binary strings that are no UTF-8", inference("strings"), *strings(b"\xff", b"\0\0"))
    yield Http("binary, NaN", INFER, *binary(data=np.full(6, np.nan, np.float32).tobytes()))
    yield Http("binary, 4 bytes too few", INFER, *binary(28))
    yield Http("binary, a byte too many", INFER, *binary(more=b"1"))
    yield Http("binary, 20 bytes of 24", INFER, *binary(20))
    yield Http("binary, 23 bytes, and 23 are there", INFER, *binary(23, data=bytes(23)))
    yield Http("binary, 0 bytes", INFER, *binary(0))
    yield Http("binary_data_size -1", INFER, *binary(-1))
    yield Http("binary_data_size 24.0", INFER, *binary(24.0))
    yield Http('binary_data_size "24"', INFER, *binary("24"))
    yield Http("binary_data_size 2^63", INFER, *binary(2**63))
    yield Http("binary_data_size 2^64 - 8", INFER, *binary(2**64 - 8))
    yield Http("binary_data_size null", INFER, *binary(None))
    yield Http("binary, sizes shifted by one", inference("types"), *of_types(1))
    yield Http("a string that is cut off", inference("strings"), *strings(b"a", b"b", sizes=[1, 2]))
    yield Http("a string of 2^32 - 1", inference("strings"), *strings(b"a", b"b", sizes=[1, 2**32 - 1]))
    yield Http("3 binary strings for 2", inference("strings"), *strings(b"a", b"b", b"c"))
    yield Http("1 binary string for 2", inference("strings"), *strings(b"a"))
    yield Http("binary and FP16 as JSON out", inference("types"), *of_types(output=False))


def lengths():
    for value in ("-1", "1e3", "1" + "0" * 23, "x", "100000", "10.0", "0x10", "+5", "", " ", "18446744073709551615", "5"):
        yield Http(f"binary, header length '{value}'", INFER, *binary(length=value))
    yield Http("binary without its header", INFER, binary()[0])
    yield Http("a raw body", INFER, rows(0).tobytes(), {LENGTH: "0"})
    yield Http("a raw body of 2 rows", INFER, rows(0, 2).tobytes(), {LENGTH: "0"})
    yield Http("a raw body that is too short", INFER, b"123", {LENGTH: "0"})
    yield Http("a raw body that is empty", INFER, b"", {LENGTH: "0"})
    yield Http("a raw body of 5 rows for 4", INFER, rows(0, 5).tobytes(), {LENGTH: "0"})
    yield Http("a raw body for two inputs", inference("strings"), b"ab", {LENGTH: "0"})
    yield Http("a raw body without batches", inference("plain"), np.arange(3, dtype=np.float32).tobytes(), {LENGTH: "0"})


def compressed():
    body = json.dumps(json_request(rows(0))).encode()
    for name, data in (("gzip", gzip.compress(body)), ("deflate", zlib.compress(body))):
        yield Http(name, INFER, data, {"Content-Encoding": name})
        yield Http(f"{name} that is cut off", INFER, data[:-9], {"Content-Encoding": name})
        yield Http(f"{name} with a byte behind it", INFER, data + b"x", {"Content-Encoding": name})
        yield Http(f"{name} in name only", INFER, body, {"Content-Encoding": name})
        yield Http(f"{name}, and nothing", INFER, b"", {"Content-Encoding": name})
    yield Http("gzip, said to be deflate", INFER, gzip.compress(body), {"Content-Encoding": "deflate"})
    yield Http("gzip, and nobody says so", INFER, gzip.compress(body))
    yield Http("br", INFER, body, {"Content-Encoding": "br"})
    yield Http("identity", INFER, body, {"Content-Encoding": "identity"})
    yield Http("gzip twice", INFER, gzip.compress(gzip.compress(body)), {"Content-Encoding": "gzip, gzip"})
    binary_body, headers = binary()
    yield Http("binary in gzip", INFER, gzip.compress(binary_body), {**headers, "Content-Encoding": "gzip"})


def asks():
    yield from sizes()
    yield from lengths()
    yield from compressed()
