#!/usr/bin/env python3
"""`tenfold serve FOLDER` of models with a head: reranking and classification beside NumPy's scores: text_scores_test.py TENFOLD"""

import os
import sys

import cli_case
from text_case import TextCase, ids_of, np

TEXTS = ["how are you", "fine", "red blue red blue how are you fine thanks", "you ?"]


class Reranker(TextCase):
    LABELS = 1

    def logit(self, query, text):
        first, second = ids_of(query), ids_of(text)[1:]
        return self.encoder.scores(first + second, [0] * len(first) + [1] * len(second))[0]

    def setUp(self):
        self.logits = [self.logit("how are you", text) for text in TEXTS]
        self.order = sorted(range(len(TEXTS)), key=lambda i: -self.logits[i])
        self.sigmoid = [1 / (1 + np.exp(-x)) for x in self.logits]

    def test_rerank_of_jina_and_cohere(self):
        request = {"model": "bert", "query": "how are you", "documents": TEXTS}
        answer = self.post("/v1/rerank", request)
        self.assertEqual([one["index"] for one in answer["results"]], self.order)
        self.near(
            [one["relevance_score"] for one in answer["results"]],
            [self.sigmoid[i] for i in self.order],
        )
        self.assertNotIn("document", answer["results"][0])
        tokens = sum(len(ids_of("how are you")) + len(ids_of(text)) - 1 for text in TEXTS)
        self.assertEqual(answer["usage"]["total_tokens"], tokens)
        objects = {
            "query": "how are you",
            "documents": [{"text": text} for text in TEXTS],
            "top_n": 2,
            "return_documents": True,
        }
        top = self.post("/v1/rerank", objects)["results"]
        self.assertEqual([one["index"] for one in top], self.order[:2])
        self.assertEqual([one["document"]["text"] for one in top], [TEXTS[i] for i in self.order[:2]])
        for wrong in (
            {"documents": []},
            {"documents": None},
            {"query": ""},
            {"query": 3},
            {"top_n": 0},
            {"documents": ["a", 1]},
        ):
            error = self.post("/v1/rerank", request | wrong, 400)
            self.assertEqual(error["message"], error["detail"])

    def test_rerank_of_tei(self):
        ranks = self.post(
            "/rerank",
            {
                "query": "how are you",
                "texts": TEXTS,
                "raw_scores": True,
                "return_text": True,
            },
        )
        self.assertEqual([one["index"] for one in ranks], self.order)
        self.near([one["score"] for one in ranks], [self.logits[i] for i in self.order], 1e-4)
        self.assertEqual([one["text"] for one in ranks], [TEXTS[i] for i in self.order])
        ranks = self.post("/", {"query": "how are you", "texts": TEXTS})
        self.near([one["score"] for one in ranks], [self.sigmoid[i] for i in self.order])
        self.assertEqual(
            self.post("/rerank", {"query": "a", "texts": []}, 400)["error_type"],
            "empty",
        )

    def test_v2(self):
        def tensor(name, texts):
            return {
                "name": name,
                "datatype": "BYTES",
                "shape": [len(texts)],
                "data": texts,
            }

        request = {
            "inputs": [
                tensor("text", ["how are you"] * len(TEXTS)),
                tensor("text_pair", TEXTS),
            ]
        }
        self.near(
            self.post("/v2/models/bert/infer", request)["outputs"][0]["data"],
            self.sigmoid,
        )
        single = self.post("/v2/models/bert/infer", {"inputs": [tensor("text", ["fine"])]})["outputs"][0]["data"]
        self.near(single, 1 / (1 + np.exp(-self.encoder.scores(ids_of("fine"), [0] * 3))))

    def test_vectors_are_refused(self):
        self.assertEqual(self.post("/embed", {"inputs": "a"}, 424)["error_type"], "backend")
        self.assertIn(
            "classification head",
            self.post("/v1/embeddings", {"input": "a"}, 400)["error"]["message"],
        )
        self.assertEqual(list(self.server.get("/info")[1]["model_type"]), ["reranker"])


class Classifier(TextCase):
    LABELS = 3

    @classmethod
    def prepare_folder(cls):
        cls.encoder.save(
            "config.json",
            cls.encoder.config() | {"id2label": {"0": "bad", "1": "so", "2": "good"}},
        )

    def softmax(self, ids, types):
        e = np.exp(self.encoder.scores(ids, types))
        return e / e.sum()

    def check(self, predictions, ids, types):
        expected = dict(zip(("bad", "so", "good"), self.softmax(ids, types), strict=True))
        self.assertEqual(
            [p["label"] for p in predictions],
            sorted(expected, key=lambda label: -expected[label]),
        )
        self.near(
            [p["score"] for p in predictions],
            [expected[p["label"]] for p in predictions],
        )

    def test_predict(self):
        self.check(self.post("/predict", {"inputs": "fine"}), ids_of("fine"), [0] * 3)
        pair = (ids_of("fine") + ids_of("how are")[1:], [0] * 3 + [1] * 3)
        self.check(self.post("/predict", {"inputs": ["fine", "how are"]}), *pair)
        both = self.post("/predict", {"inputs": [["fine"], ["fine", "how are"]]})
        self.check(both[0], ids_of("fine"), [0] * 3)
        self.check(both[1], *pair)
        raw = self.post("/predict", {"inputs": "fine", "raw_scores": True})
        self.near(
            sorted(p["score"] for p in raw),
            sorted(self.encoder.scores(ids_of("fine"), [0] * 3)),
            1e-4,
        )
        for value, status in (
            ([], 400),
            ([[]], 422),
            (["a", "b", "c"], 422),
            ([["a"], "b"], 422),
            ("", 400),
        ):
            self.post("/predict", {"inputs": value}, status)
        self.assertEqual(
            self.post("/rerank", {"query": "a", "texts": ["b"]}, 424)["error_type"],
            "backend",
        )


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
