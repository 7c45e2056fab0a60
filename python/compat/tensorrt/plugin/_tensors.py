"""What quick plug-ins see of operands and results: descriptions while a network is made, memory in a run."""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from tenfold.tensorrt._enums import DataType, TensorFormat
from tenfold.tensorrt._names import Named, refused
from tenfold.tensorrt._plugins.shapes import DimensionOperation, IDimensionExpr, IExprBuilder
from tenfold.tensorrt._types import Dims, nptype

_BUILDER = IExprBuilder()


class ShapeExpr:
    """An extent: a number, or an expression. + - * // == < take numbers and expressions; cdiv(), max() and min(), too."""

    is_fake = False
    __hash__ = None   # type: ignore[assignment]

    def __init__(self, value: int | IDimensionExpr | ShapeExpr) -> None:
        self._expr: IDimensionExpr = (value if isinstance(value, IDimensionExpr) else value._expr if isinstance(value, ShapeExpr)
                                      else _BUILDER.constant(value))

    def _with(self, op: str, other: int | ShapeExpr) -> ShapeExpr:
        return ShapeExpr(_BUILDER.operation(DimensionOperation[op], self._expr, ShapeExpr(other)._expr))

    def __add__(self, other: int | ShapeExpr) -> ShapeExpr: return self._with('SUM', other)
    def __sub__(self, other: int | ShapeExpr) -> ShapeExpr: return self._with('SUB', other)
    def __mul__(self, other: int | ShapeExpr) -> ShapeExpr: return self._with('PROD', other)
    def __floordiv__(self, other: int | ShapeExpr) -> ShapeExpr: return self._with('FLOOR_DIV', other)
    def __eq__(self, other: int | ShapeExpr) -> ShapeExpr: return self._with('EQUAL', other)   # type: ignore[override]
    def __lt__(self, other: int | ShapeExpr) -> ShapeExpr: return self._with('LESS', other)
    __radd__, __rmul__ = __add__, __mul__

    @property
    def is_size_tensor(self) -> bool: return self._expr.is_size_tensor()
    @property
    def is_constant(self) -> bool: return self._expr.is_constant()
    def constant_value(self) -> int: return self._expr.get_constant_value()
    def __repr__(self) -> str: return f'ShapeExpr[{self._expr._extent}]'


def cdiv(first: int | ShapeExpr, second: int | ShapeExpr) -> ShapeExpr: return ShapeExpr(first)._with('CEIL_DIV', second)
def max(first: int | ShapeExpr, second: int | ShapeExpr) -> ShapeExpr: return ShapeExpr(first)._with('MAX', second)
def min(first: int | ShapeExpr, second: int | ShapeExpr) -> ShapeExpr: return ShapeExpr(first)._with('MIN', second)


class ShapeExprs:
    """The extents of a shape."""

    def __init__(self, length: int) -> None: self._extents = [ShapeExpr(1)] * length

    @classmethod
    def from_tuple(cls, shape_exprs: Iterable[Any]) -> ShapeExprs:
        made = cls(0)
        made._extents = [ShapeExpr(e) for e in shape_exprs]
        return made

    def numel(self) -> ShapeExpr: return math.prod(self._extents, start=ShapeExpr(1))
    def __iter__(self) -> Iterator[ShapeExpr]: return iter(self._extents)
    def __len__(self) -> int: return len(self._extents)
    def __getitem__(self, index: int) -> ShapeExpr: return self._extents[index]
    def __setitem__(self, index: int, extent: int | ShapeExpr) -> None: self._extents[index] = ShapeExpr(extent)
    def __repr__(self) -> str: return f'ShapeExprs{self._extents}'


class Shape:
    """Numbers; -1 where a profile decides, with `min`, `opt` and `max`."""

    def __init__(self, dims: Iterable[int], range: Any = None) -> None: self._dims, self._range = Dims(dims), range

    @property
    def is_dynamic(self) -> bool: return -1 in self._dims

    def _of_range(self, name: str) -> tuple[int, ...]:
        return tuple(self._dims if self._range is None else getattr(self._range, name))

    min = property(lambda self: self._of_range('min'))
    opt = property(lambda self: self._of_range('opt'))
    max = property(lambda self: self._of_range('max'))

    def numel(self) -> int:
        if self.is_dynamic:
            raise ValueError(f'{tuple(self)} has open extents (-1)')
        return math.prod(self._dims)

    def __iter__(self) -> Iterator[int]: return iter(self._dims)
    def __len__(self) -> int: return len(self._dims)
    def __getitem__(self, index: Any) -> Any: return self._dims[index]
    def __repr__(self) -> str: return f'Shape{tuple(self)}'


