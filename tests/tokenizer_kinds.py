"""The tokenizers that tests/tokenizer_test.py trains: each component of tokenizer.json is in one of them."""
import itertools
import json
import struct
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

ROOT = Path(__file__).resolve().parent.parent
SPECIAL = ['[UNK]', '[CLS]', '[SEP]', '[MASK]']
LETTERS = r'[^\r\n\p{L}\p{N}]?'
CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = CL100K.replace('{1,3}', '')
O200K = '|'.join([LETTERS + r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                  LETTERS + r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                  r'\p{N}{1,3}', r' ?[^\s\p{L}\p{N}]+[\r\n/]*', r'\s*[\r\n]+', r'\s+(?!\S)', r'\s+'])
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
WORDS = r'\w+|[^\w\s]+'
ODD = [r'\p{N}{1,3}+', r'[\p{Han}\p{Hiragana}\p{Katakana}]+', r'\b', r'(?=[A-Z])',
       r'[[:punct:]]+', r'\s+$', r'[^\P{L}\d]+', r'(?<=\p{Ll})\P{Ll}', r'']
BEHAVIORS = ['removed', 'isolated', 'merged_with_previous', 'merged_with_next', 'contiguous']


def corpus():
    return [line for name in ('README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md') for line in (ROOT / name).read_text().splitlines()] + \
        ['Zażółć gęślą jaźń — naïve café ﬁn, Straße; 東京は日本の首都です。 Привет, мир! 안녕하세요 세계 नमस्ते दुनिया مرحبا بالعالم ①②③ ½'] * 20


def charsmap(pairs):
    """A double-array trie of `pairs`, and their texts, as SentencePiece has them."""
    texts, units, used = b'', [0] * 4096, {0}
    nodes = [(0, b'', sorted((k.encode(), v.encode()) for k, v in pairs.items()))]
    for at, prefix, rows in nodes:
        heads = {k[len(prefix)]: [r for r in rows if r[0][len(prefix)] == k[len(prefix)]] for k, _ in rows if len(k) > len(prefix)}
        ends = [v for k, v in rows if k == prefix]
        labels = [*heads] + [0] * len(ends)
        base = next(b for b in itertools.count(1) if all(b ^ c not in used for c in labels))
        units += [0] * 4096 if base > len(units) - 512 else []
        used |= {base ^ c for c in labels}
        units[at] |= (at ^ base) << 10 | (256 if ends else 0)
        if ends:
            units[base] = len(texts)
            texts += ends[0] + b'\0'
        for c, own in heads.items():
            units[base ^ c] = c
            nodes.append((base ^ c, prefix + bytes([c]), own))
    trie = struct.pack(f'<{len(units)}I', *units)
    return struct.pack('<I', len(trie)) + trie + texts


PAIRS = {'\uff21': 'A', '\ufb01': 'fi', '\u0301': '', 'e\u0301': '\u00e9', '\r': ' ', '\t': ' ', '\u00bd': '1/2',
         '\u304b\u3099': '\u304c', '\u2122': 'TM', '\u00a9': '(c)', 'x\u0327': 'xy'}


def bpe(**how):
    own = {key: how[key] for key in ('continuing_subword_prefix', 'end_of_word_suffix') if key in how}
    return Tokenizer(models.BPE(**how)), trainers.BpeTrainer(vocab_size=1500, special_tokens=SPECIAL, show_progress=False, **own)


def byte_bpe(regex=None, **how):
    t, trainer = bpe(**how)
    trainer.initial_alphabet = pre_tokenizers.ByteLevel.alphabet()
    last = pre_tokenizers.ByteLevel(add_prefix_space=not regex, use_regex=not regex)
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(regex), 'isolated'), last]) if regex else last
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=not regex)
    return t, trainer


def unigram(**how):
    t = Tokenizer(models.Unigram())
    return t, trainers.UnigramTrainer(vocab_size=700, special_tokens=SPECIAL, unk_token='[UNK]', show_progress=False, **how)


def with_bytes(t):
    """The tokens that byte_fallback needs, which no trainer makes."""
    spec = json.loads(t.to_str())
    names = [f'<0x{b:02X}>' for b in range(256)]
    if spec['model']['type'] == 'Unigram':
        spec['model']['vocab'] += [[n, -20.0] for n in names]
    else:
        vocab = spec['model']['vocab']
        vocab.update({n: len(vocab) + i for i, n in enumerate(names)})
    spec['model']['byte_fallback'] = True
    return Tokenizer.from_str(json.dumps(spec))


