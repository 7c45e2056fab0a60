"""ILoop and IIfConditional: layers between their entries and outputs become the bodies of a loop or branch."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._layer_enums import LoopOutput, TripLimit
from tenfold.tensorrt._names import Named


class _Region(Named):
    def __init__(self, network: Any, number: int, name: str) -> None:
        self._network, self._number, self._name = network, number, name

    @property
    def name(self) -> str: return self._name

    @name.setter
    def name(self, name: str) -> None: self._name = str(name)

    def _add(self, of: str, /, *operands: Any, **options: Any) -> Any:
        return self._network._add(of, *operands, region=self._number, **options)


class ILoop(_Region):
    """Recurrences go round, iterators give the next slice in each round. All layers that are made from these run in each round."""

    def add_recurrence(self, initial_value: Any) -> Any:
        """set_input(1, tensor) says what it is in the next round."""
        return self._add('recurrence', initial_value)

    def add_iterator(self, tensor: Any, axis: int = 0, reverse: bool = False) -> Any:
        return self._add('iterator', tensor, axis=axis, reverse=reverse)

    def add_trip_limit(self, tensor: Any, kind: TripLimit) -> Any:
        """COUNT: an integer from outside the loop; WHILE: a BOOL made from recurrences, asked before each round."""
        return self._add('trip_limit', tensor, kind=kind)

    def add_loop_output(self, tensor: Any, kind: LoopOutput, axis: int = 0) -> Any:
        """The last value of a recurrence, or all values of a tensor along a new dimension (set_input(1, rounds) may be left out)."""
        return self._add('loop_output', tensor, kind=kind, axis=axis)


class IIfConditional(_Region):
    """Layers that are made from its inputs run on the side that is taken."""

    def set_condition(self, condition: Any) -> Any: return self._add('condition', condition)
    def add_input(self, input: Any) -> Any: return self._add('conditional_input', input)

    def add_output(self, true_subgraph_output: Any, false_subgraph_output: Any) -> Any:
        """Both of one type and shape."""
        return self._add('conditional_output', true_subgraph_output, false_subgraph_output)
