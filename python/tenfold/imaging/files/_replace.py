"""A new file or folder in the place of an old one, in one step, so that whoever looks finds either the old or the new one whole."""
from __future__ import annotations

import ctypes
import errno
import os
import shutil

AT_FDCWD, RENAME_EXCHANGE = -100, 2


def remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def replace(new: str, path: str) -> None:
    """`path` becomes what `new` is. A folder cannot be renamed over another one: the two are exchanged, and the old one is deleted."""
    if os.path.isdir(path) or (os.path.isdir(new) and os.path.lexists(path)):
        exchange(new, path)
        remove(new)
    else:
        os.replace(new, path)
    sync_folder(os.path.dirname(os.path.abspath(path)))


def exchange(new: str, path: str) -> None:
    rename = getattr(ctypes.CDLL(None, use_errno=True), 'renameat2', None)
    if rename and rename(AT_FDCWD, os.fsencode(new), AT_FDCWD, os.fsencode(path), RENAME_EXCHANGE) == 0:
        return
    if rename and ctypes.get_errno() not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), new, None, path)
    old = path + '.old'   # a file system without the exchange: two steps, between which the old output is there under this name
    remove(old)
    os.rename(path, old)
    os.rename(new, path)
    os.rename(old, new)


def sync_folder(folder: str) -> None:
    """The new name outlives a power failure."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    except OSError:
        pass   # some network file systems refuse this for folders
    finally:
        os.close(fd)
