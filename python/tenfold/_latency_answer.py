"""Memory of a request and of its answer, and Answer: outputs, and how they were computed."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union

from tenfold.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Union[NDArray[Any], Mapping[str, Any]]


class Message:
    """Memory of all inputs or outputs, with an array for each of them."""

    def __init__(self, native: Any, is_input: bool) -> None:
        import numpy as np
        size = native.input_bytes if is_input else native.output_bytes
        memory = np.zeros(size + 64, np.uint8)
        self.address = memory.ctypes.data + -memory.ctypes.data % 64
        memory = memory[self.address - memory.ctypes.data:]
        self.arrays: dict[str, NDArray[Any]] = {}
        for binding, info in enumerate(native.bindings):
            if info.is_input != is_input:
                continue
            dtype = np.dtype(info.numpy_dtype)
            begin, count = native.offset(binding), int(np.prod(info.shape))
            self.arrays[info.name] = memory[begin:begin + count * dtype.itemsize].view(dtype).reshape(info.shape)
        self.only = next(iter(self.arrays.values())) if len(self.arrays) == 1 else None

    def fill(self, given: Arrays) -> None:
        if isinstance(given, Mapping):
            if given.keys() != self.arrays.keys():
                raise InvalidArgument(f'inputs are {", ".join(self.arrays)}; given were {", ".join(map(str, given)) or "none"}')
            for name, array in given.items():
                self._copy(name, array)
        elif self.only is None:
            raise InvalidArgument(f'give a dict of arrays: there are {len(self.arrays)} inputs: {", ".join(self.arrays)}')
        else:
            self._copy(next(iter(self.arrays)), given)

    def _copy(self, name: str, array: Any) -> None:
        to = self.arrays[name]
        shape, dtype = getattr(array, 'shape', None), getattr(array, 'dtype', None)
        if shape != to.shape or dtype != to.dtype:
            given = f'{dtype}{list(shape)}' if shape is not None else type(array).__name__
            raise InvalidArgument(f"input '{name}' is {to.dtype}{list(to.shape)}; given was {given}")
        to[...] = array

    def copies(self) -> dict[str, NDArray[Any]]:
        return {name: array.copy() for name, array in self.arrays.items()}


class Answer:
    """What a request got: `outputs` by name, and how it was answered. Times are nanoseconds of time.monotonic_ns()."""

    __slots__ = ('outputs', '_native', '_missing_rows')

    def __init__(self, native: Any, outputs: dict[str, NDArray[Any]], missing_rows: int = 0) -> None:
        self._native, self.outputs, self._missing_rows = native, outputs, missing_rows

    @property
    def output(self) -> NDArray[Any]:
        """The only one."""
        if len(self.outputs) != 1:
            raise InvalidArgument(f'there are {len(self.outputs)} outputs: {", ".join(self.outputs)}')
        return next(iter(self.outputs.values()))

    @property
    def ok(self) -> bool:
        return bool(self._native.status == 'ok')

    @property
    def status(self) -> str:
        """'ok', or the name of what went wrong; outputs mean nothing then."""
        return str(self._native.status)

    @property
    def id(self) -> int:
        return int(self._native.id)

    @property
    def candidate(self) -> int:
        """Which of LatencyRunner.candidates() answered; -1: none."""
        return int(self._native.candidate)

    @property
    def late(self) -> bool:
        return bool(self._native.late)

    @property
    def not_finite(self) -> bool:
        """An input or output holds a NaN or an infinity."""
        return bool(self._native.not_finite)

    @property
    def late_start(self) -> bool:
        """It was due before the rows before its newest row were computed, and waited for that."""
        return bool(self._native.late_start)

    @property
    def full_recompute(self) -> bool:
        """The engine has early steps, and the window was computed as a whole: nobody ran early, or for another window."""
        return bool(self._native.full_recompute)

    @property
    def missing_rows(self) -> int:
        """Of LatencyRunner.infer_at(): rows of the window that were not pushed yet, and count as zeros."""
        return self._missing_rows or int(self._native.missing_rows)

    @property
    def due_ns(self) -> int:
        return int(self._native.due_ns)

    @property
    def started_ns(self) -> int:
        return int(self._native.started_ns)

    @property
    def ended_ns(self) -> int:
        return int(self._native.ended_ns)

    def __repr__(self) -> str:
        missing = f', {self.missing_rows} rows missing' if self.missing_rows else ''
        return (f'<Answer {self.id}: {self.status}, candidate {self.candidate}, '
                f'{(self.ended_ns - self.due_ns) / 1000:.1f} us after it was due'
                f'{missing}>')
