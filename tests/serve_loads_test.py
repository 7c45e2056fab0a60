#!/usr/bin/env python3
"""How `tenfold serve` loads models: builds by another process, caches of plans, full disks: serve_loads_test.py TENFOLD [--full]"""

import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import cli_case
import numpy as np
from onnx import helper, numpy_helper
from serve_case import json_request
from supervised import Supervised, children, running, wait_until

FULL = "--full" in sys.argv
WIDTHS = (6, 96, 160, 224, 288, 352, 416, 4)  # layers of different sizes: each is timed


def save_layers(path, seed=0):
    """y = relu(relu(x w0) w1) ..., whose tuning takes a while."""
    random = np.random.default_rng(seed)
    weights = [random.standard_normal((a, b)).astype(np.float32) / a**0.5 for a, b in zip(WIDTHS, WIDTHS[1:])]
    nodes, at = [], "x"
    for i in range(len(weights)):
        last = i == len(weights) - 1
        nodes.append(helper.make_node("MatMul", [at, f"w{i}"], ["y" if last else f"p{i}"]))
        if not last:
            nodes.append(helper.make_node("Relu", [f"p{i}"], [f"r{i}"]))
            at = f"r{i}"
    initializers = [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(weights)]
    cli_case.save_model(path, nodes, [("x", cli_case.FLOAT, cli_case.BATCH)], [("y", cli_case.FLOAT, ["batch", 4])], initializers)

    def truth(x):
        y = x.astype(np.float64)
        for i, w in enumerate(weights):
            y = y @ w
            y = y if i == len(weights) - 1 else np.maximum(y, 0)
        return y

    return truth


def builders(pid):
    """Processes that build for a worker of this server."""
    found = []
    for worker in [pid, *children(pid)]:
        for child in children(worker):
            try:
                with open(f"/proc/{child}/cmdline") as f:
                    if "build-request" in f.read():
                        found.append(child)
            except OSError:
                pass
    return found


