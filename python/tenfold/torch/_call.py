"""One call of an ATen operator while its graph becomes a Network: what the functions of aten/ work with.

Operators of ONNX are methods (call.Relu(x)); numbers among their operands take the type of the first value.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from tenfold._network import Network, Value
from tenfold.torch._types import FLOATS, NAMES, ONNX
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes


class Refused(Exception):
    """Why an operator is left to torch."""


def type_name(dtype: torch.dtype) -> str:
    if dtype not in NAMES:
        raise Refused(f'the type {str(dtype).removeprefix("torch.")}')
    return NAMES[dtype]


class Call:
    def __init__(self, network: Network, node: Any, extent: Callable[[Any], Value]) -> None:
        self.network, self.node, self._extent = network, node, extent
        self.result = node.meta.get('val')          # a FakeTensor, or a tuple of them

    def refuse(self, why: str) -> NoReturn:
        raise Refused(why)

    def __getattr__(self, op: str) -> Callable[..., Any]:
        if not op[:1].isupper():
            raise AttributeError(op)
        return lambda *operands, **attributes: self.add(op, *operands, **attributes)

    def add(self, op: str, *operands: Any, **attributes: Any) -> Any:
        like = next((o for o in operands if isinstance(o, Value)), None)
        return self.network.add(op, *(self.constant(o, like.dtype) if like is not None and isinstance(o, (bool, int, float)) else o
                                      for o in operands), **attributes)

    # What is known of the operator's arguments and results.
    @property
    def fake(self) -> Any:
        """The result as torch foresees it; the first of several."""
        return self.result[0] if isinstance(self.result, (tuple, list)) else self.result

    @property
    def dtype(self) -> str:
        return type_name(self.fake.dtype)

    def argument(self, index: int) -> Any:
        """An argument as torch foresees it."""
        given = self.node.args[index]
        return given.meta['val'] if isinstance(given, torch.fx.Node) else given

    def used(self, index: int) -> bool:
        """Whether anybody reads result `index` of several."""
        return any(user.args[1] == index and user.users for user in self.node.users)

    def promoted(self) -> str:
        """The type in which torch compares its arguments."""
        given = [a.meta['val'] if isinstance(a, torch.fx.Node) else a for a in self.node.args]
        kind = ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT
        return type_name(elementwise_dtypes(*(g for g in given if g is not None), type_promotion_kind=kind)[1])

    # Values.
    def constant(self, value: Any, dtype: str) -> Value:
        """A number, or nested lists of numbers, as a constant."""
        from tenfold.torch._types import TORCH
        try:
            return self.network.constant(torch.tensor(value, dtype=TORCH[dtype]))
        except (RuntimeError, OverflowError, TypeError) as error:
            raise Refused(f'the number {value!r} as {dtype}: {error}') from None

    def tensor(self, value: torch.Tensor) -> Value:
        return self.network.constant(value.detach().contiguous())

    def cast(self, x: Any, dtype: str) -> Value:
        """x in this type; a number, or a symbolic size, becomes a value."""
        if isinstance(x, torch.SymInt):
            x = self.network.add('Squeeze', self._extent(x))
        elif not isinstance(x, Value):
            if isinstance(x, (torch.SymFloat, torch.SymBool, complex)):
                raise Refused(f'the argument {x}')
            return self.constant(x, dtype)
        return x if x.dtype == dtype else self.network.add('Cast', x, to=ONNX[dtype])

    def computed(self, *xs: Any) -> Any:
        """Operands in the type of the result."""
        made = tuple(self.cast(x, self.dtype) for x in xs)
        return made if len(made) > 1 else made[0]

    def compared(self, *xs: Any) -> tuple[Value, ...]:
        dtype = self.promoted()
        return tuple(self.cast(x, dtype) for x in xs)

    def wide(self, x: Value) -> Value:
        """Floats of 16 bits as f32, in which torch computes what rounds between its steps."""
        return self.cast(x, 'f32') if x.dtype in ('f16', 'bf16') else x

    def ints(self, numbers: Sequence[Any]) -> Value:
        """i64[n] of numbers and symbolic sizes."""
        if all(isinstance(n, int) for n in numbers):
            return self.constant(list(numbers), 'i64')
        return self.network.add('Concat', *(self.constant([n], 'i64') if isinstance(n, int) else self._extent(n) for n in numbers), axis=0)

    def reshape(self, x: Value, sizes: Sequence[Any]) -> Value:
        if -1 not in sizes and sum(not isinstance(n, int) for n in sizes) == 1 and 0 not in sizes:
            sizes = [n if isinstance(n, int) else -1 for n in sizes]     # one unknown extent needs no arithmetic
        return self.network.add('Reshape', x, self.ints(sizes), allowzero=0 if -1 in sizes else 1)

    def network_dims(self, x: Value) -> list[int]:
        """The extents of a value of the network, which must be numbers."""
        return self.fixed(x.dims, 'an operator')

    @staticmethod
    def rank(x: Value) -> int:
        return len(x.dims)

    def axis(self, axis: int, x: Value) -> int:
        return axis + self.rank(x) if axis < 0 else axis

    @staticmethod
    def is_float(x: Value) -> bool:
        return x.dtype in FLOATS

    def fixed(self, sizes: Sequence[Any], what: str) -> list[int]:
        """Sizes that must be numbers."""
        if not all(isinstance(n, int) for n in sizes):
            raise Refused(f'{what} of a symbolic size')
        return list(sizes)
