#!/usr/bin/env python3
"""`tenfold serve --model-repository`: layout, versions, loading by request and by polling, configurations: repository_test.py TENFOLD"""

import http.client
import json
import os
import threading
import time

from repository_case import Repository, RepositoryCase, main, save_scale

EXPLICIT = "--model-control-mode=explicit"


class Start(RepositoryCase):
    def test_models_and_table(self):
        self.repository.add("a").add("b", "max_batch_size: 8\n").add("c", 'backend: "onnxruntime"\n', {1: 3.0, 2: 5.0})
        server = self.ready()
        rows = [line.split() for line in server.start.splitlines() if line[:2] in ("a ", "b ", "c ")]
        self.assertEqual(
            [row[:6] for row in rows],
            [
                ["a", "1", "ready", "cpu", "tf32", "4"],
                ["b", "1", "ready", "cpu", "tf32", "8"],
                ["c", "2", "ready", "cpu", "tf32", "4"],
            ],
        )
        self.assertEqual(
            [server.factor("a"), server.factor("b"), server.factor("c"), server.factor("c", 1)], [2, 2, 5, 404]
        )
        self.assertEqual(server.index(), {(n, v): "READY" for n, v in (("a", "1"), ("b", "1"), ("c", "2"))})
        again = self.ready()
        self.assertEqual(
            {line.split()[6] for line in again.start.splitlines() if line[:2] in ("a ", "b ", "c ")}, {"cached"}
        )

    def test_a_failed_model_ends_the_start_unless_told_otherwise(self):
        self.repository.add("good").add("bad", "max_batch_size: 4\n\n  foo: 3\n")
        said = self.fails()
        wrong = (
            f"failed to read text proto from {self.repository.path('bad', 'config.pbtxt')}: Error parsing text-format "
            'inference.ModelConfig: 3:6: Message type "inference.ModelConfig" has no field named "foo".'
        )
        self.assertIn(wrong, said)
        server = self.ready("--exit-on-error=false")
        self.assertEqual(server.factor("good"), 2)
        self.assertEqual(server.get("/v2/health/ready")[0], 503)
        self.assertEqual(server.get("/v2/models/bad")[0], 404)
        self.assertIn(wrong, json.dumps(server.post("/v2/repository/index", {})[1]).replace('\\"', '"'))
        lax = self.ready("--exit-on-error=false", "--strict-readiness=false")
        self.assertEqual(lax.get("/v2/health/ready")[0], 200)

    def test_versions_by_policy(self):
        factors = {1: 1.0, 3: 3.0, 20: 20.0}
        policies = {
            "latest": "",
            "two": "version_policy { latest { num_versions: 2 } }",
            "all": "version_policy { all { } }",
            "some": "version_policy { specific { versions: [ 1, 3 ] } }",
        }
        for name, config in policies.items():
            self.repository.add(name, config, factors)
        for odd in ("007", "-1", "9223372036854775808", "abc", "0"):
            save_scale(self.repository.path("all", odd, "model.onnx"), 9.0)
        server = self.ready()
        versions = {name: server.get(f"/v2/models/{name}")[1]["versions"] for name in policies}
        self.assertEqual(versions, {"latest": ["20"], "two": ["3", "20"], "all": ["1", "3", "20"], "some": ["1", "3"]})
        self.assertEqual([server.factor("all", v) for v in (1, 3, 20)], [1, 3, 20])
        for odd in ("007", "9223372036854775808"):
            self.assertIn(f"ignore version directory '{odd}'", server.start)
        for odd in ("-1", "0", "9223372036854775808", "x"):
            self.assertEqual(server.get(f"/v2/models/all/versions/{odd}")[0], 400, odd)
        self.assertEqual(server.get("/v2/models/all/versions/4")[0], 404)

    def test_what_a_version_may_not_be(self):
        cases = {
            "plan": ({"1/model.plan": b"ftrt" + bytes(64)}, "", "give model.onnx"),
            "none": ({}, "", "at least one version must be available under the version policy of model 'none'"),
            "gone": ({}, "version_policy { specific { versions: 5 } }", "version 5 is specified for model 'gone'"),
            "empty": ({"1/x": b""}, "", "has neither model.onnx nor model.plan"),
            "leaves": (
                {"1/model.onnx": b""},
                'default_model_filename: "../../a"',
                "expected a path inside the model's folder",
            ),
            "damaged": ({"1/model.onnx": b"\0\1\2"}, "", "load failed for model 'damaged': version 1 is at UNAVAILABLE state: "),
            "python": ({"1/model.py": b""}, 'backend: "python"', "serve it by Triton and libtriton_tenfold.so"),
            "trt": ({"1/model.plan": b""}, 'platform: "tensorrt_plan"', "give model.onnx"),
            "other": (
                {"1/model.onnx": b""},
                'name: "another"',
                "unexpected directory name 'other' for model 'another'",
            ),
        }
        for name, (files, config, _) in cases.items():
            self.repository.write(name, "config.pbtxt", config)
            for path, data in files.items():
                self.repository.write(name, *path.split("/"), data)
        self.repository.add("good")
        server = self.ready("--exit-on-error=false")
        for name, (_, _, words) in cases.items():
            line = next(line for line in server.start.splitlines() if line.startswith(name + " "))
            self.assertIn(words, line)
        self.assertEqual(server.factor("good"), 2)

    def test_several_repositories(self):
        other = Repository()
        self.addCleanup(other.remove)
        self.repository.add("a").add("both")
        other.add("b").add("both")
        server = self.ready("--exit-on-error=false", folders=[self.repository.folder, other.folder])
        self.assertEqual([server.factor("a"), server.factor("b"), server.factor("both")], [2, 2, 404])
        self.assertIn("it is in several repositories", server.start)
        self.assertIn("failed to poll model repository '/nowhere'", self.fails(folders=["/nowhere"]))

    def test_named_configurations_and_disabled_completion(self):
        self.repository.add("a", "max_batch_size: 2")
        self.repository.write("a", "configs", "big.pbtxt", "max_batch_size: 64")
        config = self.ready("--model-config-name=big").get("/v2/models/a/config")[1]
        self.assertEqual(config["max_batch_size"], 64)
        self.assertIn("is not in the configuration: add it", self.fails("--disable-auto-complete-config"))


