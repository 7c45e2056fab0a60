#!/usr/bin/env python3
"""Tokenizers of folders without tokenizer.json beside `transformers`: tokenizer_folders.py TOKENIZE (77: it is not installed)"""
import io
import json
import random
import sys
import tempfile
from pathlib import Path

try:
    import sentencepiece
    from tokenizers import AddedToken, pre_tokenizers, trainers
    from transformers import AutoTokenizer
    from transformers.convert_slow_tokenizer import SentencePieceExtractor, SpmConverter

    import tokenizer_kinds as kinds
    import tokenizer_test as test
except ImportError as e:
    print('left out:', e)
    sys.exit(77)

TOKENS = ['<s>', '</s>', '<mask>', '[MASK]', ' <mask> ', '  ', '<u>', '==', '<unk>']


def write(folder, config):
    folder.mkdir()
    (folder / 'tokenizer_config.json').write_text(json.dumps(config))
    return folder


def word_pieces(root):
    t, _ = kinds.word_piece()
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(kinds.corpus(), trainers.WordPieceTrainer(
        vocab_size=2000, special_tokens=['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'], show_progress=False))
    tokens = sorted(t.get_vocab(), key=t.get_vocab().get)
    other = {'[PAD]': '<pad>', '[CLS]': '<s>', '[SEP]': '</s>', '[MASK]': '<mask>'}
    for name, config in {'bert': {'do_lower_case': True}, 'cased': {'do_lower_case': False, 'strip_accents': True}, 'mpnet': {}}.items():
        folder = write(root / name, {'tokenizer_class': 'MPNetTokenizer' if name == 'mpnet' else 'BertTokenizer', **config})
        (folder / 'vocab.txt').write_text(''.join((other.get(k, k) if name == 'mpnet' else k) + '\n' for k in tokens))
        yield folder, AutoTokenizer.from_pretrained(folder).backend_tokenizer


def byte_levels(root):
    t, _ = kinds.byte_bpe()
    t.train_from_iterator(kinds.corpus(), trainers.BpeTrainer(
        vocab_size=1500, special_tokens=['<s>', '<pad>', '</s>', '<unk>', '<mask>', '<|endoftext|>'], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    for name, config in {'roberta': {'tokenizer_class': 'RobertaTokenizer', 'mask_token': {'content': '<mask>', 'lstrip': True,
                                                                                          '__type': 'AddedToken'}},
                         'roberta with space': {'tokenizer_class': 'RobertaTokenizer', 'add_prefix_space': True},
                         'gpt2': {'tokenizer_class': 'GPT2Tokenizer'}}.items():
        folder = write(root / name, config)
        t.model.save(str(folder))
        yield folder, AutoTokenizer.from_pretrained(folder).backend_tokenizer


def sentence_pieces(root):
    unigram = {'model_type': 'unigram', 'vocab_size': 700}
    pairs = {'model_type': 'bpe', 'byte_fallback': True, 'vocab_size': 900, 'user_defined_symbols': ['<u>', '==']}
    for name, how in {'xlm-roberta': unigram, 'unigram': unigram, 'bpe': pairs}.items():
        folder = write(root / name, {'tokenizer_class': 'XLMRobertaTokenizer'} if name == 'xlm-roberta' else {})
        out = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(kinds.corpus()), model_writer=out, minloglevel=9, **how)
        path = folder / ('sentencepiece.bpe.model' if name == 'xlm-roberta' else 'tokenizer.model')
        path.write_bytes(out.getvalue())
        if name == 'xlm-roberta':
            yield folder, AutoTokenizer.from_pretrained(folder).backend_tokenizer
            continue
        extractor = SentencePieceExtractor(str(path))
        t = SpmConverter.build_tokenizer_from_spm_proto(extractor.proto, extractor.extract(None)['vocab'])
        t.add_special_tokens([AddedToken(p.piece, special=True, normalized=False) for p in extractor.proto.pieces if p.type in (2, 3)])
        yield folder, t


def main():
    draw, letters, pool = random.Random(3), test.scalars(7), test.POOL + TOKENS
    texts = [''.join(draw.choice(pool) if draw.random() < 0.8 else chr(draw.choice(letters)) for _ in range(draw.randint(0, 30)))
             for _ in range(3000)] + kinds.corpus()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        for made in (word_pieces, byte_levels, sentence_pieces):
            for folder, reference in made(Path(name)):
                wrong += test.compare(folder.name, folder, reference, 0, texts)
                wrong += test.compare(folder.name + ', pairs', folder, reference, 0, texts[:600], 'pairs')
    sys.exit(wrong > 0)


if __name__ == '__main__':
    main()
