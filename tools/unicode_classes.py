"""What the reference's patterns, its Precompiled and its UnicodeScripts know of scalars: for tools/write_unicode_tables.py."""
import struct

from tokenizers import Regex, normalizers, pre_tokenizers

SCALARS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
TEXT = "".join(map(chr, SCALARS))
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split()   # as in general_category.h
CLASSES = {"Word": r"\w", "Alphabetic": r"\p{Alphabetic}", "Uppercase": r"\p{Uppercase}", "Lowercase": r"\p{Lowercase}",
           "PosixPunct": "[[:punct:]]"}
SCRIPTS = "Arabic Armenian Bengali Bopomofo Common Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew " \
          "Hiragana Inherited Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Oriya Sinhala Tamil Telugu Thai Tibetan".split()


def matching(pattern):
    """Ranges of the scalars that a class has in a pattern: what is left where they are removed, turned round."""
    rest = [place for _, place in pre_tokenizers.Split(Regex(pattern + "+"), "removed").pre_tokenize_str(TEXT)]
    found, behind = [], 0
    for begin, end in rest + [(len(TEXT), len(TEXT))]:
        if begin > behind:
            found.append((SCALARS[behind], SCALARS[begin - 1]))
        behind = end
    return found


def changes(value):
    """value << 24 | scalar wherever `value` changes."""
    found, last = [], None
    for c in SCALARS:
        if value[c] != last:
            found.append(value[c] << 24 | c)
            last = value[c]
    return found


def general_categories():
    value = [CATEGORIES.index("Cn")] * 0x110000
    for number, name in enumerate(CATEGORIES[:-1]):
        for first, last in matching(rf"\p{{{name}}}"):
            value[first:last + 1] = [number] * (last - first + 1)
    return changes(value)


def pattern_classes():
    return {name: matching(pattern) for name, pattern in CLASSES.items()}


def pattern_scripts():
    return {name: matching(rf"\p{{{name}}}") for name in SCRIPTS}


def clusters():
    """What a Precompiled that maps every first byte to "b" makes one of: it sees a cluster of up to five bytes as one string."""
    units = [0] * 1024
    units[0] = 256 << 10
    for byte in range(1, 256):
        units[256 ^ byte] = ((256 ^ byte) ^ 512) << 10 | 1 << 8 | byte
    trie = struct.pack(f"<{len(units)}I", *units)
    charsmap = struct.pack("<I", len(trie)) + trie + b"b\0"
    bs = normalizers.Precompiled(charsmap).normalize_str
    separate = {0} | {c for c in SCALARS if c < 0x10000 and bs(chr(c) + "\u0301") == "bb"}
    extends = [c for c in SCALARS if bs("a" + chr(c)) == "b"]
    within = set(extends) | separate
    return {"separate": sorted(separate), "extends": extends,
            "consonants": [c for c in SCALARS if c < 0x10000 and c not in within and
                           bs("\u0915\u094d" + chr(c) + "\u0301") == "bbbb"],
            "linkers": [c for c in extends if bs("\u0915" + chr(c) + "\u0915\u0301") == "bbbb"],
            "prepends": [c for c in SCALARS if bs(chr(c) + "a") == "b"],
            "pictographs": [c for c in SCALARS if c not in within and bs("\u00a9\u200d" + chr(c)) == "bbb"]}


def scripts():
    """Groups that UnicodeScripts parts, numbered as they come up; 0 are those that go with any."""
    parts = lambda text: len(pre_tokenizers.UnicodeScripts().pre_tokenize_str(text))
    value = [0] * 0x110000
    known = []   # one scalar of each
    last = None
    for c in SCALARS:
        if parts("a" + chr(c)) == 1 and parts("\u044f" + chr(c)) == 1:
            continue
        if last is None or parts(chr(last) + chr(c)) > 1:
            same = [i for i, one in enumerate(known, 1) if parts(chr(one) + chr(c)) == 1]
            if not same:
                known.append(c)
            number = same[0] if same else len(known)
        value[c], last = number, c
    assert len(known) < 256
    return changes(value)
