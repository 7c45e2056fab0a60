#!/usr/bin/env python3
"""deploy/ beside a real server: it takes every command line, its probes answer as they are meant, and it exports what queries name."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "python/tests")]
import cli_case
import queries
import servers
from broken import DEPLOY, ROOT, broken

try:
    import yaml  # noqa: F401
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)
from objects import containers, is_server

WIDE = 768  # of layers whose kernels take a while to be timed


def command_lines(deploy):
    for container in containers(deploy, "kubernetes", "kserve"):
        if is_server(container):
            yield container, [word.replace("{{.Name}}", "resnet") for word in container.body["args"]]


def print_config(args, environment=None):
    line = [servers.program(cli_case.TENFOLD), "--print-config", *args]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, env={**os.environ, **(environment or {})})


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class DeployCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        if not servers.program(cli_case.TENFOLD):
            self.skipTest("there is no tenfold-server beside tenfold")

    def start(self, *args, **options):
        server = servers.Server([servers.program(cli_case.TENFOLD), *args], **options)
        self.addCleanup(server.stop)
        return server


class CommandLines(DeployCase):
    def test_each_is_taken_word_for_word(self):
        for container, args in command_lines(DEPLOY):
            with self.subTest(container.where):
                done = print_config(args)
                self.assertEqual(done.returncode, 0, done.stderr)
                said = dict(re.findall(r"^([\w-]+)=([^#\n]*?)\s*(?:#.*)?$", done.stdout, re.M))
                for word in args:
                    if match := re.fullmatch(r"--([\w-]+)=(.*)", word):
                        self.assertEqual(said.get(match[1]), match[2], done.stdout)

    def test_broken_ones_are_refused(self):
        files = sorted({container.where.split(":")[0] for container, _ in command_lines(DEPLOY)})
        self.assertEqual(len(files), 4)
        for file in files:
            with self.subTest(file), broken(file, "--exit-delay-secs=", "--exit-delay-sec=") as deploy:
                codes = {c.where.split(":")[0]: print_config(args).returncode for c, args in command_lines(deploy)}
                self.assertEqual({name for name, code in codes.items() if code != 0}, {file})

    def test_service_links_are_no_flags(self):
        done = print_config(["--model-repository=/models"], {"TENFOLD_PORT": "tcp://10.0.0.1:8000"})
        self.assertEqual(done.returncode, 0, done.stderr)

    def moved(self, args):
        """With folders of this test in place of the volumes', and free ports."""
        args = [re.sub(r"/(mnt/models|models|cache)\b", lambda m: str(self.folder / m[1]), word, count=1) for word in args]
        return [*(word for word in args if not word.startswith(("--http-port", "--grpc-port"))), *servers.PORTS, "--tune=never",
                "--device=cpu", "--threads=1"]

    def test_each_serves_what_it_is_for(self):
        from embeddings_case import RandomEncoder

        for container, args in command_lines(DEPLOY):
            with self.subTest(container.where):
                shutil.rmtree(self.folder)
                for name in ("mnt/models", "models", "cache"):
                    (self.folder / name).mkdir(parents=True)
                name = "resnet"
                if "/mnt/models" in args:
                    RandomEncoder(str(self.folder / "mnt/models"), "bert", 0)
                else:
                    servers.save_model(self.folder / "mnt/models/model.onnx")
                    for store in ("models", "mnt/models"):
                        servers.save_model(self.folder / store / name / "1/model.onnx")
                server = self.start(*self.moved(args))
                self.assertEqual(server.ask(f"/v2/models/{name}/ready")[0], 200)
                if "/mnt/models" in args:
                    status, text = server.ask("/v1/embeddings", '{"model": "resnet", "input": "a"}')
                else:
                    status, text = server.ask(f"/v2/models/{name}/infer", servers.REQUEST)
                self.assertEqual(status, 200, text)
                server.process.kill()   # its --exit-delay-secs is tried below