class TensorDesc(Named):
    """Of an operand or result: never its elements."""

    def __init__(self, shape_expr: Any = None, dtype: DataType | None = None, format: Any = None, scale: float | None = None) -> None:
        exprs = shape_expr if isinstance(shape_expr, ShapeExprs) or shape_expr is None else ShapeExprs.from_tuple(shape_expr)
        self._shape_expr, self._dtype, self._format, self._scale = exprs, dtype, format, scale
        self._shape: Shape | None = None

    shape_expr = property(lambda self: self._shape_expr, lambda self, v: setattr(self, '_shape_expr', v))
    dtype = property(lambda self: self._dtype, lambda self, v: setattr(self, '_dtype', DataType(v)))
    format = property(lambda self: self._format or TensorFormat.LINEAR, lambda self, v: setattr(self, '_format', v))
    scale = property(lambda self: self._scale, lambda self, v: setattr(self, '_scale', v))
    is_size_tensor = property(lambda self: False)
    has_shape = property(lambda self: self._shape is not None)
    is_aliased = property(lambda self: False)

    @property
    def ndim(self) -> int: return len(self.shape_expr)

    @property
    def shape(self) -> Shape:
        if self._shape is None:
            raise ValueError('shapes are not known yet; shape_expr has expressions')
        return self._shape

    def numel(self) -> int: return self.shape.numel()

    def like(self) -> TensorDesc:
        made = TensorDesc(ShapeExprs.from_tuple(self.shape_expr), self.dtype, self._format, self.scale)
        made._shape = self._shape
        return made

    def aliased(self) -> TensorDesc:
        raise refused('TensorDesc.aliased()', "a plug-in does not write its operands: write a result, like()")

    def get_aliased(self) -> None: return None


class SizeTensorShapeExpr(ShapeExpr):
    """An extent that a result of the same plug-in holds."""


class SizeTensorDesc(TensorDesc):
    """A result that holds a size, which only the run knows: an INT32 of no dims. `expr()` is the extent that it decides."""

    def __init__(self, opt: ShapeExpr, upper_bound: ShapeExpr) -> None:
        super().__init__((), DataType.INT32)
        self._opt, self._upper = opt, upper_bound
        self._extent = IDimensionExpr(0)   # settled when the place of this result is known

    is_size_tensor = property(lambda self: True)
    opt = property(lambda self: self._opt)
    upper_bound = property(lambda self: self._upper)

    def expr(self) -> SizeTensorShapeExpr: return SizeTensorShapeExpr(self._extent)

    def _finalize(self, index: int) -> None:
        reported = _BUILDER.declare_size_tensor(index, self._opt._expr, self._upper._expr)
        self._extent._extent, self._extent._size_of = reported._extent, reported._size_of


def size_tensor(opt: int | ShapeExpr, upper_bound: int | ShapeExpr) -> SizeTensorDesc:
    return SizeTensorDesc(ShapeExpr(opt), ShapeExpr(upper_bound))


def from_shape_expr(shape_expr: Any, dtype: DataType) -> TensorDesc: return TensorDesc(shape_expr, dtype)


class Tensor(Named):
    """Memory of a run, dense and row major. np.asarray() takes it on the CPU, torch.as_tensor() and CuPy on a GPU."""

    def __init__(self, address: int, shape: Iterable[int], dtype: DataType, stream: int, on_gpu: bool, read_only: bool) -> None:
        self._address, self._shape, self._dtype, self._stream = address, Shape(shape), dtype, stream
        self._on_gpu, self._read_only = on_gpu, read_only

    data_ptr = property(lambda self: self._address)
    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    format = property(lambda self: TensorFormat.LINEAR)
    scale = property(lambda self: None)
    ndim = property(lambda self: len(self._shape))
    is_size_tensor = is_aliased = property(lambda self: False)

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements."""
        return tuple(math.prod(self._shape[d + 1:]) for d, _ in enumerate(self._shape))

    def numel(self) -> int: return self._shape.numel()

    def _interface(self, read_only: bool) -> dict[str, Any]:
        import numpy as np
        return dict(shape=tuple(self._shape), typestr=np.dtype(nptype(self._dtype)).str, data=(self._address, read_only), version=3)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self._on_gpu:
            raise AttributeError('the tensor lies on a GPU')
        return self._interface(self._read_only)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if not self._on_gpu:
            raise AttributeError('the tensor lies in the host\'s memory')
        return {**self._interface(False), 'stream': self._stream or 1}   # torch takes no read-only memory

