#!/usr/bin/env python3
"""How `tenfold serve` ends: signals, requests in flight, what does not end in time: shutdown_test.py TENFOLD [--full]"""

import json
import os
import signal
import time

import numpy as np
import supervised
from serve_case import INFER, answer_of, json_request, rows
from supervised import FULL, SupervisorCase, running, wait_until


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
    supervised.main()