class Probes(DeployCase):
    def paths(self):
        """The three probes' paths, which are the same in all files (deploy_yaml_test.py)."""
        container = next(one for one in containers(DEPLOY, "kubernetes") if is_server(one))
        return [container.body[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "readiness", "liveness")]

    def statuses(self, port):
        try:
            return tuple(servers.ask(port, path, timeout=10)[0] for path in self.paths())
        except OSError:
            return None

    def test_a_model_that_tunes_is_alive_and_not_ready(self):
        path = self.folder / "m.onnx"
        weights = [cli_case.numpy_helper.from_array(cli_case.np.ones((WIDE, WIDE), "f4") / WIDE, f"w{i}") for i in range(6)]
        nodes = [cli_case.helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]) for i in range(6)]
        shape = ["batch", WIDE]
        cli_case.save_model(path, nodes, [("x0", cli_case.FLOAT, shape)], [("x6", cli_case.FLOAT, shape)], weights)
        port, seen = free_port(), set()
        process = subprocess.Popen(
            [servers.program(cli_case.TENFOLD), str(path), f"--http-port={port}", "--grpc-port=0", "--metrics-port=0", "--tune=now",
             "--device=cpu", f"--plan-cache-dir={self.folder}/plans", "--exit-delay-secs=0"], stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def is_ready():
            self.assertIsNone(process.poll())
            seen.add(self.statuses(port))
            return (200, 200, 200) in seen

        servers.wait_until(is_ready, 300, "the end of tuning")
        self.assertIn((200, 503, 200), seen)
        self.assertLessEqual(seen, {None, (200, 503, 200), (200, 200, 200)})

    def test_one_that_is_to_end_answers_until_balancers_have_seen_it(self):
        model = servers.save_model(self.folder / "m.onnx")
        server = self.start(model, *servers.PORTS, "--tune=never", "--device=cpu", "--exit-delay-secs=3")
        server.process.send_signal(signal.SIGTERM)
        servers.wait_until(lambda: self.statuses(server.port) == (200, 503, 200), 2, "that it is not ready")
        self.assertEqual(server.ask("/v2/models/m/infer", servers.REQUEST)[0], 200)
        self.assertEqual(server.process.wait(60), 0)


class Metrics(DeployCase):
    def scrape(self):
        """What a server exports that has answered a request, with a GPU as tests/fake_nvml.c has it where that is built."""
        model = servers.save_model(self.folder / "m.onnx")
        nvml = pathlib.Path(cli_case.TENFOLD).parents[1] / "fake_nvml"
        server = self.start(model, *servers.PORTS, "--tune=never", "--device=cpu", env={**os.environ, "LD_LIBRARY_PATH": str(nvml)})
        self.assertEqual(server.ask("/v2/models/m/infer", servers.REQUEST)[0], 200)
        wanted = ("nv_cpu_utilization", "nv_gpu_utilization") if nvml.exists() else ("nv_cpu_utilization",)
        servers.wait_until(lambda: all(name in server.ask("/metrics", port=server.metrics_port)[1] for name in wanted), 20, "the gauges")
        return server, server.ask("/metrics", port=server.metrics_port)[1]

    def known(self, text):
        """Of metrics without samples, which a server has only once it has happened, the labels that the page of metrics says."""
        page = (ROOT / "docs/reference/serving-metrics.md").read_text()
        known = queries.scraped(text)
        for name, labels in known.items():
            if not labels and (row := re.search(rf"^\| `{name}` \|.*\| ([^|]*)\|$", page, re.M)):
                labels.update(re.findall(r"`(\w+)`", row[1]), {"model", "version"} if row[1].strip() else ())
        if "nv_gpu_utilization" not in known:   # without the library of a GPU that is none
            known.update({name: {"gpu_uuid"} for name in re.findall(r"`(nv_gpu_\w+)`", page)})
        return known

    def test_queries_name_what_a_server_exports(self):
        _, text = self.scrape()
        known = self.known(text)
        self.assertEqual(list(queries.problems(DEPLOY, known)), [])
        for file, old, new, word in (
            ("monitoring/rules.yml", "tenfold_fallback[10m]", "tenfold_fallback_total[10m]", "tenfold_fallback_total"),
            ("monitoring/rules.yml", "by (instance, model, le)", "by (instance, modell, le)", "modell"),
            ("monitoring/dashboard.json", "nv_inference_count{", "nv_inference_counts{", "nv_inference_counts"),
            ("monitoring/dashboard.json", "by (model, reason)", "by (model, why)", "why"),
            ("monitoring/dashboard.json", "nv_cpu_utilization{instance", "nv_cpu_utilization{machine", "machine"),
        ):
            with self.subTest(new), broken(file, old, new) as deploy:
                found = list(queries.problems(deploy, known))
                self.assertTrue(any(word in line for line in found), found)

    def test_a_replaced_worker_is_counted(self):
        server, text = self.scrape()
        self.assertIn("\ntenfold_worker_starts_total 1\n", text)
        os.kill(server.worker(), signal.SIGKILL)
        servers.wait_until(lambda: "\ntenfold_worker_starts_total 2\n" in server.ask("/metrics", port=server.metrics_port)[1], 60,
                           "the second worker")

    def test_promtool_reads_them(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is not installed: apt-get install prometheus")
        _, text = self.scrape()
        said = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True).stderr
        # Names and units of nv_ are Triton's; tenfold_fallback, tenfold's own, was named beside them.
        foreign = re.compile(r"(nv_\w+|tenfold_fallback|tenfold_\w+_us) ")
        self.assertEqual([line for line in said.splitlines() if not foreign.match(line)], [])
        spoiled = subprocess.run(["promtool", "check", "metrics"], input=text.replace("} ", "} x", 1), capture_output=True, text=True)
        self.assertNotEqual(spoiled.returncode, 0)


if __name__ == "__main__":
    cli_case.main()
