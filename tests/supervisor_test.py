#!/usr/bin/env python3
"""`tenfold serve`'s supervisor: workers that die or are replaced under load: supervisor_test.py TENFOLD [--full]"""

import http.client
import json
import os
import signal
import subprocess
import time

import cli_case
import supervised
from serve_case import INFER, json_request, rows
from supervised import FULL, Load, SupervisorCase, children, running, wait_until


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


if __name__ == "__main__":
    supervised.main()
