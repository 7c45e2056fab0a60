"""Whether Ray is installed, with which of its parts."""
from __future__ import annotations

import importlib
from typing import Any


def need_ray(part: str = '') -> Any:
    """The module ray, or ray.PART; an ImportError that says what to install."""
    name = f'ray.{part}' if part else 'ray'
    try:
        module = importlib.import_module(name)
        importlib.import_module('ray').__version__   # a folder of this name on sys.path imports, too
        return module
    except (ImportError, AttributeError) as error:
        raise ImportError(f"tenfold.ray needs Ray, and {name} cannot be imported ({error}): pip install 'tenfold[ray]'",
                          name=name) from error
