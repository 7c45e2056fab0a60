"""The table of ATen operators: from an overload's name ("aten.relu.default") to the function that appends it to a network.

A function takes the call (tenfold/torch/_call.py) and the operator's arguments, tensors as values of the network. It returns a value, a
tuple of them where the operator has several results (None for one that nobody reads), or a list. `call.refuse(why)` leaves an argument that
it has no form for to torch.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from tenfold._network import Value

Number = int | float | bool
Size = int | torch.SymInt              # symbolic where torch.compile makes it so
Operand = Value | Number               # what torch takes in the place of a tensor, too
Axes = int | Sequence[int] | None
OPERATORS: dict[str, Callable[..., Any]] = {}


def aten(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function for overloads: 'add.Tensor'; 'relu' is 'relu.default'; 'prims.sum.default' is of another library."""
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            full = name if name.count('.') == 2 else f'aten.{name}' if '.' in name else f'aten.{name}.default'
            if full in OPERATORS:
                raise AssertionError(f'{full} is registered twice')
            OPERATORS[full] = function
        return function
    return register