def word_level():
    trainer = trainers.WordLevelTrainer(vocab_size=2000, special_tokens=SPECIAL, show_progress=False)
    return Tokenizer(models.WordLevel(unk_token='[UNK]')), trainer


def word_piece(prefix='##', **how):
    t = Tokenizer(models.WordPiece(unk_token='[UNK]', continuing_subword_prefix=prefix, **how))
    t.decoder = decoders.WordPiece(prefix=prefix)
    return t, trainers.WordPieceTrainer(vocab_size=3000, special_tokens=SPECIAL, show_progress=False, continuing_subword_prefix=prefix)


def finish(t, trainer, fallback=False, processor=None, tokens=True):
    t.train_from_iterator(corpus(), trainer)
    if fallback:
        t = with_bytes(t)
    cls, sep = t.token_to_id('[CLS]'), t.token_to_id('[SEP]')
    template = processors.TemplateProcessing(single='[CLS] $0 [SEP]', pair='[CLS]:2 $B:1 [SEP]:3 $A:0',
                                             special_tokens=[('[CLS]', cls), ('[SEP]', sep)])
    if processor == 'bert':
        t.post_processor = processors.BertProcessing(('[SEP]', sep), ('[CLS]', cls))
    elif processor == 'roberta':
        t.post_processor = processors.RobertaProcessing(('[SEP]', sep), ('[CLS]', cls), trim_offsets=True, add_prefix_space=True)
    elif processor == 'template':
        t.post_processor = template
    elif processor == 'both':
        t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True, add_prefix_space=False), template])
    if tokens:
        t.add_tokens([AddedToken('<tag>', lstrip=True, rstrip=True, normalized=False),
                      AddedToken('Name', single_word=True, normalized=True)])
    return t


def cased():
    t, trainer = word_piece(max_input_chars_per_word=12)
    t.normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return finish(t, trainer)


def words():
    t, trainer = word_level()
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase(), normalizers.Strip()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)])
    return finish(t, trainer, processor='bert')


def parts():
    t, trainer = word_piece('@')
    t.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.NFC()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation(behavior='contiguous'),
                                               pre_tokenizers.Digits()])
    return finish(t, trainer, processor='template')


def sentence_pieces(scheme='first', split=True, **how):
    t, trainer = unigram()
    t.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap(PAIRS)), normalizers.Replace(Regex(' {2,}'), ' ')])
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    t.decoder = decoders.Metaspace(prepend_scheme=scheme, split=split)
    return finish(t, trainer, processor='template', **how)


def llama2(unk=True, fuse=True, fallback=True):
    t, trainer = bpe(**({'unk_token': '[UNK]'} if unk else {}), fuse_unk=fuse)
    t.normalizer = normalizers.Sequence([normalizers.Prepend('\u2581'), normalizers.Replace(' ', '\u2581')])
    t.decoder = decoders.Sequence([decoders.Replace('\u2581', ' '), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(' ', 1, 0)])
    trainer.limit_alphabet = 80
    if unk:   # tokens that end with a word, as SentencePiece trains them
        t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme='never')
    spec = json.loads(finish(t, trainer, fallback=fallback, processor='template').to_str())
    spec['pre_tokenizer'] = None
    return Tokenizer.from_str(json.dumps(spec))


def suffixed(**how):
    t, trainer = bpe(unk_token='[UNK]', end_of_word_suffix='</w>', **how)
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r'\s+'), ' '), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(CLIP), 'removed', invert=True)])
    t.decoder = decoders.BPEDecoder()
    return finish(t, trainer)


def prefixed():
    t, trainer = bpe(unk_token='[UNK]', continuing_subword_prefix='##', fuse_unk=True)
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer.limit_alphabet = 60
    return finish(t, trainer)


def split_by(pattern, behavior, invert=False):
    t, trainer = bpe(unk_token='[UNK]')
    t.pre_tokenizer = pre_tokenizers.Split(pattern, behavior, invert)
    t.decoder = decoders.CTC(pad_token='a', word_delimiter_token='e')
    return finish(t, trainer)


