#!/usr/bin/env python3
"""System shared memory and classes of `tenfold serve`: segments that are none, that shrink: shared_memory_test.py TENFOLD"""

import json
import os
import sys

import cli_case
import numpy as np
from serve_case import ServeCase, answer_of, json_request, rows

BASE = "/v2/systemsharedmemory"


class Segment:
    """A file in /dev/shm, as shm_open() makes it."""

    def __init__(self, size, name="segment"):
        self.key = f"/tenfold_test_{os.getpid()}_{name}"
        self.path = "/dev/shm" + self.key
        with open(self.path, "wb") as file:
            file.truncate(size)

    def write(self, array, offset=0):
        with open(self.path, "r+b") as file:
            file.seek(offset)
            file.write(array.tobytes())

    def read(self, shape, offset=0):
        with open(self.path, "rb") as file:
            return np.frombuffer(file.read(), np.float32, int(np.prod(shape)), offset).reshape(shape)

    def truncate(self, size):
        os.truncate(self.path, size)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.unlink(self.path)


def place(region, size, offset=None):
    where = {"shared_memory_region": region, "shared_memory_byte_size": size}
    return where if offset is None else {**where, "shared_memory_offset": offset}


def shared_request(parameters, count=2, **more):
    return {"inputs": [{"name": "x", "datatype": "FP32", "shape": [count, 6], "parameters": parameters}], **more}


class SharedMemory(ServeCase):
    FLAGS = ("--allow-client-shm=true", "--max-batch=8")

    def register(self, name, key, size, offset=0):
        body = json.dumps({"key": key, "offset": offset, "byte_size": size})
        status, _, body = self.server.send("POST", f"{BASE}/region/{name}/register", body)
        return status, body.decode()

    def tearDown(self):
        self.assertEqual(self.server.send("POST", BASE + "/unregister")[0], 200)
        x = rows(1)  # whatever came before, the next request is answered
        status, answer = self.server.infer(json_request(x))
        self.assertEqual(status, 200, answer)
        np.testing.assert_allclose(np.array(answer["outputs"][0]["data"]).reshape(1, 4), answer_of(x), atol=2e-5)

    def test_inputs_and_outputs(self):
        x = rows(2, 2)
        with Segment(4096) as segment:
            segment.write(x, 100)
            self.assertEqual(self.register("a", segment.key, 4000, 4), (200, ""))
            status, answer = self.server.infer(shared_request(place("a", x.nbytes, 96)))
            self.assertEqual(status, 200, answer)
            np.testing.assert_allclose(np.array(answer["outputs"][0]["data"]).reshape(2, 4), answer_of(x), atol=2e-5)
            wish = [{"name": "y", "parameters": place("a", 32, 996)}]
            status, answer = self.server.infer(json_request(x, outputs=wish))
            self.assertEqual((status, answer["outputs"]), (200, [{"name": "y", "datatype": "FP32", "shape": [2, 4]}]))
            np.testing.assert_allclose(segment.read((2, 4), 1000), answer_of(x), atol=2e-5)

    def test_status(self):
        with Segment(64) as segment:
            self.assertEqual(self.register("a", segment.key, 64)[0], 200)
            row = {"name": "a", "key": segment.key, "offset": 0, "byte_size": 64}
            self.assertEqual(self.server.get(BASE + "/status"), (200, [row]))
            self.assertEqual(self.server.get(BASE + "/region/a/status"), (200, [row]))
            self.assertEqual(self.server.get(BASE + "/region/b/status")[0], 404)
            self.assertEqual(self.register("a", segment.key, 64), (400, '{"error":"shared memory region \'a\' already in manager"}'))
            self.assertEqual(self.server.send("POST", BASE + "/region/a/unregister")[0], 200)
            self.assertEqual(self.server.get(BASE + "/status"), (200, []))
            self.assertEqual(self.server.infer(shared_request(place("a", 48)))[0], 404)

    def test_regions_that_are_none(self):
        with Segment(4096) as segment:
            for key, size, offset in [
                (segment.key, 4097, 0), (segment.key, 1, 4096), (segment.key, 8, 2**64 - 4), (segment.key, 2**64 - 1, 2),
                (segment.key, 0, 0),
                ("/not_there", 4, 0), ("../../etc/passwd", 4, 0), ("/a/b", 4, 0), ("", 4, 0), (".", 4, 0), ("..", 4, 0), ("a\0b", 4, 0),
                ("x" * 300, 4, 0), ("sem.lock", 4, 0), ("triton_python_backend_shm_region_1", 4, 0)]:
                with self.subTest(key=key[:40], size=size, offset=offset):
                    status, body = self.register("a", key, size, offset)
                    self.assertEqual(status, 400, body)
            for body in ["{", "[]", "{}", '{"key":1,"byte_size":4}', '{"key":"/a","byte_size":-1}',
                         '{"key":"/a","byte_size":4,"offset":1.5}']:
                self.assertEqual(self.server.send("POST", BASE + "/region/a/register", body)[0], 400, body)
            self.assertEqual(self.server.get(BASE + "/status"), (200, []))

    def test_places_that_are_none(self):
        with Segment(4096) as segment:
            self.register("a", segment.key, 64)
            for parameters in [place("a", 48, 17), place("a", 80), place("a", 48, 65), place("a", 48, 2**64 - 8), place("a", 40),
                               {"shared_memory_region": "a"}, {"shared_memory_byte_size": 48}, place("a", 2**63, 2**63),
                               place("a", -1), place(1, 48), {**place("a", 48), "binary_data_size": 48}]:
                with self.subTest(parameters=parameters):
                    status, answer = self.server.infer(shared_request(parameters))
                    self.assertEqual(status, 400, answer)
            wish = [{"name": "y", "parameters": place("a", 31)}]
            status, answer = self.server.infer(json_request(rows(1, 2), outputs=wish))
            self.assertEqual(status, 400)
            self.assertIn("has 32 bytes, but its place", answer["error"])

    def test_a_segment_that_shrinks_is_an_error_of_its_request(self):
        with Segment(1 << 20) as segment:
            self.assertEqual(self.register("a", segment.key, 1 << 20)[0], 200)
            segment.truncate(8)
            status, answer = self.server.infer(shared_request(place("a", 48, 4096)))
            self.assertEqual((status, "shorter than when it was registered" in answer["error"]), (400, True), answer)
            status, answer = self.server.infer(json_request(rows(1, 2), outputs=[{"name": "y", "parameters": place("a", 32, 4096)}]))
            self.assertEqual(status, 400, answer)
            self.assertEqual(os.path.getsize(segment.path), 8)  # it was not written to

    def test_cuda_shared_memory_is_refused_by_name(self):
        body = json.dumps({"raw_handle": {"b64": "AAAA"}, "device_id": 0, "byte_size": 4})
        status, _, text = self.server.send("POST", "/v2/cudasharedmemory/region/a/register", body)
        self.assertEqual((status, b"CUDA shared memory" in text), (501, True))
        self.assertEqual(self.server.get("/v2/cudasharedmemory/status"), (200, []))  # clients ask before they begin
        self.assertEqual(self.server.send("POST", "/v2/cudasharedmemory/unregister")[0], 200)


