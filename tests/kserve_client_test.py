#!/usr/bin/env python3
"""KServe's clients for REST and gRPC, as they come from PyPI, ask `tenfold serve`: kserve_client_test.py TENFOLD

They need another protobuf than tritonclient: `script/bootstrap kserve` makes an environment for them, too large for CI.
"""

import os
import sys
import unittest

import cli_case
import numpy as np
from serve_case import ServeCase, answer_of, rows

try:
    import grpc
    import httpx
    from kserve import InferenceGRPCClient, InferenceRESTClient, InferInput, InferRequest, RESTConfig
    from kserve.protocol.infer_type import RequestedOutput
except ImportError as missing:
    print("skipped:", missing, "(script/bootstrap kserve)")
    sys.exit(77)


def request(x, binary=False, model="m"):
    given = InferInput("x", list(x.shape), "FP32")
    given.set_data_from_numpy(x, binary_data=binary)
    outputs = [RequestedOutput("y", {"binary_data": True})] if binary else None
    return InferRequest(model, [given], request_id="7", request_outputs=outputs)


class Case(ServeCase, unittest.IsolatedAsyncioTestCase):
    FLAGS = ("--max-batch=8",)

    def check(self, answer, x):
        self.assertEqual((answer.id, answer.model_name), ("7", "m"))
        np.testing.assert_allclose(answer.outputs[0].as_numpy(), answer_of(x), atol=2e-5)


class Rest(Case):
    async def asyncSetUp(self):
        self.client = InferenceRESTClient(RESTConfig(protocol="v2"))
        self.url = f"http://127.0.0.1:{self.server.port}"
        self.addAsyncCleanup(self.client.close)

    async def test_infer(self):
        for binary in (False, True):
            x = rows(1, 3)
            self.check(await self.client.infer(self.url, request(x, binary), model_name="m"), x)

    async def test_health(self):
        self.assertTrue(await self.client.is_server_live(self.url))
        self.assertTrue(await self.client.is_server_ready(self.url))
        self.assertTrue(await self.client.is_model_ready(self.url, "m"))
        self.assertFalse(await self.client.is_model_ready(self.url, "other"))

    async def test_errors(self):
        for x, model, status, words in ((rows(0, 9), "m", 400, "batch-size must be <= 8"), (rows(0), "other", 404, "is not found")):
            with self.assertRaisesRegex(httpx.HTTPStatusError, words) as raised:
                await self.client.infer(self.url, request(x, model=model), model_name=model)
            self.assertEqual(raised.exception.response.status_code, status)


class Grpc(Case):
    async def asyncSetUp(self):
        self.client = InferenceGRPCClient(self.server.start.split("gRPC on ")[1].split()[0].strip('",'))
        self.addAsyncCleanup(self.client.close)

    async def test_infer(self):
        for binary in (False, True):
            x = rows(2, 2)
            self.check(await self.client.infer(request(x, binary)), x)

    async def test_health(self):
        self.assertTrue(await self.client.is_server_live())
        self.assertTrue(await self.client.is_server_ready())
        self.assertTrue(await self.client.is_model_ready("m"))
        self.assertFalse(await self.client.is_model_ready("other"))

    async def test_errors(self):
        for x, model, code in ((rows(0, 9), "m", "INVALID_ARGUMENT"), (rows(0), "other", "NOT_FOUND")):
            with self.assertRaises(grpc.RpcError) as raised:
                await self.client.infer(request(x, model=model))
            self.assertEqual(raised.exception.code().name, code)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
