"""Model repositories for tests, and servers of them."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import cli_case
import numpy as np
import serve_case
from onnx import helper, numpy_helper


def server_program():
    return os.path.join(os.path.dirname(cli_case.TENFOLD), "tenfold-server")


def main():
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()


def save_scale(path, factor, rank=1):
    """y = x * factor, so that an answer tells which file gave it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shape = ["batch", 4] if rank == 1 else ["batch"]
    nodes = [helper.make_node("Mul", ["x", "f"], ["y"])]
    weights = [numpy_helper.from_array(np.array(factor, np.float32), "f")]
    return cli_case.save_model(path, nodes, [("x", cli_case.FLOAT, shape)], [("y", cli_case.FLOAT, shape)], weights)


class Repository:
    def __init__(self):
        self.folder = tempfile.mkdtemp()

    def add(self, name, config=None, factors=None):
        """A model with a version for each factor."""
        for version, factor in (factors or {1: 2.0}).items():
            save_scale(self.path(name, str(version), "model.onnx"), factor)
        if config is not None:
            self.write(name, "config.pbtxt", config)
        return self

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, *parts):
        path = self.path(*parts[:-1])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w" if isinstance(parts[-1], str) else "wb") as file:
            file.write(parts[-1])

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class RepositoryServer(serve_case.Server):
    """`tenfold-server` on repositories, until it is ready or has ended."""

    def __init__(self, folders, *flags, environment=None):
        repositories = [f"--model-repository={folder}" for folder in folders]
        self.process = subprocess.Popen(
            [
                server_program(),
                *repositories,
                "--device=cpu",
                "--threads=1",
                "--tune=never",
                "--http-port=0",
                "--metrics-port=0",
                *flags,
            ],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.start, self.port = "", None
        for line in self.process.stderr:
            self.start += line
            if ready := re.search(r"ready on http://[^:]+:(\d+).*gRPC on [^:]+:(\d+)", line):
                self.port, self.grpc_port = int(ready[1]), int(ready[2])
                return

    def post(self, path, body=None):
        status, _, text = self.send("POST", path, json.dumps(body) if body is not None else "")
        return status, json.loads(text) if text else None

    def index(self, **body):
        status, rows = self.post("/v2/repository/index", body)
        assert status == 200, rows
        return {(row["name"], row.get("version")): row.get("state") for row in rows}

    def control(self, name, action, **parameters):
        return self.post(f"/v2/repository/models/{name}/{action}", {"parameters": parameters} if parameters else None)

    def factor(self, name, version=None):
        """The factor of the version that answers, or the status of an error."""
        path = f"/v2/models/{name}" + (f"/versions/{version}" if version else "") + "/infer"
        request = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 1, 1, 1]}]}
        status, answer = self.post(path, request)
        return answer["outputs"][0]["data"][0] if status == 200 else status


class RepositoryCase(unittest.TestCase):
    def setUp(self):
        self.repository = Repository()
        self.addCleanup(self.repository.remove)

    def serve(self, *flags, folders=None, environment=None):
        server = RepositoryServer(
            folders or [self.repository.folder],
            f"--plan-cache-dir={self.repository.path('.plans')}",
            *flags,
            environment=environment,
        )
        self.addCleanup(server.stop)
        return server

    def ready(self, *flags, **more):
        server = self.serve(*flags, **more)
        self.assertIsNotNone(server.port, server.start)
        return server

    def fails(self, *flags, **more):
        """What the server says that ends with exit code 1."""
        server = self.serve(*flags, **more)
        self.assertEqual((server.port, server.process.wait(timeout=60)), (None, 1), server.start)
        return server.start
