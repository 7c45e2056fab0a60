#!/usr/bin/env python3
"""Writes docs/reference/operators.md and docs/reference/cli.md from what the program says, and docs/reference/build-options.md from the
table of BuildConfig's fields: write_docs.py TENFOLD; --check only compares, looks for the examples of CONTRIBUTING.md in the sources, and
counts the operators that README.md names.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / 'docs' / 'reference'
VERBS = {'exec': ['--help=all'], 'inspect': ['--help'], 'report': ['--help'], 'check': ['--help'],
         'quantize': ['--help'], 'convert': ['--help'], 'embed': ['--help'], 'generate': ['--help'],
         'segment': ['--help=all'], 'serve': ['--help=all'], 'latency': ['--help=all'], 'compare': ['--help'], 'onnx-suite': ['--help'],
         'ops': ['--help'], 'devices': ['--help'], 'cache': ['--help'], 'doctor': ['--help']}
NOTE = ('<!-- Written by tools/write_docs.py from the program itself: change the source, then run '
        '`tools/write_docs.py BUILD/cli/tenfold`. -->\n')


def said(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def cell(words):
    return f'`{words.replace("|", chr(92) + "|")}`' if words else ''


def suite_cases():
    """By domain and name: "3" or "2 of 3". The table is the suite's own, as onnx_suite_test counts it where the archive is."""
    cases = {}
    for line in (ROOT / 'tests' / 'onnx_suite_operators.txt').read_text().splitlines():
        if not line.startswith('#'):
            domain, name, count, passed = line.split()
            cases[domain, name] = count if passed == count else f'{passed} of {count}'
    return cases


def operators(program):
    by_domain, cases = {}, suite_cases()
    for op in json.loads(said(program, 'ops', '--json')):
        by_domain.setdefault(op['domain'], []).append(op)
    text = ('# Operators\n\n' + NOTE + '\nThe ONNX operators that models may use, with the first opset whose form is accepted; '
            'later forms are too. Element types: what the newest form takes and gives, as the graph checks it: operands, an arrow, '
            'results, and what each letter may be. All operands of a letter have one type, `...` repeats the last, `?` marks one that may '
            'be left out though one that may not follows it, `*` is not declared. '
            '`any` are all types, `dense` all but strings, `number` floats and integers, `float` all floats, `real` those of 16 bits and '
            'more, `integer` all integers, `int` and `uint` those of 8 bits and more. '
            'Cases: models of the ONNX backend suite 1.22.0 that have the operator, in bodies and functions, too, and that give the '
            'results that the suite has; `2 of 3` where one of three does not. '
            'Attributes: those that have a default, with it, then the others with their types. '
            'Operators without either are computed as others, which check their own.\n')
    for domain, ops in by_domain.items():
        text += f'\n## {"Plug-ins of TensorRT, in any domain" if domain == "*" else domain} ({len(ops)})\n\n'
        typed = [op for op in ops if op['types']]
        if typed:
            text += '| operator | since | cases | element types | attributes |\n|---|---|---|---|---|\n'
            text += ''.join(f'| {op["name"]} | {op["since"]} | {cases.get((domain, op["name"]), "")} | {cell(op["types"])} | '
                            f'{cell(op["attributes"])} |\n' for op in typed)
        others = [op for op in ops if not op['types']]
        if typed and others:
            text += '\nComputed as others (cases in brackets): '
        counted = {op['name']: f' ({cases[domain, op["name"]]})' if (domain, op['name']) in cases else '' for op in others}
        text += ', '.join(f'{op["name"]} {op["since"]}{counted[op["name"]]}' for op in others) + ('\n' if others else '')
    return text + (DOCS / 'operator-choices.md').read_text()


def command_line(program):
    text = '# The command line\n\n' + NOTE + '\n```text\n' + said(program, '--help') + '```\n'
    for verb, arguments in VERBS.items():
        text += f'\n## tenfold {verb}\n\n```text\n' + said(program, verb, *arguments) + '```\n'
    return text + '\n' + (DOCS / 'cli-levels.md').read_text()


