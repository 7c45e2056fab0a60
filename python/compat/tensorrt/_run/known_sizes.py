"""Sizes that a context knows before a run: of outputs that follow from elements of inputs, and bounds of those that data decides."""
from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from typing import Any

from tenfold.errors import Error
from tenfold.tensorrt._logger import ILogger, fail
from tenfold.tensorrt._memory import array_at
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._types import Dims

_MOST = 1 << 48   # an extent without a bound
_OPERATIONS: dict[type, Any] = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
                                ast.FloorDiv: lambda a, b: a // b}


def evaluated(text: str, names: dict[str, int]) -> int | None:
    """An expression of extents; None: it has what is not known here."""
    def value(node: Any) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            return names[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
            return _OPERATIONS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ('min', 'max'):
            return (min if node.func.id == 'min' else max)(*map(value, node.args))
        raise KeyError(ast.dump(node))
    try:
        return int(value(ast.parse(text, mode='eval').body))
    except (SyntaxError, ValueError, KeyError, ZeroDivisionError, RecursionError):
        return None


class KnownSizes:
    _engine: Any
    _logger: ILogger
    _context: Any
    _profile: int
    _shapes: dict[str, tuple[int, ...]]
    _addresses: dict[str, int]
    _held: dict[str, Any]              # values of inputs that set_shape_input() gave
    _probed: tuple[Any, dict[str, tuple[int, ...]]] | None = None
    _before: dict[str, tuple[int, ...]]   # shapes of outputs that data decides, as they are told before a run

    def _place(self, name: str, memory: Any) -> None: raise NotImplementedError
    def _shapes_missing(self) -> list[str]: raise NotImplementedError

    def set_shape_input(self, binding: int, shape: Sequence[int]) -> bool:
        """8.x's form: values of an input that decides sizes. False: it is none, or they lie outside of the profile."""
        import numpy as np
        name = self._engine._binding(binding)
        if name not in self._engine._hosts:
            fail(self._logger, f'set_shape_input(): the elements of {name!r} decide no sizes')
            return False
        tensor = self._engine._tensors[name]
        values = np.array(shape, tensor.numpy_dtype)
        if values.size != math.prod(tensor.shape):
            fail(self._logger, f'set_shape_input(): {name!r} has {math.prod(tensor.shape)} elements, {values.size} are given')
            return False
        if ranges := self._engine.get_tensor_profile_values(name, self._profile):
            if not all(a <= v <= b for a, v, b in zip(ranges[0], values.reshape(-1).tolist(), ranges[2])):
                fail(self._logger, f'set_shape_input(): {values.tolist()} of {name!r} lies outside of profile {self._profile}: '
                     f'{ranges[0]} to {ranges[2]}')
                return False
        self._held[name] = values.reshape(tensor.shape)
        self._place(name, values.ctypes.data)
        return True

    def get_shape(self, binding: int) -> list[int]:
        """8.x's form: values of an input that decides sizes."""
        name = self._engine._binding(binding)
        if name not in self._engine._hosts or not self._addresses.get(name):
            raise refused(f'get_shape() of {name!r}', 'it is no input that decides sizes, or its values are not set')
        return [int(v) for v in self._value(name).reshape(-1)]

    def _value(self, name: str) -> Any:
        tensor = self._engine._tensors[name]
        return array_at(self._addresses[name], tensor.shape, tensor.numpy_dtype, False)

    def _hosts_missing(self) -> Iterator[str]: return (name for name in self._engine._hosts if not self._addresses.get(name))

    def _by_hosts(self, name: str) -> tuple[int, ...]:
        """The shape of an output at the values that inputs have now: a run of another context tells it, once for the same values."""
        import numpy as np
        values = {host: np.array(self._value(host)) for host in self._engine._hosts}
        key = self._profile, tuple(sorted(self._shapes.items())), tuple(v.tobytes() for v in values.values())
        if self._probed is None or self._probed[0] != key:
            context = self._engine._engine.create_context()
            if self._engine._profiles > 1:
                context.set_profile(self._profile)
            for each, shape in self._shapes.items():
                context.set_shape(each, shape)
            for each in self._engine._inputs:
                tensor = self._engine._tensors[each]
                array = values[each] if each in values else np.zeros(self._shapes[each], tensor.numpy_dtype)
                context.bind(each, array)
            context.run()
            self._probed = key, {output: tuple(context.output(output).shape) for output in self._engine._by_hosts}
        return self._probed[1][name]

    def _told_shape(self, name: str) -> Dims:
        """Of an output, when all shapes and values are set."""
        shape = tuple(self._context.shape(name))
        if name in self._engine._by_hosts:   # behind a run the context tells what that one had
            try:
                return Dims(self._by_hosts(name))
            except Error as error:
                fail(self._logger, error)
                return self._engine.get_tensor_shape(name)   # type: ignore[no-any-return]
        if name in self._engine._by_data and -1 in shape:
            self._before[name] = shape
        return Dims(self._before.get(name, shape))   # -1 behind a run, too, whose allocator is told

    def _largest(self, name: str) -> int | None:
        """Elements of an output that data decides, at most."""
        reported = self._engine._told
        names = {d: s for each, dims in reported['extents'].items() for d, s in zip(dims, self._shapes[each]) if isinstance(d, str)}
        for symbol, maximum in reported['most'].items():
            if symbol not in names and (bound := evaluated(maximum, names)) is not None and bound < _MOST:
                names[symbol] = bound
        extents = [d if isinstance(d, int) else evaluated(d, names) for d in reported['by_data'][name]]
        return None if None in extents else math.prod(extents)   # type: ignore[arg-type]
