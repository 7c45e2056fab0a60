#!/usr/bin/env python3
"""Sentences in 24 languages: passages of Debian's translated manual pages, which `apt-get download` brings; nothing is installed.

    manual_pages.py FOLDER [COUNT]      keeps the packages in FOLDER and prints COUNT passages, each with its language
"""
import gzip
import io
import random
import re
import subprocess
import sys
import tarfile
from pathlib import Path

LANGUAGES = 'cs da de el es fi fr hu id it ja mk nb nl pl pt-br ro ru sr sv tr uk vi zh'.split()
LONGEST = 12        # lines of a passage, so that lengths are from some words to the most that models take
PAGES = 60          # of a language at most


def packages(folder):
    """The package of each language, by its language; fetched where it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    found = lambda language: next(iter(folder.glob(f'manpages-{language}_*.deb')), None)
    missing = [f'manpages-{language}' for language in LANGUAGES if not found(language)]
    if missing:
        subprocess.run(['apt-get', 'download', *missing], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return {language: found(language) for language in LANGUAGES}


def plain(page):
    """The words of a page's lines, without roff's requests and escapes."""
    for line in page.splitlines():
        if line.startswith(('.', "'")):
            continue
        line = re.sub(r'\\f(\[[^]]*\]|\(..|.)|\\s[-+]?\d|\\[&|^/,c]', '', line)
        line = re.sub(r'\\(\[[^]]*\]|\(..|\*\S|.)', lambda m: {'\\-': '-', '\\e': '\\', '\\ ': ' '}.get(m[0], ''), line).strip()
        if len(line) >= 12:
            yield line


def pages(package, random):
    """Some of a package's pages as lists of lines; other sections of a language, and links between pages, are left out."""
    files = subprocess.run(['dpkg-deb', '--fsys-tarfile', str(package)], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(files)) as archive:
        members = sorted((m for m in archive.getmembers() if m.isfile() and m.name.endswith('.gz') and '/man/' in m.name),
                         key=lambda m: m.name)
        for member in random.sample(members, min(PAGES, len(members))):
            try:
                lines = list(plain(gzip.decompress(archive.extractfile(member).read()).decode()))
            except UnicodeDecodeError:   # a few old pages are in other codes
                continue
            if len(lines) > LONGEST:
                yield lines


def passages(folder, count):
    """`count` pairs of language and passage, as many of each language; the same ones each time."""
    chosen, each = [], -(-count // len(LANGUAGES))
    for language, package in packages(Path(folder)).items():
        rng = random.Random(language)
        lists = list(pages(package, rng))
        texts = {}   # a dict keeps the order; manual pages repeat themselves, and no passage comes twice
        while len(texts) < each:
            lines = rng.choice(lists)
            length = rng.randint(1, LONGEST) if rng.random() < 0.25 else 1
            at = rng.randrange(len(lines) - length)
            texts[' '.join(lines[at:at + length])] = language
        chosen += [(language, text) for text in texts]
    random.Random(0).shuffle(chosen)
    return chosen[:count]


if __name__ == '__main__':
    for language, text in passages(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 48):
        print(language, text, sep='\t')
