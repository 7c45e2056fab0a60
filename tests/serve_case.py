"""A server of one small model, for tests: y = tanh(x * weights), and requests to it over raw HTTP."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import unittest

import cli_case
import numpy as np
from onnx import helper, numpy_helper

WEIGHTS = np.random.default_rng(1).standard_normal((6, 4)).astype(np.float32)
INFER = "/v2/models/m/infer"


def save_tanh(path):
    return cli_case.save_model(
        path,
        [helper.make_node("MatMul", ["x", "w"], ["t"]), helper.make_node("Tanh", ["t"], ["y"])],
        [("x", cli_case.FLOAT, cli_case.BATCH)],
        [("y", cli_case.FLOAT, ["batch", 4])],
        [numpy_helper.from_array(WEIGHTS, "w")],
    )


def rows(seed, count=1):
    return np.random.default_rng(seed).standard_normal((count, 6)).astype(np.float32)


def answer_of(x):
    return np.tanh(x.astype(np.float64) @ WEIGHTS.astype(np.float64))


def json_request(x, **more):
    return {"inputs": [{"name": "x", "datatype": "FP32", "shape": list(x.shape), "data": x.tolist()}], **more}


def binary_request(x, outputs=None, **parameters):
    """Body and headers of the binary extension."""
    head = {"inputs": [{"name": "x", "datatype": "FP32", "shape": list(x.shape), "parameters": {"binary_data_size": x.nbytes}}]}
    if outputs is not None:
        head["outputs"] = outputs
    if parameters:
        head["parameters"] = parameters
    text = json.dumps(head).encode()
    return text + x.tobytes(), {"Inference-Header-Content-Length": str(len(text))}


class Server:
    """`tenfold serve`, on free ports."""

    def __init__(self, model, *flags):
        self.process = subprocess.Popen(
            [cli_case.TENFOLD, "serve", model, "--device=cpu", "--threads=1", "--tune=never", "--http-port=0", "--metrics-port=0", *flags],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.start = ""
        for line in self.process.stderr:
            self.start += line
            if ready := re.search(r"ready(?= on h|, m)(?: on https?://[^:]+:(\d+))?(?:, metrics on https?://[^:]+:(\d+)/metrics)?", line):
                self.port, self.metrics_port = (number and int(number) for number in ready.groups())
                return
        raise AssertionError("the server did not start: " + self.start)

    def connect(self, timeout=30):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def send(self, method, path, body=None, headers=None):
        """The response's status, headers and body, of a connection of its own."""
        connection = self.connect()
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def get(self, path):
        status, _, body = self.send("GET", path)
        return status, json.loads(body)

    def infer(self, request, path=INFER, headers=None):
        status, _, body = self.send("POST", path, json.dumps(request), headers)
        return status, json.loads(body)

    def raw(self, data, timeout=10):
        """What the server sends back for these bytes, until it closes or says nothing for a second."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as s:
            s.sendall(data)
            s.settimeout(1)
            got = b""
            try:
                while chunk := s.recv(65536):
                    got += chunk
            except TimeoutError:
                pass
            return got

    def statistics(self):
        return self.get("/v2/models/m/stats")[1]["model_stats"][0]

    def stop(self):
        """Its exit code after SIGTERM."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self):
        code = self.process.wait(timeout=60)
        self.process.stderr.close()
        return code


class ServeCase(unittest.TestCase):
    """One server for all tests of the class."""

    FLAGS = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.model = save_tanh(os.path.join(cls.folder.name, "m.onnx"))
        cls.server = Server(cls.model, f"--plan-cache-dir={cls.folder.name}/plans", *cls.FLAGS)

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        cls.folder.cleanup()
        assert code == 0, f"the server ended with {code}"
