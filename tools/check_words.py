"""Lines that use a word of tools/words.txt: a module of tools/check_style.py.

A word of the table is looked for in documents, comments, help texts, messages and identifiers alike, in every tracked text but the change
log (which tells what things were called), lists of others' names, and results as they were measured.
"""
import re
import subprocess

TEXTS = ('.c', '.cmake', '.cpp', '.cu', '.cuh', '.h', '.md', '.proto', '.py', '.txt')
ELSEWHERE = re.compile(r'CHANGELOG\.md|LICENSE|NOTICE|tools/words\.txt|.*_(names|signatures)(_8)?\.txt|docs/(lab/)?[\w-]+-results/')


def table(root):
    """[(pattern, what to write instead, where it may stand or None)]"""
    rows = []
    for line in (root / 'tools' / 'words.txt').read_text().splitlines():
        if not line or line.startswith('#'):
            continue
        pattern, instead, _, allowed = (field.strip() for field in re.split(r' \|(?= |$)', line, maxsplit=3))
        rows.append((re.compile(pattern), instead, re.compile(allowed) if allowed else None))
    return rows


def problems(root):
    rows = table(root)
    any_of_them = re.compile('|'.join(f'(?:{pattern.pattern})' for pattern, _, _ in rows))
    names = subprocess.run(['git', 'ls-files', '-z'], cwd=root, capture_output=True, text=True, check=True).stdout.split('\0')
    for name in names:
        path = root / name
        if not name.endswith(TEXTS) or ELSEWHERE.match(name) or not path.is_file():
            continue
        text = path.read_text(encoding='utf-8')
        if not any_of_them.search(text):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, instead, allowed in rows:
                found = pattern.search(line)
                if found and not (allowed and allowed.search(name)):
                    yield f'{name}:{number}: "{found[0].strip()}": write {instead} (tools/words.txt)'
