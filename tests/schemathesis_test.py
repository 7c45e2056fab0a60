#!/usr/bin/env python3
"""schemathesis, as it comes from PyPI, asks `tenfold serve` by its own OpenAPI file: schemathesis_test.py TENFOLD

It makes right and wrong requests of each route from the file: no answer may be one of 500 to 599 that is not in the file, and each has
the form that the file says. Left out where schemathesis is not installed (script/bootstrap clients), or the server has no such file.
"""

import importlib.util
import os
import subprocess
import sys

import cli_case
from serve_case import ServeCase

EXAMPLES = "25"  # of a route
# 501 and 503 are answers of this server: what it does not do, and what is not loaded.
CONFIG = """[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 501, 503]
"""
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


class OpenApi(ServeCase):
    FLAGS = ("--max-batch=8",)

    def test_schemathesis(self):
        status, _, body = self.server.send("GET", "/openapi.json")
        if status == 404:
            self.skipTest("this server has no /openapi.json")
        self.assertEqual(status, 200, body)
        url = f"http://127.0.0.1:{self.server.port}/openapi.json"
        program = os.path.join(os.path.dirname(sys.executable), "schemathesis")
        config = os.path.join(self.folder.name, "schemathesis.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG)
        line = [program, "--config-file", config, "run", url, "--checks", CHECKS, "--max-examples", EXAMPLES, "--seed", "1", "--no-color"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=900, cwd=self.folder.name)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-6000:])
        self.assertEqual(self.server.get("/v2/health/ready")[0], 200)


if __name__ == "__main__":
    if not importlib.util.find_spec("schemathesis"):
        print("skipped: schemathesis is not installed (script/bootstrap clients)")
        sys.exit(77)
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
