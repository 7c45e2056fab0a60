#!/usr/bin/env python3
"""How requests wait in `tenfold serve`: timeouts that are due, clients that leave, priorities, the cache: schedule_test.py TENFOLD"""

import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
import unittest

import cli_case
import numpy as np
import repository_case
from onnx import TensorProto, helper
from serve_case import INFER, ServeCase, Server, answer_of, json_request, rows


def save_slow(path, steps=24, width=768, rows=1):
    """y = x, after matrix products that depend on it: 0.1 s or more of a core."""
    nodes = [helper.make_node("ReduceMin", ["x"], ["low"], keepdims=0), helper.make_node("Expand", ["low", "shape"], ["p0"])]
    for i in range(steps):
        nodes += [helper.make_node("MatMul", [f"p{i}", f"p{i}"], [f"q{i}"]), helper.make_node("Tanh", [f"q{i}"], [f"p{i + 1}"])]
    nodes += [helper.make_node("ReduceMin", [f"p{steps}"], ["least"], keepdims=0), helper.make_node("Mul", ["least", "zero"], ["nothing"]),
              helper.make_node("Add", ["x", "nothing"], ["y"])]
    constants = [
        helper.make_tensor("shape", TensorProto.INT64, [2], [width, width]),
        helper.make_tensor("zero", TensorProto.FLOAT, [], [0.0]),
    ]
    return cli_case.save_model(path, nodes, [("x", cli_case.FLOAT, [rows, 1])], [("y", cli_case.FLOAT, [rows, 1])], constants)


def slow_request(value=0.5, **parameters):
    request = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 1], "data": [value]}]}
    return {**request, "parameters": parameters} if parameters else request


class Answer(threading.Thread):
    """A request in a thread of its own, and when it ended."""

    def __init__(self, server, request, path=INFER):
        super().__init__()
        self.server, self.request, self.path = server, request, path
        self.began = time.monotonic()
        self.start()

    def run(self):
        self.status, self.answer = self.server.infer(self.request, self.path)
        self.seconds = time.monotonic() - self.began

    def result(self):
        self.join()
        return self.status, self.answer.get("error", "")


