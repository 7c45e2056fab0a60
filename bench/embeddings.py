#!/usr/bin/env python3
"""Text to vectors beside the peers that are installed, in turns, and how near the vectors are.

    embeddings.py MODEL_FOLDER MODEL.onnx SENTENCES.csv [--threads 2] [--rounds 5] [--seconds 5] [--texts N] [--parts sentences,start,...]

MODEL_FOLDER: as sentence-transformers saves it (all-MiniLM-L6-v2). MODEL.onnx: the same model with pooling and normalization, which
examples/minilm_to_onnx.py writes. SENTENCES.csv: STS-B's test set, text, text, score. Peers: onnxruntime and OpenVINO with tokenizers;
fastembed, which gets the folder's files; sentence-transformers. Those that are not installed are named and left out.

Parts: `sentences` (all of them, texts of mixed lengths, one at a time), `start` (a process each: memory at rest, import to the first vector
with the plan kept and without), `rank` (one query, 100 passages, a cross encoder of MiniLM's shape) and `mpnet` (mpnet-base's shape at
batch 1 and 32). The last two make models of random weights and need torch and transformers.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import embeddings_peers as peers

LENGTHS = (8, 256)   # of the mixed texts, in tokens
MPNET_TOKENS = 128   # of each text, as the tables that are compared with have them


def sentences(path):
    with open(path, newline='') as file:
        rows = [(a, b, float(score)) for a, b, score in csv.reader(file)]
    return [t for a, b, _ in rows for t in (a, b)], np.array([s for *_, s in rows])


def tokenizer_of(folder):
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(os.path.join(folder, 'tokenizer.json'))
    tokenizer.no_padding(), tokenizer.no_truncation()
    return tokenizer


def text_of(length, texts, tokenizer, random):
    """Packed variable-length batches, cut to so many tokens."""
    words, total = [], 0
    while total < length:
        words.append(texts[random.integers(len(texts))])
        total += len(tokenizer.encode(words[-1], add_special_tokens=False))
    encoded = tokenizer.encode(' '.join(words))
    return ' '.join(words)[:encoded.offsets[min(length - 2, len(encoded.ids) - 2)][1]]


def spearman(pairs, scores):
    rank = lambda x: np.argsort(np.argsort(x, kind='stable'), kind='stable')   # ties are broken alike for all
    cosines = (pairs[0::2] * pairs[1::2]).sum(1) / np.linalg.norm(pairs[0::2], axis=1) / np.linalg.norm(pairs[1::2], axis=1)
    return 100 * np.corrcoef(rank(cosines), rank(scores))[0, 1]


def in_turns(calls, rounds):
    """Seconds of each call, the median of its rounds."""
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(t) for name, t in times.items()}


def one_by_one(encoders, texts, seconds):
    times = {name: [] for name in encoders}
    end = time.perf_counter() + seconds * len(encoders)
    for text in (texts * 1000):
        for name, encode in encoders.items():
            begin = time.perf_counter()
            encode(text)
            times[name].append(1e3 * (time.perf_counter() - begin))
        if time.perf_counter() > end:
            break
    return {name: (statistics.median(t), float(np.percentile(t, 99))) for name, t in times.items()}


def table(titles, rows):
    """Each cell with its ratio to Tenfold's in brackets."""
    print(f'{"":24}' + ''.join(f'{title:>20}' for title in titles))
    for name, cells in rows.items():
        print(f'{name:24}' + ''.join(f'{f"{c:.3f} ({c / o:.2f})":>20}' for c, o in zip(cells, rows['tenfold'])))


