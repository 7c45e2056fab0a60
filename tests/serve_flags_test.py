#!/usr/bin/env python3
"""Where flags of `tenfold serve` come from, and what is made of Triton's: serve_flags_test.py TENFOLD"""

import os
import subprocess

import cli_case
from repository_case import RepositoryCase, main, server_program


class Flags(RepositoryCase):
    def run_server(self, *flags, environment=None, program=None):
        return subprocess.run(
            [program or server_program(), *flags],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, **(environment or {})},
        )

    def printed(self, *flags, environment=None):
        done = self.run_server("--print-config", *flags, environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line for line in done.stdout.splitlines() if line and not line.startswith("#")]

    def test_command_line_environment_and_file(self):
        self.repository.write("serve.conf", "http-port = 1  # comment\n--grpc-port: 2\nmax-queue-size=3\n\n")
        file = "--config=" + self.repository.path("serve.conf")
        self.assertEqual(
            self.printed(file, "--http-port=7", environment={"TENFOLD_HTTP_PORT": "5", "TENFOLD_MAX_QUEUE_SIZE": "6"}),
            [
                "max-queue-size=6  # by TENFOLD_MAX_QUEUE_SIZE",
                "http-port=7  # by --http-port",
                f"grpc-port=2  # by {self.repository.path('serve.conf')}:2",
            ],
        )
        printed = self.run_server("--print-config", file).stdout
        self.repository.write("again.conf", printed)
        self.assertEqual(
            [line.split("  #")[0] for line in self.printed("--config=" + self.repository.path("again.conf"))],
            [line.split("  #")[0] for line in self.printed(file)],
        )
        for text, words in (
            ("http-prot=1", "did you mean --http-port"),
            ("x", "expected name=value"),
            ("http-port=abc", "serve.conf:1: --http-port takes"),
        ):
            self.repository.write("serve.conf", text)
            done = self.run_server("--print-config", file)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
        self.assertIn("TENFOLD_HTTP_PORT: ", self.run_server("x.onnx", environment={"TENFOLD_HTTP_PORT": "x"}).stderr)

    def test_kserve_starts_it(self):
        """As KServe's runtime for Triton has it, but for the ports."""
        self.repository.add("a")
        link = self.repository.path(".bin", "tritonserver")
        os.makedirs(os.path.dirname(link))
        os.symlink(server_program(), link)
        self.assertIn("# http-address=", self.run_server("--print-config", program=link).stdout)
        process = subprocess.Popen(
            [
                link,
                f"--model-store={self.repository.folder}",
                "--grpc-port=0",
                "--http-port=0",
                "--allow-grpc=true",
                "--allow-http=true",
                "--metrics-port=0",
                "--backend-directory=/opt/tritonserver/backends",
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            said = ""
            for line in process.stderr:
                said += line
                if "ready on" in line:
                    break
            self.assertIn("ready on http://0.0.0.0:", said)
            self.assertIn("--backend-directory changes nothing", said)
        finally:
            process.terminate()
            self.assertEqual(process.wait(timeout=60), 0)
            process.stderr.close()

    def test_flags_that_do_not_go_together(self):
        for flags, words in (
            (["--load-model=a", "--model-repository=/x"], "requires setting '--model-control-mode=explicit'"),
            ([], "one model or repositories"),
            (["m.onnx", "--model-repository=/x"], "one model or repositories"),
            (["m.onnx", "--model-control-mode=poll"], "is for repositories"),
            (["--rate-limit=execution_count", "m"], "not supported"),
            (["--modle-repository=/x"], "did you mean --model-repository"),
        ):
            done = self.run_server(*flags)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)

    def test_inspect_prints_the_completed_configuration(self):
        self.repository.add("a", "max_batch_size: 8\n")
        done = self.run_server("inspect", "--config=" + self.repository.path("a"), program=cli_case.TENFOLD)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.repository.write("a", "config.pbtxt", done.stdout)
        again = self.run_server("inspect", "--config=" + self.repository.path("a"), program=cli_case.TENFOLD)
        self.assertEqual(again.stdout, done.stdout)
        for line in ('name: "a"', "max_batch_size: 8", "data_type: TYPE_FP32", "dynamic_batching {"):
            self.assertIn(line, done.stdout)


if __name__ == "__main__":
    main()
