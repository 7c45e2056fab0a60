#!/usr/bin/env python3
"""Fails on a source line of more than 140 characters, a source file of more than 600 lines, and one that does not open with a comment.

Also where an operator refuses a node by another name than src/core/ir/fault.h has, where errno is read among the arguments of
require(), whose condition may be the call that sets it, and where two sources define classes of one name in one
namespace: the linker keeps the functions of one of them for both, and the program crashes. What is a source's own belongs in an unnamed
namespace.

Words of tools/words.txt are refused wherever they stand, with what to write instead (tools/check_words.py).

Tables of problems and expectations (*.txt), presets and the like are data and may be as wide as they are; so is a node of a rule's
picture, whose body is one line.
"""
import pathlib
import re
import sys

import check_words

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH, LENGTH = 140, 600
FOLDERS = ('.ci', 'bench', 'cli', 'cmake', 'examples', 'include', 'python', 'script', 'server', 'src', 'tests', 'tools',
           'triton_backend')
SUFFIXES = ('.c', '.cmake', '.cpp', '.cu', '.cuh', '.h', '.proto', '.py')
PICTURE = re.compile(r'//   [\w, ]+ = \w+(\[[\d,]*\])?[({]')   # in the graph's text form
REFUSALS = re.compile(r'\b(require|fail)\(|\bthrow (ir::)?(Error|Fault)\(')
LATE_REASON = re.compile(r'\brequire\([^;]*?\b(strerror|errno)\b')   # arguments are evaluated in any order
INTERPRETER = 'src/core/ops/interpret.cpp'   # is called with what a caller gives it
OPENINGS = ('//', '/*', '#', '"""')


def is_source(path):
    return path.suffix in SUFFIXES or path.name == 'CMakeLists.txt' or not path.suffix and path.parts[0] in ('.ci', 'script', 'tests')


def is_operator(path):
    folder = path.as_posix().startswith(('src/core/ops/', 'src/onnx/onnx_ops/'))
    return folder and path.as_posix() != INTERPRETER and not path.stem.endswith(('_test', '_for_tests'))


def problems():
    for file in [ROOT / 'CMakeLists.txt', *sorted(f for folder in FOLDERS for f in (ROOT / folder).rglob('*'))]:
        path = file.relative_to(ROOT)
        if not is_source(path) or not file.is_file():
            continue
        lines = file.read_text().splitlines()
        for number, line in enumerate(lines, 1):
            if len(line) > WIDTH and not PICTURE.match(line):
                yield f'{path}:{number}: {len(line)} characters, at most {WIDTH} are wanted'
            if is_operator(path) and REFUSALS.search(line):
                yield f'{path}:{number}: operators refuse by check_shape, validate or supported, see src/core/ir/fault.h'
        for at in LATE_REASON.finditer('\n'.join(lines)) if path.suffix in ('.cpp', '.h') else ():
            number = '\n'.join(lines)[:at.start()].count('\n') + 1
            yield f'{path}:{number}: errno may be read before the call that fails; require_system() (src/core/base/system_error.h) does not'
        if len(lines) > LENGTH:
            yield f'{path}: {len(lines)} lines, at most {LENGTH} are wanted: split it by what its parts do'
        if lines and not lines[0].startswith(OPENINGS):
            yield f'{path}:1: it opens without saying what it is'


COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#[^\n]*', re.S | re.M)
NAMESPACE = re.compile(r'(?:inline\s+)?namespace\s*((?:\w+(?:::\w+)*)?)$')
CLASS = re.compile(r'(?:^|[\s>])(?:class|struct|union)\s+(?:\w+\s+|\[\[[^\]]*\]\]\s*)*?(\w+)\s*(?:final\s*)?(?::(?!:)[^;]*)?$')


def classes(text):
    """Names of classes that are defined in a namespace with a name, each with that in front."""
    text = COMMENT_OR_TEXT.sub(lambda m: '\n' * m.group(0).count('\n'), text)
    inside = []   # the name of each namespace around; None: something else, or one without a name
    begin = 0
    for brace in re.finditer(r'[{};]', text):
        if brace.group(0) == '{':
            head = text[begin:brace.start()].strip()
            space, defined = NAMESPACE.search(head), CLASS.search(head)
            if defined and not space and None not in inside and '(' not in head and '=' not in head:
                yield '::'.join([*inside, defined.group(1)])
            inside.append(space.group(1) or None if space else None)
        elif brace.group(0) == '}' and inside:
            inside.pop()
        begin = brace.end()


def clashes():
    found = {}
    for folder in ('include', 'src', 'cli', 'python/native'):
        for file in sorted((ROOT / folder).rglob('*')):
            if file.suffix in ('.cpp', '.h') and 'kernels' not in file.parts:   # those are compiled and named once per instruction set
                for name in classes(file.read_text()):
                    found.setdefault(name, set()).add(file.relative_to(ROOT).as_posix())
    for name, files in found.items():
        if len(files) > 1 and any(f.endswith('.cpp') for f in files):
            yield f'{name} is defined in {" and in ".join(sorted(files))}: put what is one source\'s own into an unnamed namespace'


def main():
    found = list(problems()) + list(clashes()) + list(check_words.problems(ROOT))
    print('\n'.join(found) or 'style: ok')
    sys.exit(bool(found))


if __name__ == '__main__':
    main()
