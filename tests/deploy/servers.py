"""A tenfold-server by its own command line, and what it is asked."""

import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

MODEL_ROWS = [[1, 2, 3, 4, 5, 6]]
PORTS = ("--http-port=0", "--grpc-port=0", "--metrics-port=0")


def save_model(path):
    """y = tanh(x * weights), of 6 values a row."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    weights = numpy_helper.from_array(np.random.default_rng(1).standard_normal((6, 4)).astype(np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["t"]), helper.make_node("Tanh", ["t"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4])], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(path).write_bytes(model.SerializeToString())
    return str(path)


REQUEST = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 6], "data": MODEL_ROWS}]})


class Server:
    def __init__(self, line, **options):
        """Returns when it is ready. `line` begins with the program; its ports have to be free ones (0) or in it."""
        self.process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True, **options)
        self.log, self.port, self.metrics_port, self.grpc_port = "", None, None, None
        for text in self.process.stderr:
            self.log += text
            if "ready on" in text:
                self.port, self.metrics_port, self.grpc_port = (
                    int(found[1]) if (found := re.search(pattern, text)) else None
                    for pattern in (r"ready on https?://[^ ,]*:(\d+)", r"metrics on https?://[^ ,]*:(\d+)/", r"gRPC on [^ ,]*:(\d+)"))
                break
        else:
            raise AssertionError(f"{line} did not start: {self.log}")
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for text in self.process.stderr:
            self.log += text

    def ask(self, path, body=None, port=None, timeout=30):
        return ask(port or self.port, path, body, timeout)

    def worker(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0])

    def stop(self, patience=60):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(patience)
        finally:
            if self.process.poll() is None:
                self.process.kill()


def ask(port, path, body=None, timeout=30):
    """The status and the body of the response."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("POST" if body else "GET", path, body)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def wait_until(condition, seconds=60, what="the condition"):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"{what} did not come within {seconds} s")
        time.sleep(0.02)


def program(tenfold):
    """tenfold-server beside tenfold, or where the build has it."""
    folder = pathlib.Path(tenfold).resolve().parent
    for path in (folder / "tenfold-server", folder.parent / "cli/tenfold-server", folder.parent / "server/tenfold-server"):
        if os.access(path, os.X_OK):
            return str(path)
    return None
