"""tenfold.langchain: TenfoldEmbeddings beside the model that it asks."""
import asyncio
import copy
import importlib.util
import pickle
import struct
import unittest
from unittest import mock

import numpy as np
from case import Case
from embeddings_case import QUICK, TEXTS, WIDTH, RandomEncoder

import tenfold


@unittest.skipUnless(importlib.util.find_spec('langchain_core'), 'langchain-core is not installed')
class LangChain(Case):
    def test_embeddings(self):
        from tenfold.langchain import TenfoldEmbeddings
        folder = RandomEncoder(self.path('bert'), 'bert').folder
        model = TenfoldEmbeddings(model=folder, encode_kwargs={'normalize_embeddings': True}, **QUICK)
        rows = model.embed_documents(TEXTS)
        self.assertIs(type(rows[0][0]), float)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
        self.assertEqual(asyncio.run(model.aembed_documents(TEXTS)), rows)
        np.testing.assert_allclose(model.embed_query(TEXTS[0]), rows[0], atol=1e-5)
        packed = model.to_fvecs(TEXTS[:1])[0]
        self.assertEqual(struct.unpack_from('<I', packed)[0], WIDTH)
        np.testing.assert_array_equal(np.frombuffer(packed, '<f4', offset=4), np.float32(rows[0]))
        with self.assertRaisesRegex(TypeError, "'devise'; 'device' is meant"):
            TenfoldEmbeddings(model=folder, devise='cpu')
        with self.assertRaisesRegex(TypeError, "'encode_kwarg'; 'encode_kwargs' is meant"):
            TenfoldEmbeddings(model=folder, encode_kwarg={})
        again = pickle.loads(pickle.dumps(model))
        self.assertEqual(asyncio.run(again.aembed_query(TEXTS[0])), again.embed_query(TEXTS[0]))
        self.assertEqual(copy.deepcopy(model).embed_documents(TEXTS), rows)

    def test_queries_that_come_together(self):
        from tenfold.langchain import TenfoldEmbeddings
        model = TenfoldEmbeddings(model=RandomEncoder(self.path('bert'), 'bert').folder, **QUICK)
        expected, calls = model.client.encode_query(TEXTS), []
        encode = model.client.encode_query

        def counted(texts, **options):
            calls.append(len(texts))
            return encode(texts, **options)

        async def all_of(texts, **how):
            return await asyncio.gather(*map(model.aembed_query, texts), **how)
        with mock.patch.object(model.client, 'encode_query', counted):
            got = asyncio.run(all_of(TEXTS * 40))
            self.assertLess(len(calls), 10)
            self.assertEqual(sum(calls), 200)
            np.testing.assert_allclose(got, np.tile(expected, (40, 1)), atol=1e-5)
            some = asyncio.run(all_of([TEXTS[0], '\ud800', TEXTS[3], None], return_exceptions=True))
        for i, at in ((0, 0), (2, 3)):
            np.testing.assert_allclose(some[i], expected[at], atol=1e-5)
        self.assertIsInstance(some[1], tenfold.InvalidArgument)
        self.assertIsInstance(some[3], TypeError)

        async def left():
            first = asyncio.create_task(model.aembed_query(TEXTS[0]))
            second = asyncio.create_task(model.aembed_query(TEXTS[3]))
            await asyncio.sleep(0)
            second.cancel()
            return await first
        np.testing.assert_allclose(asyncio.run(left()), expected[0], atol=1e-5)


if __name__ == '__main__':
    unittest.main()
