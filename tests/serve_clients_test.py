#!/usr/bin/env python3
"""Clients as people install them ask `tenfold serve`: serve_clients_test.py TENFOLD. tritonclient[http], where it is installed."""

import os
import sys

import cli_case
import numpy as np
from serve_case import ServeCase, answer_of, rows

try:
    import tritonclient.http as triton
    from tritonclient.utils import InferenceServerException
except ImportError as missing:
    print("skipped:", missing, "(pip install 'tritonclient[http]')")
    sys.exit(77)


class TritonClient(ServeCase):
    FLAGS = ("--max-batch=8",)

    def setUp(self):
        self.client = triton.InferenceServerClient(f"127.0.0.1:{self.server.port}")
        self.addCleanup(self.client.close)

    def input(self, x, binary):
        given = triton.InferInput("x", list(x.shape), "FP32")
        given.set_data_from_numpy(x, binary_data=binary)
        return given

    def test_infer(self):
        for binary_in in (True, False):
            for binary_out in (True, False):
                for compression in (None, "gzip", "deflate"):
                    x = rows(1, 3)
                    result = self.client.infer(
                        "m",
                        [self.input(x, binary_in)],
                        outputs=[triton.InferRequestedOutput("y", binary_data=binary_out)],
                        request_id="7",
                        timeout=10_000_000,
                        request_compression_algorithm=compression,
                        response_compression_algorithm=compression,
                    )
                    np.testing.assert_allclose(result.as_numpy("y"), answer_of(x), atol=2e-5)
                    self.assertEqual(result.get_response()["id"], "7")
        x = rows(2, 2)  # without outputs, and at the same time
        calls = [self.client.async_infer("m", [self.input(x, True)]) for _ in range(5)]
        for call in calls:
            np.testing.assert_allclose(call.get_result().as_numpy("y"), answer_of(x), atol=2e-5)

    def test_what_it_asks_beside(self):
        self.assertTrue(self.client.is_server_live() and self.client.is_server_ready())
        self.assertTrue(self.client.is_model_ready("m") and self.client.is_model_ready("m", "1"))
        self.assertFalse(self.client.is_model_ready("other"))
        self.assertEqual(self.client.get_server_metadata()["name"], "tenfold")
        self.assertEqual(self.client.get_model_metadata("m")["inputs"][0]["shape"], [-1, 6])
        self.assertEqual(self.client.get_model_config("m")["max_batch_size"], 8)
        self.assertEqual(self.client.get_inference_statistics()["model_stats"][0]["name"], "m")
        self.assertEqual(self.client.get_inference_statistics("m", "1")["model_stats"][0]["version"], "1")

    def test_errors(self):
        with self.assertRaisesRegex(InferenceServerException, "batch-size must be <= 8"):
            self.client.infer("m", [self.input(rows(0, 9), True)])
        with self.assertRaisesRegex(InferenceServerException, "is not found"):
            self.client.infer("other", [self.input(rows(0), True)])
        with self.assertRaisesRegex(InferenceServerException, "explicit model load / unload is not allowed"):
            self.client.load_model("m")


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
