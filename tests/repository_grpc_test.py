"""Model control over gRPC, asked by tritonclient as it is. Argument: the program tenfold-server.

It needs tritonclient[grpc], onnx and NumPy (script/bootstrap clients), and is skipped without.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

import report_skips

try:
    import numpy as np
    import onnx
    import tritonclient.grpc as triton
    from onnx import TensorProto, helper, numpy_helper
    from tritonclient.utils import InferenceServerException
except ImportError as error:
    triton, ABSENT = None, f"Python has no clients of gRPC: {error}"
else:
    ABSENT = ""

PROGRAM = ""


def write_model(folder, name, factor, version=1):
    path = os.path.join(folder, name, str(version), "model.onnx")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    values = [helper.make_tensor_value_info(one, TensorProto.FLOAT, ["batch", 4]) for one in "xy"]
    weight = numpy_helper.from_array(np.array(factor, np.float32), "f")
    graph = helper.make_graph([helper.make_node("Mul", ["x", "f"], ["y"])], "test", values[:1], values[1:], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@contextlib.contextmanager
def client(folder, *flags):
    ours = ["--device=cpu", "--tune=never", "--threads=1", "--http-port=0", "--metrics-port=0", f"--plan-cache-dir={folder}/.plans"]
    process = subprocess.Popen([PROGRAM, f"--model-repository={folder}", *ours, *flags], stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if found := re.search(r"ready on .*gRPC on 127\.0\.0\.1:(\d+)", line):
                break
        else:
            raise AssertionError("the server did not start")
        with triton.InferenceServerClient(f"127.0.0.1:{found[1]}") as made:
            yield made
    finally:
        process.terminate()
        process.wait(timeout=60)
        process.stderr.close()


@unittest.skipUnless(triton, ABSENT)
class Control(unittest.TestCase):
    def factor(self, made, name):
        x = triton.InferInput("x", [1, 4], "FP32")
        x.set_data_from_numpy(np.ones((1, 4), np.float32))
        return made.infer(name, [x]).as_numpy("y")[0, 0]

    def refused(self, code, words, act, *arguments, **more):
        with self.assertRaises(InferenceServerException) as raised:
            act(*arguments, **more)
        self.assertEqual(raised.exception.status(), f"StatusCode.{code}", raised.exception)
        self.assertIn(words, raised.exception.message())

    def test_control(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, factor in (("a", 2), ("b", 3)):
                write_model(folder, name, factor)
            with client(folder, "--model-control-mode=explicit", "--load-model=a") as made:
                rows = {row.name: (row.version, row.state) for row in made.get_model_repository_index().models}
                self.assertEqual(rows, {"a": ("1", "READY"), "b": ("", "")})
                self.refused("NOT_FOUND", "Request for unknown model: 'b' is not found", self.factor, made, "b")
                made.load_model("b", config=json.dumps({"max_batch_size": 16}))
                self.assertEqual((self.factor(made, "a"), self.factor(made, "b")), (2, 3))
                config = made.get_model_config("b").config
                told = (config.name, config.max_batch_size, config.input[0].name, list(config.input[0].dims))
                self.assertEqual(told, ("b", 16, "x", [4]))
                write_model(folder, "a", 5, 2)
                made.load_model("a")
                self.assertEqual(self.factor(made, "a"), 5)
                made.unload_model("b", unload_dependents=True)
                until = time.monotonic() + 30
                while made.is_model_ready("b") and time.monotonic() < until:
                    time.sleep(0.02)
                self.assertFalse(made.is_model_ready("b"))
                self.assertTrue(made.is_server_ready())
                self.refused("INVALID_ARGUMENT", "failed to load 'nobody'", made.load_model, "nobody")
                self.refused("INVALID_ARGUMENT", "names of models", made.load_model, "../a")
                self.refused("INVALID_ARGUMENT", "takes no files", made.load_model, "a", config="{}", files={"file:1/model.onnx": b"x"})
                self.refused("INVALID_ARGUMENT", "is no JSON", made.load_model, "a", config="{")
                self.assertEqual(self.factor(made, "a"), 5)

    def test_no_control(self):
        with tempfile.TemporaryDirectory() as folder:
            write_model(folder, "a", 2)
            with client(folder) as made:
                self.refused("UNAVAILABLE", "explicit model load / unload is not allowed", made.unload_model, "a")
                self.assertEqual(self.factor(made, "a"), 2)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    report_skips.run()