class Off(ServeCase):
    def test_shared_memory_is_off(self):
        with Segment(64) as segment:
            body = json.dumps({"key": segment.key, "byte_size": 64})
            status, _, text = self.server.send("POST", BASE + "/region/a/register", body)
            self.assertEqual((status, b"--allow-client-shm" in text), (400, True), text)
            status, answer = self.server.infer(shared_request(place("a", 48)))
            self.assertEqual((status, "--allow-client-shm" in answer["error"]), (400, True), answer)
            self.assertEqual(self.server.infer(json_request(rows(1)))[0], 200)


class Classes(ServeCase):
    def classes(self, count, **more):
        wish = [{"name": "y", "parameters": {"classification": count, **more}}]
        return self.server.infer(json_request(rows(3, 2), outputs=wish))

    def test_the_largest_values(self):
        y = answer_of(rows(3, 2))
        for count in (1, 3, 4, 9):
            status, answer = self.classes(count)
            shown = min(count, 4)
            output = answer["outputs"][0]
            self.assertEqual((status, output["datatype"], output["shape"]), (200, "BYTES", [2, shown]), answer)
            order = np.argsort(-y, axis=1)[:, :shown].ravel()
            self.assertEqual([int(text.split(":")[1]) for text in output["data"]], order.tolist())
            values = [float(text.split(":")[0]) for text in output["data"]]
            np.testing.assert_allclose(values, -np.sort(-y, axis=1)[:, :shown].ravel(), atol=1e-4)

    def test_none_and_wrong_ones(self):
        self.assertEqual(self.classes(0)[1]["outputs"][0]["datatype"], "FP32")
        for count in (-1, "2", 1.5, None):
            self.assertEqual(self.classes(count)[0], 400)
        self.assertEqual(self.classes(1, **place("a", 32))[0], 400)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
