"""Servers of small encoders, for tests: random BERTs with and without a head, and what they compute, in NumPy."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "tests"))
import numpy as np  # noqa: E402
from embeddings_case import TOKENS, WIDTH, RandomEncoder, ids_of  # noqa: E402
from serve_case import Server  # noqa: E402

WORDS = [token for token in TOKENS[4:] if not token.startswith("##")]


def text_of(seed, words):
    return " ".join(np.random.default_rng(seed).choice(WORDS, words))


def unit(vector):
    return vector / np.linalg.norm(vector)


class TextCase(unittest.TestCase):
    """One server for all tests of the class: of an encoder, or with LABELS of one that has a head."""

    FLAGS = ()
    LABELS = 0
    NAME = "bert"

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.encoder = RandomEncoder(os.path.join(cls.temporary.name, cls.NAME), "bert", cls.LABELS)
        cls.prepare_folder()
        cls.server = Server(
            cls.encoder.folder,
            f"--plan-cache-dir={cls.temporary.name}/plans",
            *cls.FLAGS,
        )

    @classmethod
    def prepare_folder(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        cls.temporary.cleanup()
        assert code == 0, f"the server ended with {code}"

    def post(self, path, request, status=200):
        body = request if isinstance(request, (bytes, str)) else json.dumps(request)
        got, headers, text = self.server.send("POST", path, body, {"Content-Type": "application/json"})
        self.assertEqual(got, status, text[:500])
        self.headers = headers
        return json.loads(text)

    def vector(self, text):
        """The mean of the tokens' vectors, of length 1."""
        ids = ids_of(text)
        return unit(self.encoder.tokens(ids, [0] * len(ids)).mean(0))

    def near(self, got, expected, atol=2e-5):
        np.testing.assert_allclose(np.array(got, np.float64), np.array(expected, np.float64), atol=atol)


__all__ = ["TOKENS", "WIDTH", "TextCase", "ids_of", "np", "text_of", "unit"]
