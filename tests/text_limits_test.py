#!/usr/bin/env python3
"""`tenfold serve FOLDER`: limits of requests for text, token ids, TEI's flags: text_limits_test.py TENFOLD"""

import base64
import json
import os
import re
import sys
import tempfile
import threading
import time
import unittest

import cli_case
from serve_case import Server
from text_case import TOKENS, TextCase, ids_of, np, unit

TEXTS = ["how are you", "fine", "red blue red blue how are you fine thanks", "you ?"]
LONG = " ".join(["red"] * 100)  # of 40 places


def openai(text, **more):
    return {"model": "bert", "input": text, **more}


def decoded(text, dtype="<f4"):
    return np.frombuffer(base64.b64decode(text), dtype)


class Limits(TextCase):
    FLAGS = (
        "--max-batch-tokens=8",
        "--max-queue-size=1",
        "--auto-truncate=false",
        "--max-client-batch-size=2000",
    )

    def test_texts_above_the_budget_are_refused(self):
        self.assertIn(
            "less than 9 tokens. Given: 11",
            self.post("/embed", {"inputs": TEXTS[2]}, 413)["error"],
        )
        self.assertIn(
            "less than 9 tokens",
            self.post("/v1/embeddings", openai(TEXTS[2]), 400)["error"]["message"],
        )
        cut = ids_of(TEXTS[2])[:7] + [2]
        self.near(
            self.post("/embed", {"inputs": TEXTS[2], "truncate": True})[0],
            unit(self.encoder.tokens(cut, [0] * 8).mean(0)),
        )

    def test_a_full_queue_is_429_for_lists_and_single_texts(self):
        enough, until = threading.Event(), time.monotonic() + 60
        lists, refused = [], []

        def lists_of_many():
            while not enough.is_set():
                lists.append(self.server.send("POST", "/embed", json.dumps({"inputs": ["how are you fine"] * 2000})))

        threads = [threading.Thread(target=lists_of_many) for _ in range(3)]
        for thread in threads:
            thread.start()
        while time.monotonic() < until and not (refused and any(status == 429 for status, _, _ in lists)):
            status, headers, body = self.server.send("POST", "/v1/embeddings", json.dumps(openai("fine")))
            if status == 429:
                refused.append((headers, json.loads(body)))
        enough.set()
        for thread in threads:
            thread.join()
        self.assertTrue(refused)
        self.assertIn(429, [status for status, _, _ in lists])
        self.assertIn(200, [status for status, _, _ in lists])
        for headers, body in refused:
            self.assertEqual(
                (headers["Retry-After"], body["error"]["type"]),
                ("1", "rate_limit_error"),
            )
        for status, headers, body in lists:
            if status == 429:
                self.assertEqual(
                    (headers["Retry-After"], json.loads(body)["error_type"]),
                    ("1", "overloaded"),
                )
            else:
                self.assertEqual((status, len(json.loads(body))), (200, 2000))
        self.near(self.post("/embed", {"inputs": "fine"})[0], self.vector("fine"))
        closed = self.server.get("/v2/models/bert/stats")[1]["model_stats"][0]["tenfold"]["batch_closed"]
        self.assertGreater(closed["tokens"], 0)


class LimitsOfOne(TextCase):
    FLAGS = (
        "--max-batch-tokens=1",
        "--max-queue-size=1",
        "--max-batch=1",
        "--max-client-batch-size=1",
    )

    def test_all_limits_are_one(self):
        first = unit(self.encoder.tokens([2], [0])[0])  # the special token at the end is what stays of a text
        for _ in range(5):
            got = np.array(self.post("/embed", {"inputs": "how are you"})[0])
            self.assertTrue(np.allclose(got, first, atol=2e-5) or np.allclose(got, unit(self.encoder.tokens([0], [0])[0]), atol=2e-5))
        self.post("/embed", {"inputs": ["fine"]})
        self.post("/embed", {"inputs": ["fine", "red"]}, 413)


