#!/usr/bin/env python3
"""Metrics, logs, traces and the page of `tenfold serve`: observe_test.py TENFOLD. Prometheus' parser where it is installed."""

import contextlib
import http.server
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

import browser
import cli_case
import numpy as np
from onnx import helper, numpy_helper
from serve_case import INFER, Server, ServeCase, json_request, rows, save_tanh

try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None

LINE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def scrape(server):
    """{name: {labels as a frozenset: value}}"""
    text = server.send("GET", "/metrics")[2].decode()
    if text_string_to_metric_families:
        list(text_string_to_metric_families(text))   # it raises for what it cannot read
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, value = LINE.fullmatch(line).groups()
            found.setdefault(name, {})[frozenset(LABEL.findall(labels or ""))] = float(value)
    return found


def total(metrics, name, **labels):
    return sum(value for has, value in metrics[name].items() if set(labels.items()) <= has)


def run(*arguments):
    return subprocess.run([cli_case.TENFOLD, *arguments], capture_output=True, text=True, timeout=60)


def settled(server, deadline=60):
    """The metrics once no request is under way."""
    until = time.monotonic() + deadline
    while True:
        metrics = scrape(server)
        done = total(metrics, "nv_inference_request_success") + total(metrics, "nv_inference_request_failure")
        if done == total(metrics, "tenfold_request_received_total") or time.monotonic() > until:
            return metrics
        time.sleep(0.05)


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


class Collector(http.server.ThreadingHTTPServer):
    """Takes OTLP, and keeps its spans."""

    def __init__(self, status=200):
        collector = self
        self.spans, self.resources, self.paths, self.status, self.delay = [], [], set(), status, 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                time.sleep(collector.delay)
                collector.paths.add(self.path)
                if collector.status == 200:
                    for resource in body["resourceSpans"]:
                        collector.resources.append(resource["resource"]["attributes"])
                        for scope in resource["scopeSpans"]:
                            collector.spans += scope["spans"]
                self.send_response(collector.status)
                self.end_headers()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def wait(self, count, named="InferRequest", deadline=30):
        until = time.monotonic() + deadline
        while sum(span["name"] == named for span in self.spans) < count and time.monotonic() < until:
            time.sleep(0.02)
        return [span for span in self.spans if span["name"] == named]


@contextlib.contextmanager
def traced(collector, *flags):
    with tempfile.TemporaryDirectory() as folder:
        model = save_tanh(os.path.join(folder, "m.onnx"))
        url = f"--trace-config=opentelemetry,url=127.0.0.1:{collector.server_port}/v1/traces"
        delay = "--trace-config=opentelemetry,bsp_schedule_delay=20"
        server = Server(model, f"--plan-cache-dir={folder}/plans", "--trace-config=mode=opentelemetry", url, delay, *flags)
        try:
            yield server
        finally:
            if server.process.poll() is None:
                server.stop()
    collector.shutdown()
    collector.server_close()


TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Traces(unittest.TestCase):
    def test_spans_of_a_request(self):
        collector = Collector()
        resource = "--trace-config=opentelemetry,resource=service.name=cats"
        with traced(collector, "--trace-config=level=TIMESTAMPS", "--trace-config=rate=1", resource) as server:
            headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "a=b"}
            self.assertEqual(server.infer(json_request(rows(1), id="seven"), headers=headers)[0], 200)
            (request,) = collector.wait(1)
            self.assertEqual(server.stop(), 0)
        self.assertEqual(collector.paths, {"/v1/traces"})
        self.assertIn({"key": "service.name", "value": {"stringValue": "cats"}}, collector.resources[0])
        by_name = {span["name"]: span for span in collector.spans}
        self.assertEqual(set(by_name), {"InferRequest", "m", "compute", "batch"})
        self.assertEqual((request["traceId"], request["parentSpanId"], request["traceState"]), (TRACE, PARENT, "a=b"))
        self.assertEqual(by_name["m"]["parentSpanId"], request["spanId"])
        self.assertEqual(by_name["compute"]["parentSpanId"], by_name["m"]["spanId"])
        self.assertEqual({span["traceId"] for name, span in by_name.items() if name != "batch"}, {TRACE})
        link, batch = by_name["compute"]["links"][0], by_name["batch"]
        self.assertEqual((link["traceId"], link["spanId"]), (batch["traceId"], batch["spanId"]))
        self.assertIn({"key": "triton.request_id", "value": {"stringValue": "seven"}}, by_name["m"]["attributes"])
        events = [(int(event["timeUnixNano"]), event["name"]) for event in by_name["m"]["events"][:2] + by_name["compute"]["events"]]
        names = ["REQUEST_START", "QUEUE_START", "COMPUTE_START", "COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START", "COMPUTE_END"]
        self.assertEqual([name for _, name in sorted(events, key=lambda event: event[0])], names)
        for span in collector.spans:
            self.assertLessEqual(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]))
            self.assertLess(abs(int(span["endTimeUnixNano"]) / 1e9 - time.time()), 120)

    def test_requests_of_a_batch_have_one_link(self):
        collector = Collector()
        flags = ("--trace-config=level=TIMESTAMPS", "--trace-config=rate=1", "--max-batch=4", "--max-queue-delay-us=2000000")
        with traced(collector, *flags) as server:
            threads = [threading.Thread(target=server.infer, args=(json_request(rows(i)),)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            computes = collector.wait(4, "compute")
            batches = collector.wait(1, "batch")
        links = {(span["links"][0]["traceId"], span["links"][0]["spanId"]) for span in computes}
        self.assertEqual(links, {(batch["traceId"], batch["spanId"]) for batch in batches})
        self.assertLess(len(batches), 4)
        self.assertEqual(len({span["traceId"] for span in computes}), 4)

    def test_errors_and_settings(self):
        collector = Collector()
        with traced(collector, "--trace-config=rate=1") as server:
            post = lambda path, **settings: server.send("POST", path, json.dumps(settings))   # noqa: E731
            one, all_ = "/v2/models/m/trace/setting", "/v2/trace/setting"
            self.assertEqual(server.get(all_)[1]["trace_level"], ["OFF"])
            server.infer(json_request(rows(1)))
            self.assertEqual(post(one, trace_level=["TIMESTAMPS"], trace_count="2")[0], 200)
            self.assertEqual(server.get(one)[1]["trace_count"], "2")
            self.assertEqual(server.get(all_)[1]["trace_level"], ["OFF"])
            wrong = json_request(rows(1))
            wrong["inputs"][0]["name"] = "z"
            self.assertEqual(server.infer(wrong)[0], 400)
            for i in range(3):
                server.infer(json_request(rows(i)))
            self.assertEqual(server.get(one)[1]["trace_count"], "0")
            self.assertEqual(post(one, trace_count=None)[0], 200)
            self.assertEqual(server.get(one)[1]["trace_count"], "-1")
            for settings, status in (
                ({"trace_rate": "x"}, 400), ({"trace_rate": "0"}, 400), ({"trace_rate": 5}, 400), ({"trace_count": "-7"}, 400),
                ({"trace_level": "TIMESTAMPS"}, 400), ({"trace_level": ["FOO"]}, 400), ({"trace_level": ["TENSORS"]}, 501),
                ({"trace_file": "/tmp/x"}, 501), ({"foo": "1"}, 200),
            ):
                self.assertEqual(post(all_, **settings)[0], status, settings)
            self.assertEqual(server.send("POST", all_, "[")[0], 400)
            self.assertEqual(server.send("POST", "/v2/models/none/trace/setting", "{}")[0], 404)
            spans = collector.wait(2)
        self.assertEqual(len(spans), 2)
        self.assertEqual([span["status"].get("code") for span in spans], [2, None])

    def test_rate_and_forced_samples(self):
        collector = Collector()
        with traced(collector, "--trace-config=level=TIMESTAMPS", "--trace-config=rate=5") as server:
            for i in range(10):
                server.infer(json_request(rows(i)))
            for flags, trace in (("01", "1"), ("00", "2"), ("01", "0")):   # sampled by who called; not; not valid, for it is all zeros
                server.infer(json_request(rows(1)), headers={"traceparent": f"00-{trace * 32}-{PARENT}-{flags}"})
            spans = collector.wait(3)
            time.sleep(0.2)
            self.assertEqual(total(scrape(server), "tenfold_trace_exported_total"), 3)
        self.assertEqual(len(spans), 3)
        self.assertIn("1" * 32, {span["traceId"] for span in spans})

    def test_a_collector_that_fails_costs_traces_and_no_requests(self):
        collector = Collector(status=503)
        collector.delay = 0.3
        flags = ("--trace-config=level=TIMESTAMPS", "--trace-config=rate=1", "--trace-config=opentelemetry,bsp_max_queue_size=4")
        with traced(collector, *flags) as server:
            started = time.monotonic()
            for i in range(40):
                self.assertEqual(server.infer(json_request(rows(i)))[0], 200)
            self.assertLess(time.monotonic() - started, 20)
            until = time.monotonic() + 30
            while time.monotonic() < until:
                dropped = scrape(server)["tenfold_trace_dropped_total"]
                if sum(dropped.values()) == 40:
                    break
                time.sleep(0.1)
            self.assertEqual(sum(dropped.values()), 40)
            self.assertTrue(all(value > 0 for value in dropped.values()), dropped)

    def test_flags_that_are_refused(self):
        for flag, words in (
            ("mode=triton", "writes no trace files"), ("triton,file=/tmp/x", "writes no trace files"), ("rate=0", "non-zero"),
            ("level=TENSORS", "TIMESTAMPS"), ("opentelemetry,url=https://x/v1/traces", "collector"), ("opentelemetry,foo=1", "bsp_"),
            ("foo=1", "level"), ("x", "NAME=VALUE"),
        ):
            with self.subTest(flag=flag):
                result = run("serve", "m.onnx", "--trace-config=" + flag)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(words, result.stderr)


class Logs(unittest.TestCase):
    def start(self, *flags):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        server = Server(save_tanh(os.path.join(folder.name, "m.onnx")), f"--plan-cache-dir={folder.name}/plans", *flags)
        self.addCleanup(lambda: server.process.poll() is None and server.stop())
        return server

    def rest(self, server):
        server.process.terminate()
        text = server.process.stderr.read()
        server.wait()
        return text

    def test_formats(self):
        for flag, form in (
            ("default", r'I\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ serve\.cpp:\d+\] "ready on http://.*"\n'),
            ("ISO8601", r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ I \d+ serve\.cpp:\d+\] "ready on http://.*"\n'),
        ):
            server = self.start("--log-format=" + flag)
            self.assertRegex(server.start.splitlines(keepends=True)[-1], form)
        server = self.start("--log-format=json")
        lines = [json.loads(line) for line in server.start.splitlines()]
        self.assertTrue(lines[-1]["message"].startswith("ready on"))
        self.assertEqual((lines[-1]["level"], lines[-1]["file"]), ("info", "serve.cpp"))

    def test_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            model, log = save_tanh(os.path.join(folder, "m.onnx")), os.path.join(folder, "log")
            process = subprocess.Popen(
                [cli_case.TENFOLD, "serve", model, "--device=cpu", "--tune=never", "--http-port=0", "--metrics-port=0", "--log-file=" + log,
                 f"--plan-cache-dir={folder}/plans"], stderr=subprocess.PIPE, text=True)
            until = time.monotonic() + 60
            while time.monotonic() < until and not (os.path.exists(log) and "ready on" in open(log).read()):
                time.sleep(0.05)
            process.terminate()
            self.assertEqual((process.communicate()[1], process.returncode), ("", 0))
            self.assertIn("ready on", open(log).read())
        result = run("serve", "m.onnx", "--log-file=/nowhere/log")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/nowhere/log", result.stderr)

    def test_settings_while_it_runs_and_no_payloads(self):
        server = self.start()
        path = "/v2/logging"
        self.assertEqual(server.get(path)[1], {"log_file": "", "log_info": True, "log_warning": True, "log_error": True,
                                               "log_verbose_level": 0, "log_format": "default"})
        change = lambda **settings: server.send("POST", path, json.dumps(settings))   # noqa: E731
        secret = 0.7182818
        server.infer(json_request(np.full((1, 6), secret, np.float32), id="quiet"))
        self.assertEqual(change(log_verbose_level=1, log_format="json")[0], 200)
        server.infer(json_request(np.full((1, 6), secret, np.float32), id="loud"), headers={"Authorization": "Bearer hunter2"})
        for settings, status in (({"log_verbose_level": -1}, 400), ({"log_info": "false"}, 400), ({"log_format": "xml"}, 400),
                                 ({"log_file": "/tmp/x"}, 501), ({"foo": 1}, 200)):
            self.assertEqual(change(**settings)[0], status, settings)
        self.assertEqual(server.send("POST", path, "[")[0], 400)
        text = self.rest(server)
        self.assertNotIn("quiet", text)
        self.assertIn("loud", text)
        for word in ("0.718", "hunter2", "Bearer"):
            self.assertNotIn(word, text)


@unittest.skipUnless(browser.program(), "there is no Chromium: script/bootstrap browser")
class Page(unittest.TestCase):
    NAME = "<img src=x onerror=document.title='hit'>"

    def test_it_shows_the_models_and_refreshes_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            flags = ("--name=" + self.NAME, "--metrics-interval-ms=50", "--max-batch=4")
            server = Server(save_tanh(os.path.join(folder, "m.onnx")), f"--plan-cache-dir={folder}/plans", *flags)
            path = "/v2/models/" + urllib.parse.quote(self.NAME, safe="") + "/infer"
            wrong = json_request(rows(1))
            wrong["inputs"][0]["name"] = "<b>z</b>"
            page = browser.Browser()
            try:
                page.open(f"http://127.0.0.1:{server.port}/ui")
                self.wait(page, "none yet")
                self.assertEqual(server.infer(json_request(rows(1)), path)[0], 200)
                self.assertEqual(server.infer(wrong, path)[0], 400)
                text = self.wait(page, "unexpected inference input '<b>z</b>'")   # without a click
                for word in (self.NAME, "ready", "cpu", "tf32", "batch 4", "p99", "idle", "succeeded", "CPU", "memory"):
                    self.assertIn(word, text)
                for width in (1200, 400):
                    page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
                    self.assertLessEqual(page.value("document.documentElement.scrollWidth"), width)
                self.assertEqual(page.value("document.title"), "Tenfold server")
                loaded = page.value("performance.getEntriesByType('resource').map(e => new URL(e.name).pathname)")
                self.assertEqual(set(loaded) - {"/favicon.ico"}, {"/ui/data"})
                self.assertIsNone(page.value("document.documentElement.dataset.error"))
                self.assertEqual([error for error in page.errors if "favicon" not in error], [])
                self.assertEqual(server.stop(), 0)
                self.wait(page, "The server cannot be reached")
            finally:
                page.close()
                if server.process.poll() is None:
                    server.stop()

    def wait(self, page, words, deadline=30):
        until = time.monotonic() + deadline
        while words not in (text := page.value("document.body.innerText")) and time.monotonic() < until:
            time.sleep(0.1)
        self.assertIn(words, text)
        return text


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