class Control(RepositoryCase):
    def test_load_and_unload(self):
        self.repository.add("a").add("b", factors={1: 7.0})
        server = self.ready(EXPLICIT, "--load-model=a")
        self.assertEqual(server.index(), {("a", "1"): "READY", ("b", None): None})
        self.assertEqual((server.factor("b"), server.control("b", "load"), server.factor("b")), (404, (200, None), 7))
        self.assertEqual(server.index(ready=True), {("a", "1"): "READY", ("b", "1"): "READY"})
        self.assertEqual(server.control("a", "unload", unload_dependents=True), (200, None))
        self.wait(lambda: server.index()["a", "1"] == "UNAVAILABLE")
        self.assertEqual((server.factor("a"), server.factor("b")), (404, 7))
        self.assertEqual(server.get("/v2/health/ready")[0], 200)  # it was unloaded on purpose
        save_scale(self.repository.path("a", "1", "model.onnx"), 11.0)
        self.assertEqual((server.control("a", "load")[0], server.factor("a")), (200, 11))

    def wait(self, done, seconds=30):
        until = time.monotonic() + seconds
        while not done():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.02)

    def test_a_bad_version_leaves_the_old_one_and_blocks_nothing(self):
        self.repository.add("a").add("b")
        server = self.ready(EXPLICIT, "--load-model=*")
        self.repository.write("a", "2", "model.onnx", b"nothing")
        for _ in range(3):
            status, answer = server.control("a", "load")
            self.assertEqual(status, 400)
            self.assertIn("load failed for model 'a': version 2 is at UNAVAILABLE state: ", answer["error"])
        self.assertEqual((server.factor("a"), server.get("/v2/health/ready")[0]), (2, 200))
        self.assertEqual(server.index(), {("a", "1"): "READY", ("a", "2"): "UNAVAILABLE", ("b", "1"): "READY"})
        save_scale(self.repository.path("a", "2", "model.onnx"), 4.0)
        self.assertEqual((server.control("a", "load")[0], server.factor("a")), (200, 4))
        self.assertEqual(server.factor("a", 1), 503)  # as Triton: it is known, and not at ready state

    def test_configuration_of_a_request(self):
        self.repository.add("a")
        server = self.ready(EXPLICIT)
        config = {"max_batch_size": 16, "dynamic_batching": {"max_queue_delay_microseconds": "100"}}
        self.assertEqual(server.control("a", "load", config=json.dumps(config)), (200, None))
        told = server.get("/v2/models/a/config")[1]
        self.assertEqual((told["max_batch_size"], told["dynamic_batching"]["max_queue_delay_microseconds"]), (16, 100))
        for parameters, words in (
            ({"config": "{"}, "is no JSON"),
            ({"config": '{"foo": 1}'}, "foo"),
            ({"file:1/model.onnx": "aa"}, "no files"),
            ({"x": "y"}, "is not known"),
            ({"config": 3}, "expected string_param"),
        ):
            status, answer = server.control("a", "load", **parameters)
            self.assertEqual(status, 400, answer)
            self.assertIn(words, answer["error"])
        self.assertEqual(server.get("/v2/models/a/config")[1]["max_batch_size"], 16)

    def test_names_and_bodies_that_are_wrong(self):
        self.repository.add("a")
        server = self.ready(EXPLICIT)
        for name in ("..", "%2e%2e", "a%2f1", "a%00", "x" * 4096, "%ff", ".plans", "-a", "a%20b", "nobody"):
            for action in ("load", "unload"):
                status, answer = server.control(name, action)
                self.assertIn(status, (200,) if (name, action) == ("nobody", "unload") else (400, 404, 414, 431), (name, action, answer))
        for body in ("{", "[]", '"a"', '{"parameters": {"unload_dependents": 3}}'):
            self.assertEqual(server.send("POST", "/v2/repository/models/a/unload", body)[0], 400, body)
        self.assertEqual(server.send("POST", "/v2/repository/index", '{"ready": 3}')[0], 400)
        self.assertEqual(server.post("/v2/repository/other/index", {})[0], 501)
        self.assertEqual(server.send("GET", "/v2/repository/index")[0], 405)
        self.assertEqual((server.control("a", "load")[0], server.factor("a")), (200, 2))

    def test_no_control_where_it_is_off(self):
        self.repository.add("a")
        for mode in ("none", "poll"):
            server = self.ready(f"--model-control-mode={mode}")
            status, answer = server.control("a", "unload")
            self.assertEqual(status, 503)
            self.assertIn("explicit model load / unload is not allowed", answer["error"])
            self.assertEqual(server.factor("a"), 2)

    def test_a_repository_that_vanishes(self):
        self.repository.add("a")
        server = self.ready(EXPLICIT, "--load-model=a")
        away = self.repository.folder + ".away"
        os.rename(self.repository.folder, away)
        try:
            self.assertEqual(server.control("a", "load")[0], 400)
            self.assertEqual((server.factor("a"), server.index()), (2, {("a", "1"): "READY"}))
        finally:
            os.rename(away, self.repository.folder)
        self.assertEqual(server.control("a", "load")[0], 200)

    def test_reloads_under_requests(self):
        self.repository.add("a", "max_batch_size: 4\ndynamic_batching { }\n", {1: 2.0})
        server = self.ready(EXPLICIT, "--load-model=a")
        stop, seen, wrong = threading.Event(), set(), []

        def ask():
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 1, 1, 1]}]})
            while not stop.is_set():
                connection.request("POST", "/v2/models/a/infer", body)
                response = connection.getresponse()
                answer = json.loads(response.read())
                if response.status == 200:
                    seen.add(answer["outputs"][0]["data"][0])
                else:
                    wrong.append((response.status, answer))
            connection.close()

        def probe():
            while not stop.is_set():
                if server.get("/v2/health/ready")[0] != 200:
                    wrong.append("not ready")
                time.sleep(0.01)

        threads = [threading.Thread(target=ask) for _ in range(4)] + [threading.Thread(target=probe)]
        for thread in threads:
            thread.start()
        for i in range(20):
            if i % 5 == 4:
                self.repository.write("a", "config.pbtxt", "max_batch_size: -1")
                self.assertEqual(server.control("a", "load")[0], 400)
                self.repository.write("a", "config.pbtxt", "max_batch_size: 4\ndynamic_batching { }\n")
            save_scale(self.repository.path("a", "1", "model.onnx"), 3.0 + i)
            status, answer = server.control("a", "load")
            self.assertEqual(status, 200, answer)
            self.assertEqual(server.factor("a"), 3.0 + i)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertLessEqual(seen, {2.0, *(3.0 + i for i in range(20))})
        self.assertGreater(len(seen), 5)

    def test_unload_after(self):
        self.repository.add("a")
        server = self.ready("--unload-after=1")
        for _ in range(3):
            self.assertEqual(server.factor("a"), 2)
            time.sleep(1.5)
        self.assertEqual(server.index(), {("a", "1"): "READY"})


