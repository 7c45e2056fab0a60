#!/usr/bin/env python3
"""`tenfold serve`'s supervisor: workers that die or are replaced under load, and the end: supervisor_test.py TENFOLD [--full]"""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import cli_case
import numpy as np
import serve_case
from repository_case import RepositoryCase
from serve_case import INFER, Server, answer_of, json_request, rows

FULL = "--full" in sys.argv


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


class Workers(SupervisorCase):
    def test_a_killed_worker_is_replaced(self):
        with self.server() as server:
            start = time.monotonic()
            self.check_answer(server)
            usual = time.monotonic() - start
            load = Load(server)
            for _ in range(20 if FULL else 3):
                load.wait_for(100)
                worker = server.worker()
                os.kill(worker, signal.SIGKILL)
                start = time.monotonic()
                self.check_answer(server)  # a new connection: it waits for the next worker
                # How long the machine takes to start any program tells a slow machine from a slow server.
                took = time.monotonic() - start
                start = time.monotonic()
                subprocess.run([cli_case.TENFOLD, "--version"], capture_output=True, check=True)
                self.assertLess(took, 2 + usual + 20 * (time.monotonic() - start))
                wait_until(lambda gone=worker: not running(gone), what="the end of the killed worker")
            load.wait_for(100)
            load.end()
            self.assertEqual((load.wrong, load.refused), ([], 0), server.log())
            self.assertGreater(load.closed, 0)  # what the workers had accepted
            self.assertEqual(server.stop(), 0)
            self.assertIn("signal 9", server.log())

    def test_accepted_requests_end_with_their_worker(self):
        with self.server("--max-batch=64", "--max-queue-delay-us=60000000") as server:
            connections = [server.connect(timeout=10) for _ in range(20)]
            for seed, connection in enumerate(connections):
                connection.request("POST", INFER, json.dumps(json_request(rows(seed))))
            wait_until(lambda: server.statistics()["tenfold"]["received"] == 20)
            os.kill(server.worker(), signal.SIGKILL)
            for connection in connections:
                with self.assertRaises((ConnectionError, http.client.HTTPException)):
                    connection.getresponse()
                connection.close()
            self.assertEqual(server.get("/v2/health/ready")[0], 200)

    def test_replacement_on_purpose_fails_no_request(self):
        with self.server() as server:
            load = Load(server)
            for i in range(50 if FULL else 4):
                load.wait_for(50)
                before = server.worker()
                server.process.send_signal(signal.SIGUSR2)
                wait_until(lambda n=i: server.starts() == n + 2, what="the next worker")
                wait_until(lambda gone=before: not running(gone), what="the end of the worker before")
            load.wait_for(100)
            load.end()
            self.assertEqual((load.wrong, load.refused, load.closed), ([], 0, 0), server.log())
            self.assertEqual(server.stop(), 0)

    def test_idle_connections_survive_a_replacement(self):
        with self.server() as server:
            connection = server.connect()
            x = json.dumps(json_request(rows(0)))
            for answers in range(2):
                connection.request("POST", INFER, x)
                response = connection.getresponse()
                self.assertEqual(response.status, 200)
                response.read()
                if answers == 0:
                    self.assertIsNone(response.getheader("Connection"))
                    server.process.send_signal(signal.SIGUSR2)
                    wait_until(lambda: "another worker serves now" in server.log())
            self.assertEqual(response.getheader("Connection"), "close")  # of the worker before, whose last answer it is
            connection.close()
            self.assertEqual(server.stop(), 0)

    def test_a_replacement_that_cannot_load_changes_nothing(self):
        with self.server() as server:
            before = server.worker()
            os.rename(self.model, self.model + ".gone")
            server.process.send_signal(signal.SIGUSR2)
            wait_until(lambda: "the other one serves on" in server.log())
            self.check_answer(server)
            self.assertEqual(server.worker(), before)
            os.rename(self.model + ".gone", self.model)
            server.process.send_signal(signal.SIGUSR2)
            wait_until(lambda: not running(before), what="the end of the worker before")
            self.check_answer(server)
            self.assertEqual(server.stop(), 0)

    def test_a_worker_that_dies_while_it_starts(self):
        with self.server() as server:
            os.rename(self.model, self.model + ".gone")
            os.kill(server.worker(), signal.SIGKILL)
            wait_until(lambda: server.log().count("another one starts") >= 4, what="four starts")
            connection = server.connect(timeout=60)  # it waits
            connection.request("GET", "/v2/health/ready")
            os.rename(self.model + ".gone", self.model)
            self.assertEqual(connection.getresponse().status, 200)
            connection.close()
            self.check_answer(server)
            self.assertEqual(server.stop(), 0)

    def test_workers_that_never_start_end_the_server(self):
        with self.server() as server:
            os.rename(self.model, self.model + ".gone")
            start = time.monotonic()
            os.kill(server.worker(), signal.SIGKILL)
            self.assertEqual(server.wait(), 1)
            self.assertGreater(time.monotonic() - start, 10)  # with pauses in between that grow
            self.assertIn("10 workers in a row", server.log())

    def test_the_worker_ends_with_its_parent(self):
        with self.server() as server:
            worker = server.worker()
            server.process.kill()
            wait_until(lambda: not running(worker), 10, "the end of the worker")

    def test_a_hangup_ends_nothing(self):
        with self.server() as server:
            worker = server.worker()
            server.process.send_signal(signal.SIGHUP)
            time.sleep(0.3)
            self.check_answer(server)
            self.assertEqual(server.worker(), worker)
            self.assertEqual(server.stop(), 0)

    def test_without_supervisor(self):
        with self.server("--no-supervisor") as server:
            self.assertEqual(children(server.process.pid), [])
            self.check_answer(server)
            self.assertEqual(server.stop(), 0)


