"""IOptimizationProfile: ranges of shapes."""
from __future__ import annotations

from collections.abc import Sequence

from tenfold.tensorrt._names import Named, refused
from tenfold.tensorrt._types import Dims

_Range = tuple[Dims, Dims, Dims]


class IOptimizationProfile(Named):
    """The smallest, usual and largest shape of each input whose shape is open."""

    def __init__(self) -> None:
        self._shapes: dict[str, _Range] = {}
        self._values: dict[str, _Range] = {}

    def set_shape(self, input: str, min: Sequence[int], opt: Sequence[int], max: Sequence[int]) -> None:
        self._shapes[input] = Dims(min), Dims(opt), Dims(max)

    def get_shape(self, input: str) -> list[Dims]:
        """[min, opt, max]; empty if none was set."""
        return list(self._shapes.get(input, ()))

    def set_shape_input(self, input: str, min: Sequence[int], opt: Sequence[int], max: Sequence[int]) -> None:
        """Values of an input whose elements decide sizes: contexts hold set_shape_input() to them; kernels are the same for all."""
        self._values[input] = Dims(min), Dims(opt), Dims(max)

    def get_shape_input(self, input: str) -> list[list[int]]:
        return [list(values) for values in self._values.get(input, ())]

    @property
    def extra_memory_target(self) -> float:
        """1: contexts take what their largest shapes need, whatever the others leave."""
        return 1.0

    @extra_memory_target.setter
    def extra_memory_target(self, target: float) -> None:
        if target != 1:
            raise refused(f'extra_memory_target = {target}', 'a profile has the memory of its largest shapes; BuildConfig.workspace_bytes '
                          'limits what kernels work in')

    def _wrong(self) -> str:
        """What is wrong with it; empty: nothing is that can be told without the network."""
        for name, (low, usual, high) in {**self._shapes, **self._values}.items():
            if not (len(low) == len(usual) == len(high) and all(a <= b <= c for a, b, c in zip(low, usual, high))):
                return f"the profile of '{name}' has min {low}, opt {usual}, max {high}: each extent has to rise from min to max"
        return ''

    def __bool__(self) -> bool: return not self._wrong()

    def _native(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        return {name: tuple(tuple(shape) for shape in shapes) for name, shapes in self._shapes.items()}
