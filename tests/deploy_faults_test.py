#!/usr/bin/env python3
"""The server in a container or as a service where something is wrong around it: deploy_faults_test.py TENFOLD

A cache that cannot be written or is full, a GPU that is not there, too little memory, variables that nobody reads, models that come late,
the end during the first build, two versions on one cache. Mounts and limits are made in a namespace of the test's own; where that is
refused, the test is left out."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import cli_case
import numpy as np
import serve_case
from onnx import helper, numpy_helper

SECONDS = 120


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def server_program():
    return os.path.join(os.path.dirname(os.path.realpath(cli_case.TENFOLD)), "tenfold-server")


def in_namespace(script):
    """A line for a shell that runs the words behind it after `script`, which may mount; None: not here."""
    words = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "sh", "-ec", script + '\nexec "$@"', "sh"]
    try:
        done = subprocess.run([*words, "true"], capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        return None
    return words if done.returncode == 0 else None


class Running:
    """tenfold-server with these flags, whose lines are kept."""

    def __init__(self, *flags, before=(), environment=None, program=None):
        self.port = free_port()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TENFOLD_")}
        self.process = subprocess.Popen(
            [*before, program or server_program(), *flags, "--threads=1", f"--http-port={self.port}", "--metrics-port=0", "--grpc-port=0"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env={**clean, **(environment or {})})
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(iter(self.process.stderr.readline, "")), daemon=True)
        self.reader.start()

    def log(self):
        return "".join(self.lines)

    def status(self, path):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10).status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def wait(self, condition, what):
        until = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > until or self.process.poll() is not None:
                raise AssertionError(f"{what} did not come; exit code {self.process.poll()}: {self.log()}")
            time.sleep(0.05)

    def ready(self):
        self.wait(lambda: self.status("/v2/health/ready") == 200, "readiness")

    def end(self):
        """Its exit code, when it has ended by itself."""
        code = self.process.wait(timeout=SECONDS)
        self.reader.join(timeout=SECONDS)
        self.process.stderr.close()
        return code

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.end()


class Faults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = serve_case.save_tanh(str(self.folder / "m.onnx"))
        self.cache = self.folder / "cache"
        self.cache.mkdir()

    @contextlib.contextmanager
    def serving(self, *flags, **how):
        server = Running(*flags, **how)
        try:
            yield server
        finally:
            if server.process.poll() is None:
                server.process.kill()
                server.end()

    def answers(self, server):
        x = serve_case.rows(3)
        request = urllib.request.Request(f"http://127.0.0.1:{server.port}{serve_case.INFER}", method="POST",
                                         data=json.dumps(serve_case.json_request(x)).encode())
        answer = json.load(urllib.request.urlopen(request, timeout=30))
        np.testing.assert_allclose(np.reshape(answer["outputs"][0]["data"], (1, 4)), serve_case.answer_of(x), atol=1e-3)

    def mounting(self, script):
        words = in_namespace(script)
        if words is None:
            self.skipTest("no mount can be made in a namespace of its own")
        return words

    def test_cache_that_cannot_be_written(self):
        mounts = {
            "read-only": f"mount --bind {self.cache} {self.cache}; mount -o remount,bind,ro {self.cache}",
            "full": f"mount -t tmpfs -o size=4k,nr_inodes=64 tmpfs {self.cache}; head -c 4096 /dev/zero >{self.cache}/full",
        }
        for name, script in mounts.items():
            with self.subTest(name), self.serving(self.model, "--tune=never", f"--plan-cache-dir={self.cache}",
                                                  before=self.mounting(script)) as server:
                server.ready()
                self.answers(server)
                self.assertEqual(server.stop(), 0)
                self.assertRegex(server.log(), r"(?i)read-only file system|no space left")

    def test_gpu_that_is_not_there(self):
        with self.serving(self.model, "--device=cuda:7", "--tune=never") as server:
            server.ready()
            self.answers(server)
            self.assertEqual(server.stop(), 0)
            self.assertIn("there is no GPU 7 here", server.log())
            self.assertRegex(server.log(), r"(?m)^m .*\bcpu\b")
        with self.serving(self.model, "--device=cuda:7", "--tune=never", "--fallback=off") as server:
            self.assertEqual(server.end(), 1)
            self.assertIn("there is no GPU 7 here", server.log())
            self.assertIn("--fallback=off", server.log())

    def test_variables(self):
        for name, hint in (("TENFOLD_HTTP_PROT", "TENFOLD_HTTP_PORT"), ("TENFOLD_PLAN_CACHE_DIRS", "TENFOLD_PLAN_CACHE_DIR"),
                           ("TENFOLD_FALBACK", "TENFOLD_FALLBACK")):
            with self.subTest(name), self.serving(self.model, environment={name: "1"}) as server:
                self.assertEqual(server.end(), 2)
                self.assertIn(f"the variable {name} is unknown; did you mean {hint}?", server.log())
        with self.serving(self.model, environment={"TENFOLD_MAX_BATCH": "many"}) as server:
            self.assertEqual(server.end(), 2)
            self.assertRegex(server.log(), "TENFOLD_MAX_BATCH.*many")
        links = {"TENFOLD_PORT": "tcp://10.0.0.7:8000", "TENFOLD_SERVICE_HOST": "10.0.0.7", "TENFOLD_SERVICE_PORT": "8000",
                 "TENFOLD_PORT_8000_TCP_ADDR": "10.0.0.7", "TENFOLD_SOMETHING_ELSE": "1", "TENFOLD_CHECK_TYPES": "1"}
        with self.serving(self.model, "--tune=never", environment=links) as server:
            server.ready()
            self.assertEqual(server.stop(), 0)
            self.assertNotIn("TENFOLD_", server.log())   # what is another program's

    def test_models_that_come_late(self):
        repository = self.folder / "models"
        repository.mkdir()
        with self.serving(f"--model-repository={repository}", "--model-control-mode=poll", "--repository-poll-secs=1", "--tune=never",
                          "--device=cpu", f"--plan-cache-dir={self.cache}") as server:
            server.wait(lambda: server.status("/v2/health/live") == 200, "life")
            (repository / "m" / "1").mkdir(parents=True)
            shutil.copy(self.model, repository / "m" / "1" / "model.onnx")
            server.wait(lambda: server.status("/v2/models/m/ready") == 200, "the model")
            self.answers(server)
            self.assertEqual(server.stop(), 0)
        with self.serving(str(self.folder / "none.onnx")) as server:
            self.assertEqual(server.end(), 1)
            self.assertIn("none.onnx", server.log())
        empty = self.folder / "empty"
        empty.mkdir()
        with self.serving(f"--model-repository={empty}") as server:
            server.wait(lambda: server.status("/v2/health/live") == 200, "life")
            server.ready()
            self.assertEqual(server.stop(), 0)
            self.assertIn(f"there is no model in {empty}", server.log())

    def large_model(self):
        """What takes a while to be tuned."""
        random = np.random.default_rng(4)
        nodes, weights, value = [], [], "x"
        for layer in range(12):
            size = 1024 + 16 * layer
            before = weights[-1].dims[1] if weights else 6
            weights.append(numpy_helper.from_array(random.standard_normal((before, size)).astype(np.float32), f"w{layer}"))
            nodes += [helper.make_node("MatMul", [value, f"w{layer}"], [f"t{layer}"]),
                      helper.make_node("Tanh", [f"t{layer}"], [f"y{layer}"])]
            value = f"y{layer}"
        return cli_case.save_model(str(self.folder / "large.onnx"), nodes, [("x", cli_case.FLOAT, cli_case.BATCH)],
                                   [(value, cli_case.FLOAT, ["batch", 1200])], weights)

    def test_end_during_the_first_build(self):
        with self.serving(self.large_model(), "--tune=now", "--device=cpu", f"--plan-cache-dir={self.cache}") as server:
            server.wait(lambda: server.status("/v2/health/live") == 200, "life")
            self.assertEqual(server.status("/v2/health/ready"), 503, "the build has ended already: the model is too small")
            begun = time.monotonic()
            self.assertEqual(server.stop(), 0)
            self.assertLess(time.monotonic() - begun, 30)
        self.assertEqual([file.name for file in self.cache.rglob("*.plan")], [])
        with self.serving(self.model, "--tune=never", "--device=cpu", f"--plan-cache-dir={self.cache}") as server:
            server.ready()
            self.answers(server)

    def test_two_versions_on_one_cache(self):
        version = subprocess.run([cli_case.TENFOLD, "--version"], capture_output=True, text=True).stdout.split()[1]
        other = version[:-1] + ("9" if version[-1] != "9" else "8")
        programs = self.folder / "other"
        programs.mkdir()
        for program in (os.path.realpath(cli_case.TENFOLD), server_program()):
            copy = programs / os.path.basename(program)
            copy.write_bytes(pathlib.Path(program).read_bytes().replace(version.encode(), other.encode()))
            copy.chmod(0o755)
        said = subprocess.run([programs / "tenfold", "--version"], capture_output=True, text=True).stdout.split()[1]
        self.assertEqual(said, other)
        flags = (self.model, "--tune=never", "--device=cpu", f"--plan-cache-dir={self.cache}")
        plans = []
        for _ in range(2):                       # the second time each finds its own
            with self.serving(*flags) as one, self.serving(*flags, program=str(programs / "tenfold-server")) as two:
                for server in (one, two):
                    server.ready()
                    self.answers(server)
                plans.append(sorted(file.name for file in self.cache.rglob("*.plan")))
                self.assertEqual((one.stop(), two.stop()), (0, 0))
        self.assertEqual(plans[0], plans[1])
        self.assertEqual(len(plans[0]), 2)

    def test_memory_below_the_model(self):
        limit = 64 << 20
        group = pathlib.Path("/sys/fs/cgroup/memory") / f"tenfold-test-{os.getpid()}"
        file = group / "memory.limit_in_bytes"
        if not group.parent.is_dir():
            group = pathlib.Path("/sys/fs/cgroup") / group.name
            file = group / "memory.max"
        try:
            group.mkdir()
            file.write_text(str(limit))
        except OSError as error:
            with contextlib.suppress(OSError):
                group.rmdir()
            self.skipTest(f"no cgroup with a limit of memory can be made here: {error}")
        try:
            weight = numpy_helper.from_array(np.ones((6, 4 << 20), np.float32), "w")   # 96 MiB
            model = cli_case.save_model(str(self.folder / "big.onnx"), [helper.make_node("MatMul", ["x", "w"], ["y"])],
                                        [("x", cli_case.FLOAT, cli_case.BATCH)], [("y", cli_case.FLOAT, ["batch", 4 << 20])], [weight])
            into = ["sh", "-ec", f'echo $$ >{group}/cgroup.procs\nexec "$@"', "sh"]
            with self.serving(model, "--device=cpu", "--tune=never", before=into) as server:
                self.assertEqual(server.end(), 1)
                self.assertRegex(server.log(), r"big\.onnx|big ")
                self.assertRegex(server.log(), r"\b6\d(\.\d+)? Mi?B|67108864|limit")
                self.assertNotRegex(server.log(), "signal 9")
        finally:
            for _ in range(50):
                with contextlib.suppress(OSError):
                    group.rmdir()
                    break
                time.sleep(0.1)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
