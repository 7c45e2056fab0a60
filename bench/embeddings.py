#!/usr/bin/env python3
"""Text to vectors beside the peers that are installed, in turns, and how near the vectors are.

    embeddings.py MODEL_FOLDER MODEL.onnx SENTENCES.csv [--threads 2] [--rounds 5] [--seconds 5] [--texts N]

MODEL_FOLDER: as sentence-transformers saves it (all-MiniLM-L6-v2). MODEL.onnx: the same model with pooling and normalisation, which
examples/minilm_to_onnx.py writes. SENTENCES.csv: STS-B's test set, text, text, score. Peers: onnxruntime with tokenizers; fastembed, which
gets the folder's files; sentence-transformers. Those that are not installed are named and left out.
"""
import argparse
import csv
import importlib.util
import os
import statistics
import tempfile
import time

import numpy as np

LENGTHS = (8, 256)   # of the mixed texts, in tokens


def sentences(path):
    with open(path, newline='') as file:
        rows = [(a, b, float(score)) for a, b, score in csv.reader(file)]
    return [t for a, b, _ in rows for t in (a, b)], np.array([s for *_, s in rows])


def mixed(texts, tokenizer, count):
    """Texts of 8 to 256 tokens, each length about as often: sentences behind each other, cut."""
    random, out = np.random.default_rng(3), []
    for length in random.integers(LENGTHS[0], LENGTHS[1] + 1, count):
        words, total = [], 0
        while total < length:
            words.append(texts[random.integers(len(texts))])
            total += len(tokenizer.encode(words[-1], add_special_tokens=False))
        encoded = tokenizer.encode(' '.join(words))
        out.append(' '.join(words)[:encoded.offsets[min(length - 2, len(encoded.ids) - 2)][1]])
    return out


def tenfold_encoder(a):
    from tenfold.embeddings import SentenceTransformer
    model = SentenceTransformer(a.folder, device='cpu', model_kwargs=dict(threads=a.threads, optimization_level=a.level),
                                plan_cache=a.plans).prepare()
    return model.encode


def onnxruntime_encoder(a, batch=32):
    """As people write it: batches in the order of lengths, padded to the longest."""
    import onnxruntime as ort
    from tokenizers import Tokenizer
    options = ort.SessionOptions()
    options.intra_op_num_threads = a.threads
    session = ort.InferenceSession(a.onnx, options, providers=['CPUExecutionProvider'])
    tokenizer = Tokenizer.from_file(os.path.join(a.folder, 'tokenizer.json'))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()

    def encode(texts):
        one = isinstance(texts, str)
        texts = [texts] if one else texts
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        out = None
        for at in range(0, len(order), batch):
            places = order[at:at + batch]
            encoded = tokenizer.encode_batch([texts[i] for i in places])
            feed = {'input_ids': np.array([e.ids for e in encoded]), 'attention_mask': np.array([e.attention_mask for e in encoded])}
            rows = session.run(None, feed)[0]
            out = np.empty((len(texts), rows.shape[1]), np.float32) if out is None else out
            out[places] = rows
        return out[0] if one else out
    return encode


def fastembed_encoder(a):
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType
    folder = tempfile.mkdtemp()
    for name in os.listdir(a.folder):
        if name.endswith('.json'):
            os.symlink(os.path.abspath(os.path.join(a.folder, name)), os.path.join(folder, name))
    os.symlink(os.path.abspath(a.onnx), os.path.join(folder, 'model.onnx'))
    TextEmbedding.add_custom_model(model='local/minilm', pooling=PoolingType.DISABLED, normalization=False, dim=384,
                                   sources=ModelSource(hf='local/minilm'), model_file='model.onnx')
    model = TextEmbedding('local/minilm', specific_model_path=folder, threads=a.threads)
    return lambda texts: next(iter(model.embed([texts]))) if isinstance(texts, str) else np.array(list(model.embed(texts)))


def sentence_transformers_encoder(a):
    import torch
    from sentence_transformers import SentenceTransformer
    torch.set_num_threads(a.threads)
    return SentenceTransformer(a.folder, device='cpu').encode


PEERS = {'tenfold': tenfold_encoder, 'onnxruntime': onnxruntime_encoder, 'fastembed': fastembed_encoder,
         'sentence_transformers': sentence_transformers_encoder}


def spearman(pairs, scores):
    rank = lambda x: np.argsort(np.argsort(x, kind='stable'), kind='stable')   # ties are broken alike for all
    cosines = (pairs[0::2] * pairs[1::2]).sum(1) / np.linalg.norm(pairs[0::2], axis=1) / np.linalg.norm(pairs[1::2], axis=1)
    return 100 * np.corrcoef(rank(cosines), rank(scores))[0, 1]


def in_turns(encoders, texts, rounds):
    times = {name: [] for name in encoders}
    for _ in range(rounds):
        for name, encode in encoders.items():
            begin = time.perf_counter()
            encode(texts)
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


def main():
    p = argparse.ArgumentParser()
    p.add_argument('folder')
    p.add_argument('onnx')
    p.add_argument('sentences')
    p.add_argument('--threads', type=int, default=2)
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('--seconds', type=float, default=5)
    p.add_argument('--texts', type=int, default=0, help='only the first so many sentences; 0: all')
    p.add_argument('--mixed', type=int, default=500)
    p.add_argument('--level', type=int, default=1)
    p.add_argument('--plans', default=None, help="the folder of plans (the library's)")
    a = p.parse_args()
    missing = [n for n in PEERS if not importlib.util.find_spec(n)]
    print('not installed:', ', '.join(missing) or 'none')
    encoders = {name: make(a) for name, make in PEERS.items() if name not in missing}
    texts, scores = sentences(a.sentences)
    if a.texts:
        texts, scores = texts[:a.texts], scores[:a.texts // 2]
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(os.path.join(a.folder, 'tokenizer.json'))
    tokenizer.no_padding(), tokenizer.no_truncation()
    long = mixed(texts, tokenizer, a.mixed)
    vectors = {name: encode(texts) for name, encode in encoders.items()}
    truth = vectors.get('sentence_transformers', vectors.get('onnxruntime'))
    for name, rows in vectors.items():
        print(f'{name}: Spearman {spearman(rows, scores):.3f}, least cosine to the reference {(rows * truth).sum(1).min():.7f}')
    encoders['tenfold'](long)
    whole, lengths, single = in_turns(encoders, texts, a.rounds), in_turns(encoders, long, a.rounds), one_by_one(encoders, texts, a.seconds)
    ours = whole['tenfold'], lengths['tenfold'], *single['tenfold']
    print(f'{"":24}{len(texts)} sentences, s{"mixed, s":>14}{"one, ms":>14}{"p99, ms":>14}')
    for name in encoders:
        cells = whole[name], lengths[name], *single[name]
        print(f'{name:24}' + ''.join(f'{c:8.3f} ({c / o:4.2f})' for c, o in zip(cells, ours)))


if __name__ == '__main__':
    main()
