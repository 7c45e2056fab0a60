"""Adds three names to SAP's `langchain_hana.embeddings`, whose file stays as it is: in the processes alone that import tenfold_hana.

`langchain_hana.gpu`, and `langchain_hana/embeddings.py` where SAP's package of that name is not installed, are files of this wheel.
"""
from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

_MODULE = 'langchain_hana.embeddings'
_ADDED = ('HanaTensorRTMultiGPUEmbeddings', 'MultiGPUEmbeddings', 'TensorRTEmbeddings')
_FOLDER = str(Path(__file__).resolve().parent.parent / 'langchain_hana')


def _add_names(module: Any) -> None:
    """Where the module does not have them itself."""
    others = getattr(module, '__getattr__', None)

    def find(name: str) -> Any:
        if name in _ADDED:
            import tenfold_hana
            return getattr(tenfold_hana, name)
        if others:
            return others(name)
        raise AttributeError(f'module {module.__name__!r} has no attribute {name!r}')
    module.__getattr__ = find


class _Finder:
    """Finds SAP's module by whoever finds it, and adds the names when it has been executed; and ours beside a package elsewhere."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if name.rpartition('.')[0] == 'langchain_hana' and name != _MODULE:
            return PathFinder.find_spec(name, path, target) or PathFinder.find_spec(name, [_FOLDER], target)
        if name != _MODULE:
            return None
        others = [finder for finder in sys.meta_path if finder is not _Finder and hasattr(finder, 'find_spec')]
        spec = next((found for found in (finder.find_spec(name, path, target) for finder in others) if found is not None), None)
        if spec is None:
            return PathFinder.find_spec(name, [_FOLDER], target)
        if spec.origin and Path(spec.origin).parent == Path(_FOLDER):
            return spec   # our own file
        if hasattr(spec.loader, 'exec_module'):
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                _add_names(module)
            spec.loader.exec_module = exec_module
        return spec


def add_names() -> None:
    """To SAP's module if it has been imported, or when it will be."""
    there = sys.modules.get(_MODULE)
    if there is None:
        if _Finder not in sys.meta_path:
            sys.meta_path.insert(0, _Finder)   # type: ignore[arg-type]
    elif not all(hasattr(there, name) for name in _ADDED):
        _add_names(there)
