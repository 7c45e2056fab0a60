#!/usr/bin/env python3
"""How quick tokenizers are beside Hugging Face's `tokenizers`: bench/tokenizer_speed.py TOKENIZE TEXTS [TOKENIZER.json...] [--rounds=N]

    build/venv/bin/python bench/tokenizer_speed.py build/release/tokenize ../shared/data/stsb-en-test.csv

TEXTS is a file whose lines are texts; of a CSV like STS-B's, its two sentences. Without tokenizers those of
tests/tokenizer_kinds.py are trained on it, of byte-level BPE and of Unigram. Both run in turns on one thread and on two;
seconds are those of a clock, the best of five passes in each round for either, and the row has the medians of the rounds.
"""
import csv
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tests'))
CHILD = """
import sys, time, json
from tokenizers import Tokenizer
t = Tokenizer.from_file(sys.argv[1])
t.no_padding(), t.no_truncation()
texts = json.load(sys.stdin)
for _ in range(5):
    start = time.perf_counter()
    t.encode_batch_fast(texts)
    print(time.perf_counter() - start)
"""


def read(path):
    if path.endswith('.csv'):
        return [cell for row in csv.reader(open(path)) for cell in row if len(cell) > 5 and not cell.replace('.', '').isdigit()]
    return Path(path).read_text().splitlines()


def trained(folder, texts):
    import tokenizer_kinds as kinds
    kinds.corpus = lambda: texts * 2
    for name, kind in {'byte-level BPE': 'llama3', 'Unigram': 'unigram', 'BPE with bytes': 'llama2'}.items():
        path = Path(folder) / f'{name}.json'
        path.write_text(kinds.IN_CI[kind]().to_str())
        yield str(path)


def ours(program, path, data, threads):
    out = subprocess.run([program, path, '0', 'time', str(threads)], input=data, stdout=subprocess.PIPE, check=True).stdout.split()
    return min(map(float, out[::2])), int(out[1])


def theirs(path, texts, threads):
    env = dict(os.environ, TOKENIZERS_PARALLELISM='true' if threads > 1 else 'false', RAYON_NUM_THREADS=str(threads))
    out = subprocess.run([sys.executable, '-c', CHILD, path], input=json.dumps(texts).encode(), stdout=subprocess.PIPE, check=True, env=env)
    return min(map(float, out.stdout.split()))


def main():
    options = [a for a in sys.argv[1:] if a.startswith('--')]
    program, source, *paths = [a for a in sys.argv[1:] if not a.startswith('--')]
    rounds = next((int(o.split('=')[1]) for o in options if o.startswith('--rounds=')), 5)
    texts = read(source)
    data = b''.join(struct.pack('<I', len(b)) + b for b in (t.encode() for t in texts))
    print(f'{len(texts)} texts, {sum(len(t.encode()) for t in texts)} bytes')
    with tempfile.TemporaryDirectory() as folder:
        for path in paths or list(trained(folder, texts)):
            seconds = {(who, n): [] for who in 'ot' for n in (1, 2)}
            for _ in range(rounds):
                for n in (1, 2):
                    took, tokens = ours(program, path, data, n)
                    seconds['o', n].append(took)
                    seconds['t', n].append(theirs(path, texts, n))
            m = {key: statistics.median(values) for key, values in seconds.items()}
            print(f'{Path(path).stem}: {tokens / m["o", 1] / 1e6:.2f} M tokens/s beside {tokens / m["t", 1] / 1e6:.2f} '
                  f'({m["t", 1] / m["o", 1]:.1f}x); two threads {m["o", 1] / m["o", 2]:.2f}x of one, '
                  f'{m["t", 2] / m["o", 2]:.1f}x of theirs')


if __name__ == '__main__':
    main()
