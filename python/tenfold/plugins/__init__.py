"""Operators of one's own: in Python, or of libraries (docs/guides/plugins.md).

    @tenfold.plugins.op("com.example::Snake", alpha=1.0)
    def snake(x, alpha):                          # the reference, in NumPy: obviously right
        return x + np.sin(alpha * x) ** 2 / alpha

    @snake.tactic("cuda")                         # a faster kernel, timed beside others: on torch's tensors here
    def with_triton(out, x, alpha):
        snake_kernel[grid](x, out, alpha, x.numel())

Models use it as a node of its domain: tenfold.build("model.onnx") knows it from here on.
"""
from __future__ import annotations

import os

from tenfold import _native, _registry
from tenfold._repr import give_reprs as _give_reprs
from tenfold.plugins._graph import Graph, graph
from tenfold.plugins._operator import Operator, op
from tenfold.plugins._tactic import Call
from tenfold.plugins._types import Problem, Type

__all__ = ['Call', 'Graph', 'Operator', 'Problem', 'Type', 'forget', 'graph', 'load', 'op']

_give_reprs(globals())


def load(path: str | os.PathLike[str]) -> None:
    """All operators of a library, for every build and load of this process. A library is code: load only those that you trust."""
    path = os.path.abspath(path)
    _native.Plugins().load(path)   # what is wrong with it is told now
    _registry.register_library(path)


def forget(what: Operator | Graph | str | os.PathLike[str]) -> None:
    """Takes an operator ("com.example::Snake") or a library back; engines that have it keep it. KeyError: there is none."""
    if isinstance(what, (Operator, Graph)):
        return _registry.forget(str(what))
    name = os.fspath(what)
    _registry.forget(name if '::' in name else os.path.abspath(name))
