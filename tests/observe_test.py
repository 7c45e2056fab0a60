#!/usr/bin/env python3
"""Metrics of `tenfold serve`: observe_test.py TENFOLD. Prometheus' parser where it is installed."""

import json
import os
import random
import socket
import sys
import tempfile
import threading
import time
import unittest

import cli_case
import numpy as np
from onnx import helper, numpy_helper
from serve_case import INFER, Server, ServeCase, json_request, rows, save_tanh
from observe_case import scrape, settled, total


def save_slow(path, width=700):
    """y = x times a matrix, many times over: a run of some milliseconds."""
    weights = numpy_helper.from_array((np.random.default_rng(2).standard_normal((width, width)) / width**0.5).astype(np.float32), "w")
    nodes = [helper.make_node("MatMul", [f"t{i}" if i else "x", "w"], [f"t{i + 1}" if i < 19 else "y"]) for i in range(20)]
    return cli_case.save_model(
        path, nodes, [("x", cli_case.FLOAT, ["batch", width])], [("y", cli_case.FLOAT, ["batch", width])], [weights]
    )


class Metrics(ServeCase):
    FLAGS = ("--metrics-config=summary_latencies=true", "--metrics-config=tei=true", "--metrics-interval-ms=50")

    def test_histograms_agree_with_the_sums(self):
        for i in range(5):
            self.assertEqual(self.server.infer(json_request(rows(i)))[0], 200)
        metrics = scrape(self.server)
        for ours, theirs in (
            ("tenfold_request_duration_us", "nv_inference_request_duration_us"),
            ("tenfold_queue_duration_us", "nv_inference_queue_duration_us"),
            ("tenfold_compute_input_duration_us", "nv_inference_compute_input_duration_us"),
            ("tenfold_compute_infer_duration_us", "nv_inference_compute_infer_duration_us"),
            ("tenfold_compute_output_duration_us", "nv_inference_compute_output_duration_us"),
        ):
            self.assertEqual(total(metrics, ours + "_count"), total(metrics, "nv_inference_request_success"))
            self.assertAlmostEqual(total(metrics, ours + "_sum"), total(metrics, theirs), delta=1)
            buckets = sorted((float(dict(has)["le"]), value) for has, value in metrics[ours + "_bucket"].items())
            self.assertEqual([value for _, value in buckets], sorted(value for _, value in buckets))
            self.assertEqual(buckets[-1], (float("inf"), total(metrics, ours + "_count")))
            summary = theirs.replace("duration", "summary")
            self.assertEqual(total(metrics, summary + "_count"), buckets[-1][1])
            self.assertLessEqual(total(metrics, summary, quantile="0.5"), total(metrics, summary, quantile="0.99"))
        self.assertEqual(total(metrics, "te_request_duration_count"), buckets[-1][1])
        self.assertIn(5e-05, {float(dict(has)["le"]) for has in metrics["te_request_duration_bucket"]})

    def test_the_machine(self):
        time.sleep(0.2)   # of the first look at it
        metrics = scrape(self.server)
        used, whole = total(metrics, "nv_cpu_memory_used_bytes"), total(metrics, "nv_cpu_memory_total_bytes")
        self.assertTrue(0 < used < whole)
        with open("/proc/meminfo") as file:
            self.assertEqual(whole, 1024 * int(file.readline().split()[1]))
        self.assertTrue(0 <= total(metrics, "nv_cpu_utilization") <= 1)
        self.assertEqual(total(metrics, "tenfold_build_info"), 1)

    def test_requests_that_are_no_models(self):
        before = scrape(self.server)
        self.assertEqual(self.server.infer(json_request(rows(1)), "/v2/models/none/infer")[0], 404)
        self.assertEqual(self.server.infer(json_request(rows(1)), "/v2/models/m/versions/x/infer")[0], 400)
        after = scrape(self.server)
        name = "tenfold_request_unassigned_total"
        self.assertEqual(total(after, name, reason="unknown_model") - total(before, name, reason="unknown_model"), 2)
        self.assertEqual(total(after, "tenfold_request_received_total"), total(before, "tenfold_request_received_total"))


CONFIG = """
max_batch_size: 4
metric_tags { key: "team" value: "cats\\"" }
model_metrics { metric_control {
  metric_identifier { family: "%s" }
  histogram_options { buckets: [ %s ] }
} }
"""


