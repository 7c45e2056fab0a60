#!/usr/bin/env python3
"""Writes the tables of src/text/unicode from what Hugging Face's `tokenizers` does with every Unicode scalar.

    build/venv/bin/python tools/write_unicode_tables.py [--check]

The reference mixes several versions of Unicode, so no library's tables are its own. A newer reference is one run of
this script (five minutes: patterns are slow to ask). --check writes nothing and fails where a table would change.
"""
import sys
from pathlib import Path

import tokenizers
import unicodedata
from tokenizers import normalizers, pre_tokenizers

import unicode_classes

FOLDER = Path(__file__).resolve().parent.parent / "src" / "text" / "unicode"
SCALARS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
WIDTH = 136
HANGUL = range(0xAC00, 0xD7A4)   # composed by arithmetic


def normalized(normalizer):
    text = normalizer.normalize_str
    return {c: text(chr(c)) for c in SCALARS}


def splits(pre_tokenizer):
    """The scalars that part two letters that they stand between."""
    return [c for c in SCALARS if len(pre_tokenizer.pre_tokenize_str("a" + chr(c) + "a")) > 1]


def ranges(scalars, value=lambda c: None):
    runs = []
    for c in sorted(scalars):
        if runs and runs[-1][1] == c - 1 and value(runs[-1][0]) == value(c):
            runs[-1][1] = c
        else:
            runs.append([c, c])
    return runs


def combining_classes(nfd):
    """Of the scalars that the reference moves among marks; their values never change once they are assigned."""
    text = normalizers.NFD().normalize_str
    moved = [c for c in SCALARS if len(nfd[c]) == 1 and nfd[c] == chr(c) and
             (text("a" + chr(c) + "\u0334") == "a\u0334" + chr(c) or text("a\u0301" + chr(c)) == "a" + chr(c) + "\u0301")]
    return {c: unicodedata.combining(chr(c)) for c in moved}


def compositions(nfd):
    """Pairs that the reference composes, from full decompositions: all but the last mark are one character by themselves."""
    nfc = normalizers.NFC().normalize_str
    pairs = []
    for c in SCALARS:
        parts = nfd[c]
        if c in HANGUL or len(parts) < 2 or nfc(parts) != chr(c):
            continue
        first = nfc(parts[:-1])
        assert len(first) == 1, hex(c)
        pairs.append((ord(first), ord(parts[-1]), c))
    return pairs


def array(name, kind, numbers):
    lines, line = [], "   "
    for n in numbers:
        word = f"{n},"
        if len(line) + len(word) + 1 > WIDTH:
            lines.append(line)
            line = "   "
        line += " " + word
    return f"const {kind} {name}[] = {{\n" + "\n".join(lines + [line]) + f"\n}};\nconst std::size_t {name}_size = {len(numbers)};\n"


def file(what, arrays):
    return (f"// {what} As `tokenizers` {tokenizers.__version__} has it; written by tools/write_unicode_tables.py.\n"
            '#include "text/tokenizers/unicode/data.h"\n\nnamespace tenfold::tokenizing::data {\n\n' + "\n".join(arrays) +
            "\n}  // namespace tenfold::tokenizing::data\n")


def entry(scalar, parts):
    return (len(parts) << 24 | scalar, *map(ord, parts))


def named(table, classes):
    """Arrays of ranges, and the table of their names."""
    rows = "".join(f'    {{"{name}", in_{name}, in_{name}_size}},\n' for name in classes)
    arrays = [array(f"in_{name}", "char32_t", flat(pairs)).replace("const std::size_t", "constexpr std::size_t")
              for name, pairs in classes.items()]
    return "namespace {\n\n" + "\n".join(arrays) + "\n}  // namespace\n\nconst NamedRanges " + table + "[] = {\n" + rows + \
        f"}};\nconst std::size_t {table}_size = {len(classes)};\n"


def flat(items):
    return [n for item in items for n in item]


def files():
    nfd, nfkd = normalized(normalizers.NFD()), normalized(normalizers.NFKD())
    lower = normalized(normalizers.Lowercase())
    combining = normalized(normalizers.StripAccents())
    marks = normalized(normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False))
    clean = normalized(normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False))
    wide = normalized(normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=True, strip_accents=False, lowercase=False))
    classes = combining_classes(nfd)
    spaces = splits(pre_tokenizers.WhitespaceSplit())
    parted = set(splits(pre_tokenizers.Whitespace()))   # by \w+|[^\w\s]+
    listed = {"control": [c for c in SCALARS if clean[c] == ""],
              "space": spaces,
              "punctuation": splits(pre_tokenizers.Punctuation()),
              "digit": splits(pre_tokenizers.Digits()),
              "word": [c for c in SCALARS if c not in parted],
              "mark": [c for c in SCALARS if marks[c] == ""],
              "combining": [c for c in SCALARS if combining[c] == ""],
              "ideograph": [c for c in SCALARS if wide[c] != chr(c)]}
    canonical = [entry(c, nfd[c]) for c in SCALARS if nfd[c] != chr(c) and c not in HANGUL]
    compatible = [entry(c, nfkd[c]) for c in SCALARS if nfkd[c] != nfd[c] and c not in HANGUL]
    cases = [entry(c, lower[c]) for c in SCALARS if lower[c] != chr(c)]
    runs = [(a, b, classes[a]) for a, b in ranges(classes, classes.get)]
    clusters = unicode_classes.clusters()
    return {
        "categories.cpp": file("Ranges of scalars of one kind: first and last of each.",
                               [array(name, "char32_t", flat(ranges(kind))) for name, kind in listed.items()]),
        "canonical.cpp": file("Decompositions of NFD: length << 24 | scalar, parts.\n//",
                              [array("canonical", "char32_t", flat(canonical))]),
        "compositions.cpp": file("What composes, and how marks are ordered: pairs (first, second, composed) and classes (first, last, "
                                 "class).\n//",
                                 [array("pairs", "char32_t", flat(compositions(nfd))), array("classes", "char32_t", flat(runs))]),
        "compatible.cpp": file("Decompositions of NFKD that NFD does not have: length << 24 | scalar, parts.\n//",
                               [array("compatible", "char32_t", flat(compatible))]),
        "general_categories.cpp": file("General categories in patterns: number << 24 | the first scalar of a run.\n//",
                                       [array("general", "char32_t", unicode_classes.general_categories())]),
        "pattern_classes.cpp": file("Other classes of patterns: first and last of each range.",
                                    [named("pattern_classes", unicode_classes.pattern_classes())]),
        "pattern_scripts.cpp": file("Scripts in patterns: first and last of each range.",
                                    [named("pattern_scripts", unicode_classes.pattern_scripts())]),
        "clusters.cpp": file("What stands together (UAX #29): first and last of each range.",
                             [array(name, "char32_t", flat(ranges(kind))) for name, kind in clusters.items()]),
        "scripts.cpp": file("Groups of scripts: number << 24 | the first scalar of a run; 0 goes with any.\n//",
                            [array("scripts", "char32_t", unicode_classes.scripts())]),
        "lower_case.cpp": file("Lower case, one scalar at a time: length << 24 | scalar, letters.\n//",
                               [array("lower_case", "char32_t", flat(cases))]),
    }


def main():
    check = sys.argv[1:] == ["--check"]
    changed = []
    for name, text in files().items():
        path = FOLDER / name
        if not path.exists() or path.read_text() != text:
            changed.append(name)
            if not check:
                path.write_text(text)
    print("changed:", ", ".join(changed) if changed else "nothing")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
