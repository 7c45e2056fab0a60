"""Blocks of the documents that Tenfold was asked to run. They are others' work, so that this tree has none of them: tests read them from
the folder `shared/seeds` beside the checkout, or TENFOLD_SEEDS, and are left out where that is not there."""
import os
import pathlib
import re
import unittest

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
SEEDS = pathlib.Path(os.environ.get('TENFOLD_SEEDS') or TREE.parent / 'shared' / 'seeds')
FENCED = re.compile(r'^```\w*\n(.*?)^```', re.M | re.S)


def documents():
    """{"000": its text}. Raises SkipTest where there are none."""
    found = {path.name[:3]: path.read_text(encoding='utf-8', errors='replace') for path in sorted(SEEDS.glob('[0-9][0-9][0-9]_*.txt'))}
    if not found:
        raise unittest.SkipTest(f'the documents are others\' and not in this tree: {SEEDS} is not there (TENFOLD_SEEDS names the folder)')
    return found


def blocks(document):
    return [block for block in FENCED.findall(documents()[document])]


def block(document, words, since=''):
    """The one block of "000" that has these words, as it stands, from `since` on."""
    found = [text for text in blocks(document) if words in text]
    if len(found) != 1:
        raise AssertionError(f'{len(found)} blocks of document {document} have {words!r}, and one was expected')
    return found[0][found[0].index(since):]


__all__ = ['SEEDS', 'TREE', 'block', 'blocks', 'documents']