class Repositories(RepositoryCase):
    """What clients have loaded and unloaded outlives the worker."""

    def supervised(self, *flags):
        server = self.ready("--model-control-mode=explicit", *flags)
        self.log = [server.start]
        reader = threading.Thread(target=lambda: self.log.extend(server.process.stderr), daemon=True)
        reader.start()
        self.addCleanup(reader.join, 30)
        return server

    def replaced(self, server, how):
        """Has another worker take the place of the one there is."""
        before, starts = children(server.process.pid)[0], "".join(self.log).count("ready on http")
        if how == "killed":
            os.kill(before, signal.SIGKILL)
        else:
            server.process.send_signal(signal.SIGUSR2)
        wait_until(lambda: "".join(self.log).count("ready on http") > starts, what="the next worker")
        wait_until(lambda: not running(before), what="the end of the worker before")

    def states(self, server):
        return {name: state for (name, _), state in server.index().items()}

    def test_loaded_and_unloaded_models(self):
        for name in ("a", "b", "c", "d"):
            self.repository.add(name, factors={1: 2.0, 2: 3.0})
        server = self.supervised("--load-model=a", "--load-model=b")
        one_version = json.dumps({"name": "c", "version_policy": {"specific": {"versions": [1]}}})
        self.assertEqual(server.control("c", "load", config=one_version)[0], 200)
        self.assertEqual(server.control("d", "load")[0], 200)
        self.assertEqual(server.control("a", "unload")[0], 200)
        self.assertNotEqual(server.control("e", "load")[0], 200)
        for how in ("killed", "replaced", "killed"):
            self.replaced(server, how)
            self.assertEqual((server.factor("b"), server.factor("c"), server.factor("d")), (3, 2, 3), how)  # c: its version 1 only
            self.assertEqual(server.factor("a"), 404, how)
            self.assertEqual(server.factor("c", 2), 404)
            self.assertEqual(server.get("/v2/health/ready")[0], 200)
        self.assertEqual(server.control("c", "load")[0], 200)  # by its files from now on
        self.assertEqual(server.control("d", "unload")[0], 200)
        self.assertEqual(server.control("a", "load")[0], 200)
        self.replaced(server, "killed")
        self.assertEqual([server.factor(name) for name in "abcd"], [3, 3, 3, 404])
        self.assertEqual(server.stop(), 0)

    def test_a_model_that_has_gone_ends_nothing(self):
        self.repository.add("a").add("b")
        server = self.supervised("--load-model=a")
        self.assertEqual(server.control("b", "load")[0], 200)
        os.rename(self.repository.path("b"), self.repository.path("..b"))
        self.replaced(server, "killed")
        self.assertEqual((server.factor("a"), server.factor("b")), (2, 404))
        self.assertEqual(server.get("/v2/health/ready")[0], 200)
        os.rename(self.repository.path("..b"), self.repository.path("b"))
        self.replaced(server, "replaced")
        self.assertEqual(server.factor("b"), 2)

    def test_changes_while_the_next_worker_starts(self):
        """The worker that serves loads and unloads until the last moment, and none of it is lost."""
        for name in ("a", "b", "c"):
            self.repository.add(name)
        server = self.supervised("--load-model=a")
        for turn in range(3):
            starts = "".join(self.log).count("ready on http")
            server.process.send_signal(signal.SIGUSR2)
            wanted = {}
            for i in range(60):
                name, action = ("b", "c")[i % 2], ("load", "unload")[i // 2 % 2]
                self.assertEqual(server.control(name, action)[0], 200)
                wanted[name] = 2 if action == "load" else 404
                if "".join(self.log).count("ready on http") > starts:
                    break
            wait_until(lambda n=starts: "".join(self.log).count("ready on http") > n, what="the next worker")
            wait_until(lambda: len(children(server.process.pid)) == 1, what="the end of the worker before")
            for name, factor in wanted.items():
                wait_until(lambda n=name, f=factor: server.factor(n) == f, what=f"{name} in turn {turn}")

    def test_a_large_configuration(self):
        """Larger than a packet of the link."""
        self.repository.add("a").add("b")
        server = self.supervised("--load-model=a")
        config = json.dumps({"name": "b", "parameters": {"note": {"string_value": "x" * 2_000_000}}})
        self.assertEqual(server.control("b", "load", config=config)[0], 200)
        self.replaced(server, "killed")
        status, text = server.get("/v2/models/b/config")
        self.assertEqual((status, len(text["parameters"]["note"]["string_value"])), (200, 2_000_000))


class Ends(SupervisorCase):
    def in_flight(self, server, count):
        body = json.dumps(json_request(rows(0)))
        connections = [server.connect(timeout=120) for _ in range(count)]
        for connection in connections:
            connection.request("POST", INFER, body)
        return connections

    def test_sigterm_loses_no_request(self):
        times, count = (200, 1000) if FULL else (3, 200)
        expected = answer_of(rows(0)).ravel()
        for turn in range(times):
            with self.server("--max-batch=8", "--max-queue-delay-us=2000") as server:
                connections = self.in_flight(server, count)
                if turn % 2:
                    wait_until(lambda: server.statistics()["tenfold"]["received"] >= count)
                start = time.monotonic()
                self.assertEqual(server.stop(), 0, server.log())
                self.assertLess(time.monotonic() - start, 30)
                statuses = set()
                for connection in connections:
                    response = connection.getresponse()
                    data = json.loads(response.read())
                    statuses.add(response.status)
                    if response.status == 200:
                        self.assertLess(np.abs(np.array(data["outputs"][0]["data"]) - expected).max(), 2e-5)
                    connection.close()
                # Those that were accepted before are answered; of the others the server may have read some after the signal only.
                self.assertLessEqual(statuses, {200} if turn % 2 else {200, 503})

    def test_not_ready_at_once(self):
        with self.server("--exit-delay-secs=3") as server:
            server.process.terminate()
            wait_until(lambda: server.get("/v2/health/ready")[0] == 503)
            self.assertEqual(server.get("/v2/health/live")[0], 200)
            self.assertEqual(server.infer(json_request(rows(0)))[0], 200)
            self.assertEqual(server.wait(), 0)

    def test_both_processes_may_get_the_signal(self):
        with self.server("--max-batch=64", "--max-queue-delay-us=1000000") as server:
            connections = self.in_flight(server, 10)
            wait_until(lambda: server.statistics()["tenfold"]["received"] == 10)
            worker = server.worker()
            server.process.terminate()
            for _ in range(3):  # as service managers do that signal all processes of a group
                os.kill(worker, signal.SIGTERM)
                os.kill(worker, signal.SIGINT)
            self.assertEqual(server.wait(), 0, server.log())
            for connection in connections:
                self.assertEqual(connection.getresponse().status, 200)
                connection.close()

    def test_a_second_signal_ends_it_now(self):
        with self.server("--exit-delay-secs=600") as server:
            worker = server.worker()
            server.process.terminate()
            wait_until(lambda: server.get("/v2/health/ready")[0] == 503)
            start = time.monotonic()
            server.process.terminate()
            self.assertEqual(server.wait(), 1)
            self.assertLess(time.monotonic() - start, 20)
            wait_until(lambda: not running(worker), 10, "the end of the worker")

    def test_what_does_not_end_in_time(self):
        with self.server("--exit-timeout-secs=1", "--exit-delay-secs=0") as server:
            os.kill(server.worker(), signal.SIGSTOP)  # it answers nothing, not even the signal
            start = time.monotonic()
            server.process.terminate()
            self.assertEqual(server.wait(), 1)
            self.assertLess(time.monotonic() - start, 30)


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "--full"]
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
