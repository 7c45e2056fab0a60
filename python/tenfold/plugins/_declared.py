"""What operators that compute and operators that are graphs have in common, and the decorators that make them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tenfold import _registry
from tenfold.plugins._signature import operands_of, split_name

_D = TypeVar('_D', bound='Declared')


class Declared:
    """`function`: of operands by position and attributes by name."""

    def __init__(self, name: str, function: Callable[..., Any], attributes: dict[str, Any], outputs: int, version: int, since: int) -> None:
        self.domain, self.name = split_name(name)
        self.attributes, self.outputs, self.version, self.since = attributes, outputs, version, since
        self.min_outputs = self.max_outputs = outputs
        self.min_inputs, self.max_inputs = operands_of(function, attributes, name)
        self._function = function

    def __str__(self) -> str: return f'{self.domain}::{self.name}'
    def __repr__(self) -> str: return f'<{type(self).__name__.lower()} {self}>'


def decorator(kind: type[_D], name: str, attributes: dict[str, Any], *numbers: int) -> Callable[[Callable[..., Any]], _D]:
    """Makes one of a function, and makes it known to every build and load of this process."""
    def make(function: Callable[..., Any]) -> _D:
        made = kind(name, function, attributes, *numbers)
        _registry.register(made)
        return made
    return make
