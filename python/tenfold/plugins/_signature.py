"""Which parameters of a function are operands, and which attributes: read once, when it is decorated, so that mistakes are told there."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

_MOST_INPUTS = 64   # of `*xs`


def split_name(name: str) -> tuple[str, str]:
    domain, mark, op = name.partition('::')
    if not domain or not mark or not op or '::' in op:
        raise ValueError(f'an operator is named "DOMAIN::NAME", as in "com.example::Snake", got {name!r}')
    return domain, op


def operands_of(function: Callable[..., Any], attributes: Iterable[str], what: str, extra: Iterable[str] = ()) -> tuple[int, int]:
    """The least and the largest number of operands. Raises TypeError where an attribute has no parameter."""
    parameters = inspect.signature(function).parameters
    any_keyword = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for name in attributes:
        found = parameters.get(name)
        if found is not None and found.kind is found.POSITIONAL_ONLY:
            raise TypeError(f'{what}: the attribute {name!r} comes by its name, but the parameter takes none')
        if found is None and not any_keyword:
            raise TypeError(f'{what}: there is no parameter for the attribute {name!r}; it has {", ".join(parameters) or "none"}')
    least = maximum = 0
    for name, p in parameters.items():
        if name in attributes or name in extra or p.kind is p.VAR_KEYWORD:
            continue
        if p.kind is p.VAR_POSITIONAL:
            maximum = _MOST_INPUTS
        elif p.kind is p.KEYWORD_ONLY:
            raise TypeError(f'{what}: {name!r} is no attribute: @op("...", {name}=DEFAULT) makes it one')
        else:
            maximum += 1
            least = maximum if p.default is p.empty else least
    return least, maximum


def takes_of(function: Callable[..., Any], operands: Iterable[Any], keywords: dict[str, Any]) -> set[str]:
    """The parameters that a call of it gives."""
    return set(inspect.signature(function).bind_partial(*operands, **keywords).arguments)


def takes(function: Callable[..., Any], name: str) -> bool:
    return name in inspect.signature(function).parameters
