"""How this package refuses: one message that names the file, what was found, what was expected, and what to do."""
from __future__ import annotations

import errno
import importlib
import os
from typing import Any, NoReturn

from tenfold.errors import Error, FileError, InvalidArgument

EXTRA = 'tenfold[imaging]'


def refuse(path: object, found: str, do: str, kind: type[Error] = FileError, cause: BaseException | None = None) -> NoReturn:
    error = kind(f'{path}: {found}; {do}')
    error.hint = do
    raise error from cause


def refuse_argument(path: object, found: str, do: str) -> NoReturn:
    refuse(path, found, do, InvalidArgument)


def need(package: str, path: object) -> Any:
    """The module of a package of the extra."""
    try:
        return importlib.import_module(package)
    except ImportError as missing:
        refuse(path, f'this format needs the package {package.partition(".")[0]}, which cannot be imported ({missing})',
               f"run: pip install '{EXTRA}'", cause=missing)


def unreadable(path: object, action: str, error: BaseException) -> NoReturn:
    """What a library raised while it read or wrote a file, as one error of ours."""
    if isinstance(error, (Error, MemoryError)):
        raise error
    refuse(path, f'{action} failed: {type(error).__name__}: {error}',
           'the file may be cut or damaged: compare its size with the original, or open it with another program', cause=error)


def unwritable(path: object, action: str, error: BaseException) -> NoReturn:
    """The same of a file that is written; the message of the library says what of it."""
    if isinstance(error, (Error, MemoryError)):
        raise error
    if no_space(error):
        disk_full(path, None, error)
    refuse(path, f'{action} failed: {type(error).__name__}: {error}', 'what was written so far stays as .partial', cause=error)


def no_space(error: BaseException) -> bool:
    """Also by the text that zarrs has, whose errors have no number."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return any(f'(os error {number})' in str(error) for number in (errno.ENOSPC, errno.EDQUOT))


def disk_full(path: object, needed: int | None, error: BaseException) -> NoReturn:
    folder = os.path.dirname(os.path.abspath(str(path)))
    try:
        stat = os.statvfs(folder)
        free = f'{stat.f_bavail * stat.f_frsize:,} bytes are free in {folder}'
    except OSError:
        free = f'how much is free in {folder} is not known'
    wanted = f'{needed:,} bytes are needed, ' if needed else ''
    refuse(path, f'no space left on the disk: {wanted}{free}', 'make room, or write elsewhere', cause=error)
