#!/usr/bin/env python3
"""Clients as they come from PyPI against `tenfold serve FOLDER`: text_clients_test.py TENFOLD

Each test is left out where its package is not installed (script/requirements-text-clients.txt, script/bootstrap clients).
"""

import importlib.util
import os
import sys
import unittest

import cli_case
from text_case import TextCase, np

TEXTS = ["how are you", "fine", "red blue red blue"]


def needs(*packages):
    missing = [name for name in packages if not importlib.util.find_spec(name.split(".")[0])]
    return unittest.skipIf(missing, f"{', '.join(missing)} not installed")


class Embeddings(TextCase):
    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.port}"

    def check(self, rows, texts=TEXTS):
        self.near(np.array(rows), [self.vector(text) for text in texts])

    @needs("openai")
    def test_openai_with_its_defaults(self):
        import openai

        client = openai.OpenAI(base_url=self.url + "/v1", api_key="none", max_retries=0)
        answer = client.embeddings.create(model="bert", input=TEXTS)
        self.check([one.embedding for one in answer.data])
        self.assertEqual(answer.usage.total_tokens, 14)
        self.check([one.embedding for one in client.embeddings.create(model="bert", input=TEXTS, encoding_format="float").data])
        self.assertEqual([model.id for model in client.models.list().data], ["bert"])
        with self.assertRaises(openai.NotFoundError) as raised:
            client.embeddings.create(model="other", input="a")
        self.assertEqual(raised.exception.code, "model_not_found")
        with self.assertRaises(openai.BadRequestError) as raised:
            client.embeddings.create(model="bert", input="fine", dimensions=4)
        self.assertEqual(raised.exception.param, "dimensions")

    @needs("langchain_openai")
    def test_langchain_openai(self):
        from langchain_openai import OpenAIEmbeddings

        client = OpenAIEmbeddings(
            model="bert",
            base_url=self.url + "/v1",
            api_key="none",
            check_embedding_ctx_length=False,
        )
        self.check(client.embed_documents(TEXTS))
        self.check([client.embed_query("fine")], ["fine"])

    @needs("huggingface_hub")
    def test_feature_extraction(self):
        from huggingface_hub import InferenceClient

        client = InferenceClient(self.url)
        self.check([client.feature_extraction(text).reshape(-1) for text in TEXTS])
        self.near(
            client.sentence_similarity("fine", other_sentences=TEXTS),
            [self.vector("fine") @ self.vector(text) for text in TEXTS],
        )

    @needs("langchain_huggingface")
    def test_langchain_huggingface(self):
        from langchain_huggingface import HuggingFaceEndpointEmbeddings

        try:
            client = HuggingFaceEndpointEmbeddings(model=self.url)
        except ValueError:  # newer ones take names of the hub alone, but any client of huggingface_hub
            from huggingface_hub import InferenceClient

            client = HuggingFaceEndpointEmbeddings(model="any/encoder", huggingfacehub_api_token="none")
            client.client = InferenceClient(self.url)
        self.check(client.embed_documents(TEXTS))
        self.check([client.embed_query("fine")], ["fine"])


class Rerankers(TextCase):
    LABELS = 1

    def setUp(self):
        os.environ["NO_PROXY"] = "127.0.0.1"
        ranks = self.post("/rerank", {"query": "how are you", "texts": TEXTS})
        self.order, self.scores = (
            [one["index"] for one in ranks],
            [one["score"] for one in ranks],
        )

    def check(self, reranker):
        from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

        nodes = [NodeWithScore(node=TextNode(text=text), score=0.0) for text in TEXTS]
        ranked = reranker.postprocess_nodes(nodes, query_bundle=QueryBundle("how are you"))
        self.assertEqual([node.node.get_content() for node in ranked], [TEXTS[i] for i in self.order])
        self.near([node.score for node in ranked], self.scores)

    @needs("llama_index.postprocessor.jinaai_rerank", "llama_index")
    def test_llama_index_jina(self):
        try:
            from llama_index.postprocessor.jinaai_rerank import JinaRerank
        except ImportError:
            self.skipTest("llama-index-postprocessor-jinaai-rerank not installed")
        url = f"http://127.0.0.1:{self.server.port}/v1"
        self.check(JinaRerank(api_key="none", base_url=url, model="bert", top_n=3))

    @needs("llama_index")
    def test_llama_index_tei(self):
        try:
            from llama_index.postprocessor.tei_rerank import TextEmbeddingInference
        except ImportError:
            self.skipTest("llama-index-postprocessor-tei-rerank not installed")
        url = f"http://127.0.0.1:{self.server.port}"
        self.check(TextEmbeddingInference(base_url=url, model_name="bert", top_n=3))


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
