#!/usr/bin/env python3
"""`tenfold serve --pattern-engine`: windows over /infer, its state, and what is wrong with a window: pattern_engine_test.py TENFOLD"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import cli_case
import numpy as np
from onnx import helper, numpy_helper
from serve_case import Server

WIDTH, CLASSES = 8, 3
WEIGHTS = np.random.default_rng(3).standard_normal((WIDTH, CLASSES)).astype(np.float32)
INT32 = 6


def save_scores(path, shape=(1, 1, WIDTH), inputs=1, kind=cli_case.FLOAT):
    """scores = window @ WEIGHTS, of a window of a fixed shape."""
    nodes = [helper.make_node("Cast", ["window"], ["c"], to=cli_case.FLOAT), helper.make_node("MatMul", ["c", "w"], ["s"])]
    nodes.append(helper.make_node("Add", ["s", "bias"], ["scores"]) if inputs == 2 else helper.make_node("Identity", ["s"], ["scores"]))
    named = [("window", kind, list(shape)), ("bias", cli_case.FLOAT, [CLASSES])][:inputs]
    outputs = [("scores", cli_case.FLOAT, [*shape[:-1], CLASSES])]
    return cli_case.save_model(path, nodes, named, outputs, [numpy_helper.from_array(WEIGHTS, "w")])


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


class PatternCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        cls.model = save_scores(os.path.join(cls.folder, "scores.onnx"))
        cls.plan = os.path.join(cls.folder, "scores.plan")
        subprocess.run([cli_case.TENFOLD, "exec", f"--onnx={cls.model}", f"--saveEngine={cls.plan}", "--skipInference"],
                       check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def serve(self, *flags):
        """A server without other models."""
        server = Server(*flags)
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        return server

    def post(self, server, body, status=200):
        got, _, text = server.send("POST", "/infer", body if isinstance(body, (bytes, str)) else json.dumps(body))
        self.assertEqual(got, status, text)
        return json.loads(text)


class Windows(PatternCase):
    def check(self, server, seed, nested):
        window = np.random.default_rng(seed).standard_normal(WIDTH).astype(np.float32)
        expected = window.astype(np.float64) @ WEIGHTS.astype(np.float64)
        answer = self.post(server, {"window": [[window.tolist()]] if nested else window.tolist()})
        np.testing.assert_allclose(answer["output"], [[expected]], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(answer["probs"], softmax(expected), rtol=1e-5, atol=1e-6)
        return answer

    def test_a_plan(self):
        server = self.serve(f"--pattern-engine={self.plan}")
        for path in ("/ready", "/v2/health/ready"):
            self.assertEqual(server.get(path), (200, {"ready": True}))
        self.assertEqual(server.send("GET", "/health")[0], 200)
        for seed in range(4):
            self.assertNotIn("fallback", self.check(server, seed, nested=seed % 2 == 0))
        status = server.get("/model/status")[1]
        self.assertEqual((status["loaded"], status["answered"], status["failed"]), (True, 4, 0))
        self.assertEqual(status["input"], {"name": "window", "datatype": "FP32", "shape": [1, 1, WIDTH]})
        self.assertEqual(status["output"]["shape"], [1, 1, CLASSES])
        self.assertEqual([c["opened"] for c in status["candidates"]], [True])
        self.assertEqual(server.send("GET", "/infer")[0], 405)
        self.assertEqual(server.get("/v2/models/stats"), (200, {"model_stats": []}))

    def test_wrong_windows(self):
        server = self.serve(f"--pattern-engine={self.plan}")
        good = [0.5] * WIDTH
        for body, words in (
            (b"", "expected an object"),
            (b"{", "expected an object"),
            ([1], "expected an object"),
            ({}, "no 'window'"),
            ({"windows": good}, "no 'window'"),
            ({"window": 1}, "is no array"),
            ({"window": []}, "expected 8 elements, got 0"),
            ({"window": good[1:]}, "expected 8 elements, got 7"),
            ({"window": [*good, 1]}, "expected 8 elements, got 9"),
            ({"window": ["x", *good[1:]]}, "no number"),
            ({"window": [None, *good[1:]]}, "no number"),
            ('{"window": [1e39, 1, 1, 1, 1, 1, 1, 1]}', "beyond the range"),
            ('{"window": [NaN, 1, 1, 1, 1, 1, 1, 1]}', "expected an object"),
            ('{"window": ' + "[" * 3000 + "]" * 3000 + "}", "expected an object"),
        ):
            self.assertIn(words, self.post(server, body, 400)["error"], str(body)[:60])
        overflow = self.post(server, {"window": [3e38] * WIDTH}, 500)
        self.assertIn("NaN or infinity", overflow["error"])
        self.check(server, 1, nested=True)

    def test_a_model_takes_over_for_a_plan(self):
        broken = os.path.join(self.folder, "broken.plan")
        with open(self.plan, "rb") as f, open(broken, "wb") as g:
            g.write(f.read()[:-100])
        server = self.serve(f"--pattern-engine={broken}", f"--pattern-engine={self.model}")
        self.assertEqual(self.check(server, 1, nested=False)["fallback"], "cpu")
        candidates = server.get("/model/status")[1]["candidates"]
        self.assertEqual([c["opened"] for c in candidates], [False, True])
        self.assertTrue(candidates[0]["why"])

    def test_beside_a_model_and_with_keys(self):
        keys = os.path.join(self.folder, "keys")
        with open(keys, "w") as f:
            f.write("k\n")
        server = self.serve(self.model, f"--pattern-engine={self.model}", f"--api-key-file={keys}")
        for path, status in (("/ready", 200), ("/health", 200), ("/model/status", 401)):
            self.assertEqual(server.send("GET", path)[0], status, path)
        body = json.dumps({"window": [0] * WIDTH})
        self.assertEqual(server.send("POST", "/infer", body)[0], 401)
        self.assertEqual(server.send("POST", "/infer", body, {"Authorization": "Bearer k"})[0], 200)

    def test_several_clients(self):
        server = self.serve(f"--pattern-engine={self.plan}")
        wrong = []

        def ask(seed):
            try:
                for i in range(30):
                    self.check(server, seed * 100 + i, nested=False)
            except AssertionError as error:
                wrong.append(error)

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(server.get("/model/status")[1]["answered"], 180)

    def test_whole_numbers(self):
        model = save_scores(os.path.join(self.folder, "int.onnx"), kind=INT32)
        server = self.serve(f"--pattern-engine={model}")
        answer = self.post(server, {"window": [1, 2, 3, 4, 5, 6, 7, -8]})
        np.testing.assert_allclose(answer["output"][0][0], np.array([1, 2, 3, 4, 5, 6, 7, -8]) @ WEIGHTS.astype(np.float64), rtol=1e-5)
        self.assertIn("error", self.post(server, {"window": [0.5] * WIDTH}, 400))

    def test_a_batch_of_any_size_is_one_window(self):
        server = self.serve(f"--pattern-engine={save_scores(os.path.join(self.folder, 'any.onnx'), shape=('n', WIDTH))}")
        answer = self.post(server, {"window": [0.5] * WIDTH})
        np.testing.assert_allclose(answer["output"][0], np.full(WIDTH, 0.5) @ WEIGHTS, rtol=1e-5)


class Starts(PatternCase):
    def fails(self, words, *flags):
        start = [cli_case.TENFOLD, "serve", "--http-port=0", "--metrics-port=0", *flags]
        done = subprocess.run(start, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(words, done.stderr)

    def test_what_cannot_be_served(self):
        self.fails("nothing.plan", f"--pattern-engine={self.folder}/nothing.plan")
        two = save_scores(os.path.join(self.folder, "two.onnx"), inputs=2)
        self.fails("'window' and 'bias'", f"--pattern-engine={two}")


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
