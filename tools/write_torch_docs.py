#!/usr/bin/env python3
"""Writes the list of ATen operators in docs/guides/torch.md from python/tenfold/torch/aten: write_torch_docs.py [--check]

It reads the sources, so it needs no torch. With --check it fails where the page is not what it would write.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs' / 'guides' / 'torch.md'
BEGIN, END = '<!-- operators: written by tools/write_torch_docs.py -->\n', '<!-- end of operators -->\n'


def families():
    """What each file says of itself, and the overloads that it registers."""
    for path in sorted((ROOT / 'python' / 'tenfold' / 'torch' / 'aten').glob('*.py')):
        text = path.read_text()
        names = [name for call in re.findall(r"^@aten\(([^)]*)\)", text, re.M) for name in re.findall(r"'([^']+)'", call)]
        if names:
            yield re.match(r'"""(.*?)[.:]', text, re.S)[1].replace('\n', ' '), path.name, sorted(names)


def table():
    rows = list(families())
    lines = [f'{sum(len(names) for *_, names in rows)} overloads. Where none is named, it is `default`.\n', '\n',
             '| file | what | overloads |\n', '|---|---|---|\n']
    lines += [f'| `{name}` | {what} | {" ".join(names)} |\n' for what, name, names in rows]
    return ''.join(lines)


def main():
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    made = head + BEGIN + '\n' + table() + '\n' + END + rest.split(END)[1]
    if '--check' in sys.argv[1:]:
        sys.exit('docs/guides/torch.md is not what tools/write_torch_docs.py writes' if made != text else 0)
    PAGE.write_text(made)


if __name__ == '__main__':
    main()
