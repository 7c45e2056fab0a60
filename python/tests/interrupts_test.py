"""Ctrl-C in long calls: heard at once and raised as KeyboardInterrupt, and what was called works on afterwards."""
import importlib.util
import os
import signal
import tempfile
import threading
import time
import unittest

import numpy as np

import tenfold
from case import Case
from embeddings_case import QUICK, TOKENS, RandomEncoder
from tenfold.embeddings import CrossEncoder, SentenceTransformer

TEXTS = ['how are you?', 'fine.', 'red blue fine thanks. how are you? fine fine fine']
SOON = 2   # seconds; half a second where nothing else runs


class Interrupted(BaseException):
    """Of a handler of the test's own."""


class Case(Case):
    def interrupted(self, call, after=0.4, raises=KeyboardInterrupt):
        """The call raises soon after the signal."""
        sent = []

        def send():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        timer = threading.Timer(after, send)
        timer.start()
        try:
            with self.assertRaises(raises):
                call()
            took = time.monotonic() - sent[0]
        finally:
            timer.join()
        self.assertLess(took, SOON)


class Encoders(Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.encoder = RandomEncoder(os.path.join(folder.name, 'bert'), 'bert').folder
        cls.judge = RandomEncoder(os.path.join(folder.name, 'head'), 'bert', 1).folder
        cls.many = [' '.join(TOKENS[4 + (i * k) % 5] for k in range(3 + i % 25)) for i in range(400_000)]   # takes several seconds

    def test_encode(self):
        model = SentenceTransformer(self.encoder, **QUICK).prepare()
        expected = model.encode(TEXTS)
        self.interrupted(lambda: model.encode(self.many))
        self.interrupted(lambda: model.encode(self.many, output_value='token_embeddings'))
        self.interrupted(lambda: model.encode(self.many, pool=model.start_multi_process_pool(['cpu', 'cpu'])))
        np.testing.assert_array_equal(model.encode(TEXTS), expected)

    def test_the_handler_decides_what_is_raised(self):
        model = SentenceTransformer(self.encoder, **QUICK).prepare()

        def handle(*_):
            raise Interrupted
        before = signal.signal(signal.SIGINT, handle)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        self.interrupted(lambda: model.encode(self.many), raises=Interrupted)
        heard = []
        signal.signal(signal.SIGINT, lambda *_: heard.append(1))   # which goes on
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        self.assertEqual(len(model.encode(self.many[:100_000])), 100_000)
        timer.join()
        self.assertEqual(heard, [1])

    def test_pairs(self):
        judge = CrossEncoder(self.judge, **QUICK).prepare()
        pairs = list(zip(self.many[::2], self.many[1::2]))
        self.interrupted(lambda: judge.predict(pairs))

    @unittest.skipUnless(importlib.util.find_spec('langchain_core'), 'langchain-core is not installed')
    def test_langchain(self):
        from tenfold.langchain import TenfoldEmbeddings
        model = TenfoldEmbeddings(model=self.encoder, **QUICK)
        model.client.prepare()
        self.interrupted(lambda: model.embed_documents(self.many))

    def test_while_an_engine_is_built(self):
        for device in ('cpu', ['cpu', 'cpu']):
            with self.subTest(device):
                slow = dict(QUICK, device=device, model_kwargs=dict(optimization_level=5, threads=1))
                model = SentenceTransformer(self.encoder, **slow)
                self.interrupted(lambda: model.encode(TEXTS))
                self.interrupted(model.prepare)

    def test_what_a_callback_of_a_later_build_raises_comes_out(self):
        def progress(*_):
            raise Interrupted
        model = SentenceTransformer(self.encoder, **{**QUICK, 'model_kwargs': {**QUICK['model_kwargs'], 'progress': progress}})
        for _ in range(2):
            with self.assertRaises(Interrupted):
                model.encode(TEXTS)

    def test_in_the_main_thread_alone(self):
        """A call of another thread goes on."""
        model = SentenceTransformer(self.encoder, **QUICK).prepare()
        done = []
        other = threading.Thread(target=lambda: done.append(model.encode(self.many[:100_000])))
        other.start()
        self.interrupted(lambda: model.encode(self.many))
        other.join()
        np.testing.assert_allclose(done[0][:50], model.encode(self.many[:50]), atol=1e-5)


class Others(Case):
    def test_texts_into_tokens(self):
        tokenizer = tenfold.Tokenizer.from_str('{"model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0, "a": 1, "##a": 2}}, '
                                               '"pre_tokenizer": {"type": "Whitespace"}}')
        texts = ['a aa aaa ' * 100] * 100_000
        for after in (0.3, 1.0):   # among the texts; where the rows are filled, on a fast machine
            self.interrupted(lambda: tokenizer.encode_batch(texts), after)

    def test_a_run(self):
        from case import model
        from onnx import TensorProto, helper, numpy_helper
        steps = 400
        nodes = []
        for i in range(steps):
            nodes += [helper.make_node('MatMul', [f'x{i}', 'w'], [f'm{i}']), helper.make_node('Softmax', [f'm{i}'], [f'x{i + 1}'])]
        made = model(nodes, [('x0', TensorProto.FLOAT, [512, 512])], [(f'x{steps}', TensorProto.FLOAT, [512, 512])],
                     [numpy_helper.from_array(np.eye(512, dtype=np.float32), 'w')])
        engine = tenfold.build(made, device='cpu', optimization_level=0, threads=1)
        x = np.ones((512, 512), np.float32)
        expected = engine(x)

        def runs():
            while True:
                engine(x)
        self.interrupted(runs)
        np.testing.assert_array_equal(engine(x), expected)


if __name__ == '__main__':
    unittest.main()