def run_sentences(a):
    made, missing = peers.installed(peers.ENCODERS, a.onnx)
    print('left out:', ', '.join(missing) or 'none')
    encoders = {name: make(a) for name, make in made.items()}
    texts, scores = sentences(a.sentences)
    if a.texts:
        texts, scores = texts[:a.texts], scores[:a.texts // 2]
    random, tokenizer = np.random.default_rng(3), tokenizer_of(a.folder)
    mixed = [text_of(n, texts, tokenizer, random) for n in random.integers(LENGTHS[0], LENGTHS[1] + 1, a.mixed)]
    vectors = {name: encode(texts) for name, encode in encoders.items()}
    truth = vectors.get('sentence_transformers', vectors.get('onnxruntime', vectors['tenfold']))
    for name, rows in vectors.items():
        print(f'{name}: Spearman {spearman(rows, scores):.3f}, least cosine to the reference {(rows * truth).sum(1).min():.7f}')
    encoders['tenfold'](mixed)
    timed = lambda some: in_turns({name: lambda encode=encode: encode(some) for name, encode in encoders.items()}, a.rounds)
    whole, lengths, single = timed(texts), timed(mixed), one_by_one(encoders, texts, a.seconds)
    table([f'{len(texts)} sentences, s', 'mixed, s', 'one, ms', 'p99, ms'],
          {name: (whole[name], lengths[name], *single[name]) for name in encoders})


def run_rank(a):
    """A cross encoder of MiniLM's shape; scores have to agree."""
    from random_encoders import save, tokenizer_of as train
    texts, _ = sentences(a.sentences)
    folder = os.path.join(a.work, 'cross')
    save(folder, 'bert', train('bert', texts), labels=1, size=dict(width=384, heads=12, layers=6, wide=1536))
    a = argparse.Namespace(**{**vars(a), 'folder': folder})
    rankers = {name: make(a) for name, make in peers.installed(peers.RANKERS, None)[0].items()}
    query, passages = texts[0], [' '.join(texts[i:i + 5]) for i in range(0, 500, 5)]
    scores = {name: np.array([r['score'] for r in sorted(rank(query, passages), key=lambda r: r['corpus_id'])])
              for name, rank in rankers.items()}
    for name, found in scores.items():
        print(f'{name}: largest difference of a score to ours {np.abs(found - scores["tenfold"]).max():.1e}')
    times = in_turns({name: lambda rank=rank: rank(query, passages) for name, rank in rankers.items()}, a.rounds)
    table(['1 x 100, s'], {name: (seconds,) for name, seconds in times.items()})


def run_mpnet(a):
    from random_encoders import BASE, save, tokenizer_of as train
    texts, _ = sentences(a.sentences)
    folder = os.path.join(a.work, 'mpnet')
    save(folder, 'mpnet', train('mpnet', texts), size=BASE)
    a = argparse.Namespace(**{**vars(a), 'folder': folder, 'onnx': None})
    encoders = {name: make(a) for name, make in peers.installed(peers.ENCODERS, None)[0].items()}
    random, tokenizer = np.random.default_rng(3), tokenizer_of(folder)
    batch = [text_of(MPNET_TOKENS, texts, tokenizer, random) for _ in range(32)]
    for encode in encoders.values():
        encode(batch[:1]), encode(batch)
    times = [in_turns({name: lambda encode=encode: encode(some) for name, encode in encoders.items()}, a.rounds)
             for some in (batch[:1], batch)]
    table(['batch 1, s', 'batch 32, s'], {name: tuple(t[name] for t in times) for name in encoders})


def start_one(a):
    """In a process of its own: seconds from here to the first vector, and what the process then holds, in MB."""
    begin = time.perf_counter()
    encode = peers.ENCODERS[a.start][2](a)
    encode('How are you?')
    seconds = time.perf_counter() - begin
    with open('/proc/self/smaps_rollup') as file:
        sizes = {line.split(':')[0]: int(line.split()[1]) / 1024 for line in file if line.endswith('kB\n')}
    print(json.dumps({'seconds': seconds, 'private': sizes['Private_Clean'] + sizes['Private_Dirty'], 'resident': sizes['Rss']}))


def run_start(a):
    """Private memory is what a second process of the same model costs; resident memory has weights that are mapped, too."""
    def one(name, plans):
        command = [sys.executable, __file__, a.folder, a.onnx, a.sentences, '--start', name, '--threads', str(a.threads), '--level',
                   str(a.level), '--plans', plans]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f'{name}: {done.stderr[-500:]}')
        return json.loads(done.stdout.splitlines()[-1])
    made, _ = peers.installed(peers.ENCODERS, a.onnx)
    rows = {name: [] for name in made}
    with tempfile.TemporaryDirectory() as plans:
        for name in made:
            one(name, plans)   # files are read once, and Tenfold's plan is kept
        for _ in range(a.rounds):
            for name in made:
                rows[name].append(one(name, plans))
        cold = []
        for i in range(max(1, a.rounds // 2)):
            cold.append(one('tenfold', os.path.join(plans, f'cold{i}'))['seconds'])
    middle = lambda runs: tuple(statistics.median(run[key] for run in runs) for key in ('seconds', 'private', 'resident'))
    table(['to first vector, s', 'private, MB', 'resident, MB'], {name: middle(runs) for name, runs in rows.items()})
    print(f'tenfold without a kept plan: {statistics.median(cold):.2f} s')


PARTS = {'sentences': run_sentences, 'start': run_start, 'rank': run_rank, 'mpnet': run_mpnet}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('folder')
    p.add_argument('onnx')
    p.add_argument('sentences')
    p.add_argument('--parts', type=lambda s: s.split(','), default=list(PARTS))
    p.add_argument('--threads', type=int, default=2)
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('--seconds', type=float, default=5)
    p.add_argument('--texts', type=int, default=0, help='only the first so many sentences; 0: all')
    p.add_argument('--mixed', type=int, default=500)
    p.add_argument('--level', type=int, default=1)
    p.add_argument('--plans', default=None, help="the folder of plans (the library's)")
    p.add_argument('--start', help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.start:
        return start_one(a)
    os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests'))
    with tempfile.TemporaryDirectory() as a.work:
        for part in a.parts:
            print(f'\n{part}')
            PARTS[part](a)
    return None


if __name__ == '__main__':
    main()
