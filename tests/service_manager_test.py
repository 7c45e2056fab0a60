#!/usr/bin/env python3
"""Health checks of `tenfold serve` without another program (--probe), and what systemd is told: service_manager_test.py TENFOLD"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import cli_case
import serve_case
from net_security_test import Authority
from supervised import Supervised, children, running, wait_until


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Manager:
    """The socket that systemd would have, and what was written to it: each message as a dictionary."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address.replace("@", "\0") if address.startswith("@") else address)
        self.messages = []

    def read(self):
        self.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                text = self.socket.recv(65536).decode()
                self.messages.append(dict(line.split("=", 1) for line in text.split("\n")))
        return self.messages

    def count(self, name, value="1"):
        return sum(message.get(name) == value for message in self.read())

    def last(self, name):
        return next((m[name] for m in reversed(self.read()) if name in m), None)


class ServiceCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = serve_case.save_tanh(os.path.join(self.folder, "m.onnx"))

    def serve(self, *flags, environment=None):
        before = dict(os.environ)
        os.environ.update(environment or {})
        try:
            server = Supervised(self.model, f"--plan-cache-dir={self.folder}/plans", *flags)
        finally:
            os.environ.clear()
            os.environ.update(before)
        self.addCleanup(lambda: server.process.poll() is None and (server.process.kill(), server.process.wait()))
        return server

    def probe(self, *flags, environment=None):
        start = time.monotonic()
        done = subprocess.run(
            [cli_case.TENFOLD, "serve", *flags],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, **(environment or {})},
        )
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(done.stdout, "")
        if done.returncode == 1:
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.returncode, done.stderr


