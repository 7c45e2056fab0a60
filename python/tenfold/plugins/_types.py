"""Types of operands and results, and what a tactic is asked about."""
from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Type:
    """A tensor's element type ("f32"; NumPy's names will do, too) and extents.

    An extent is a number, a symbol ("batch") or an expression ("2*batch + 1"). In results also "found <= 2*batch": a size that only the
    run knows, with its bound. The other fields are told of operands alone.
    """

    dtype: Any
    dims: tuple[int | str, ...]
    min: tuple[int, ...] = ()                    # what each extent may be in this build
    max: tuple[int, ...] = ()
    contents: tuple[int | str, ...] | None = None  # elements of a small integer tensor, where they are known
    constant: bool = False                         # known when the plan is built

    @property
    def rank(self) -> int:
        return len(self.dims)


@dataclasses.dataclass(frozen=True)
class Problem:
    """One node, for a tactic: extents as far as they are known. `config`: numbers that configs() gave; none while that is asked."""

    inputs: tuple[Type | None, ...]
    outputs: tuple[Type, ...]
    attributes: dict[str, Any]
    config: tuple[int, ...]
    device: str                                    # "cpu" or "cuda"
    device_name: str
    ordinal: int                                   # which of several of its kind
    arch: int                                      # of a GPU: its compute capability times ten, 90


def types_of(given: Any) -> tuple[Any, ...]:
    return tuple(None if t is None else Type(*t) for t in given)


def problem_of(given: dict[str, Any]) -> Problem:
    return Problem(**{**given, 'inputs': types_of(given['inputs']), 'outputs': types_of(given['outputs'])})
