"""Operators that are graphs of known ones, which fuse with their neighbors; plans do not need them any more."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.plugins._declared import Declared, decorator
from tenfold.plugins._types import types_of


def graph(name: str, *, outputs: int = 1, version: int = 1, since: int = 1, **attributes: Any) -> Callable[[Callable[..., str]], Graph]:
    """Makes an operator of a function from operands' types (Type, None) and attributes to the text of a graph, see docs/guides/plugins.md:

        @tenfold.plugins.graph("com.example::Scaled", factor=2.0)
        def scaled(x, factor):
            return "k = f32[]{$factor}\\ny = Mul(in0, k)\\nreturn y"
    """
    return decorator(Graph, name, attributes, outputs, version, since)


class Graph(Declared):
    """What graph() makes."""

    is_graph = True

    def expand_text(self, given: list[Any], attributes: dict[str, Any]) -> str:
        text = self._function(*types_of(given), **attributes)
        if not isinstance(text, str):
            raise TypeError(f"a graph's function returns its text, got {type(text).__name__}")
        return text