class Ids(TextCase):
    FLAGS = ("--allow-token-input",)

    @classmethod
    def prepare_folder(cls):
        cls.encoder.save("config.json", cls.encoder.config() | {"matryoshka_dimensions": [4, 8]})
        prompts = {
            "prompts": {"query": "how ", "passage": "red "},
            "default_prompt_name": "query",
        }
        cls.encoder.save("config_sentence_transformers.json", prompts)

    def test_ids(self):
        answer = self.post("/v1/embeddings", openai([ids_of("fine"), ids_of("how are you")]))
        self.near(answer["data"][0]["embedding"], self.vector("fine"))
        self.near(answer["data"][1]["embedding"], self.vector("how are you"))
        self.assertEqual(answer["usage"]["total_tokens"], 8)
        self.near(self.post("/embed", {"inputs": ids_of("fine")})[0], self.vector("fine"))
        for ids in ([len(TOKENS)], [[4], [2**31 - 1]], [2**40]):
            self.assertIn(
                "token id",
                self.post("/v1/embeddings", openai(ids), 400)["error"]["message"],
            )
            self.assertEqual(self.post("/embed", {"inputs": ids}, 422)["error_type"], "tokenizer")

    def test_dimensions(self):
        vector = self.encoder.tokens(ids_of("how fine"), [0] * 4).mean(0)  # with the folder's default prompt
        for width in (4, 8):
            self.near(
                self.post("/v1/embeddings", openai("fine", dimensions=width))["data"][0]["embedding"],
                unit(vector[:width]),
            )
        self.assertIn(
            "cut to 4, 8",
            self.post("/v1/embeddings", openai("fine", dimensions=5), 400)["error"]["message"],
        )

    def test_prompts(self):
        self.near(self.post("/embed", {"inputs": "fine"})[0], self.vector("how fine"))
        self.near(
            self.post("/embed", {"inputs": "fine", "prompt_name": "passage"})[0],
            self.vector("red fine"),
        )


class TeiMetrics(TextCase):
    """te_*, on request."""

    FLAGS = ("--metrics-config=tei=true",)

    def metrics(self):
        text = self.server.send("GET", "/metrics")[2].decode()
        lines = [line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("te_")]
        return {name.split("{")[0] + "".join(re.findall(r'(le="[^"]*")', name)): float(value) for name, value in lines}

    def test_tokens_of_texts_and_batches(self):
        before = self.metrics()
        self.post("/embed", {"inputs": TEXTS})
        self.post("/v1/embeddings", {"input": "fine"})
        self.post("/embed_all", {"inputs": "fine"})
        self.post("/embed", {"inputs": ""}, 400)
        lengths = [len(ids_of(text)) for text in (*TEXTS, "fine", "fine")]
        got = self.metrics()
        more = {name: value - before.get(name, 0) for name, value in got.items()}
        for name in ("te_embed_count", "te_embed_success", "te_request_input_length_count", "te_request_success"):
            self.assertEqual(more[name], len(lengths), name)
        self.assertEqual((more["te_predict_count"], more["te_predict_success"]), (0, 0))
        self.assertEqual(more["te_request_input_length_sum"], sum(lengths))
        for bound in (1, 2, 4, 8, 16, 32):
            self.assertEqual(more[f'te_request_input_length_bucketle="{bound}"'], sum(n <= bound for n in lengths), bound)
        self.assertEqual(more["te_batch_next_tokens_sum"], sum(lengths))  # each batch is counted once, with all of its tokens
        statistics = self.server.get("/v2/models/bert/stats")[1]["model_stats"][0]
        self.assertEqual(got["te_batch_next_tokens_count"], statistics["execution_count"])
        self.assertEqual(more["te_request_tokenization_duration_count"], 4)

    def test_they_are_on_request(self):
        server = Server(self.encoder.folder, f"--plan-cache-dir={self.temporary.name}/plans")
        self.assertNotIn(b"te_embed", server.send("GET", "/metrics")[2])
        self.assertEqual(server.stop(), 0)