def pre_tokenized(pre_tokenizer, normalizer=None, kind=word_piece):
    t, trainer = kind()
    t.pre_tokenizer = pre_tokenizer
    if normalizer:
        t.normalizer = normalizer
    return finish(t, trainer)


def byte_normalized():
    t, trainer = bpe()
    trainer.initial_alphabet = pre_tokenizers.ByteLevel.alphabet()
    t.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.ByteLevel()])
    t.pre_tokenizer = pre_tokenizers.FixedLength(7)
    t.decoder = decoders.ByteLevel()
    return finish(t, trainer)


def sentencepiece_models():
    """Tokenizers as they are converted from SentencePiece's own models, where that is installed."""
    try:
        import io
        import sentencepiece
    except ImportError:
        return {}
    def made(rule):
        out = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(corpus()), model_writer=out, vocab_size=600, model_type='unigram',
                                                 normalization_rule_name=rule, minloglevel=9)
        processor = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())
        spec = out.getvalue()
        start = spec.index(rule.encode()) + len(rule)   # name, then precompiled_charsmap = 2
        size, shift, at = 0, 0, start + 1
        while True:
            size |= (spec[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if spec[at - 1] < 128:
                break
        pieces = [(processor.id_to_piece(i), processor.get_score(i)) for i in range(processor.get_piece_size())]
        t = Tokenizer(models.Unigram(pieces, unk_id=processor.unk_id()))
        if rule != 'identity':
            t.normalizer = normalizers.Precompiled(spec[at:at + size])
        t.pre_tokenizer = pre_tokenizers.Metaspace()
        t.decoder = decoders.Metaspace()
        return t
    return {f'sentencepiece {rule}': lambda rule=rule: made(rule) for rule in ('nmt_nfkc', 'nfkc', 'nmt_nfkc_cf', 'nfkc_cf', 'identity')}


IN_CI = {
    'words': words,
    'parts': parts,
    'roberta': lambda: finish(*byte_bpe(), processor='roberta'),
    'llama3': lambda: finish(*byte_bpe(CL100K, ignore_merges=True), processor='both'),
    'unigram': sentence_pieces,
    'llama2': llama2,
}


def all_kinds():
    kinds = dict(IN_CI)
    kinds['cased'] = cased
    kinds['byte level, no space'] = lambda: finish(*byte_bpe('.+'))
    for name, regex in {'qwen2': QWEN2, 'o200k': O200K, 'clip': CLIP, 'words by pattern': WORDS}.items():
        kinds[name] = lambda regex=regex: finish(*byte_bpe(regex))
    for scheme, split in itertools.product(['always', 'first', 'never'], [True, False]):
        kinds[f'metaspace {scheme} {split}'] = lambda scheme=scheme, split=split: sentence_pieces(scheme, split)
    kinds['unigram with bytes'] = lambda: sentence_pieces(fallback=True)
    for unk, fuse, fallback in itertools.product([True, False], repeat=3):
        kinds[f'llama2 unk={unk} fuse={fuse} bytes={fallback}'] = lambda u=unk, f=fuse, b=fallback: llama2(u, f, b)
    kinds.update(suffixed=suffixed, prefixed=prefixed)
    for behavior, invert in itertools.product(BEHAVIORS, [True, False]):
        kinds[f'split {behavior} {invert}'] = lambda b=behavior, i=invert: split_by(Regex(r'\s+|[aeiou]'), b, i)
        kinds[f'split by text {behavior} {invert}'] = lambda b=behavior, i=invert: split_by('e', b, i)
    for pattern in ODD:
        kinds[f'split by {pattern}'] = lambda p=pattern: split_by(Regex(p), 'isolated')
    for behavior in BEHAVIORS:
        kinds[f'punctuation {behavior}'] = lambda b=behavior: pre_tokenized(pre_tokenizers.Punctuation(behavior=b))
    kinds['scripts'] = lambda: pre_tokenized(pre_tokenizers.UnicodeScripts(), normalizers.NFD())
    kinds['delimiter'] = lambda: pre_tokenized(pre_tokenizers.CharDelimiterSplit('e'), normalizers.NFKC(), word_level)
    kinds['bytes normalized'] = byte_normalized
    return kinds | sentencepiece_models()
