"""Operators that are graphs of known ones, which fuse with their neighbours; plans do not need them any more."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold import _registry
from tenfold.plugins._signature import operands_of, split_name
from tenfold.plugins._types import types_of


def graph(name: str, *, outputs: int = 1, version: int = 1, since: int = 1, **attributes: Any) -> Callable[[Callable[..., str]], Graph]:
    """Makes an operator of a function from operands' types (Type, None) and attributes to the text of a graph, as docs/plugins.md has it:

        @tenfold.plugins.graph("com.example::Scaled", factor=2.0)
        def scaled(x, factor):
            return "k = f32[]{$factor}\\ny = Mul(in0, k)\\nreturn y"
    """
    def make(function: Callable[..., str]) -> Graph:
        made = Graph(name, function, attributes, outputs, version, since)
        _registry.register(made)
        return made
    return make


class Graph:
    """What graph() makes."""

    is_graph = True

    def __init__(self, name: str, function: Callable[..., str], attributes: dict[str, Any], outputs: int, version: int, since: int) -> None:
        self.domain, self.name = split_name(name)
        self.attributes, self.outputs, self.version, self.since = attributes, outputs, version, since
        self.min_inputs, self.max_inputs = operands_of(function, attributes, name)
        self._function = function

    def __str__(self) -> str: return f'{self.domain}::{self.name}'
    def __repr__(self) -> str: return f'<graph {self}>'

    def expand_text(self, given: list[Any], attributes: dict[str, Any]) -> str:
        text = self._function(*types_of(given), **attributes)
        if not isinstance(text, str):
            raise TypeError(f"a graph's function returns its text, got {type(text).__name__}")
        return text