class Configured(unittest.TestCase):
    """What config.pbtxt says of metrics."""

    def start(self, folder, family, buckets):
        os.makedirs(os.path.join(folder, "repository", "m", "1"))
        save_tanh(os.path.join(folder, "repository", "m", "1", "model.onnx"))
        with open(os.path.join(folder, "repository", "m", "config.pbtxt"), "w") as file:
            file.write(CONFIG % (family, buckets))
        return Server(f"--model-repository={folder}/repository", f"--plan-cache-dir={folder}/plans")

    def bounds(self, family, buckets, histogram):
        with tempfile.TemporaryDirectory() as folder:
            server = self.start(folder, family, buckets)
            self.assertEqual(server.infer(json_request(rows(1)))[0], 200)
            metrics = scrape(server)
            self.assertEqual(server.stop(), 0)
        self.assertEqual(total(metrics, "nv_inference_request_success", model="m", team='cats\\"'), 1)
        self.assertEqual(total(metrics, histogram + "_count"), 1)
        return sorted(float(dict(has)["le"]) for has in metrics[histogram + "_bucket"])

    def test_bounds_and_tags(self):
        infinity = float("inf")
        name = "tenfold_queue_duration_us"
        self.assertEqual(self.bounds(name, "0.5, 7, 1000000", name), [0.5, 7, 1e6, infinity])
        found = self.bounds("nv_inference_first_response_histogram_ms", "100, 500", "tenfold_request_duration_us")
        self.assertEqual(found, [1e5, 5e5, infinity])

    def test_what_is_wrong(self):
        for family, buckets, words in (("tenfold_queue_duration_us", "5, 3", "rise"), ("nv_other", "1", "nv_other")):
            with tempfile.TemporaryDirectory() as folder, self.assertRaises(AssertionError) as raised:
                self.start(folder, family, buckets)
            self.assertIn(words, str(raised.exception))


class Sums(unittest.TestCase):
    """Requests that are right, wrong, late, cancelled and left alone: each is counted once."""

    WIDTH = 700

    def body(self, kind):
        x = np.zeros((1, self.WIDTH), np.float32)
        request = json_request(x)
        if kind == "late":
            request["parameters"] = {"timeout": 1}
        elif kind == "wrong":
            request["inputs"][0]["shape"] = [1, 3]
        elif kind == "name":
            request["inputs"][0]["name"] = "z"
        return b'{"inputs": [' if kind == "cut" else json.dumps(request).encode()

    def send(self, port, kind, sent):
        path = "/v2/models/none/infer" if kind == "unknown" else INFER
        body = self.body(kind)
        with socket.create_connection(("127.0.0.1", port), timeout=60) as s:
            s.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % (path.encode(), len(body)) + body)
            sent.append(kind)
            if kind == "leaves":
                time.sleep(random.random() / 100)
                return
            while s.recv(65536):
                pass

    def test_storm(self):
        kinds = ["right"] * 4 + ["late"] * 3 + ["wrong", "name", "cut", "unknown"] + ["leaves"] * 4
        with tempfile.TemporaryDirectory() as folder:
            model = save_slow(os.path.join(folder, "m.onnx"), self.WIDTH)
            server = Server(model, f"--plan-cache-dir={folder}/plans", "--max-batch=4", "--max-queue-size=8")
            sent = []
            threads = []
            for number in range(16):
                order = random.Random(number)
                work = [order.choice(kinds) for _ in range(40)]
                threads.append(threading.Thread(target=lambda work=work: [self.send(server.port, kind, sent) for kind in work]))
            for thread in threads:
                thread.start()
            checks = 0
            while any(thread.is_alive() for thread in threads):   # at each moment, too
                metrics = scrape(server)
                done = total(metrics, "nv_inference_request_success") + total(metrics, "nv_inference_request_failure")
                self.assertLessEqual(done, total(metrics, "tenfold_request_received_total"))
                checks += 1
            for thread in threads:
                thread.join()
            metrics = settled(server)
            statistics = server.statistics()
            self.assertEqual(server.stop(), 0)
        success, failure = total(metrics, "nv_inference_request_success"), total(metrics, "nv_inference_request_failure")
        received, unassigned = total(metrics, "tenfold_request_received_total"), total(metrics, "tenfold_request_unassigned_total")
        self.assertGreater(checks, 0)
        self.assertEqual(success + failure, received)
        # Those who leave may do so before the server has read all they sent; all others are there.
        left = sent.count("leaves")
        self.assertLessEqual(len(sent) - left, received + unassigned)
        self.assertLessEqual(received + unassigned, len(sent))
        self.assertEqual(unassigned, sent.count("unknown"))
        reasons = {reason: total(metrics, "nv_inference_request_failure", reason=reason) for reason in ("REJECTED", "CANCELED", "OTHER")}
        self.assertEqual(reasons["OTHER"], sent.count("wrong") + sent.count("name") + sent.count("cut"))
        self.assertGreater(reasons["REJECTED"], 0)
        self.assertGreater(reasons["CANCELED"], 0)
        self.assertEqual(statistics["inference_stats"]["success"]["count"], success)
        self.assertEqual(statistics["inference_stats"]["fail"]["count"], failure)
        self.assertEqual(statistics["tenfold"]["received"], received)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
