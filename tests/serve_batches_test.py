#!/usr/bin/env python3
"""How `tenfold serve` batches and lets requests wait, how it starts and how it ends: serve_batches_test.py TENFOLD"""

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
from serve_case import INFER, ServeCase, Server, answer_of, json_request, rows


class Batching(ServeCase):
    FLAGS = ("--max-batch=16", "--max-queue-delay-us=3000")

    def test_64_clients_get_their_own_answers_in_batches(self):
        solo = {}
        for client in range(64):
            x = rows(client, 1 + client % 3)
            solo[client] = np.array(self.server.infer(json_request(x))[1]["outputs"][0]["data"])
        before, wrong = self.server.statistics(), []

        def work(client):
            connection = self.server.connect(60)
            for _ in range(10):
                connection.request("POST", INFER, json.dumps(json_request(rows(client, 1 + client % 3))))
                data = np.array(json.loads(connection.getresponse().read())["outputs"][0]["data"])
                if data.shape != solo[client].shape or abs(data - solo[client]).max() > 1e-5:
                    wrong.append(client)
            connection.close()

        threads = [threading.Thread(target=work, args=(client,)) for client in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        after = self.server.statistics()
        self.assertEqual(after["inference_stats"]["success"]["count"] - before["inference_stats"]["success"]["count"], 640)
        runs = after["execution_count"] - before["execution_count"]
        self.assertLess(runs, 320)
        self.assertGreater(max(b["batch_size"] for b in after["batch_stats"]), 4)
        self.assertGreater(after["tenfold"]["batch_closed"]["full"] + after["tenfold"]["batch_closed"]["delay"], 0)


class Waiting(ServeCase):
    """A batch waits for 1.5 s, so that requests wait."""

    FLAGS = ("--max-batch=16", "--max-queue-delay-us=1500000", "--max-queue-size=3")

    def test_timeout(self):
        start = time.monotonic()
        status, answer = self.server.infer({**json_request(rows(0)), "parameters": {"timeout": 100000}})
        took = time.monotonic() - start
        self.assertEqual((status, answer), (503, {"error": "Request timeout expired"}))
        self.assertGreaterEqual(took, 0.1)
        self.assertLess(took, 1)
        self.assertEqual(self.server.statistics()["tenfold"]["waiting"], 0)

    def test_full_queue_and_clients_that_leave(self):
        before = self.server.statistics()["tenfold"]
        waiting = [self.server.connect() for _ in range(3)]
        for seed, connection in enumerate(waiting):
            connection.request("POST", INFER, json.dumps(json_request(rows(seed))))
        while self.server.statistics()["tenfold"]["waiting"] < 3:
            time.sleep(0.01)
        status, headers, body = self.server.send("POST", INFER, json.dumps(json_request(rows(0))))
        self.assertEqual((status, json.loads(body)), (503, {"error": "Exceeds maximum queue size"}))
        self.assertEqual(headers["Retry-After"], "1")
        self.assertEqual(self.server.statistics()["tenfold"]["rejected"], before["rejected"] + 1)
        waiting[0].close()
        while self.server.statistics()["tenfold"]["cancelled"] == before["cancelled"]:
            time.sleep(0.01)
        self.assertEqual(self.server.statistics()["tenfold"]["waiting"], 2)
        for seed, connection in list(enumerate(waiting))[1:]:
            data = json.loads(connection.getresponse().read())["outputs"][0]["data"]
            np.testing.assert_allclose(np.array(data).reshape(1, 4), answer_of(rows(seed)), atol=2e-5)
            connection.close()


class Ends(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = serve_case.save_tanh(os.path.join(self.folder, "m.onnx"))

    def test_sigterm_loses_no_request(self):
        for delay in (0, 20000, 300000):  # before, amid and after the batch is made
            server = Server(self.model, f"--plan-cache-dir={self.folder}/plans", "--max-batch=64", f"--max-queue-delay-us={delay}")
            connections = [server.connect() for _ in range(50)]
            for seed, connection in enumerate(connections):
                connection.request("POST", INFER, json.dumps(json_request(rows(seed))))
            while server.statistics()["tenfold"]["received"] < 50:
                time.sleep(0.002)
            self.assertEqual(server.stop(), 0)
            for seed, connection in enumerate(connections):
                response = connection.getresponse()
                self.assertEqual(response.status, 200)
                data = json.loads(response.read())["outputs"][0]["data"]
                np.testing.assert_allclose(np.array(data).reshape(1, 4), answer_of(rows(seed)), atol=2e-5)
                connection.close()

    def test_it_is_not_ready_at_once(self):
        server = Server(self.model, f"--plan-cache-dir={self.folder}/plans", "--exit-delay-secs=3")
        server.process.terminate()
        while server.get("/v2/health/ready")[0] == 200:
            time.sleep(0.005)
        self.assertEqual(server.get("/v2/health/ready"), (503, {"ready": False}))
        self.assertEqual(server.get("/v2/health/live")[0], 200)
        # Balancers send requests until they have seen it.
        self.assertEqual(server.infer(json_request(rows(0)))[0], 200)
        self.assertEqual(server.wait(), 0)

    def start_fails(self, code, words, *arguments):
        done = subprocess.run([cli_case.TENFOLD, "serve", *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(words, done.stderr)

    def test_starts_that_fail(self):
        ports = ("--http-port=0", "--metrics-port=0", "--device=cpu")
        self.start_fails(2, "takes one model")
        self.start_fails(2, "did you mean", self.model, "--http-prot=1")
        self.start_fails(2, "it takes one model or repositories", self.model, "--model-repository=" + self.folder)
        self.start_fails(2, "0 to 65535", self.model, "--http-port=70000")
        self.start_fails(1, "failed", self.folder + "/nothing.onnx", *ports)
        self.start_fails(1, "is a folder", self.folder, *ports)
        self.start_fails(1, "is no address", self.model, *ports, "--http-address=nowhere.example")
        server = Server(self.model, f"--plan-cache-dir={self.folder}/plans")
        self.start_fails(1, "choose another port", self.model, f"--http-port={server.port}", "--metrics-port=0", "--device=cpu")
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
