#!/usr/bin/env python3
"""Every function of the C interface with nothing:
c_nulls_test.py INCLUDE_FOLDER LIBTENFOLD LIBTENFOLD_BUILDER LIBTENFOLD_IMAGING LIBTENFOLD_TEXT

Handles and places are null, numbers are 0, -1, the least and the largest. Each function is called in a process of its own, which must end
by itself: a status, a number, a null. One that gives a status must not call that a success where it needed a handle.
"""
import ctypes as c
import os
import pathlib
import re
import signal
import sys

FUNCTION = re.compile(r'TENFOLD_API\s+([\w\s*]+?)\b(tenfold_\w+)\s*\(([^;{]*?)\)\s*;', re.S)
CALLBACK = re.compile(r'typedef\s+[\w\s*]+\(\s*\*\s*(\w+)\s*\)')
NUMBER = re.compile(r'typedef\s+int32_t\s+(\w+)\s*;')
FLOATS = {'float': c.c_float, 'double': c.c_double}
# Ends the process by design, or waits for what others do.
LEFT_OUT = {}
# Succeed without anything: they make something of nothing, list what is there, or take a null for nothing.
EMPTY_IS_FINE = re.compile(r'_(create|free|stop|release|clear|list|leave|trim)(_|$)')


class Operand(c.Structure):   # the one struct that is given by value
    _fields_ = [('layer', c.c_int32), ('result', c.c_int32), ('value', c.c_int32)]


def headers(folder):
    for path in sorted(pathlib.Path(folder).rglob('*.h')):
        if path.parent.name == 'c' or path.name == 'c_api.h':
            yield re.sub(r'/\*.*?\*/', '', path.read_text(), flags=re.S)


def parameters(text):
    """(ctypes' type, whether it is a number) of each."""
    found = []
    for one in [p.strip() for p in text.split(',')]:
        if one in ('', 'void'):
            continue
        word = one.replace('const ', '').split()[0]
        if '*' in one or '[' in one or word in CALLBACKS:
            found.append((c.c_void_p, False))
        elif word in FLOATS:
            found.append((FLOATS[word], True))
        elif word == 'tenfold_layer_operand':
            found.append((Operand, True))
        elif word == 'int32_t' or word in NUMBERS:
            found.append((c.c_int32, True))
        elif word in ('int64_t', 'size_t', 'uint64_t'):
            found.append((c.c_int64, True))
        elif word in ('uint32_t', 'uint8_t'):
            found.append((c.c_uint32, True))
        else:
            raise SystemExit(f'c_nulls_test: what is a {one!r}?')
    return found


def numbers(kind):
    if kind is Operand:
        return tuple(Operand(n, n, n) for n in numbers(c.c_int32))
    if kind in FLOATS.values():
        return (0.0, -1.0, float('nan'), 1e300 if kind is c.c_double else 1e30)
    size = c.sizeof(kind) * 8
    return (0, -1, -2 ** (size - 1), 2 ** (size - 1) - 1)


def in_child(act):
    """The exit code of a process that does it, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(act())
    _, status = os.waitpid(child, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)


def main():
    global CALLBACKS, NUMBERS
    include, *paths = sys.argv[1:]
    texts = list(headers(include))
    CALLBACKS = {name for text in texts for name in CALLBACK.findall(text)}
    NUMBERS = {name for text in texts for name in NUMBER.findall(text)}
    libraries = [c.CDLL(path, mode=os.RTLD_GLOBAL | os.RTLD_NOW) for path in paths]
    wrong, called = [], 0
    for result, name, arguments in (found for text in texts for found in FUNCTION.findall(text)):
        function = next((getattr(library, name) for library in libraries if hasattr(library, name)), None)
        if name in LEFT_OUT or function is None:
            if function is None:
                wrong.append(f'{name}: no library has it')
            continue
        kinds = parameters(arguments)
        status = 'tenfold_status' in result
        function.restype = c.c_int32 if status else c.c_void_p if '*' in result else None if 'void' in result else c.c_int64
        function.argtypes = [kind for kind, _ in kinds]
        for round in range(4 if any(number for _, number in kinds) else 1):
            given = [numbers(kind)[round] if number else None for kind, number in kinds]

            def act(function=function, given=given, status=status, kinds=kinds, name=name):
                code = function(*given)
                return 1 if status and code == 0 and kinds and not EMPTY_IS_FINE.search(name) else 0
            called += 1
            code = in_child(act)
            if code < 0:
                wrong.append(f'{name}({", ".join(map(str, given))}): signal {signal.Signals(-code).name}')
            elif code:
                wrong.append(f'{name}({", ".join(map(str, given))}): it succeeds')
    print('\n'.join(wrong) or f'{called} calls of nothing were refused')
    sys.exit(bool(wrong))


if __name__ == '__main__':
    main()
