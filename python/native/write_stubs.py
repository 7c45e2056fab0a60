"""Writes what type checkers read: tenfold/_native.pyi from the built extension, tenfold/_options.pyi from its tables of keywords.

    python write_stubs.py FOLDER     (where the folder tenfold with the extension lies; called by the build)
"""
import importlib.util
import pathlib
import sys

from nanobind.stubgen import StubGen

HEADER = '''# Keywords of build() and load(), from the fields of BuildConfig and LoadOptions. Written by python/native/write_stubs.py.
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

from tenfold import Plugins, Runtime, TimingCache

_Shape: TypeAlias = Sequence[int]
Profile: TypeAlias = Mapping[str, tuple[_Shape, _Shape, _Shape] | Sequence[_Shape] | _Shape]
'''


def extension(folder):
    """The module alone: the package's own files need not be there."""
    path = next(folder.glob('_native*.so'))
    spec = importlib.util.spec_from_file_location('tenfold._native', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_native(module, path):
    stubs = StubGen(module, include_private=False)
    stubs.put(module)
    text = stubs.get()
    # Signatures that are written by hand name these; stubgen imports what it has named itself.
    text = ('# The extension, as nanobind tells of it. Written by python/native/write_stubs.py.\n'
            'import os\nfrom collections.abc import Callable, Mapping, Sequence\nfrom typing import Any\n') + text
    path.write_text(text)


def write_options(module, path):
    text = HEADER
    for name, fields in (('BuildOptions', module.build_options()), ('LoadOptions', module.load_options())):
        text += f'\nclass {name}(TypedDict, total=False):\n' + ''.join(f'    {field}: {kind} | None\n' for field, kind in fields)
    path.write_text(text)


def main(folder):
    folder = pathlib.Path(folder) / 'tenfold'
    module = extension(folder)
    write_native(module, folder / '_native.pyi')
    write_options(module, folder / '_options.pyi')


if __name__ == '__main__':
    main(sys.argv[1])
