"""IAlgorithmSelector: which kernels may be taken for a step, and which were. Each choice is a tactic in one configuration."""
from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from tenfold.errors import InvalidArgument
from tenfold.tensorrt._names import Named, refused

_LINE = "types and extents of operands are told by the problem's line (IAlgorithmContext.problem)"


class IAlgorithmVariant(NamedTuple):
    """Numbers that are the same in every build of this version: of the tactic's name, and of its configuration."""

    implementation: int
    tactic: int


class IAlgorithmContext(Named):
    """A problem: the step that asks for it first, and its line, which tells operator, types, extents and epilogue."""

    def __init__(self, name: str, problem: str) -> None:
        self._name, self._problem = name, problem

    @property
    def name(self) -> str: return self._name
    @property
    def problem(self) -> str: return self._problem

    @property
    def num_inputs(self) -> int: raise refused('num_inputs of an IAlgorithmContext', _LINE)
    @property
    def num_outputs(self) -> int: raise refused('num_outputs of an IAlgorithmContext', _LINE)
    def get_shape(self, index: int) -> Any: raise refused('get_shape() of an IAlgorithmContext', _LINE)

    def __repr__(self) -> str: return f'<IAlgorithmContext {self._name!r}: {self._problem}>'


class IAlgorithmIOInfo(Named):
    """Types and strides of one operand, which are told by the problem's line alone."""

    dtype = strides = vectorized_dim = components_per_element = tensor_format = property(lambda self: self._told())

    def _told(self) -> Any: raise refused('IAlgorithmIOInfo', _LINE)


class IAlgorithm(Named):
    def __init__(self, tactic: str, config: str, nanoseconds: float) -> None:
        self._tactic, self._config, self._nanoseconds = tactic, config, nanoseconds

    @property
    def algorithm_variant(self) -> IAlgorithmVariant:
        return IAlgorithmVariant(zlib.crc32(self._tactic.encode()), zlib.crc32(self._config.encode()))

    @property
    def timing_msec(self) -> float:
        """-1: nothing was timed (builder_optimization_level 0)."""
        return self._nanoseconds / 1e6 if self._nanoseconds >= 0 else -1.0

    @property
    def workspace_size(self) -> int: raise refused('workspace_size of an IAlgorithm', 'the plan tells what its steps work in')

    def get_algorithm_io_info(self, index: int) -> IAlgorithmIOInfo:
        raise refused('get_algorithm_io_info()', _LINE)

    @property
    def tactic_name(self) -> str: return f'{self._tactic} {self._config}'.strip()
    def __repr__(self) -> str: return f'<IAlgorithm {self.tactic_name}>'


class IAlgorithmSelector:
    """To be derived from."""

    def __init__(self) -> None:
        pass

    def select_algorithms(self, context: IAlgorithmContext, choices: list[IAlgorithm]) -> Sequence[int]:
        """Indices of those that may be taken, of which the fastest is; all of them by default."""
        return range(len(choices))

    def report_algorithms(self, contexts: list[IAlgorithmContext], choices: list[IAlgorithm]) -> None:
        """What was taken for each problem, after a build that succeeded; and layers that became no step, with 0 ms."""


class Selection:
    """choose_tactic= of a build, by a selector."""

    def __init__(self, selector: IAlgorithmSelector, reject_empty: bool) -> None:
        self._selector, self._reject_empty = selector, reject_empty
        self._taken: dict[str, tuple[IAlgorithmContext, IAlgorithm]] = {}

    def __call__(self, node: str, problem: str, candidates: list[tuple[str, str, float]]) -> int | None:
        context, choices = IAlgorithmContext(node, problem), [IAlgorithm(*c) for c in candidates]
        allowed: list[Any] = list(self._selector.select_algorithms(context, choices))
        for index in allowed:
            if not isinstance(index, int) or not 0 <= index < len(choices):
                raise InvalidArgument(f'select_algorithms() gave {index!r} for {problem}, which has {len(choices)} choices')
        if not allowed and self._reject_empty:
            raise InvalidArgument(f"select_algorithms() left nothing for step '{node}' ({problem}), and REJECT_EMPTY_ALGORITHMS is set")
        best = min(allowed or range(len(choices)), key=lambda i: candidates[i][2])
        self._taken[problem] = context, choices[best]
        return best

    def report(self, removed: list[dict[str, str]]) -> None:
        """With layers that have no step: their time is 0."""
        gone = {each['Node']: each['By'] for each in removed}
        none = [(IAlgorithmContext(node, f'no step: {by}'), IAlgorithm('no step', by, 0)) for node, by in gone.items()]
        reported = [*self._taken.values(), *none]
        self._selector.report_algorithms([c for c, _ in reported], [a for _, a in reported])
