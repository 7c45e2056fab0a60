#!/usr/bin/env python3
"""Logs of `tenfold serve`, and its page: logs_test.py TENFOLD"""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import browser
import cli_case
import numpy as np
from serve_case import Server, json_request, rows, save_tanh
from observe_case import run


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
