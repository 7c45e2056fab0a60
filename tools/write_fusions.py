#!/usr/bin/env python3
"""Writes docs/reference/fusions.md from the pictures that head src/compiler/passes/rules/*.cpp, which tests/pictures_test.cpp runs.

    write_fusions.py [--check]     --check only compares

Devices and order are read from src/compiler/passes/pipeline.cpp, where each rule stands beside a condition.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES, PIPELINE, PAGE = ROOT / 'src/compiler/passes/rules', ROOT / 'src/compiler/passes/pipeline.cpp', ROOT / 'docs/reference/fusions.md'
PARTS = {'rewrite': 'rewrite', 'quantized': 'precision', 'precision': 'precision', 'fuse': 'fuse', 'other_form': 'second form'}
# Which devices and flags a condition of pipeline.cpp means.
CONDITIONS = {
    'true': 'all', 'r.host || r.launches': 'all', 'r.host && r.device.bf16_gemm': 'CPU with bf16 GEMM',
    'r.host && !r.device.bf16_gemm': 'CPU without bf16 GEMM', 'r.launches': 'GPU', 'r.host && !r.launches': 'CPU',
    'config.pack_tokens != PackTokens::no': 'all, with `--packTokens`',
    'config.pack_tokens == PackTokens::where_equal': 'all, with `--packTokens`',
    'config.pack_tokens == PackTokens::with_zeros': 'all, with `--packTokens=zeros`',
    'rows && r.tensor && float8': 'GPU with fp8, for layers of that type', 'rows && r.tensor': 'GPU',
    'rows && !r.tensor && pairs': 'CPU with AVX2 alone', 'rows && !r.tensor && !pairs': 'CPU with VNNI',
    'int8 && !r.tensor && !r.device.signed_bytes': 'CPU without signed int8 GEMM', 'int8': 'all, with int8',
    'int8 && r.tensor': 'GPU, with int8',
    'int8 && !r.tensor': 'CPU, with int8', 'int8 && config.tf32 && config.tf32_matmul && r.host && !pairs': 'CPU with VNNI, TF32 allowed',
    'float8': 'GPU with fp8', 'int8 || r.tensor': 'all', 'r.tensor': 'GPU', '!r.tensor': 'CPU',
    'r.facts.rows && placing_for(r.info, config).float8': 'GPU with fp8 (`--fp8`)', 'r.launches && r.own_kernels': 'GPU',
    '!r.launches && r.host && r.own_kernels': 'CPU', 'r.device.blocks': 'CPU',
    'r.narrow_weights': 'all, GPUs from sm_80 with TF32, fp16 or bf16',
    'r.device.blocks && r.config.threads != 1': 'CPU, several threads',
    'r.device.half_values && (r.config.fp16 || r.config.bf16 || !r.facts.types.empty())':
        'GPU, fp16 or bf16: a second form that the tuner times'}
STAGES = ('rewrite', 'precision', 'fuse', 'second form')
HEAD = '''# Graph rewrites and fusions

Written by `tools/write_fusions.py` from the sources. Each pass of `src/compiler/passes/rules/` shows what it does as graphs in text:
`before` becomes `after`; `kept` is left unchanged, which shows the conditions by example. `tests/pictures_test.cpp` runs every one
of them. `f32[2,3]` is a type with its shape, `!` marks a constant, `body={...}` is a pointwise function.

`--disablePasses=NAME` disables a pass. The tuner undoes a fusion that is not faster. Passes run in four stages: rewrite,
precision, fuse, and for fp16 and bf16 on GPUs a second form that is timed beside the first.
'''


def lists(text):
    """Names in quotes by the function that gives them."""
    found = {}
    for match in re.finditer(r'^Names (\w+)\([^)]*\) \{ (return .*?) \}$|^Names (\w+)\([^)]*\) \{$(.*?)^\}', text, re.M | re.S):
        found[match[1] or match[3]] = re.findall(r'"(\w+)"', match[2] or match[4])
    return found


def places():
    """[(devices, stage)] of each rule, in the order of the pipeline."""
    text, found = PIPELINE.read_text(), {}
    named = lists(text)
    for part, stage in PARTS.items():
        body = re.search(rf'^void {part}\(PassList& list.*?^}}', text, re.M | re.S)
        if not body:
            sys.exit(f'{PIPELINE.relative_to(ROOT)} has no part {part}(), which PARTS of this tool names')
        for condition, names, function in re.findall(r'list\.add\(([^;{}]*?), (?:\{([^}]*)\}|(\w+)\(\))\);', body[0]):
            if condition not in CONDITIONS:
                sys.exit(f'{PIPELINE.relative_to(ROOT)}: the condition "{condition}" is not in CONDITIONS of this tool')
            for name in named[function] if function else re.findall(r'"(\w+)"', names):
                found.setdefault(name, []).append((CONDITIONS[condition], stage))
    return found


def rule(path):
    """What the head of a rule's file says: the sentence, and its pictures as (kind, text)."""
    head = []
    for line in path.read_text().splitlines():
        if not line.startswith('//'):
            break
        head.append(line[2:].removeprefix(' '))
    text = '\n'.join(head)
    words, *rest = re.split(r'(?m)^(?=(?:before|after|kept):)', text)
    output = ' '.join(words.split())
    name, _, sentence = output.partition(': ')
    if name != path.stem or not rest:
        sys.exit(f'{path.relative_to(ROOT)}: its head has no "{path.stem}: ..." or no picture')
    return sentence, [part.rstrip() for part in rest]


def section(name, path, where):
    sentence, pictures = rule(path)
    devices = 'all' if 'all' in dict(where) else '; '.join(dict.fromkeys(d for d, _ in where))
    return f'\n### {name}\n\n{sentence[0].upper()}{sentence[1:]}\n\nDevices: {devices}.\n\n```text\n' + '\n\n'.join(pictures) + '\n```\n'


def page():
    found, text = places(), HEAD
    rules = {path.stem: path for path in sorted(RULES.glob('*.cpp')) if not path.stem.endswith('_test')}
    missing = set(rules) - set(found)
    if missing:
        sys.exit(f'{PIPELINE.relative_to(ROOT)}: {", ".join(sorted(missing))} in no list that this tool knows')
    for stage in STAGES:
        text += f'\n## Stage: {stage}\n'
        for name, path in rules.items():
            if found[name][0][1] == stage:
                text += section(name, path, found[name])
    return text


def main():
    text = page()
    if '--check' not in sys.argv:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit(f'{PAGE.relative_to(ROOT)} is not what the rules say: run tools/write_fusions.py')


if __name__ == '__main__':
    main()