class Loads(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model, self.plans = f"{self.folder}/m.onnx", f"{self.folder}/plans"
        self.truth = save_layers(self.model)

    def flags(self, *more):
        return (f"--plan-cache-dir={self.plans}", "--tune=now", *more)

    def start(self, *flags):
        server = Supervised(self.model, *self.flags(*flags))
        self.addCleanup(lambda: server.process.poll() is None and server.process.kill())
        return server

    def begin(self, *flags, prefix=()):
        """A server that is not waited for."""
        line = [*prefix, cli_case.TENFOLD, "serve", self.model, "--device=cpu", "--threads=1", "--http-port=0", "--metrics-port=0"]
        process = subprocess.Popen([*line, *self.flags(*flags)], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def check(self, server, truth=None):
        x = np.random.default_rng(5).standard_normal((3, 6)).astype(np.float32)
        status, answer = server.infer(json_request(x))
        self.assertEqual(status, 200, answer)
        expected = (truth or self.truth)(x)
        np.testing.assert_allclose(np.array(answer["outputs"][0]["data"]).reshape(3, 4), expected, atol=1e-4 * np.abs(expected).max())

    def files(self, ending):
        """Contents and places of the cache's files."""
        return {
            name: (os.stat(f"{self.plans}/{name}").st_ino, hashlib.sha256(open(f"{self.plans}/{name}", "rb").read()).hexdigest())
            for name in os.listdir(self.plans)
            if name.endswith(ending)
        }

    def test_the_second_start_builds_nothing(self):
        server = self.start()
        self.check(server)
        self.assertEqual(server.stop(), 0)
        plans = self.files(".plan")
        self.assertEqual(len(plans), 1)
        again = self.begin()
        seen = []
        for line in again.stderr:
            seen += builders(again.pid)
            if "ready on" in line:
                break
        self.assertEqual(seen, [])
        self.assertEqual(self.files(".plan"), plans)  # a plan that is stored is a new file
        again.terminate()
        self.assertEqual(again.wait(timeout=60), 0)

    def test_other_weights_measure_nothing(self):
        server = self.start()
        self.assertEqual(server.stop(), 0)
        times = self.files("times")["times"][1]
        truth = save_layers(self.model, seed=1)
        server = self.start()
        self.check(server, truth)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(len(self.files(".plan")), 2)
        self.assertEqual(self.files("times")["times"][1], times)  # whatever is measured is added to it

    def test_a_build_that_is_killed_is_a_failed_load(self):
        process = self.begin()
        wait_until(lambda: builders(process.pid), what="the build")
        os.kill(builders(process.pid)[0], signal.SIGKILL)
        _, lines = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1)
        self.assertRegex(lines, r"m +\S+ +failed .*was ended by signal 9")
        server = self.start()  # the next one builds
        self.check(server)
        # The same in a replacement: the worker that serves stays.
        for name in os.listdir(self.plans):
            os.remove(f"{self.plans}/{name}")
        worker = server.worker()
        server.process.send_signal(signal.SIGUSR2)
        wait_until(lambda: builders(server.process.pid), what="the build")
        os.kill(builders(server.process.pid)[0], signal.SIGKILL)
        wait_until(lambda: "the other one serves on" in server.log(), what="the end of the new worker")
        self.check(server)
        self.assertEqual(server.worker(), worker)
        self.assertEqual(server.stop(), 0)

    def test_the_index_tells_of_progress_and_of_a_build_that_died(self):
        os.makedirs(f"{self.folder}/repository/m/1")
        os.rename(self.model, f"{self.folder}/repository/m/1/model.onnx")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        line = [cli_case.TENFOLD, "serve", f"--model-repository={self.folder}/repository", "--exit-on-error=false", "--device=cpu"]
        line += [f"--http-port={port}", "--allow-grpc=false", "--metrics-port=0", "--threads=1", *self.flags()]
        process = subprocess.Popen(line, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def index():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/repository/index", data=b"", timeout=10) as response:
                    return json.load(response)
            except OSError:
                return []

        def row():
            return next(iter(index()), {})

        wait_until(lambda: re.fullmatch(r"tuning \d+ of \d+", row().get("reason", "")), what="progress in the index")
        self.assertEqual(row()["state"], "LOADING")
        for build in builders(process.pid):
            os.kill(build, signal.SIGKILL)
        wait_until(lambda: "was ended by signal 9" in row().get("reason", ""), what="the reason in the index")
        self.assertEqual(row()["state"], "UNAVAILABLE")
        self.assertIsNone(process.poll())
        process.terminate()
        self.assertEqual(process.wait(timeout=60), 0)

    def test_builds_end_with_their_server(self):
        process = self.begin()
        wait_until(lambda: builders(process.pid), what="the build")
        build, worker = builders(process.pid)[0], children(process.pid)[0]
        process.kill()
        wait_until(lambda: not running(build) and not running(worker), 10, "the end of all processes")

    def test_kills_at_any_time_leave_a_cache_that_works(self):
        start = time.monotonic()
        self.assertEqual(self.start("--tune=never").stop(), 0)
        usual = time.monotonic() - start
        turns = 200 if FULL else 12
        for turn in range(turns):
            for name in self.files(".plan"):
                os.remove(f"{self.plans}/{name}")
            process = self.begin("--tune=never")
            time.sleep(usual * (turn + 1) / turns)
            for pid in children(process.pid):
                os.kill(pid, signal.SIGKILL)
            process.kill()
            process.wait(timeout=30)
        server = self.start("--tune=never")
        self.check(server)
        self.assertEqual(server.stop(), 0)

    def test_a_full_disk_for_plans(self):
        os.mkdir(self.plans)
        in_small_disk = [
            "unshare", "-m", "sh", "-c",
            f'mount -t tmpfs -o size=8k none {self.plans} && head -c 99999 /dev/zero >{self.plans}/rest 2>/dev/null; exec "$@"', "sh",
        ]
        if subprocess.run(["unshare", "-m", "sh", "-c", f"mount -t tmpfs none {self.plans}"], capture_output=True).returncode:
            self.skipTest("mounting a small disk needs root")
        process = self.begin("--tune=never", prefix=in_small_disk)
        lines = ""
        for line in process.stderr:
            lines += line
            if "ready on" in line:
                break
        self.assertIn("ready on", lines)
        self.assertRegex(lines, "(?i)no space left")
        process.terminate()
        self.assertEqual(process.wait(timeout=60), 0)


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "--full"]
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
