#!/usr/bin/env python3
"""Whether /openapi.json says what `tenfold serve` does: its routes, and statuses and bodies of answers: openapi_test.py TENFOLD"""

import json
import os
import re
import sys
import tempfile
import unittest

import cli_case
import serve_case
from onnx import helper, numpy_helper
from serve_case import Server, json_request, rows
from text_case import TextCase

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def save_window(folder):
    """A model of a fixed shape, as --pattern-engine takes it."""
    return cli_case.save_model(
        os.path.join(folder, "window.onnx"),
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        [("x", cli_case.FLOAT, [1, 6])],
        [("y", cli_case.FLOAT, [1, 4])],
        [numpy_helper.from_array(serve_case.WEIGHTS, "w")],
    )


class Document:
    def __init__(self, text):
        self.json = json.loads(text)
        self.paths = self.json["paths"]

    def at(self, reference):
        found = self.json
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
        return found

    def whole(self, value):
        return self.at(value["$ref"]) if "$ref" in value else value

    def references(self, value):
        if isinstance(value, dict):
            if "$ref" in value:
                yield value["$ref"]
            for one in value.values():
                yield from self.references(one)
        if isinstance(value, list):
            for one in value:
                yield from self.references(one)

    def operations(self):
        for path, item in self.paths.items():
            for method, operation in item.items():
                if method != "parameters":
                    yield path, method, operation

    def wrong(self, value, schema, place="body"):
        """Why the value is not as the schema has it; empty: it is. The keywords are those of the document."""
        schema = self.whole(schema)
        unknown = set(schema) - {
            *("type", "properties", "required", "items", "enum", "const", "anyOf", "allOf", "minimum", "maximum", "minLength", "maxLength"),
            *("minItems", "maxItems", "pattern", "additionalProperties", "description", "format"),
        }
        assert not unknown, unknown
        for one in schema.get("allOf", ()):
            if why := self.wrong(value, one, place):
                return why
        if "anyOf" in schema and all(self.wrong(value, one, place) for one in schema["anyOf"]):
            return f"{place}: none of anyOf"
        if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
            return f"{place}: {value!r}"
        if types := schema.get("type"):
            names = [types] if isinstance(types, str) else types
            if not any(isinstance(value, TYPES[n]) and (n in ("boolean",) or not isinstance(value, bool)) for n in names):
                return f"{place}: {value!r} is no {types}"
        return self.wrong_parts(value, schema, place)

    def wrong_parts(self, value, schema, place):
        if isinstance(value, dict):
            for name in schema.get("required", ()):
                if name not in value:
                    return f"{place}: no {name}"
            for name, one in value.items():
                known = schema.get("properties", {}).get(name, schema.get("additionalProperties", {}))
                if known is False:
                    return f"{place}: {name} is not known"
                if why := self.wrong(one, known, f"{place}.{name}"):
                    return why
        if isinstance(value, list):
            if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 1 << 30):
                return f"{place}: {len(value)} items"
            for i, one in enumerate(value):
                if why := self.wrong(one, schema.get("items", {}), f"{place}[{i}]"):
                    return why
        if isinstance(value, str):
            if len(value) < schema.get("minLength", 0) or not re.search(schema.get("pattern", ""), value):
                return f"{place}: {value!r}"
        if isinstance(value, (int, float)) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            return f"{place}: {value}"
        return ""


class Asked:
    """Sends requests, and compares what comes back with the document."""

    def document(self):
        return Document(self.server.send("GET", "/openapi.json")[2])

    def ask(self, method, path, body=None, status=200, pattern=None, fits=True, headers=None):
        document = self.document()
        operation = document.paths[pattern or path][method.lower()]
        sent = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        got, head, text = self.server.send(method, path, "" if sent is None and method == "POST" else sent, headers)
        self.assertEqual(got, status, text[:300])
        if body is not None and not isinstance(body, (bytes, str)):
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            self.assertEqual(document.wrong(body, schema) == "", fits, document.wrong(body, schema))
        self.assertIn(str(got), operation["responses"], f"{method} {path}")
        content = document.whole(operation["responses"][str(got)]).get("content", {})
        kind = (head["Content-Type"] or "").split(";")[0]
        if text:
            self.assertIn(kind, content)
        if text and kind == "application/json":
            self.assertEqual(document.wrong(json.loads(text), content[kind]["schema"]), "", f"{method} {path}: {text[:300]}")


