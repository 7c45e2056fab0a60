"""What tests of metrics, traces and logs share: scrapes, and a collector of traces."""

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
