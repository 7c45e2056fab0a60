#!/usr/bin/env python3
"""`tenfold serve` over HTTP: wrong requests, each followed by a right one: serve_refusals_test.py TENFOLD"""

import json
import os
import sys

import cli_case
import numpy as np
from serve_case import INFER, ServeCase, answer_of, binary_request, json_request, rows


class Refusals(ServeCase):
    FLAGS = ("--max-batch=4", "--http-max-input-size=1000000")

    def refused(self, status, words, request, path=INFER, headers=None):
        body = request if isinstance(request, (bytes, str)) else json.dumps(request)
        got, _, text = self.server.send("POST", path, body, headers)
        error = json.loads(text)
        self.assertEqual(list(error), ["error"])
        self.assertEqual(got, status, error)
        self.assertIn(words, error["error"])
        x = rows(1)  # the next request is right
        got, answer = self.server.infer(json_request(x))
        self.assertEqual(got, 200)
        np.testing.assert_allclose(np.array(answer["outputs"][0]["data"]).reshape(1, 4), answer_of(x), atol=2e-5)

    def input(self, **changes):
        request = json_request(rows(0))
        for key, value in changes.items():
            if value is None:
                del request["inputs"][0][key]
            else:
                request["inputs"][0][key] = value
        return request

    def test_json(self):
        deep = '{"inputs":' + "[" * 200 + "]" * 200 + "}"
        for text in (
            "",
            "{",
            "[]",
            "1",
            "null",
            '{"inputs": [}',
            "nonsense",
            '{"inputs": []} x',
            deep,
            b"\xff\xfe",
            '{"inputs":[1e999]}',
            '{"inputs":[NaN]}',
            '{"a":"\\ud800"',
            '{"inputs":[123456789012345678901234567890]}',
        ):
            self.refused(400, "", text)
        for text in ("{}", '{"inputs":1}', '{"inputs":[1]}', '{"inputs":[{}]}', '{"inputs":null}'):
            self.refused(400, "Unable to parse", text)
        self.refused(400, "'id'", {**json_request(rows(0)), "id": 7})

    def test_inputs(self):
        self.refused(400, "missing required input(s) ['x']", {"inputs": []})
        self.refused(400, "unexpected inference input 'z' for model 'm'", self.input(name="z"))
        self.refused(400, "input 'x' already exists in request", {"inputs": self.input()["inputs"] * 2})
        self.refused(400, "'name'", self.input(name=None))
        self.refused(400, "'name'", self.input(name=3))
        self.refused(400, "datatype", self.input(datatype=None))
        self.refused(400, "invalid datatype", self.input(datatype="FP31"))
        self.refused(400, "data-type is 'FP64', but model 'm' expects 'FP32'", self.input(datatype="FP64"))
        self.refused(400, "data-type is 'INT32'", self.input(datatype="INT32", data=[1] * 6))
        self.refused(400, "receiving FP16 data via JSON is not supported", self.input(datatype="FP16"))
        self.refused(400, "'shape'", self.input(shape=None))
        self.refused(400, "'shape'", self.input(shape="1x6"))
        self.refused(400, "'shape'", self.input(shape=[1.5, 6]))
        self.refused(400, "Expected [-1,6], got [1,7]", self.input(shape=[1, 7], data=[1] * 7))
        self.refused(400, "Expected [-1,6], got [6]", self.input(shape=[6]))
        self.refused(400, "no shape", self.input(shape=[], data=[1]))
        self.refused(400, "non-unsigned-integer", self.input(shape=[-1, 6]))
        self.refused(400, "too large", self.input(shape=[2**62, 6]))
        self.refused(400, "too large", self.input(shape=[2**31, 2**31, 2**31]))
        self.refused(400, "batch-size must be <= 4", json_request(rows(0, 5)))
        self.refused(400, "batch-size must be >= 1", json_request(np.zeros((0, 6), np.float32)))
        self.refused(400, "Shape does not match true shape", self.input(data=[1] * 5))
        self.refused(400, "Shape does not match true shape", self.input(data=[1] * 7))
        self.refused(400, "But no field is set", self.input(data=None))
        self.refused(400, "no array", self.input(data=1))
        for bad in ("1", None, True, {}, 1e39, -1e300):
            self.refused(400, "element", self.input(data=[1, 2, 3, 4, 5, bad]))

    def test_outputs_and_parameters(self):
        request = json_request(rows(0))
        self.refused(400, "unexpected inference output 'z'", {**request, "outputs": [{"name": "z"}]})
        self.refused(400, "already exists", {**request, "outputs": [{"name": "y"}, {"name": "y"}]})
        self.refused(400, "more than 4096", {**request, "outputs": [{"name": "y"}] * 5000})
        self.refused(400, "'outputs'", {**request, "outputs": "y"})
        self.refused(400, "'name'", {**request, "outputs": [{}]})
        self.refused(400, "'binary_data'", {**request, "outputs": [{"name": "y", "parameters": {"binary_data": 1}}]})
        self.refused(400, "classification", {**request, "outputs": [{"name": "y", "parameters": {"classification": -2}}]})
        self.refused(400, "'shared_memory_byte_size'", {**request, "outputs": [{"name": "y", "parameters": {"shared_memory_region": "r"}}]})
        self.refused(501, "sequence_id", {**request, "parameters": {"sequence_id": 5}})
        self.refused(400, "priority", {**request, "parameters": {"priority": 1}})
        self.refused(400, "timeout", {**request, "parameters": {"timeout": -1}})
        self.refused(400, "binary_data_output", {**request, "parameters": {"binary_data_output": "yes"}})
        self.refused(400, "no object", {**request, "parameters": 3})
        for bad in (None, [1], {}):
            self.refused(400, "parameter 'mine' has invalid type", {**request, "parameters": {"mine": bad}})

    def test_binary(self):
        body, headers = binary_request(rows(0))
        length = int(headers["Inference-Header-Content-Length"])
        for value in ("-1", "1e3", str(2**31), str(2**64), "1" + "0" * 23, " ", "x", f"{length}x", str(len(body) + 1)):
            self.refused(400, "", body, headers={"Inference-Header-Content-Length": value})
        self.refused(400, "expecting 1 additional bytes", body[:-1], headers=headers)
        self.refused(400, "unexpected additional input data", body + b"1", headers=headers)
        self.refused(400, "", body)  # without the header, the data are no JSON
        self.refused(400, "multiple fields are set", self.input(parameters={"binary_data_size": 24}))
        self.refused(400, "binary_data_size", self.input(data=None, parameters={"binary_data_size": -24}))
        self.refused(400, "unexpected size", self.input(data=None, parameters={"binary_data_size": 2**64 - 1}))
        self.refused(400, "Expected 24, got 3", b"123", headers={"Inference-Header-Content-Length": "0"})

    def test_paths_and_methods(self):
        request = json_request(rows(0))
        self.refused(404, "'other' is not found", request, "/v2/models/other/infer")
        self.refused(404, "version 2 is not found", request, "/v2/models/m/versions/2/infer")
        for version in ("x", "-1", "0", "1.0", str(2**63), "%00"):
            self.refused(400, "version", request, f"/v2/models/m/versions/{version}/infer")
        self.refused(404, "", request, "/v2/models/%2e%2e/infer")
        self.refused(404, "there is no", request, "/v2/models/m/versions//infer")
        self.refused(404, "'m\\0' is not found", request, "/v2/models/m%00/infer")
        self.refused(404, "", request, "/v2/models/" + "a" * 4000 + "/infer")
        self.refused(400, "%", request, "/v2/models/m%2/infer")
        for path in (
            "/v2/",
            "/v2/health/live",
            "/v2/models/m",
            "/v2/models/m/config",
            "/v2/models/m/ready",
            "/metrics",
            "/v2/models/stats",
        ):
            self.refused(405, "", request, path)
        self.refused(405, "", request, "/v1/models/m:predict")  # OpenAI has GET there
        for path in ("/v2/models/m/generate",):
            self.refused(501, "serve the model by Triton and libtriton_tenfold.so", request, path)
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            status, headers, _ = self.server.send(method, INFER, "" if method == "GET" else "x")
            self.assertEqual((status, headers["Allow"]), (405, "POST"))
        self.assertEqual(self.server.send("GET", "/v2/models/m?x=1")[0], 200)
        self.assertEqual(self.server.get("/v2/models/nothing/ready")[0], 404)

    def test_http(self):
        head = f"POST {INFER} HTTP/1.1\r\nHost: a\r\n".encode()
        cases = {
            b"GET\r\n\r\n": 400,
            b"\x00\x01\x02\r\n\r\n": 400,
            b"GET /v2 HTTP/9.9\r\n\r\n": 400,
            b"GET v2 HTTP/1.1\r\nConnection: close\r\n\r\n": 400,
            head + b"Content-Length: -1\r\n\r\n": 400,
            head + b"Content-Length: 1e3\r\n\r\n": 400,
            head + b"Content-Length: 99999999999999999999999\r\n\r\n": 400,
            head + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd": 400,
            head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n": 400,
            head + b"Transfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\na": 501,
            head + b"bad header\r\n\r\n": 400,
            head + b"\r\n": 411,
            head + b"Content-Length: 1000001\r\n\r\n": 413,
            head + b"Transfer-Encoding: chunked\r\n\r\n" + b"1000000\r\n" + b" " * 1_100_000: 413,
            head + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 70_000: 413,
            head + b"A: " + b"a" * 20_000 + b"\r\n\r\n": 431,
            head + b"A: a\r\n" * 150 + b"\r\n": 431,
        }
        for data, status in cases.items():
            got = self.server.raw(data)
            self.assertTrue(got.startswith(b"HTTP/1.1 %d " % status), (data[:120], got[:200]))
        self.assertEqual(self.server.raw(head + b"Content-Length: 10\r\n\r\nabc"), b"")  # the rest never comes
        self.assertEqual(self.server.infer(json_request(rows(0)))[0], 200)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
