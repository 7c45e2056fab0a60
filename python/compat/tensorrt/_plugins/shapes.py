"""Shapes as plug-ins see them: expressions while a network is made, numbers where they run."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tenfold.tensorrt._enums import DataType, Enum, TensorFormat
from tenfold.tensorrt._names import Named, refused
from tenfold.tensorrt._types import Dims, datatype


class DimensionOperation(Enum):
    SUM, PROD, MAX, MIN, SUB, EQUAL, LESS, FLOOR_DIV, CEIL_DIV = range(9)


_NUMBERS = {'SUM': lambda a, b: a + b, 'PROD': lambda a, b: a * b, 'MAX': max, 'MIN': min, 'SUB': lambda a, b: a - b,
            'EQUAL': lambda a, b: int(a == b), 'LESS': lambda a, b: int(a < b), 'FLOOR_DIV': lambda a, b: a // b,
            'CEIL_DIV': lambda a, b: -(-a // b)}
_TEXTS = {'SUM': '({} + {})', 'PROD': '({}) * ({})', 'MAX': 'max({}, {})', 'MIN': 'min({}, {})', 'SUB': '({} - ({}))',
          'FLOOR_DIV': 'floor_div({}, {})', 'CEIL_DIV': 'ceil_div({}, {})'}


class IDimensionExpr(Named):
    """An extent: a number, or the text of an expression, as tenfold.plugins has it."""

    def __init__(self, extent: int | str, size_of: int = -1) -> None:
        self._extent, self._size_of = extent, size_of   # the output that holds it, where only the run knows it

    def is_constant(self) -> bool: return not isinstance(self._extent, str)
    def is_size_tensor(self) -> bool: return self._size_of >= 0

    def get_constant_value(self) -> int:
        if isinstance(self._extent, str):
            raise ValueError(f'{self._extent} is no constant')
        return self._extent

    def __repr__(self) -> str: return f'<IDimensionExpr {self._extent}>'


class DimsExprs:
    """The extents of a shape, which may be set. Made of a length, or of extents."""

    def __init__(self, of: int | Iterable[IDimensionExpr] = 0) -> None:
        self._extents = [IDimensionExpr(1)] * of if isinstance(of, int) else list(of)

    def __len__(self) -> int: return len(self._extents)
    def __iter__(self) -> Iterator[IDimensionExpr]: return iter(self._extents)
    def __getitem__(self, index: Any) -> Any: return self._extents[index]

    def __setitem__(self, index: int, extent: IDimensionExpr) -> None:
        if not isinstance(extent, IDimensionExpr):
            raise TypeError(f'an extent is what the expression builder makes (constant(), operation()), got {type(extent).__name__}')
        self._extents[index] = extent


class IExprBuilder(Named):
    def constant(self, value: int) -> IDimensionExpr: return IDimensionExpr(int(value))

    def operation(self, op: DimensionOperation, first: IDimensionExpr, second: IDimensionExpr) -> IDimensionExpr:
        name, a, b = DimensionOperation(op).name, first._extent, second._extent
        if first.is_size_tensor() or second.is_size_tensor():
            raise refused(f'{name} of a size tensor', 'an extent is the size itself')
        if isinstance(a, int) and isinstance(b, int):
            if 'DIV' in name and b == 0:
                raise ValueError(f'{name} of {a} by 0')
            return IDimensionExpr(_NUMBERS[name](a, b))   # type: ignore[no-untyped-call]
        if name not in _TEXTS:
            raise refused(f'DimensionOperation.{name} of {a} and {b}', 'extents that a profile decides can be added, subtracted, '
                          'multiplied and divided, and the larger or smaller of two taken')
        return IDimensionExpr(_TEXTS[name].format(a, b))

    def declare_size_tensor(self, output_index: int, opt: IDimensionExpr, upper: IDimensionExpr) -> IDimensionExpr:
        """A size that only the run knows, at most `upper`; enqueue() writes it into the output of that index, an integer of no dims."""
        return IDimensionExpr(f'size{output_index} <= {upper._extent}', int(output_index))


class PluginTensorDesc(Named):
    def __init__(self) -> None:
        self._dims, self._type, self._format, self._scale = Dims(), DataType.FLOAT, TensorFormat.LINEAR, 1.0

    dims = property(lambda s: s._dims, lambda s, v: setattr(s, '_dims', Dims(v)))
    type = property(lambda s: s._type, lambda s, v: setattr(s, '_type', DataType(v)))
    format = property(lambda s: s._format, lambda s, v: setattr(s, '_format', TensorFormat(v)))
    scale = property(lambda s: s._scale, lambda s, v: setattr(s, '_scale', float(v)))


class DynamicPluginTensorDesc(Named):
    """`desc` with -1 for open extents; `min` and `max` that they may take. Usual extents are not known here: `opt` is `max`."""

    def __init__(self) -> None:
        self._desc, self._min, self._max, self._opt = PluginTensorDesc(), Dims(), Dims(), Dims()

    desc = property(lambda s: s._desc, lambda s, v: setattr(s, '_desc', v))
    min = property(lambda s: s._min, lambda s, v: setattr(s, '_min', Dims(v)))
    max = property(lambda s: s._max, lambda s, v: setattr(s, '_max', Dims(v)))
    opt = property(lambda s: s._opt, lambda s, v: setattr(s, '_opt', Dims(v)))


def desc_of(dtype: str, dims: Iterable[int | str]) -> PluginTensorDesc:
    made = PluginTensorDesc()
    made._dims, made._type = Dims(-1 if isinstance(d, str) else d for d in dims), datatype(dtype, 'an operand of a plug-in')
    return made


def range_of(type: Any) -> DynamicPluginTensorDesc:
    """Of a tenfold.plugins.Type."""
    made = DynamicPluginTensorDesc()
    made._desc = desc_of(type.dtype, type.dims)
    made._min, made._max = Dims(type.min or made._desc.dims), Dims(type.max or made._desc.dims)
    made._opt = made._max
    return made


def exprs_of(dims: Iterable[int | str]) -> DimsExprs:
    return DimsExprs(IDimensionExpr(d) for d in dims)