class Slow(unittest.TestCase):
    """A model without dynamic batching, one instance."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = Server(save_slow(cls.folder.name + "/m.onnx"), f"--plan-cache-dir={cls.folder.name}/plans", "--max-batch=0")
        cls.server.infer(slow_request())
        began = time.monotonic()
        cls.server.infer(slow_request())
        cls.seconds = time.monotonic() - began

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0
        cls.folder.cleanup()

    def busy(self, runs=3):
        """Requests that take the instance for so many runs."""
        answers = [Answer(self.server, slow_request()) for _ in range(runs)]
        while self.server.statistics()["tenfold"]["waiting"] < runs - 1:
            time.sleep(0.001)
        return answers

    def test_timeouts_fire_when_they_are_due_while_the_model_is_busy(self):
        due = self.seconds / 2  # while the first of three runs
        blockers = self.busy()
        late, own = [], []
        answers = [Answer(self.server, slow_request(timeout=int(due * 1e6))) for _ in range(8)]
        began = time.monotonic()
        time.sleep(due)
        own.append(time.monotonic() - began - due)  # how late this machine wakes a thread that waits for nothing else
        for answer in answers:
            self.assertEqual(answer.result(), (503, "Request timeout expired"))
            late.append(answer.seconds - due)
        self.assertGreater(min(late), -0.001)
        self.assertLess(statistics.median(late), 0.05 + 10 * max(own))
        self.assertLess(statistics.median(late), self.seconds)  # not when the model had time
        for blocker in blockers:
            self.assertEqual(blocker.result()[0], 200)

    def test_a_client_that_leaves_takes_its_request_along(self):
        before = self.server.statistics()["tenfold"]["cancelled"]
        body = json.dumps(slow_request()).encode()
        head = f"POST {INFER} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        clients = []
        for _ in range(6):  # one runs, the others wait
            client = socket.create_connection(("127.0.0.1", self.server.port))
            client.sendall(head + body)
            clients.append(client)
        while self.server.statistics()["tenfold"]["waiting"] < 5:
            time.sleep(0.001)
        for client in clients:
            client.close()
        began = time.monotonic()
        self.assertEqual(self.server.infer(slow_request())[0], 200)
        self.assertLess(time.monotonic() - began, 4 * self.seconds + 0.5)  # and not behind six runs
        self.assertEqual(self.server.statistics()["tenfold"]["cancelled"] - before, 6)
        self.assertEqual(self.server.statistics()["tenfold"]["waiting"], 0)

    def test_priorities_without_levels_are_refused(self):
        for priority in (1, 2**64 - 1):
            status, answer = self.server.infer(slow_request(priority=priority))
            self.assertEqual((status, "has no priority levels" in answer["error"]), (400, True), answer)
        self.assertEqual(self.server.infer(slow_request(priority=0))[0], 200)
        for wrong in (-1, "1", 1.5, True):
            self.assertEqual(self.server.infer(slow_request(priority=wrong))[0], 400)
            self.assertEqual(self.server.infer(slow_request(timeout=wrong))[0], 400)


LEVELS = """
backend: "tenfold"
max_batch_size: 1
input { name: "x" data_type: TYPE_FP32 dims: [ 1 ] }
output { name: "y" data_type: TYPE_FP32 dims: [ 1 ] }
instance_group { count: 1 kind: KIND_CPU }
dynamic_batching {
  priority_levels: 3
  default_priority_level: 2
  default_queue_policy { allow_timeout_override: true }
  priority_queue_policy { key: 1 value { max_queue_size: 2 } }
  priority_queue_policy { key: 3 value { timeout_action: DELAY default_timeout_microseconds: 1000 } }
}
"""


class Levels(unittest.TestCase):
    """Priority levels of a repository's model. One instance, one row a run."""

    @classmethod
    def setUpClass(cls):
        cls.repository = repository_case.Repository()
        cls.repository.write("m", "config.pbtxt", LEVELS)
        os.makedirs(cls.repository.path("m", "1"))
        save_slow(cls.repository.path("m", "1", "model.onnx"), rows="batch")
        cls.server = repository_case.RepositoryServer([cls.repository.folder], "--grpc-port=0")
        assert cls.server.port, cls.server.start
        cls.server.infer(slow_request())

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0
        cls.repository.remove()

    def wait_for(self, received):
        until = time.monotonic() + 30
        while self.server.statistics()["tenfold"]["received"] < received and time.monotonic() < until:
            time.sleep(0.001)

    def test_levels_and_late_requests(self):
        received = self.server.statistics()["tenfold"]["received"]
        first = [Answer(self.server, slow_request()) for _ in range(5)]  # all wait before these have run
        self.wait_for(received + 5)
        requests = []
        for place, priority in enumerate((3, 2, 0, 1)):
            requests.append(Answer(self.server, slow_request(priority=priority)))
            self.wait_for(received + 6 + place)
        self.assertGreaterEqual(self.server.statistics()["tenfold"]["waiting"], 4)  # else this machine is too slow to tell
        for one in first + requests:
            self.assertEqual(one.result()[0], 200)
        ended = [one.began + one.seconds for one in requests]
        self.assertEqual(sorted(range(4), key=ended.__getitem__), [3, 1, 2, 0])  # a default of 2, and the late one last, but answered

    def test_a_level_has_its_own_size(self):
        first = Answer(self.server, slow_request(priority=2))
        time.sleep(0.02)
        requests = [Answer(self.server, slow_request(priority=1)) for _ in range(6)]
        statuses = sorted(one.result() for one in requests)
        refused = [text for status, text in statuses if status == 503]
        self.assertGreaterEqual(len(refused), 2, statuses)  # two wait, and one or two run meanwhile
        self.assertIn("Exceeds maximum queue size", refused[0])
        self.assertEqual(first.result()[0], 200)

    def test_priorities_above_the_levels_are_refused(self):
        for priority in (4, 2**32 + 1, 2**64 - 1):
            status, answer = self.server.infer(slow_request(priority=priority))
            self.assertEqual((status, "has the priority levels 1 to 3" in answer["error"]), (400, True), answer)


class Cache(ServeCase):
    FLAGS = ("--cache-config=local,size=4000", "--max-batch=8")

    def counts(self):
        inference = self.server.statistics()["inference_stats"]
        return inference["cache_hit"]["count"], inference["cache_miss"]["count"], inference["success"]["count"]

    def ask(self, x, **more):
        status, answer = self.server.infer(json_request(x, **more))
        self.assertEqual(status, 200, answer)
        np.testing.assert_allclose(np.array(answer["outputs"][0]["data"]).reshape(len(x), 4), answer_of(x), atol=2e-5)
        return answer

    def test_equal_requests_are_computed_once(self):
        x = rows(100, 2)
        hits, misses, success = self.counts()
        runs = self.server.statistics()["execution_count"]
        for i in range(5):
            self.assertEqual(self.ask(x, id=f"request {i}")["id"], f"request {i}")
        self.assertEqual(self.counts(), (hits + 4, misses + 1, success + 5))
        self.assertEqual(self.server.statistics()["execution_count"], runs + 1)
        self.ask(x.reshape(2, 6)[:1])  # part of it is another request
        self.ask(-x)
        self.assertEqual(self.counts()[0], hits + 4)

    def test_the_longest_unused_goes_first(self):
        many = [rows(200 + i, 1 + i % 8) for i in range(60)]
        for x in many:
            self.ask(x)
            self.ask(many[0])
        hits = self.counts()[0]
        self.ask(many[0])
        self.ask(many[-1])
        self.assertEqual(self.counts()[0], hits + 2)
        self.ask(many[1])
        self.assertEqual(self.counts()[0], hits + 2)  # it has made place

    def test_classes_of_a_cached_answer(self):
        x = rows(300)
        self.ask(x)
        _, answer = self.server.infer(json_request(x, outputs=[{"name": "y", "parameters": {"classification": 1}}]))
        self.assertEqual(answer["outputs"][0]["data"][0].split(":")[1], str(int(np.argmax(answer_of(x)))))
        self.ask(x)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
