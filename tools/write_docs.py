#!/usr/bin/env python3
"""Writes docs/operators.md and docs/cli.md from what the program says: write_docs.py TENFOLD; --check only compares,
and looks for the examples of CONTRIBUTING.md in the sources."""
import json
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / 'docs'
VERBS = {'exec': ['--help=all'], 'inspect': ['--help'], 'check': ['--help'],
         'quantize': ['--help'], 'embed': ['--help'], 'latency': ['--help=all'], 'compare': ['--help'], 'ops': ['--help'],
         'devices': ['--help'], 'cache': ['--help'], 'doctor': ['--help']}
NOTE = ('<!-- Written by tools/write_docs.py from the program itself: change the source, then run '
        '`tools/write_docs.py BUILD/cli/tenfold`. -->\n')


def said(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def cell(words):
    return f'`{words.replace("|", chr(92) + "|")}`' if words else ''


def operators(program):
    by_domain = {}
    for op in json.loads(said(program, 'ops', '--json')):
        by_domain.setdefault(op['domain'], []).append(op)
    text = ('# Operators\n\n' + NOTE + '\nThe ONNX operators that models may use, with the first opset whose form is accepted; '
            'later forms are too. Element types: what the newest form takes and gives, as the graph checks it: operands, an arrow, '
            'results, and what each letter may be. All operands of a letter have one type, `...` repeats the last, `?` marks one that may '
            'be left out though one that may not follows it, `*` is not declared. '
            '`any` are all types, `dense` all but strings, `number` floats and integers, `float` all floats, `real` those of 16 bits and '
            'more, `integer` all integers, `int` and `uint` those of 8 bits and more. '
            'Attributes: those that have a default, with it, then the others with their types. '
            'Operators without either are computed as others, which check their own.\n')
    for domain, ops in by_domain.items():
        text += f'\n## {domain} ({len(ops)})\n\n'
        typed = [op for op in ops if op['types']]
        if typed:
            text += '| operator | since | element types | attributes |\n|---|---|---|---|\n'
            text += ''.join(f'| {op["name"]} | {op["since"]} | {cell(op["types"])} | {cell(op["attributes"])} |\n' for op in typed)
            text += '\nComputed as others: '
        text += ', '.join(f'{op["name"]} {op["since"]}' for op in ops if not op['types']) + '\n'
    return text + (DOCS / 'operator-choices.md').read_text()


def command_line(program):
    text = '# The command line\n\n' + NOTE + '\n```text\n' + said(program, '--help') + '```\n'
    for verb, arguments in VERBS.items():
        text += f'\n## tenfold {verb}\n\n```text\n' + said(program, verb, *arguments) + '```\n'
    return text + '\n' + (DOCS / 'cli-levels.md').read_text()


def invented_examples():
    """Code of CONTRIBUTING.md that stands nowhere in the sources."""
    sources = [path.read_text() for path in (DOCS.parent / 'src').rglob('*.cpp')]
    blocks = re.findall(r'```c\+\+\n(.*?)```', (DOCS.parent / 'CONTRIBUTING.md').read_text(), re.DOTALL)
    if not blocks:
        sys.exit('CONTRIBUTING.md: its examples are gone')
    return [block.splitlines()[0] for block in blocks if not any(block.strip() in text for text in sources)]


def main():
    words = [word for word in sys.argv[1:] if word != '--check']
    if len(words) != 1:
        sys.exit(__doc__)
    stale = []
    for name, write in (('operators.md', operators), ('cli.md', command_line)):
        path, text = DOCS / name, write(words[0])
        if '--check' not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(f'docs/{name}')
    for example in invented_examples():
        sys.exit(f'CONTRIBUTING.md: the example that begins with "{example}" is not what the sources say')
    if stale:
        sys.exit(f'{", ".join(stale)}: not what the program says; run tools/write_docs.py {words[0]}')


if __name__ == '__main__':
    main()
