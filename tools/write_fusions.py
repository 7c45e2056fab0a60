#!/usr/bin/env python3
"""Writes docs/reference/fusions.md from the pictures that head src/passes/rules/*.cpp, which tests/pictures_test.cpp runs.

    write_fusions.py [--check]     --check only compares

Devices and order are read from src/passes/pipeline.cpp: a rule stands in one of its lists of names, or beside a condition.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES, PIPELINE, PAGE = ROOT / 'src/passes/rules', ROOT / 'src/passes/pipeline.cpp', ROOT / 'docs/reference/fusions.md'
LISTS = {   # functions of pipeline.cpp that give names: which devices run them, and when
    'canonical': ('all', 'rewrite'), 'fuse': ('all', 'fuse'), 'pack_tokens': ('all, with `--packTokens`', 'rewrite'),
    'canonical_for_launches': ('GPU', 'rewrite'), 'final_for_launches': ('GPU', 'fuse'), 'fuse_for_launches': ('GPU', 'fuse'),
    'other_form_for_fp16': ('GPU, fp16 or bf16: a second form that the tuner times', 'second form'),
    'fuse_for_blocks': ('CPU', 'fuse'), 'quantized': ('all, for int8 and Q/DQ', 'precision')}
NARROWER = {   # of quantized(), by what stands beside them there
    'quantize_rows_to_float8': 'GPU with fp8 (`--fp8`)', 'quantize_rows_for_gpu': 'GPU', 'lower_qdq_for_gpu': 'GPU',
    'fold_qdq_for_gpu': 'GPU (`--int8`)', 'fold_float8': 'GPU with fp8', 'fuse_float8_attention': 'GPU with fp8',
    'quantize_rows_for_pairs': 'CPU with AVX2 alone', 'quantize_rows': 'CPU with VNNI', 'unsign_qdq': 'CPU without signed int8 GEMM',
    'fold_qdq': 'CPU', 'fold_recurrent_int8': 'CPU with VNNI, TF32 allowed', 'lower_qdq': 'CPU'}
ELSEWHERE = {   # names inside of pipeline_for(), by the condition that stands before them
    'widen_f16': ('CPU with bf16 GEMM', 'rewrite'), 'widen_fp16': ('CPU', 'rewrite'), 'widen_for_rules': ('GPU', 'rewrite'),
    'lower_large_patches': ('CPU', 'rewrite'), 'split_large_windows': ('CPU', 'rewrite'),
    'fuse_group_norm_nhwc_on_hosts': ('CPU', 'fuse'), 'fuse_recurrent_stack': ('CPU, several threads', 'fuse')}
STAGES = ('rewrite', 'precision', 'fuse', 'second form')
HEAD = '''# Graph rewrites and fusions

Written by `tools/write_fusions.py` from the sources. Each pass of `src/passes/rules/` shows what it does as graphs in text:
`before` becomes `after`, `kept` stays as it is, which is its condition by example. `tests/pictures_test.cpp` runs every one
of them. `f32[2,3]` is a type with its shape, `!` marks a constant, `body={...}` is a pointwise function.

`--disablePasses=NAME` leaves a pass out. The tuner undoes a fusion that does not pay. Passes run in four stages: rewrite,
precision, fuse, and for fp16 and bf16 on GPUs a second form that is timed beside the first.
'''


def functions(text):
    """Names in quotes by the function that gives them."""
    found = {}
    for match in re.finditer(r'^Names (\w+)\([^)]*\) \{ (return .*?) \}$|^Names (\w+)\([^)]*\) \{$(.*?)^\}', text, re.M | re.S):
        found[match[1] or match[3]] = re.findall(r'"(\w+)"', match[2] or match[4])
    return found


def places():
    """(devices, stage) of each rule, and where in its stage it first stands."""
    text, found = PIPELINE.read_text(), {}
    for function, names in functions(text).items():
        if function not in LISTS:
            sys.exit(f'{PIPELINE.relative_to(ROOT)}: {function}() is a list that this tool does not know: add it to LISTS')
        for name in names:
            devices, stage = LISTS[function]
            found.setdefault(name, []).append((NARROWER.get(name, devices) if stage == 'precision' else devices, stage))
    for name, place in ELSEWHERE.items():
        if f'"{name}"' not in text:
            sys.exit(f'{PIPELINE.relative_to(ROOT)} no longer names {name}: take it out of ELSEWHERE')
        found.setdefault(name, []).append(place)
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
    said = ' '.join(words.split())
    name, _, sentence = said.partition(': ')
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
