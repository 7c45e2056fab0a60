"""Operators that compute: a reference in NumPy, the types of its results, tactics."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tenfold import _registry
from tenfold.plugins._declared import Declared, decorator
from tenfold.plugins._signature import operands_of, takes_of
from tenfold.plugins._tactic import Tactic
from tenfold.plugins._types import Problem, Type, types_of

_F = TypeVar('_F', bound=Callable[..., Any])


def op(name: str, *, outputs: int = 1, version: int = 1, since: int = 1, **attributes: Any) -> Callable[[Callable[..., Any]], Operator]:
    """Makes an operator of its reference, which every build and load of this process knows from then on.

    The reference takes operands as NumPy arrays, which it does not keep, by position (a default of None: the operand may be left out;
    `*xs`: any number) and attributes by name, and returns an array, or a tuple of them. It folds constants, runs where no tactic does, and
    tactics are compared with it. `attributes` are defaults, which decide the type: 1.0 a float, 1 an integer, a list, a text, an array.
    `version`: raised when results or attributes change their meaning; plans of another version are refused.
    """
    return decorator(Operator, name, attributes, outputs, version, since)


class Operator(Declared):
    """What op() makes. Calling it calls the reference."""

    is_graph = False

    def __init__(self, name: str, reference: Callable[..., Any], attributes: dict[str, Any], *numbers: int) -> None:
        super().__init__(name, reference, attributes, *numbers)
        self.tactics: list[Tactic] = []
        self._infer: Callable[..., Any] | None = None

    def __call__(self, *operands: Any, **attributes: Any) -> Any:
        given = takes_of(self._function, operands, attributes)
        return self._function(*operands, **{k: v for k, v in self.attributes.items() if k not in given}, **attributes)

    def infer(self, function: _F) -> _F:
        """Decorates the function from the operands' types (Type, None) and the attributes to the result's type, or a tuple of types.

        ValueError refuses them. Without one, the result has the first operand's type."""
        minimum, most = operands_of(function, self.attributes, f'{self}, infer')
        if minimum > self.max_inputs or most < self.min_inputs:
            raise TypeError(f'{self}, infer: it takes as many operands as the reference')
        self._infer = function
        return function

    def tactic(self, device: str, *, name: str | None = None, arrays: str | None = None, version: int = 1,
               open: Callable[[Problem], Any] | None = None, supports: Callable[[Problem], str | None] | None = None,
               configs: Callable[[Problem], Sequence[Sequence[int]]] | None = None,
               workspace: Callable[[Problem], int | str] | None = None, capturable: bool = True) -> Callable[[_F], _F]:
        """Decorates a faster kernel for "cpu" or "cuda", f(out, x, alpha): results, operands, attributes; it writes the results.

        `arrays`: "numpy" (of the CPU), "torch" (of GPUs; Triton takes its tensors), "cupy", or "raw" for addresses. On a GPU the library's
        current stream is the run's, and the kernel only launches: it is captured into a CUDA graph, which is replayed without Python.
        capturable=False: it does more (waits, reads values on the host, allocates outside of that library), and is called in every run.
        open(problem): the state of one context, as `call.state`. supports(problem): None, or why not. configs(problem): lists of numbers,
        best guess first, which are timed; `call.problem.config` is the one. workspace(problem): bytes, a number or an extent.
        """
        def add(function: _F) -> _F:
            made = Tactic(self, function, device, name, arrays, version, open, supports, configs, workspace, capturable)
            self.tactics = [t for t in self.tactics if t.name != made.name] + [made]
            _registry.changed()
            return function
        return add

    # What native/plugins/plugin_operator.cpp asks.

    def infer_types(self, given: list[Any], attributes: dict[str, Any]) -> list[tuple[Any, list[str]]]:
        types = types_of(given)
        if self._infer is None:
            if self.outputs != 1 or not types or types[0] is None:
                raise ValueError(f'{self} has no infer, which tells the types of its results')
            found: Any = types[0]
        else:
            found = self._infer(*types, **attributes)
        found = found if isinstance(found, (tuple, list)) else (found,)
        if len(found) != self.outputs or not all(isinstance(t, Type) for t in found):
            raise TypeError(f'infer returns a tenfold.plugins.Type for each of {self.outputs} results, got {found!r}')
        return [(t.dtype, [str(d) for d in t.dims]) for t in found]

    def compute(self, inputs: list[Any], attributes: dict[str, Any], outputs: list[Any], are_open: list[bool]) -> list[tuple[int, ...]]:
        results = self._function(*(None if a is None else a.numpy() for a in inputs), **attributes)
        results = results if isinstance(results, (tuple, list)) else (results,)
        if len(results) != len(outputs):
            raise TypeError(f'the reference returned {len(results)} results, expected {len(outputs)}')
        return [_write(*each) for each in zip(range(len(results)), results, outputs, are_open)]


def _write(number: int, result: Any, output: Any, is_open: bool) -> tuple[int, ...]:
    """`is_open`: the output's shape are bounds; the elements lie dense under the shape that was found."""
    import numpy as np
    result, room = np.asarray(result), output.numpy()
    if result.dtype != room.dtype:
        raise TypeError(f'result {number} of the reference is {result.dtype}, and infer said {room.dtype}')
    fits = result.shape == room.shape or is_open and result.ndim == room.ndim and all(f <= r for f, r in zip(result.shape, room.shape))
    if not fits:
        raise ValueError(f'result {number} of the reference is {list(result.shape)}, and infer said '
                         f'{"at most " if is_open else ""}{list(room.shape)}')
    np.copyto(room.reshape(-1)[:result.size].reshape(result.shape), result)
    return tuple(result.shape)
