"""ATen operators as nodes of a Network: one small function for each, in one file of its family."""
from __future__ import annotations

import importlib
import pkgutil

from tenfold.torch.aten.table import OPERATORS

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f'{__name__}.{_module.name}')

__all__ = ['OPERATORS']
