#!/usr/bin/env python3
"""`tenfold serve` over HTTP: right answers: serve_test.py TENFOLD"""

import gzip
import json
import os
import struct
import sys
import tempfile
import time
import unittest
import zlib

import cli_case
import numpy as np
from onnx import TensorProto, helper
from serve_case import INFER, ServeCase, Server, answer_of, binary_request, json_request, rows


class Answers(ServeCase):
    FLAGS = ("--max-batch=16", "--http-max-input-size=1000000")

    def check(self, y, x):
        np.testing.assert_allclose(np.array(y).reshape(len(x), 4), answer_of(x), atol=2e-5)

    def test_json(self):
        for seed in range(20):
            x = rows(seed, 1 + seed % 16)
            status, answer = self.server.infer(json_request(x, id=f"request {seed}"))
            self.assertEqual(status, 200, answer)
            self.assertEqual((answer["id"], answer["model_name"], answer["model_version"]), (f"request {seed}", "m", "1"))
            output = answer["outputs"][0]
            self.assertEqual((output["name"], output["datatype"], output["shape"]), ("y", "FP32", [len(x), 4]))
            self.check(output["data"], x)

    def test_json_has_the_same_bits_as_binary(self):
        x = rows(3, 5)
        body, headers = binary_request(x, [{"name": "y", "parameters": {"binary_data": True}}])
        status, answered, raw = self.server.send("POST", INFER, body, headers)
        self.assertEqual(status, 200)
        length = int(answered["Inference-Header-Content-Length"])
        head = json.loads(raw[:length])
        self.assertEqual(head["outputs"][0]["parameters"]["binary_data_size"], len(raw) - length)
        binary = np.frombuffer(raw[length:], np.float32)
        self.check(binary, x)
        flat = json_request(x)
        flat["inputs"][0]["data"] = x.ravel().tolist()  # flat or nested
        data = np.array(self.server.infer(flat)[1]["outputs"][0]["data"], np.float32)
        np.testing.assert_array_equal(data, binary)

    def test_binary_by_default_and_mixed(self):
        x = rows(4, 2)
        _, headers, raw = self.server.send("POST", INFER, *binary_request(x, binary_data_output=True))
        self.check(np.frombuffer(raw[int(headers["Inference-Header-Content-Length"]) :], np.float32), x)
        status, _, raw = self.server.send("POST", INFER, *binary_request(x))  # binary in, JSON out
        self.assertEqual(status, 200)
        self.check(json.loads(raw)["outputs"][0]["data"], x)

    def test_raw_body(self):
        x = rows(5, 3)
        status, headers, raw = self.server.send("POST", INFER, x.tobytes(), {"Inference-Header-Content-Length": "0"})
        self.assertEqual(status, 200, raw)
        self.check(np.frombuffer(raw[int(headers["Inference-Header-Content-Length"]) :], np.float32), x)

    def test_compression(self):
        x = rows(6, 16)
        text = json.dumps(json_request(x)).encode()
        for name, packed in (("gzip", gzip.compress(text)), ("deflate", zlib.compress(text))):
            status, headers, raw = self.server.send("POST", INFER, packed, {"Content-Encoding": name, "Accept-Encoding": name})
            self.assertEqual((status, headers["Content-Encoding"]), (200, name))
            unpacked = gzip.decompress(raw) if name == "gzip" else zlib.decompress(raw)
            self.check(json.loads(unpacked)["outputs"][0]["data"], x)
        bomb = gzip.compress(b" " * 50_000_000)
        self.assertLess(len(bomb), 100_000)
        self.assertEqual(self.server.send("POST", INFER, bomb, {"Content-Encoding": "gzip"})[0], 413)
        for damaged in (gzip.compress(text)[:-5], b"plain", b""):
            self.assertEqual(self.server.send("POST", INFER, damaged, {"Content-Encoding": "gzip"})[0], 400, damaged)
        self.assertEqual(self.server.send("POST", INFER, text, {"Content-Encoding": "br"})[0], 415)

    def test_one_connection_serves_many(self):
        connection = self.server.connect()
        for seed in range(30):
            x = rows(seed, 2)
            connection.request("POST", INFER, json.dumps(json_request(x)))
            response = connection.getresponse()
            self.check(json.loads(response.read())["outputs"][0]["data"], x)
        connection.close()

    def test_chunks_pipelining_and_expect(self):
        x = rows(8)
        text = json.dumps(json_request(x)).encode()
        chunked = b"".join(b"%x\r\n%s\r\n" % (len(text[i : i + 7]), text[i : i + 7]) for i in range(0, len(text), 7)) + b"0\r\n\r\n"
        head = f"POST {INFER} HTTP/1.1\r\nHost: a\r\n".encode()
        got = self.server.raw(head + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + chunked)
        self.check(json.loads(got.split(b"\r\n\r\n", 1)[1])["outputs"][0]["data"], x)
        one = head + b"Content-Length: %d\r\n\r\n" % len(text) + text
        got = self.server.raw(one * 5)
        self.assertEqual(got.count(b"HTTP/1.1 200 OK"), 5)
        got = self.server.raw(head + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
        self.assertTrue(got.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"), got[:100])
        self.assertIn(b"Connection: keep-alive", self.server.raw(b"GET /v2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"))
        self.assertEqual(self.server.raw(b"HEAD /v2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").split(b"\r\n\r\n", 1)[1], b"")

    def test_slow_writer_and_slow_reader(self):
        import socket

        x = rows(9, 16)
        text = json.dumps(json_request(x)).encode()
        data = f"POST {INFER} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text
        with socket.create_connection(("127.0.0.1", self.server.port)) as s:
            for i in range(0, len(data), 100):
                s.sendall(data[i : i + 100])
                time.sleep(0.003)
            got = b""
            while chunk := s.recv(50):
                got += chunk
                time.sleep(0.001)
        self.check(json.loads(got.split(b"\r\n\r\n", 1)[1])["outputs"][0]["data"], x)

    def test_metadata(self):
        self.assertEqual(self.server.get("/v2")[1]["name"], "tenfold")
        self.assertIn("binary_tensor_data", self.server.get("/v2")[1]["extensions"])
        self.assertEqual(self.server.get("/v2/health/live"), (200, {"live": True}))
        self.assertEqual(self.server.get("/v2/health/ready"), (200, {"ready": True}))
        self.assertEqual(self.server.get("/v2/models/m/ready"), (200, {"name": "m", "ready": True}))
        status, metadata = self.server.get("/v2/models/m")
        self.assertEqual(status, 200)
        self.assertEqual(metadata, self.server.get("/v2/models/m/versions/1")[1])
        self.assertEqual(metadata["versions"], ["1"])
        self.assertEqual(metadata["inputs"], [{"name": "x", "datatype": "FP32", "shape": [-1, 6]}])
        self.assertEqual(metadata["outputs"], [{"name": "y", "datatype": "FP32", "shape": [-1, 4]}])
        config = self.server.get("/v2/models/m/config")[1]
        self.assertEqual((config["name"], config["backend"], config["max_batch_size"]), ("m", "tenfold", 16))
        self.assertEqual(config["input"][0]["data_type"], "TYPE_FP32")
        self.assertEqual(config["input"][0]["dims"], [6])
        self.assertIn("dynamic_batching", config)

    def test_statistics_and_metrics_count_every_request(self):
        before = self.server.statistics()
        for seed in range(7):
            self.server.infer(json_request(rows(seed, 3)))
        for _ in range(4):
            self.server.infer(json_request(rows(0, 17)))
        after = self.server.statistics()
        self.assertEqual(after["inference_stats"]["success"]["count"] - before["inference_stats"]["success"]["count"], 7)
        self.assertEqual(after["inference_stats"]["fail"]["count"] - before["inference_stats"]["fail"]["count"], 4)
        self.assertEqual(after["inference_count"] - before["inference_count"], 21)
        self.assertEqual(after["execution_count"], sum(b["compute_infer"]["count"] for b in after["batch_stats"]))
        own = after["tenfold"]
        self.assertEqual(own["received"], after["inference_stats"]["success"]["count"] + after["inference_stats"]["fail"]["count"])
        self.assertEqual(sum(own["batch_closed"].values()), after["execution_count"])
        status, headers, body = self.server.send("GET", "/metrics")
        self.assertEqual(status, 200)
        self.assertTrue(headers["Content-Type"].startswith("text/plain"))
        import http.client

        other = http.client.HTTPConnection("127.0.0.1", self.server.metrics_port)
        other.request("GET", "/metrics")
        self.assertEqual(other.getresponse().read(), body)
        other.close()
        line = f'nv_inference_request_success{{model="m",version="1"}} {after["inference_stats"]["success"]["count"]}'
        self.assertIn(line, body.decode().splitlines())
        self.assertIn("# TYPE nv_inference_request_success counter", body.decode())


class Types(unittest.TestCase):
    def test_other_types_and_a_model_without_batch_dim(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        model = cli_case.save_model(
            os.path.join(folder.name, "types.onnx"),
            [
                helper.make_node("Identity", ["i"], ["j"]),
                helper.make_node("Not", ["b"], ["c"]),
                helper.make_node("Identity", ["s"], ["t"]),
                helper.make_node("Div", ["f", "f"], ["g"]),
                helper.make_node("Cast", ["f"], ["h"], to=TensorProto.FLOAT16),
            ],
            [("i", TensorProto.INT64, [2]), ("b", TensorProto.BOOL, [2]), ("s", TensorProto.STRING, [2]), ("f", TensorProto.FLOAT, [1])],
            [
                ("j", TensorProto.INT64, [2]),
                ("c", TensorProto.BOOL, [2]),
                ("t", TensorProto.STRING, [2]),
                ("g", TensorProto.FLOAT, [1]),
                ("h", TensorProto.FLOAT16, [1]),
            ],
        )
        server = Server(model, f"--plan-cache-dir={folder.name}/plans", "--name=t")
        self.addCleanup(server.stop)
        self.assertIn("not batched", server.start)
        path = "/v2/models/t/infer"
        numbers = [2**63 - 1, -(2**63)]
        texts = ['größer "\\ \n', ""]
        request = {
            "inputs": [
                {"name": "i", "datatype": "INT64", "shape": [2], "data": numbers},
                {"name": "b", "datatype": "BOOL", "shape": [2], "data": [True, False]},
                {"name": "s", "datatype": "BYTES", "shape": [2], "data": texts},
                {"name": "f", "datatype": "FP32", "shape": [1], "data": [0]},
            ],
            "outputs": [{"name": "t"}, {"name": "j"}, {"name": "c"}],
        }
        status, answer = server.infer(request, path)
        self.assertEqual(status, 200, answer)
        self.assertEqual([o["data"] for o in answer["outputs"]], [texts, numbers, [False, True]])
        request["outputs"] = [{"name": "g"}]
        status, answer = server.infer(request, path)
        self.assertEqual(status, 400)
        self.assertIn("'g' holds NaN", answer["error"])
        request["outputs"] = [{"name": "h"}]
        self.assertIn("FP16", server.infer(request, path)[1]["error"])
        request["outputs"] = [{"name": n, "parameters": {"binary_data": True}} for n in ("g", "h", "t")]
        status, headers, raw = server.send("POST", path, json.dumps(request))
        raw = raw[int(headers["Inference-Header-Content-Length"]) :]
        self.assertTrue(np.isnan(np.frombuffer(raw[:4], np.float32)[0]))
        self.assertEqual(np.frombuffer(raw[4:6], np.float16)[0], 0)
        encoded = texts[0].encode()
        self.assertEqual(raw[6:], struct.pack("<I", len(encoded)) + encoded + struct.pack("<I", 0))
        for data in ([2**63, 0], [1.5, 0], [True, 0], ["1", 0]):
            request["inputs"][0]["data"] = data
            self.assertEqual(server.infer(request, path)[0], 400, data)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
