#!/usr/bin/env python3
"""Sends the same requests to `tenfold serve` and to a Triton with libtriton_tenfold.so, and writes where they differ as a table of
docs/reference/triton-differences.md: triton_differences.py OURS TRITON, each HOST:PORT. Both serve the model `m` of tests/serve_case.py,
with max_batch_size 4. Exit code 1: an answer differs where both have one.
"""

import http.client
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
import numpy as np  # noqa: E402
from serve_case import INFER, json_request, rows  # noqa: E402


def with_input(**changes):
    request = json_request(rows(0))
    for key, value in changes.items():
        if value is None:
            del request["inputs"][0][key]
        else:
            request["inputs"][0][key] = value
    return request


def binary(size=24, length=None, more=b""):
    text = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 6], "parameters": {"binary_data_size": size}}]}).encode()
    return text + rows(0).tobytes() + more, {"Inference-Header-Content-Length": str(len(text)) if length is None else length}


def requests():
    """What it is called, method, path, body, headers."""
    good = json_request(rows(0))
    for seed in range(40):
        yield f"rows {seed}", "POST", INFER, json_request(rows(seed, 1 + seed % 4), id=str(seed)), {}
    bodies = {
        "an empty body": "",
        "no JSON": "nonsense",
        "JSON that is cut off": '{"inputs":[',
        "a list": "[]",
        "no inputs": {},
        "inputs: 1": {"inputs": 1},
        "inputs: []": {"inputs": []},
        "an input without anything": {"inputs": [{}]},
        "another input": with_input(name="z"),
        "the input twice": {"inputs": good["inputs"] * 2},
        "no datatype": with_input(datatype=None),
        "an unknown datatype": with_input(datatype="FP31"),
        "FP64 for FP32": with_input(datatype="FP64"),
        "FP16 as JSON": with_input(datatype="FP16"),
        "no shape": with_input(shape=None),
        "a shape that is text": with_input(shape="1x6"),
        "shape [1,7]": with_input(shape=[1, 7]),
        "shape [6]": with_input(shape=[6]),
        "shape []": with_input(shape=[]),
        "shape [-1,6]": with_input(shape=[-1, 6]),
        "shape [2^62,6]": with_input(shape=[2**62, 6]),
        "5 rows for 4": json_request(rows(0, 5)),
        "0 rows": json_request(np.zeros((0, 6), np.float32)),
        "5 elements for 6": with_input(data=[1] * 5),
        "7 elements for 6": with_input(data=[1] * 7),
        "no data": with_input(data=None),
        "data: 1": with_input(data=1),
        "an element that is text": with_input(data=[1, 2, 3, 4, 5, "6"]),
        "an element that is null": with_input(data=[1, 2, 3, 4, 5, None]),
        "an element beyond float": with_input(data=[1, 2, 3, 4, 5, 1e39]),
        "another output": {**good, "outputs": [{"name": "z"}]},
        "the output twice": {**good, "outputs": [{"name": "y"}, {"name": "y"}]},
        'outputs: "y"': {**good, "outputs": "y"},
        "an id that is a number": {**good, "id": 7},
        "priority 1": {**good, "parameters": {"priority": 1}},
        "timeout -1": {**good, "parameters": {"timeout": -1}},
        "sequence_id 5": {**good, "parameters": {"sequence_id": 5}},
        "a parameter of one's own": {**good, "parameters": {"mine": "x"}},
        "classification 2": {**good, "outputs": [{"name": "y", "parameters": {"classification": 2}}]},
        "a shared memory region": {
            **good,
            "outputs": [{"name": "y", "parameters": {"shared_memory_region": "r", "shared_memory_byte_size": 16}}],
        },
        "a depth of 200": '{"inputs":' + "[" * 200 + "]" * 200 + "}",
    }
    for name, body in bodies.items():
        yield name, "POST", INFER, body, {}
    yield "binary", "POST", INFER, *binary()
    yield "binary, 4 bytes too few", "POST", INFER, *binary(28)
    yield "binary, a byte too many", "POST", INFER, *binary(more=b"1")
    for value in ("-1", "1e3", "1" + "0" * 23, "x", "100000"):
        yield f"binary, header length {value}", "POST", INFER, *binary(length=value)
    yield "a raw body", "POST", INFER, rows(0).tobytes(), {"Inference-Header-Content-Length": "0"}
    yield "a raw body that is too short", "POST", INFER, b"123", {"Inference-Header-Content-Length": "0"}
    for path in (
        "/v2/models/other/infer",
        "/v2/models/m/versions/2/infer",
        "/v2/models/m/versions/x/infer",
        "/v2/models/m/versions/-1/infer",
        "/v2/models/m",
        "/v2/health/live",
        "/v2/models/m/config",
        "/nothing",
    ):
        yield f"POST {path}", "POST", path, good, {}
    for path in (
        "/",
        "/v2",
        "/v2/health/live",
        "/v2/health/ready",
        "/v2/models/m",
        "/v2/models/m/versions/1",
        "/v2/models/m/ready",
        "/v2/models/other",
        "/v2/models/other/ready",
        "/v2/models/m/config",
        "/v2/models/other/config",
        "/v2/models/m/stats",
        "/v2/models/stats",
        "/v2/models/other/stats",
        INFER,
        "/metrics",
    ):
        yield f"GET {path}", "GET", path, None, {}


def send(server, method, path, body, headers):
    connection = http.client.HTTPConnection(server, timeout=20)
    try:
        connection.request(method, path, json.dumps(body) if isinstance(body, dict) else body, headers)
        response = connection.getresponse()
        return response.status, response.headers.get("Inference-Header-Content-Length"), response.read()
    finally:
        connection.close()


def parsed(length, raw):
    """JSON and what is behind it; text where it is no JSON."""
    try:
        text = raw[: int(length)] if length else raw
        return json.loads(text), raw[len(text) :]
    except ValueError:
        return raw.decode(errors="replace"), b""


def close(a, b):
    """Whether numbers in two answers differ by rounding alone."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) <= 1e-5
    return a == b


def shown(status, answer):
    words = answer.get("error", "") if isinstance(answer, dict) else str(answer)[:60]
    return f"{status} {words}".strip().replace("|", "\\|").replace("\n", " ")[:180]


def main():
    ours, triton = sys.argv[1:]
    count = same = 0
    lines, wrong = [], []
    for name, method, path, body, headers in requests():
        count += 1
        (status, length, raw), (their_status, their_length, their_raw) = (send(s, method, path, body, headers) for s in (ours, triton))
        (answer, behind), (their_answer, their_behind) = parsed(length, raw), parsed(their_length, their_raw)
        tensors = status == 200 and their_status == 200 and isinstance(answer, dict) and "outputs" in answer and method == "POST"
        if tensors and not (
            close(answer, their_answer) and np.allclose(np.frombuffer(behind, np.float32), np.frombuffer(their_behind, np.float32))
        ):
            wrong.append(name)
        keys = [sorted(a) if isinstance(a, dict) else a if status != 200 else type(a) for a in (answer, their_answer)]
        if status == their_status and (close(answer, their_answer) if status != 200 or tensors else keys[0] == keys[1]):
            same += 1
        else:
            lines.append(f"| {name} | {shown(status, answer)} | {shown(their_status, their_answer)} |")
    print(f"{count} requests; {same} were answered alike: with the same status, and the same words or numbers.\n")
    print("| request | tenfold serve | Triton with libtriton_tenfold.so |\n|---|---|---|\n" + "\n".join(lines))
    if wrong:
        sys.exit(f"answers differ: {wrong}")


if __name__ == "__main__":
    main()
