"""A tactic: a faster kernel for one kind of device."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from tenfold.plugins._arrays import KINDS, why_not
from tenfold.plugins._signature import operands_of, takes
from tenfold.plugins._types import Problem, problem_of

_DEVICES = ('cpu', 'cuda')


@dataclasses.dataclass(frozen=True)
class Call:
    """What a tactic's function gets as `call`, if it has a parameter of that name."""

    problem: Problem
    state: Any            # what open() gave
    workspace: int        # its address, aligned to 64 bytes
    stream: int           # a CUstream; all work goes there. 0 on the CPU
    workers: Any          # .run(parts, function): function(i) for each i below `parts`, by the engine's threads


class Tactic:
    """What native/plugins/plugin_tactic.cpp asks. Tables of functions that the user did not give stay empty."""

    def __init__(self, operator: Any, function: Callable[..., Any], device: str, name: str | None, arrays: str | None, version: int,
                 open: Callable[[Problem], Any] | None, supports: Callable[[Problem], str | None] | None,
                 configs: Callable[[Problem], Sequence[Sequence[int]]] | None, workspace: Callable[[Problem], int | str] | None,
                 capturable: bool) -> None:
        if device not in _DEVICES:
            raise ValueError(f"{operator}: a tactic's device is 'cpu' or 'cuda', got {device!r}")
        self.device, self.version, self._function, self.capturable = device, version, function, bool(capturable)
        self.name = name or function.__name__
        self.arrays = arrays or ('numpy' if device == 'cpu' else 'torch')
        if self.arrays not in KINDS or (self.arrays == 'numpy') > (device == 'cpu') or (self.arrays == 'cupy') > (device == 'cuda'):
            fitting = [k for k in KINDS if k != ('cupy' if device == 'cpu' else 'numpy')]
            raise ValueError(f'{operator}: arrays of a tactic for {device!r} are one of {", ".join(fitting)}, got {self.arrays!r}')
        self._open, self._supports, self.configs, self.workspace = open, supports, _of(configs), _of(workspace)
        self._attributes = operator.attributes
        minimum, most = operands_of(function, operator.attributes, f'{operator}, tactic {self.name!r}', ('call',))
        requested = operator.outputs + operator.min_inputs
        if most < requested or minimum > operator.outputs + operator.max_inputs:
            raise TypeError(f'{operator}, tactic {self.name!r}: its parameters are the results, then the operands '
                            f'(at least {requested} in all), then attributes')
        self._takes_call = takes(function, 'call')

    def supports(self, problem: dict[str, Any]) -> str | None:
        return why_not(self.arrays) or (self._supports(problem_of(problem)) if self._supports else None)

    def open(self, problem: dict[str, Any]) -> Callable[..., None]:
        queried = problem_of(problem)
        kind, state = KINDS[self.arrays](queried), self._open(queried) if self._open else None
        function, takes_call, attributes = self._function, self._takes_call, queried.attributes

        def run(inputs: list[Any], outputs: list[Any], workspace: int, stream: int, workers: Any) -> None:
            arrays = [None if a is None else kind.array(a) for a in (*outputs, *inputs)]
            with kind.on(stream):
                if takes_call:
                    function(*arrays, **attributes, call=Call(queried, state, workspace, stream, workers))
                else:
                    function(*arrays, **attributes)
        return run


def _of(function: Callable[[Problem], Any] | None) -> Callable[[dict[str, Any]], Any] | None:
    return None if function is None else lambda problem: function(problem_of(problem))