class AsTei(unittest.TestCase):
    """With TEI's flags and variables in place of ours."""

    def test_a_configuration_has_a_budget_of_its_own(self):
        from embeddings_case import RandomEncoder

        with tempfile.TemporaryDirectory() as folder:
            version = os.path.join(folder, "models", "any", "1")
            os.makedirs(os.path.dirname(version))
            RandomEncoder(version, "bert")
            with open(os.path.join(folder, "models", "any", "config.pbtxt"), "w") as file:
                file.write('max_batch_size: 8 parameters { key: "tenfold.max_batch_tokens" value { string_value: "48" } }')
            server = Server(f"--model-repository={folder}/models", f"--plan-cache-dir={folder}/plans", "--max-batch-tokens=64")
            try:
                self.assertEqual(server.get("/info")[1]["max_batch_tokens"], 48)
            finally:
                server.stop()

    def test_start(self):
        import subprocess
        from unittest import mock

        from embeddings_case import RandomEncoder

        with tempfile.TemporaryDirectory() as folder:
            encoder = RandomEncoder(os.path.join(folder, "any"), "bert")
            variables = {
                "MODEL_ID": encoder.folder,
                "MAX_CLIENT_BATCH_SIZE": "3",
                "HOSTNAME": "127.0.0.1",
                "MAX_BATCH_TOKENS": "64",
            }
            with mock.patch.dict(os.environ, variables):
                server = Server(
                    "--port=0",
                    "--prometheus-port=0",
                    "--auto-truncate",
                    f"--plan-cache-dir={folder}/plans",
                )
            try:
                info = server.get("/info")[1]
                self.assertEqual(
                    (
                        info["max_client_batch_size"],
                        info["max_batch_tokens"],
                        info["max_concurrent_requests"],
                    ),
                    (3, 64, 512),
                )
                body = json.dumps({"model": "text-embeddings-inference", "input": "fine"})
                self.assertEqual(server.send("POST", "/v1/embeddings", body)[0], 200)
                self.assertEqual(
                    server.send("POST", "/embed", json.dumps({"inputs": ["a"] * 4}))[0],
                    413,
                )
            finally:
                self.assertEqual(server.stop(), 0)
            refused = subprocess.run(
                [
                    cli_case.TENFOLD,
                    "serve",
                    "--model-id",
                    encoder.folder,
                    "--pooling",
                    "cls",
                ],
                capture_output=True,
                text=True,
            )
            self.assertEqual(refused.returncode, 2)
            self.assertIn("pooling", refused.stderr)

    def test_keys(self):
        import subprocess
        from unittest import mock

        from embeddings_case import RandomEncoder

        with tempfile.TemporaryDirectory() as folder:
            encoder = RandomEncoder(os.path.join(folder, "any"), "bert")
            body = json.dumps({"inputs": "fine"})
            for variables, flags in (({"API_KEY": "secret-1"}, ()), ({}, ("--api-key", "secret-1"))):
                with mock.patch.dict(os.environ, {"MODEL_ID": encoder.folder, "HOSTNAME": "127.0.0.1", **variables}):
                    server = Server("--port=0", "--prometheus-port=0", f"--plan-cache-dir={folder}/plans", *flags)
                try:
                    self.assertEqual("list of processes" in server.start, bool(flags))
                    self.assertEqual(server.send("POST", "/embed", body)[0], 401)
                    self.assertEqual(server.send("GET", "/info")[0], 401)
                    self.assertEqual(server.send("GET", "/health")[0], 200)
                    self.assertEqual(server.send("POST", "/embed", body, {"Authorization": "Bearer secret-2"})[0], 401)
                    self.assertEqual(server.send("POST", "/embed", body, {"Authorization": "Bearer secret-1"})[0], 200)
                finally:
                    self.assertEqual(server.stop(), 0)
            for flags, code, words in ((["--api-key="], 2, "is empty"), (["--api-key=a b"], 1, "--api-key: printable ASCII")):
                command = [cli_case.TENFOLD, "serve", encoder.folder, "--http-port=0", "--metrics-port=0", *flags]
                done = subprocess.run(command, capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, words in done.stderr), (code, True), done.stderr)
            printed = subprocess.run(
                [cli_case.TENFOLD, "serve", "--print-config", "--api-key=secret-1"], capture_output=True, text=True, timeout=60
            )
            self.assertIn("api-key", printed.stdout)
            self.assertNotIn("secret-1", printed.stdout)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