class Poll(RepositoryCase):
    def wait(self, done, seconds=60):
        until = time.monotonic() + seconds
        while not done():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)

    def test_changes_are_taken(self):
        self.repository.add("a")
        server = self.ready("--model-control-mode=poll", "--repository-poll-secs=1")
        self.repository.add("b", factors={1: 5.0})
        self.wait(lambda: server.factor("b") == 5)
        self.repository.add("a", factors={2: 9.0})
        self.wait(lambda: server.factor("a") == 9)
        self.repository.write("a", "3", "model.onnx", b"bad")
        self.wait(lambda: server.index().get(("a", "3")) == "UNAVAILABLE")
        self.assertEqual((server.factor("a"), server.get("/v2/health/ready")[0]), (9, 200))
        self.repository.add("a", factors={3: 10.0})
        self.wait(lambda: server.factor("a") == 10)
        os.rename(self.repository.path("b"), self.repository.path(".b"))
        self.wait(lambda: server.factor("b") == 404)

    def test_a_file_that_grows_waits(self):
        self.repository.add("a")
        server = self.ready("--model-control-mode=poll", "--repository-poll-secs=1")
        save_scale(self.repository.path(".new"), 6.0)
        data = open(self.repository.path(".new"), "rb").read()
        with open(self.repository.path("a", "1", "model.onnx"), "wb") as file:  # in six writes over four seconds
            for i in range(6):
                file.write(data[i * len(data) // 6 : (i + 1) * len(data) // 6])
                file.flush()
                time.sleep(0.7)
                self.assertEqual(server.factor("a"), 2)
        self.wait(lambda: server.factor("a") == 6)
        self.assertNotIn("failed", server.start)


if __name__ == "__main__":
    main()
