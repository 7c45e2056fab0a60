"""A server with its supervisor and workers, for tests: processes to look at and a load of clients beside them."""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import cli_case
import numpy as np
import serve_case
from serve_case import INFER, Server, answer_of, json_request, rows

FULL = "--full" in sys.argv


def main():
    sys.argv = [word for word in sys.argv if word != "--full"]
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()


def children(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(word) for word in found.stdout.split()]


def running(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition, seconds=30, what="the condition"):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"{what} did not come within {seconds} s")
        time.sleep(0.005)


class Supervised(Server):
    """A server whose lines are read on, so that they can be waited for."""

    def __init__(self, model, *flags):
        super().__init__(model, *flags)
        self.lines = [self.start]
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line)

    def log(self):
        return "".join(self.lines)

    def starts(self):
        return self.log().count("ready on http")

    def worker(self):
        wait_until(lambda: children(self.process.pid), what="a worker")
        return children(self.process.pid)[0]

    def wait(self):
        code = self.process.wait(timeout=120)
        self.reader.join(timeout=30)
        self.process.stderr.close()
        return code


class Load:
    """Clients that send one request after the other, on connections that stay open, and note how each one ended."""

    def __init__(self, server, clients=8):
        self.server, self.done = server, threading.Event()
        self.answered = self.refused = self.closed = 0
        self.wrong, self.slowest = [], 0.0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.client, args=(i,)) for i in range(clients)]
        for thread in self.threads:
            thread.start()

    def client(self, number):
        x = rows(number)
        body, expected = json.dumps(json_request(x)), answer_of(x)
        connection = None
        while not self.done.is_set():
            start = time.monotonic()
            try:
                connection = connection or self.server.connect()
                connection.request("POST", INFER, body)
                response = connection.getresponse()
                text = response.read()
            except (OSError, http.client.HTTPException) as error:
                with self.lock:
                    self.closed += 1
                    if isinstance(error, TimeoutError):
                        self.wrong.append("no answer within 30 s")
                connection = connection and connection.close()
                continue
            if response.getheader("Connection") == "close":
                connection = connection.close()
            with self.lock:
                self.slowest = max(self.slowest, time.monotonic() - start)
                if response.status != 200:
                    self.refused += 1
                    continue
                self.answered += 1
                if np.abs(np.array(json.loads(text)["outputs"][0]["data"]) - expected.ravel()).max() > 2e-5:
                    self.wrong.append(text)
        if connection:
            connection.close()

    def wait_for(self, more):
        before = self.answered
        wait_until(lambda: self.answered >= before + more, 60, f"{more} more answers")

    def end(self):
        self.done.set()
        for thread in self.threads:
            thread.join(timeout=60)
        return self


class SupervisorCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = serve_case.save_tanh(os.path.join(self.folder, "m.onnx"))

    def flags(self, *more):
        return (f"--plan-cache-dir={self.folder}/plans", *more)

    @contextlib.contextmanager
    def server(self, *flags):
        server = Supervised(self.model, *self.flags(*flags))
        try:
            yield server
        finally:
            if server.process.poll() is None:
                server.process.kill()
            server.process.wait(timeout=30)

    def check_answer(self, server, seed=0):
        x = rows(seed)
        status, answer = server.infer(json_request(x))
        self.assertEqual(status, 200, answer)
        np.testing.assert_allclose(np.array(answer["outputs"][0]["data"]).reshape(1, 4), answer_of(x), atol=2e-5)
