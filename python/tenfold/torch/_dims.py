"""Sizes of results as plain data, which a plan keeps and nobody has to evaluate as code: numbers, ["size", input, axis], and
[operator, size, size]."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy
from torch.utils._sympy import functions as sizes_of_torch

OPERATORS = {'+': lambda a, b: a + b, '*': lambda a, b: a * b, '//': lambda a, b: a // b, '%': lambda a, b: a % b,
             'max': max, 'min': min}
KINDS = ((sympy.Add, '+'), (sympy.Mul, '*'), (sizes_of_torch.FloorDiv, '//'), (sizes_of_torch.Mod, '%'), (sizes_of_torch.PythonMod, '%'),
         (sizes_of_torch.Max, 'max'), (sizes_of_torch.Min, 'min'))


def written(e: sympy.Expr, places: Mapping[sympy.Symbol, Any]) -> Any:
    """An expression as data; `places` has each symbol as data. Raises ValueError for one that has no such form."""
    if e.is_Integer:
        return int(e)
    if e in places:
        return places[e]
    if isinstance(e, sympy.Pow) and e.exp.is_Integer and 0 < e.exp < 9:
        return folded('*', [written(e.base, places)] * int(e.exp))
    if isinstance(e, sympy.Mul) and e.as_numer_denom()[1] != 1:
        above, below = e.as_numer_denom()
        return ['//', written(above, places), written(below, places)]
    for kind, name in KINDS:
        if isinstance(e, kind):
            return folded(name, [written(a, places) for a in e.args])
    raise ValueError(f'the size {e}')


def folded(name: str, parts: Sequence[Any]) -> Any:
    made = parts[0]
    for part in parts[1:]:
        made = [name, made, part]
    return made


def read(size: Any, shapes: Sequence[Sequence[Any]]) -> Any:
    """The size for these shapes of the inputs, which may be symbolic."""
    if isinstance(size, int):
        return size
    name, first, second = size
    if name == 'size':
        return shapes[first][second]
    return OPERATORS[name](read(first, shapes), read(second, shapes))
