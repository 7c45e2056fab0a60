#!/usr/bin/env python3
"""`tenfold serve FOLDER`: routes for text beside NumPy's vectors and scores, wrong requests: text_routes_test.py TENFOLD"""

import base64
import json
import os
import struct
import sys
import threading

import cli_case
from text_case import WIDTH, TextCase, ids_of, np, text_of, unit

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


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
