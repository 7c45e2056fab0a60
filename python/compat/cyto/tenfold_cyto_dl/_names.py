"""cyto_dl.utils.tensorrt_utils where CytoDL lies outside of this wheel's folder, in the processes alone that import tenfold_cyto_dl."""
from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

_MODULE = 'cyto_dl.utils.tensorrt_utils'
_FILE = Path(__file__).resolve().parent.parent.joinpath(*_MODULE.split('.')).with_suffix('.py')


class _Finder:
    """The last in sys.meta_path: what CytoDL has itself is found before."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        return importlib.util.spec_from_file_location(name, _FILE) if name == _MODULE else None


def add_module() -> None:
    if _Finder not in sys.meta_path:
        sys.meta_path.append(_Finder)   # type: ignore[arg-type]


def install() -> None:
    """In this process the module is Tenfold's, also where a fork of CytoDL has one of its own."""
    utils = importlib.import_module('cyto_dl.utils')
    spec = importlib.util.spec_from_file_location(_MODULE, _FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_MODULE] = module
    spec.loader.exec_module(module)
    utils.tensorrt_utils = module   # type: ignore[attr-defined]