class Serving(Asked, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.model = serve_case.save_tanh(os.path.join(cls.folder.name, "m.onnx"))
        cls.server = Server(
            cls.model, f"--plan-cache-dir={cls.folder.name}/plans", "--log-verbose=1", f"--pattern-engine={save_window(cls.folder.name)}"
        )

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        cls.folder.cleanup()
        assert code == 0, f"the server ended with {code}"

    def test_its_form(self):
        document = self.document()
        self.assertEqual(document.json["openapi"], "3.1.0")
        self.assertEqual(document.json["info"]["version"], self.server.get("/v2")[1]["version"])
        for reference in document.references(document.json):
            document.at(reference)
        ids = [operation["operationId"] for _, _, operation in document.operations()]
        self.assertEqual(len(ids), len(set(ids)))
        used = set(document.references(document.json))
        for kind, all_of_it in document.json["components"].items():
            for name in all_of_it:
                self.assertTrue(kind == "securitySchemes" or f"#/components/{kind}/{name}" in used, name)
        for path, method, operation in document.operations():
            self.assertTrue({"200", "501"} & set(operation["responses"]), path)
            self.assertLessEqual(set(operation["tags"]), {tag["name"] for tag in document.json["tags"]})
            named = {document.whole(p)["name"] for p in document.paths[path].get("parameters", ())}
            self.assertEqual(named, set(re.findall(r"\{(\w+)\}", path)), path)
            answers = method == "post" and "200" in operation["responses"] and "unregister" not in path
            self.assertEqual("requestBody" in operation, answers or path.startswith("/v2/repository/{repository}"), path)

    def test_its_paths_are_the_routes(self):
        routes = set(re.findall(r"route (GET|POST|\*) (/\S*?)\"?\n", self.server.start))
        self.assertGreater(len(routes), 50)
        described = {(method.upper(), path) for path, method, _ in self.document().operations()}
        refused = {path.removesuffix("/**") for method, path in routes if method == "*"}
        for method, path in described - routes:
            self.assertTrue(any(path.startswith(one) for one in refused), f"{method} {path} is described, and there is no route")
        for method, path in routes - described:
            self.assertTrue(method == "*" or path.startswith("/nothing"), f"{method} {path} is a route that is not described")
        for path in refused:
            self.assertTrue(any(p.startswith(path) for _, p in described - routes), f"nothing is described below {path}")

    def test_the_server_and_its_models(self):
        for path in ("/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/stats", "/metrics", "/ui", "/ui/data", "/v2/logging",
                     "/v2/trace/setting", "/v2/systemsharedmemory/status", "/v2/cudasharedmemory/status", "/openapi.json", "/v1/models",
                     "/health", "/ping", "/ready", "/model/status"):
            self.ask("GET", path)
        one = "/v2/models/{model}"
        for behind in ("", "/ready", "/config", "/stats"):
            self.ask("GET", "/v2/models/m" + behind, pattern=one + behind)
            self.ask("GET", "/v2/models/n" + behind, status=404, pattern=one + behind)
            self.ask("GET", "/v2/models/m/versions/1" + behind, pattern=one + "/versions/{version}" + behind)
            self.ask("GET", "/v2/models/m/versions/x" + behind, status=400, pattern=one + "/versions/{version}" + behind)
        self.ask("GET", "/v1/models/m", pattern="/v1/models/{model}")
        self.ask("GET", "/v1/models/n", status=404, pattern="/v1/models/{model}")
        self.ask("GET", "/info", status=404)
        self.ask("GET", "/%zz", status=400, pattern="/v2")

    def test_inferences(self):
        good = json_request(rows(1, 2))
        pattern = "/v2/models/{model}/infer"
        for body, status in (
            (good, 200),
            ({**good, "id": "a", "parameters": {"timeout": 5_000_000}}, 200),
            ({**good, "outputs": [{"name": "y", "parameters": {"classification": 2}}]}, 200),
            ({**good, "parameters": {"binary_data_output": True}}, 200),
            ({**good, "parameters": {"priority": 1}}, 400),  # of the model
        ):
            self.ask("POST", "/v2/models/m/infer", body, status, pattern)
        self.ask("POST", "/v2/models/n/infer", good, 404, pattern)
        self.ask("POST", "/v2/models/m/infer", b"x", 400, pattern)
        self.ask("POST", "/v2/models/m/infer", b"x", 415, pattern, headers={"Content-Encoding": "br"})
        wrong = [{}, {"inputs": 1}, {"inputs": []}, {**good, "id": 1}, {**good, "parameters": 1}, {**good, "parameters": {"timeout": -1}},
                 {**good, "outputs": [{}]}, {**good, "outputs": [{"name": "y", "parameters": {"classification": "x"}}]}]
        wrong += [{"inputs": [{**good["inputs"][0], name: value}]} for name, value in
                  (("name", 1), ("datatype", "FP31"), ("shape", "x"), ("shape", [-1, 6]), ("data", 1), ("data", [None]), ("parameters", 1))]
        for body in wrong:
            self.ask("POST", "/v2/models/m/infer", body, 400, pattern, fits=False)
        self.ask("POST", "/v2/models/m/infer", {**good, "parameters": {"sequence_id": 5}}, 501, pattern, fits=False)
        self.ask("POST", "/v2/models/m/generate", status=501, pattern="/v2/models/{model}/generate")

    def test_windows(self):
        self.ask("POST", "/infer", {"window": [1, 2, 3, 4, 5, 6]})
        self.ask("POST", "/infer", {"window": [[1, 2, 3, 4, 5, 6]]})
        for body in ({}, {"window": 1}, {"window": []}, {"window": ["a"]}):
            self.ask("POST", "/infer", body, 400, fits=False)
        self.ask("POST", "/infer", {"window": [1]}, 400)  # of the model

    def test_settings_and_repository(self):
        self.ask("POST", "/v2/logging", {"log_verbose_level": 1, "log_format": "default", "log_info": True})
        for body in ({"log_info": 1}, {"log_verbose_level": -1}, {"log_format": "x"}):
            self.ask("POST", "/v2/logging", body, 400, fits=False)
        self.ask("POST", "/v2/logging", '{"log_file": "x"}', 501)
        self.ask("POST", "/v2/trace/setting", {"trace_level": ["OFF"], "trace_rate": "10", "trace_count": "-1"})
        self.ask("POST", "/v2/models/m/trace/setting", {"trace_rate": None}, pattern="/v2/models/{model}/trace/setting")
        for body in ({"trace_rate": "0"}, {"trace_rate": 1}, {"trace_count": "-2"}, {"trace_level": "OFF"}, {"trace_level": ["ON"]}):
            self.ask("POST", "/v2/trace/setting", body, 400, fits=False)
        self.ask("POST", "/v2/repository/index", {"ready": True})
        self.ask("POST", "/v2/repository/index")
        self.ask("POST", "/v2/repository/index", {"ready": 1}, 400, fits=False)
        self.ask("POST", "/v2/repository/r/index", status=501, pattern="/v2/repository/{repository}/index")
        for what in ("load", "unload"):
            pattern = "/v2/repository/models/{model}/" + what
            self.ask("POST", f"/v2/repository/models/m/{what}", {}, 503, pattern)
            for body in ({"parameters": 1}, {"parameters": {"x": 1}}):
                self.ask("POST", f"/v2/repository/models/m/{what}", body, 400, pattern, fits=False)
        region = "/v2/systemsharedmemory/region/{region}/"
        self.ask("POST", "/v2/systemsharedmemory/region/r/register", {"key": "/k", "byte_size": 8}, 400, region + "register")
        for body in ({"key": 1, "byte_size": 8}, {"key": "/k"}, {"key": "/k", "byte_size": -1}):
            self.ask("POST", "/v2/systemsharedmemory/region/r/register", body, 400, region + "register", fits=False)
        self.ask("GET", "/v2/systemsharedmemory/region/r/status", status=404, pattern=region + "status")
        self.ask("POST", "/v2/systemsharedmemory/unregister")
        self.ask("POST", "/v2/cudasharedmemory/region/r/register", status=501, pattern="/v2/cudasharedmemory/region/{region}/register")

    def test_keys(self):
        keys = os.path.join(self.folder.name, "keys")
        with open(keys, "w") as f:
            f.write("k\n")
        other = Server(self.model, f"--plan-cache-dir={self.folder.name}/plans", f"--api-key-file={keys}")
        document = self.document()
        for path, method, operation in document.operations():
            url = re.sub(r"\{version\}", "1", re.sub(r"\{\w+\}", "m", path))
            status, _, body = other.send(method.upper(), url, "" if method == "post" else None)
            needs_none = operation.get("security") == []
            self.assertEqual(status != 401, needs_none, f"{method} {path}: {status} {body[:200]}")
        self.assertEqual(other.stop(), 0)


class Vectors(Asked, TextCase):
    def test_openai(self):
        good = {"input": ["t7 t8", "t9"], "model": self.NAME}
        for path in ("/v1/embeddings", "/embeddings"):
            self.ask("POST", path, good)
        self.ask("POST", "/v1/embeddings", {**good, "encoding_format": "base64", "embed_dtype": "int8", "dimensions": None, "user": 3})
        for body in ({}, {**good, "input": 1}, {**good, "input": ""}, {**good, "input": []}, {**good, "input": [""]}, {**good, "model": 1},
                     {**good, "encoding_format": "x"}, {**good, "embed_dtype": "x"}, {**good, "dimensions": 0}):
            self.ask("POST", "/v1/embeddings", body, 400, fits=False)
        self.ask("POST", "/v1/embeddings", {**good, "model": "other"}, 404)
        self.ask("POST", "/v1/embeddings", b"{", 400)
        self.ask("POST", "/v1/rerank", {"query": "t7", "documents": ["t8"]}, 400)

    def test_tei(self):
        for base, pattern in (("", ""), (f"/models/{self.NAME}", "/models/{model}")):
            for path, body in (
                ("/embed", {"inputs": "t7", "truncate": True, "truncation_direction": "Left", "normalize": False}),
                ("/embed", {"inputs": ["t7", "t8 t9"]}),
                ("/embed_all", {"inputs": ["t7"]}),
                ("/similarity", {"inputs": {"source_sentence": "t7", "sentences": ["t8"]}, "parameters": {"truncate": True}}),
                ("/tokenize", {"inputs": "t7", "add_special_tokens": False}),
                ("/decode", {"ids": [[7, 8], [9]]}),
                ("/decode", {"ids": [7]}),
            ):
                self.ask("POST", base + path, body, pattern=pattern + path)
            self.ask("POST", base + "/predict", {"inputs": "t7"}, 424, pattern + "/predict")
            self.ask("POST", base + "/rerank", {"query": "t7", "texts": ["t8"]}, 424, pattern + "/rerank")
            self.ask("POST", base + "/embed_sparse", status=501, pattern=pattern + "/embed_sparse")
            self.ask("GET", base + "/info", pattern=pattern + "/info")
        self.ask("POST", "/", {"inputs": "t7"})
        for body, status in (
            ({}, 422),
            ({"inputs": 1}, 422),
            ({"inputs": ""}, 400),
            ({"inputs": []}, 400),
            ({"inputs": "t7", "truncate": 1}, 422),
            ({"inputs": "t7", "truncation_direction": "up"}, 422),
            ({"inputs": "t7", "dimensions": 0}, 422),
        ):
            self.ask("POST", "/embed", body, status, fits=False)
        self.ask("POST", "/decode", {"ids": [2**31 - 1]}, 422)
        self.ask("POST", "/embed", {"inputs": ["t7"] * 2049}, 413)
        self.ask("POST", "/embed", {"inputs": "t7", "prompt_name": "none"}, 422)


class Scores(Asked, TextCase):
    LABELS = 1
    FLAGS = ("--name=ranker",)

    def test_reranking(self):
        good = {"query": "t7", "documents": ["t8", {"text": "t9"}], "top_n": 1, "return_documents": True}
        for path in ("/v1/rerank", "/v2/rerank"):
            self.ask("POST", path, good)
        for body in (
            *({}, {"query": "t7"}, {**good, "query": 1}, {**good, "query": ""}, {**good, "documents": []}, {**good, "documents": [1]}),
            *({**good, "top_n": 0}, {**good, "return_documents": 1}),
        ):
            self.ask("POST", "/v1/rerank", body, 400, fits=False)
        self.ask("POST", "/rerank", {"query": "t7", "texts": ["t8"], "return_text": True})
        self.ask("POST", "/predict", {"inputs": "t7"})
        self.ask("POST", "/predict", {"inputs": [["t7", "t8"], ["t9"]], "raw_scores": True})
        self.ask("POST", "/predict", {"inputs": [["a", "b", "c"]]}, 422, fits=False)
        self.ask("POST", "/", {"query": "t7", "texts": ["t8"]})
        self.ask("POST", "/v1/embeddings", {"input": "t7"}, 400)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
