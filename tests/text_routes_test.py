#!/usr/bin/env python3
"""`tenfold serve FOLDER`: routes for text beside NumPy's vectors and scores, limits, wrong requests: text_routes_test.py TENFOLD"""

import base64
import json
import os
import re
import struct
import sys
import tempfile
import threading
import time
import unittest

import cli_case
from serve_case import Server
from text_case import TOKENS, WIDTH, TextCase, ids_of, np, text_of, unit

TEXTS = ["how are you", "fine", "red blue red blue how are you fine thanks", "you ?"]
LONG = " ".join(["red"] * 100)  # of 40 places


def openai(text, **more):
    return {"model": "bert", "input": text, **more}


def decoded(text, dtype="<f4"):
    return np.frombuffer(base64.b64decode(text), dtype)


class Embeddings(TextCase):
    def test_openai(self):
        answer = self.post("/v1/embeddings", openai(TEXTS))
        self.assertEqual(
            (answer["object"], answer["model"], len(answer["data"])),
            ("list", "bert", len(TEXTS)),
        )
        for i, (one, text) in enumerate(zip(answer["data"], TEXTS, strict=True)):
            self.assertEqual((one["object"], one["index"]), ("embedding", i))
            self.near(one["embedding"], self.vector(text))
        tokens = sum(len(ids_of(text)) for text in TEXTS)
        self.assertEqual(answer["usage"], {"prompt_tokens": tokens, "total_tokens": tokens})
        single = self.post("/v1/embeddings", openai(TEXTS[0], encoding_format="float", user="me"))
        self.near(single["data"][0]["embedding"], self.vector(TEXTS[0]))
        self.assertEqual(len(single["data"]), 1)

    def test_forms(self):
        floats = np.float32(self.post("/v1/embeddings", openai(TEXTS[0]))["data"][0]["embedding"])

        def form(dtype, encoding):
            return self.post(
                "/v1/embeddings",
                openai(TEXTS[0], encoding_format=encoding, embed_dtype=dtype),
            )["data"][0]["embedding"]

        np.testing.assert_array_equal(decoded(form("float32", "base64")), floats)  # the same bits
        np.testing.assert_array_equal(decoded(form("float16", "base64"), "<f2"), floats.astype(np.float16))
        np.testing.assert_array_equal(np.float16(form("float16", "float")), floats.astype(np.float16))
        small = decoded(form("int8", "base64"), np.int8)
        np.testing.assert_array_equal(small, np.round(floats / abs(floats).max() * 127).astype(np.int8))
        self.assertEqual(form("int8", "float"), small.tolist())
        bits = np.packbits(floats > 0)
        np.testing.assert_array_equal(decoded(form("binary", "base64"), np.uint8), bits)
        self.assertEqual(form("binary", "float"), bits.tolist())
        for wrong in ({"encoding_format": "hex"}, {"embed_dtype": "float8"}):
            self.assertIn(
                list(wrong)[0],
                self.post("/v1/embeddings", openai("fine", **wrong), 400)["error"]["message"],
            )

    def test_models(self):
        status, models = self.server.get("/v1/models")
        self.assertEqual(
            (status, models["object"], [m["id"] for m in models["data"]]),
            (200, "list", ["bert"]),
        )
        self.assertEqual(self.server.get("/v1/models/bert")[1]["id"], "bert")
        self.assertEqual(self.server.get("/v1/models/other")[0], 404)
        error = self.post("/v1/embeddings", {"model": "other", "input": "fine"}, 404)["error"]
        self.assertEqual(error["code"], "model_not_found")
        self.assertIn("'bert'", error["message"])
        self.near(
            self.post("/v1/embeddings", {"input": "fine"})["data"][0]["embedding"],
            self.vector("fine"),
        )  # the only model

    def test_v2_gives_what_the_folder_gives(self):
        request = {
            "inputs": [
                {
                    "name": "text",
                    "datatype": "BYTES",
                    "shape": [len(TEXTS)],
                    "data": TEXTS,
                }
            ]
        }
        output = self.post("/v2/models/bert/infer", request)["outputs"][0]
        self.assertEqual((output["name"], output["shape"]), ("embedding", [len(TEXTS), WIDTH]))
        for row, text in zip(np.reshape(output["data"], output["shape"]), TEXTS, strict=True):
            ids = ids_of(text)
            self.near(row, self.encoder.tokens(ids, [0] * len(ids)).mean(0))
        self.assertIn("UTF-8", self.v2_bytes(b"\xff\xfe"))

    def v2_bytes(self, *texts):
        """The error that these bytes as texts are answered with."""
        data = b"".join(struct.pack("<I", len(text)) + text for text in texts)
        head = {
            "inputs": [
                {
                    "name": "text",
                    "datatype": "BYTES",
                    "shape": [len(texts)],
                    "parameters": {"binary_data_size": len(data)},
                }
            ]
        }
        text = json.dumps(head).encode()
        headers = {"Inference-Header-Content-Length": str(len(text))}
        status, _, body = self.server.send("POST", "/v2/models/bert/infer", text + data, headers)
        self.assertEqual(status, 400, body)
        return json.loads(body)["error"]

    def test_tei_embed(self):
        for path in ("/embed", "/models/bert/embed", "/"):
            rows = self.post(path, {"inputs": TEXTS})
            self.near(rows, [self.vector(text) for text in TEXTS])
        self.assertEqual(
            int(self.headers["x-compute-tokens"]),
            sum(len(ids_of(text)) for text in TEXTS),
        )
        self.assertEqual(int(self.headers["x-compute-characters"]), sum(len(text) for text in TEXTS))
        for header in (
            "x-total-time",
            "x-tokenization-time",
            "x-queue-time",
            "x-inference-time",
        ):
            self.assertGreaterEqual(int(self.headers[header]), 0)
        self.near(self.post("/embed", {"inputs": "fine"}), [self.vector("fine")])
        plain = self.post("/embed", {"inputs": "fine", "normalize": False})[0]
        self.assertGreater(abs(np.linalg.norm(plain) - 1), 0.01)
        self.near(unit(np.array(plain)), self.vector("fine"))
        self.post("/models/other/embed", {"inputs": "fine"}, 404)

    def test_tei_embed_all_and_similarity(self):
        rows = self.post("/embed_all", {"inputs": ["how are you", "fine"]})
        for got, text in zip(rows, ["how are you", "fine"], strict=True):
            ids = ids_of(text)
            self.near(got, self.encoder.tokens(ids, [0] * len(ids)))
        cosines = self.post("/similarity", {"inputs": {"source_sentence": "fine", "sentences": TEXTS}})
        self.near(cosines, [self.vector("fine") @ self.vector(text) for text in TEXTS])

    def test_truncation(self):
        kept = ids_of(LONG)[:39] + [2]
        expected = unit(self.encoder.tokens(kept, [0] * 40).mean(0))
        self.near(self.post("/embed", {"inputs": LONG})[0], expected)
        self.assertEqual(int(self.headers["x-compute-tokens"]), 40)
        self.near(self.post("/v1/embeddings", openai(LONG))["data"][0]["embedding"], expected)
        error = self.post("/embed", {"inputs": LONG, "truncate": False}, 413)
        self.assertEqual(error["error_type"], "validation")
        self.assertIn("must have less than 41 tokens. Given: 102", error["error"])
        text = "blue " * 50 + "fine " * 38
        ends = self.post("/embed", {"inputs": [text, text], "truncation_direction": "Left"})
        self.near(ends[1], self.vector(" ".join(["fine"] * 38)))

    def test_tokenize_and_decode(self):
        tokens = self.post("/tokenize", {"inputs": ["How reds?", "fine"]})
        self.assertEqual([t["id"] for t in tokens[0]], [0, 4, 11, 10, 7, 2])
        self.assertEqual([t["text"] for t in tokens[0]], ["<s>", "How", "red", "s", "?", "</s>"])
        self.assertEqual(
            (tokens[0][2]["start"], tokens[0][2]["stop"], tokens[0][2]["special"]),
            (4, 7, False),
        )
        self.assertEqual((tokens[0][0]["start"], tokens[0][0]["special"]), (None, True))
        self.assertEqual(
            [t["id"] for t in self.post("/tokenize", {"inputs": "fine", "add_special_tokens": False})[0]],
            [8],
        )
        self.assertEqual(self.post("/decode", {"ids": [4, 5, 6]}), ["how are you"])
        self.assertEqual(self.post("/decode", {"ids": [[4], [8]]}), ["how", "fine"])
        self.assertIn(
            "how",
            self.post("/decode", {"ids": [0, 4, 2], "skip_special_tokens": False})[0],
        )
        self.assertEqual(self.post("/decode", {"ids": [4, 99]}, 422)["error_type"], "tokenizer")

    def test_info_and_health(self):
        info = self.server.get("/info")[1]
        self.assertEqual(
            (info["model_id"], info["max_input_length"], info["max_client_batch_size"]),
            ("bert", 40, 2048),
        )
        self.assertEqual(list(info["model_type"]), ["embedding"])
        for path in ("/health", "/ping"):
            self.assertEqual(self.server.send("GET", path)[0], 200)

    def test_what_the_model_does_not_do(self):
        self.assertEqual(
            self.post("/embed_sparse", {"inputs": "fine"}, 501)["error_type"],
            "validation",
        )
        self.assertEqual(
            self.post("/rerank", {"query": "a", "texts": ["b"]}, 424)["error_type"],
            "backend",
        )
        self.assertEqual(self.post("/predict", {"inputs": "a"}, 424)["error_type"], "backend")
        self.assertIn(
            "re-ranker",
            self.post("/v1/rerank", {"query": "a", "documents": ["b"]}, 400)["message"],
        )

    def test_dimensions(self):
        error = self.post("/v1/embeddings", openai("fine", dimensions=8), 400)["error"]
        self.assertEqual(error["param"], "dimensions")
        self.assertIn("matryoshka_dimensions", error["message"])
        self.assertIn(
            "have 16",
            self.post("/v1/embeddings", openai("fine", dimensions=17), 400)["error"]["message"],
        )
        self.near(
            self.post("/v1/embeddings", openai("fine", dimensions=16))["data"][0]["embedding"],
            self.vector("fine"),
        )

    def test_token_ids_are_refused(self):
        for ids in ([4, 5], [[4, 5], [6]]):
            message = self.post("/v1/embeddings", openai(ids), 400)["error"]["message"]
            self.assertIn("check_embedding_ctx_length=False", message)

    def refused(self, path, request, status, words=""):
        answer = self.post(path, request, status)
        self.assertIn(words, json.dumps(answer))
        self.near(self.post("/embed", {"inputs": "fine"})[0], self.vector("fine"))  # the next request is right

    def test_wrong_requests_of_openai(self):
        surrogates = (
            '{"input": "\\ud800"}',
            '{"input": "\\udc00 fine"}',
            b'{"input": "\xff"}',
        )
        for body in ("", "{", "[]", "1", *surrogates, '{"input": ' + "[" * 200):
            self.refused("/v1/embeddings", body, 400, "error")
        for value in (
            [],
            "",
            ["fine", ""],
            [["fine"]],
            [1, "a"],
            ["a", 1],
            [[]],
            [-1],
            [1.5],
            {"a": 1},
            7,
            None,
            [None],
        ):
            self.refused("/v1/embeddings", openai(value), 400, "input")
        self.refused("/v1/embeddings", {}, 400, "missing field 'input'")
        self.refused(
            "/v1/embeddings",
            openai(["a"] * 10000),
            400,
            "batch size 10000 > maximum allowed batch size 2048",
        )
        for dimensions in (0, -1, 1.5, "16", 10**18):
            self.refused(
                "/v1/embeddings",
                openai("fine", dimensions=dimensions),
                400,
                "dimensions",
            )
        self.refused("/v1/embeddings", openai("fine", encoding_format=3), 400, "encoding_format")

    def test_wrong_requests_of_tei(self):
        for body in ("", "{", '{"inputs": "\\ud800"}'):
            self.refused("/embed", body, 400, "validation")
        for value in ([], "", ["a", ""]):
            self.refused("/embed", {"inputs": value}, 400, "empty")
        for value, status in (
            ([["a"]], 422),
            ([1.5], 422),
            (["a", 1], 422),
            (7, 422),
            (None, 422),
        ):
            self.refused("/embed", {"inputs": value}, status, "error_type")
        self.refused("/embed", {"inputs": ["a"] * 10000}, 413, "batch size")
        self.refused("/embed", {"inputs": "a", "truncate": "yes"}, 422, "truncate")
        self.refused("/embed", {"inputs": "a", "prompt_name": "none"}, 422, "prompt_name")
        self.refused(
            "/embed",
            {"inputs": "a", "truncation_direction": "up"},
            422,
            "left or right",
        )
        self.refused("/similarity", {"inputs": "a"}, 422, "inputs")
        self.refused("/decode", {"ids": []}, 400, "ids")
        self.refused("/decode", {"ids": ["a"]}, 422, "ids")
        self.assertEqual(self.server.send("GET", "/embed")[0], 405)

    def test_no_text_is_mixed_with_another(self):
        """Lists and single texts of any lengths at the same time: each vector as of its own text."""
        wrong = []

        def work(client):
            random = np.random.default_rng(client)
            for round in range(10):
                texts = [text_of(random.integers(1 << 30), random.integers(1, 36)) for _ in range(1 + client % 4 * 7)]
                rows = self.post("/embed", {"inputs": texts if len(texts) > 1 else texts[0]})
                if not np.allclose(rows, [self.vector(text) for text in texts], atol=2e-5):
                    wrong.append((client, round))

        threads = [threading.Thread(target=work, args=(client,)) for client in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        statistics = self.server.get("/v2/models/bert/stats")[1]["model_stats"][0]
        self.assertGreater(max(batch["batch_size"] for batch in statistics["batch_stats"]), 1)
        own = statistics["tenfold"]
        counted = statistics["inference_stats"]
        self.assertEqual(own["received"], counted["success"]["count"] + counted["fail"]["count"])


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