class Probes(ServiceCase):
    def test_live_and_ready(self):
        port, metrics = free_port(), free_port()
        flags = (f"--http-port={port}", f"--metrics-port={metrics}")
        code, words = self.probe("--probe=ready", *flags)
        self.assertEqual((code, "refused" in words), (1, True), words)
        server = self.serve(*flags, "--exit-delay-secs=2")
        for what in ("ready", "live"):
            self.assertEqual(self.probe(f"--probe={what}", *flags), (0, ""))
            self.assertEqual(self.probe(f"--probe={what}", f"--metrics-port={metrics}", "--allow-http=false"), (0, ""))
        self.assertEqual(self.probe("--probe=ready", environment={"TENFOLD_HTTP_PORT": str(port)}), (0, ""))
        with open(os.path.join(self.folder, "serve.conf"), "w") as f:
            f.write(f"http-port={port}\nhttp-address=0.0.0.0\n")
        self.assertEqual(self.probe("--probe=ready", f"--config={f.name}", self.model), (0, ""))
        server.process.terminate()
        wait_until(lambda: server.get("/v2/health/ready")[0] == 503)
        code, words = self.probe("--probe=ready", *flags)
        self.assertEqual((code, f"http://127.0.0.1:{port}/v2/health/ready: it answers 503" in words), (1, True), words)
        self.assertEqual(self.probe("--probe=live", *flags), (0, ""))
        self.assertEqual(server.wait(), 0)

    def test_bad_usage(self):
        for flags, words in (
            (["--probe=well"], "--probe takes ready|live"),
            (["--probe=ready", "--http-port=0"], "give --http-port=N"),
            (["--probe=ready", "--allow-http=false", "--allow-metrics=false"], "neither is open"),
            (["--probe=ready", "--http-prot=1"], "did you mean --http-port"),
        ):
            code, said = self.probe(*flags)
            self.assertEqual((code, words in said), (2, True), said)

    def test_a_server_that_does_not_answer(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            start = time.monotonic()
            code, words = self.probe("--probe=live", f"--http-port={silent.getsockname()[1]}")
            self.assertEqual((code, "in time" in words), (1, True), words)
            self.assertGreater(time.monotonic() - start, 2.5)
        with socket.create_server(("127.0.0.1", 0)) as other:
            process = subprocess.Popen(
                [cli_case.TENFOLD, "serve", "--probe=live", f"--http-port={other.getsockname()[1]}"], stderr=subprocess.PIPE, text=True
            )
            connection = other.accept()[0]
            connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
            self.assertIn("no HTTP", process.communicate(timeout=60)[1])
            self.assertEqual(process.returncode, 1)
            connection.close()

    def test_keys_restrictions_and_tls(self):
        authority = Authority(self.folder, "ours")
        certificate, key = authority.sign("server")
        port = free_port()
        keys = os.path.join(self.folder, "keys")
        with open(keys, "w") as f:
            f.write("a-key\n")
        base = (f"--http-port={port}", f"--api-key-file={keys}", "--http-restricted-api=health:admin=secret")
        tls = (f"--http-server-cert={certificate}", f"--http-server-key={key}", f"--http-root-cert={authority.certificate}")
        for more in (("--http-use-ssl=true",), ("--http-use-ssl-mutual=true",)):
            server = self.serve(*base, *tls, *more)
            self.assertEqual(self.probe("--probe=ready", *base, *tls, *more), (0, ""))
            self.assertEqual(self.probe("--probe=ready", *base)[0], 1)  # it speaks TLS
            code, words = self.probe("--probe=ready", f"--http-port={port}", *tls, *more)
            self.assertEqual((code, "it answers 403" in words), (1, True), words)
            self.assertEqual(server.stop(), 0)
        other = Authority(self.folder, "other")
        server = self.serve(*base, *tls[:2], f"--http-root-cert={other.certificate}", "--http-use-ssl-mutual=true")
        code, words = self.probe("--probe=ready", *base, *tls, "--http-use-ssl-mutual=true")
        self.assertEqual((code, "clients need a certificate" in words), (1, True), words)
        self.assertEqual(server.stop(), 0)


class Notifications(ServiceCase):
    def manager(self, abstract=False):
        made = Manager(f"@tenfold-test-{os.getpid()}" if abstract else os.path.join(self.folder, "notify"))
        self.addCleanup(made.socket.close)
        return made, {"NOTIFY_SOCKET": f"@tenfold-test-{os.getpid()}" if abstract else os.path.join(self.folder, "notify")}

    def check_life(self, abstract, *flags):
        manager, environment = self.manager(abstract)
        server = self.serve(*flags, environment=environment)
        wait_until(lambda: manager.count("READY") == 1)
        self.assertIn(f"ready on http://127.0.0.1:{server.port}", manager.last("STATUS"))
        loading = [m for m in manager.messages if m.get("STATUS", "").startswith("loading")]
        self.assertTrue(loading)
        self.assertIn("EXTEND_TIMEOUT_USEC", loading[0])
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: manager.count("READY") == 2, what="READY after RELOADING")
        reloading = next(m for m in manager.messages if m.get("RELOADING") == "1")
        self.assertLess(abs(int(reloading["MONOTONIC_USEC"]) / 1e6 - time.monotonic()), 60)
        self.assertEqual(manager.count("STOPPING"), 0)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(manager.count("STOPPING"), 1)
        self.assertEqual(manager.count("WATCHDOG"), 0)  # it was not asked for
        self.assertFalse([m for m in manager.messages if "MAINPID" in m])

    def test_a_life(self):
        self.check_life(False)

    def test_without_supervisor_and_in_the_abstract_namespace(self):
        self.check_life(True, "--no-supervisor")

    def test_workers_come_and_go(self):
        manager, environment = self.manager()
        server = self.serve(environment=environment)
        wait_until(lambda: manager.count("READY") == 1)
        worker = server.worker()
        with open(f"/proc/{worker}/environ") as f:
            self.assertNotIn("NOTIFY_SOCKET", f.read())
        server.process.send_signal(signal.SIGUSR2)
        wait_until(lambda: manager.count("RELOADING") == 1 and manager.count("READY") == 2, what="READY of the next worker")
        wait_until(lambda: not running(worker))
        os.kill(server.worker(), signal.SIGKILL)
        wait_until(lambda: manager.count("READY") == 3, what="READY after the death of a worker")
        self.assertTrue([m for m in manager.messages if "signal 9" in m.get("STATUS", "")])
        self.assertEqual(server.stop(), 0)

    def check_watchdog(self, victim, *flags):
        manager, environment = self.manager()
        server = self.serve(*flags, environment={**environment, "WATCHDOG_USEC": "400000"})
        before, start = manager.count("WATCHDOG"), time.monotonic()
        wait_until(lambda: manager.count("WATCHDOG") >= before + 6)
        self.assertGreater(time.monotonic() - start, 0.8)  # each 200 ms
        hung = victim(server)
        os.kill(hung, signal.SIGSTOP)
        time.sleep(0.5)
        before = manager.count("WATCHDOG")
        time.sleep(2)
        self.assertEqual(manager.count("WATCHDOG"), before)
        os.kill(hung, signal.SIGCONT)
        wait_until(lambda: manager.count("WATCHDOG") > before)
        self.assertEqual(server.stop(), 0)

    def test_the_watchdog_asks_the_worker(self):
        self.check_watchdog(lambda server: children(server.process.pid)[0])

    def test_the_watchdog_without_http(self):
        self.check_watchdog(lambda server: children(server.process.pid)[0], "--allow-http=false")

    def test_a_watchdog_of_another_process(self):
        manager, environment = self.manager()
        server = self.serve(environment={**environment, "WATCHDOG_USEC": "400000", "WATCHDOG_PID": "1"})
        time.sleep(0.6)
        self.assertEqual(manager.count("WATCHDOG"), 0)
        self.assertEqual(server.stop(), 0)

    def test_a_manager_that_is_not_there(self):
        for address in (os.path.join(self.folder, "nobody"), "relative", "@", "/" + "x" * 200):
            server = self.serve(environment={"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "x"})
            self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