def arguments_of(call):
    """Of a macro's call: "(a, f(b, c), "d, e")" is a, f(b, c) and "d, e"."""
    words, depth, start = [], 0, 1
    for at, token in ((m.start(), m.group()) for m in re.finditer(r'"(?:[^"\\\\]|\\\\.)*"|[(){},]', call)):
        depth += (token in '({') - (token in ')}')
        if depth == 0 or (depth == 1 and token == ','):
            words.append(' '.join(call[start:at].split()))
            start = at + 1
        if depth == 0:
            return words


def build_options(program):
    table = (ROOT / 'include' / 'tenfold' / 'build_fields.h').read_text()
    text = ('# Options of a build\n\n' + NOTE + '\nThe fields of `BuildConfig`, which are the keywords of `tenfold.build()`, from '
            '[tenfold/build_fields.h](../../include/tenfold/build_fields.h), which says what each means. C: the member of '
            '`tenfold_build_config`, whose zero means the default. Flag: of `tenfold exec`. Plan cache: whether plans of another value '
            'have another key; device, plug-ins and files of weights count there by what they are. Worker: whether it travels to a '
            'process that builds in the background. Kept: whether a plan that keeps its model keeps it.\n\n'
            '| field | type | default | C | flag | plan cache | worker | kept |\n|---|---|---|---|---|---|---|---|\n')
    for row in re.finditer(r'^TF_FIELD(?=\()', table, re.MULTILINE):
        kind, name, default, forms, c, flag = arguments_of(table[row.end():])
        members = re.findall(r'\w+', c.partition('(')[2])
        member = name if c == 'TF_C_OWN' else members[1 if c.startswith('TF_C_NEW') else 0]
        flags = re.findall(r'^\w+\("([\w-]+)"', flag)
        text += (f'| `{name}` | {cell(kind)} | {cell(default) if default != "{}" else ""} | `{member}` | '
                 f'{cell("--" + flags[0]) if flags else ""} | {"yes" if ".key" in forms else ""} | '
                 f'{"yes" if ".request" in forms else ""} | {"yes" if ".kept" in forms else ""} |\n')
    return text


def invented_examples():
    """Code of CONTRIBUTING.md that stands nowhere in the sources."""
    sources = [path.read_text() for path in (ROOT / 'src').rglob('*.cpp')]
    blocks = re.findall(r'```c\+\+\n(.*?)```', (ROOT / 'CONTRIBUTING.md').read_text(), re.DOTALL)
    if not blocks:
        sys.exit('CONTRIBUTING.md: its examples are gone')
    return [block.splitlines()[0] for block in blocks if not any(block.strip() in text for text in sources)]


def operators_of_the_readme(program):
    """What README.md should say of the operators and does not. ONNX's are those of the standard, as its attributes are in the sources."""
    table = (ROOT / 'src' / 'onnx' / 'onnx_import' / 'standard_attributes.cpp').read_text()
    standard = set(re.findall(r'^ +\{"(\w+)", \d+,', table, re.MULTILINE))
    domains = [(op['domain'], op['name']) for op in json.loads(said(program, 'ops', '--json'))]
    count = {domain: sum(d == domain for d, _ in domains) for domain in ('com.microsoft', 'ai.onnx.ml')}
    ours = sum(domain == 'ai.onnx' and name in standard for domain, name in domains)
    of_onnx = f"{ours} of ONNX's {len(standard)}"
    expected = (f'**Operators**: {of_onnx}, {count["com.microsoft"]} of `com.microsoft`, {count["ai.onnx.ml"]} of `ai.onnx.ml`',
              f'| {of_onnx} operators |')
    readme = (ROOT / 'README.md').read_text()
    return [text for text in expected if text not in readme]


def main():
    words = [word for word in sys.argv[1:] if word != '--check']
    if len(words) != 1:
        sys.exit(__doc__)
    stale = []
    for name, write in (('operators.md', operators), ('cli.md', command_line), ('build-options.md', build_options)):
        path, text = DOCS / name, write(words[0])
        if '--check' not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(f'docs/reference/{name}')
    for text in operators_of_the_readme(words[0]):
        sys.exit(f"README.md does not say '{text}'")
    for example in invented_examples():
        sys.exit(f'CONTRIBUTING.md: the example that begins with "{example}" is not what the sources say')
    if stale:
        sys.exit(f'{", ".join(stale)}: not what the program says; run tools/write_docs.py {words[0]}')


if __name__ == '__main__':
    main()
