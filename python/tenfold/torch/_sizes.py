"""Symbolic sizes of torch: as values of a network, as functions of a call's arguments, and the ranges that engines are built for."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import sympy
import tenfold
import torch
from tenfold._network import Network, Value
from tenfold.torch._call import Refused
from torch.utils._sympy import functions as sizes_of_torch
from torch.utils._sympy.printers import PythonPrinter
from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

LEAST_MOST = 64            # of a size without a bound: the first range reaches to here, the others double
MANY, LESS_MOST = 4, 16    # with so many sizes: an engine's memory is for all of them at their largest
LARGEST_OF_DATA = 1 << 40  # extents that the data decides: beyond any memory
LARGEST = 1 << 60          # that engines compute: their sizes have 64 bits, and sums of a few terms must fit, too


def expression(size: Any) -> sympy.Expr:
    return sympy.Integer(size) if isinstance(size, int) else size.node.expr


class Line(NamedTuple):
    """times * symbol + plus"""
    symbol: sympy.Symbol
    times: int
    plus: int


def solved(e: sympy.Expr) -> Line | None:
    """A size as a line of one symbol, which then follows from it; None: it is none, or the symbol itself."""
    if len(e.free_symbols) != 1 or e.is_Symbol:
        return None
    (symbol,) = e.free_symbols
    plus, rest = e.as_independent(symbol, as_Add=True)
    times = sympy.cancel(rest / symbol)
    return Line(symbol, int(times), int(plus)) if times.is_Integer and plus.is_Integer else None


def is_of_data(size: Any) -> bool:
    """Whether only the data decides this size, or a part of it."""
    return isinstance(size, torch.SymInt) and size.node.hint is None


class Extents:
    """i64[1] of a symbolic size, made of the shapes of the network's inputs."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._known: dict[sympy.Expr, Value] = {}

    def add_input(self, value: Value, fake: torch.Tensor) -> None:
        for axis, size in enumerate(fake.shape):
            e = expression(size)
            if e.is_number or e in self._known:
                continue
            self._known[e] = shown = self.network.add('Shape', value, start=axis, end=axis + 1)
            if (line := solved(e)) is not None and line.symbol not in self._known:
                times, plus = (self._constant(n) for n in (line.times, line.plus))
                self._known[line.symbol] = self.network.add('Div', self.network.add('Sub', shown, plus), times)

    def add_result(self, value: Any, fake: Any) -> None:
        """The sizes that only the data decides: whoever reads one looks at the result that has it."""
        pairs = [(value, fake)] if isinstance(fake, torch.Tensor) else zip(value, fake, strict=True)
        for made, one in pairs:
            if made is not None and any(is_of_data(s) for s in one.shape):
                self.add_input(made, one)

    def __call__(self, size: Any) -> Value:
        return self._of(expression(size))

    def _of(self, e: sympy.Expr) -> Value:
        if e not in self._known:
            self._known[e] = self._made(e)
        return self._known[e]

    def _constant(self, number: int) -> Value:
        return self.network.constant(torch.tensor([number]))

    def _fold(self, op: str, parts: Sequence[sympy.Expr]) -> Value:
        made = self._of(parts[0])
        for part in parts[1:]:
            made = self.network.add(op, made, self._of(part))
        return made

    def _made(self, e: sympy.Expr) -> Value:
        if e.is_Integer:
            return self._constant(int(e))
        if isinstance(e, sympy.Add):
            return self._fold('Add', e.args)
        if isinstance(e, sympy.Mul):
            above, below = e.as_numer_denom()
            return self._fold('Mul', e.args) if below == 1 else self._fold('Div', [above, below])
        if isinstance(e, sympy.Pow) and e.exp.is_Integer and 0 < e.exp < 9:
            return self._fold('Mul', [e.base] * int(e.exp))
        if isinstance(e, sizes_of_torch.FloorDiv):
            return self._floor(*e.args)
        for kind, op in ((sizes_of_torch.Mod, 'Mod'), (sizes_of_torch.PythonMod, 'Mod'), (sizes_of_torch.Max, 'Max'),
                         (sizes_of_torch.Min, 'Min')):
            if isinstance(e, kind):
                return self._fold(op, e.args)
        raise Refused(f'the size {e}, which follows from no extent of an input')

    def _floor(self, above: sympy.Expr, below: sympy.Expr) -> Value:
        """ONNX's Div rounds towards zero."""
        if above.is_nonnegative and below.is_positive:
            return self._fold('Div', [above, below])
        rest = self.network.add('Mod', self._of(above), self._of(below))          # with the sign of the divisor
        return self.network.add('Div', self.network.add('Sub', self._of(above), rest), self._of(below))

    def check(self, symbols: Sequence[sympy.Symbol], around: Sequence[tuple[int, int]]) -> None:
        """Raises Unsupported where sizes in these ranges may lead to numbers that engines do not compute rightly."""
        ranges = {s: ValueRanges(minimum, maximum) for s, (minimum, maximum) in zip(symbols, around, strict=True)}
        for e in self._known:
            of_data = {s: ValueRanges(0, LARGEST_OF_DATA) for s in e.free_symbols - set(ranges)}
            bounds = bound_sympy(e, ranges | of_data)
            if bounds.lower < -LARGEST or bounds.upper > LARGEST:
                reported = ', '.join(f'{s} to {r.upper}' for s, r in ranges.items())
                raise tenfold.Unsupported(f'the size {e}, which may pass 2**60 for {reported}')


def evaluate(e: sympy.Expr, symbols: Sequence[sympy.Symbol]) -> Callable[..., int]:
    """The expression as a function of its symbols."""
    names = {s: f'v{i}' for i, s in enumerate(symbols)}
    text = PythonPrinter().doprint(e.xreplace({s: sympy.Symbol(n, integer=True) for s, n in names.items()}))
    return eval(f'lambda {", ".join(names.values())}: {text}', {'math': math, 'torch': torch, 'max': max, 'min': min})   # noqa: S307


class Ranges:
    """The symbols of some inputs, where a call shows them, and the range that each call's sizes belong to."""

    def __init__(self, fakes: Sequence[torch.Tensor]) -> None:
        self.symbols: list[sympy.Symbol] = []
        self.places: list[tuple[int, int]] = []        # of each symbol: the input and the axis that show it
        self._lines: dict[int, Line] = {}              # of symbols, by their number, that an axis shows as a line of them
        self._bounds: list[tuple[int, int]] = []
        self._hints: list[int] = []
        self._fakes = [[expression(s) for s in f.shape] for f in fakes]
        for i, fake in enumerate(fakes):
            for axis, size in enumerate(fake.shape):
                e = expression(size)
                if e.is_Symbol and e not in self.symbols:
                    self._add(e, size, (i, axis))
        for i, fake in enumerate(fakes):
            for axis, size in enumerate(fake.shape):
                if (line := solved(expression(size))) is not None and line.symbol not in self.symbols:
                    self._lines[len(self.symbols)] = line
                    self._add(line.symbol, size, (i, axis), line)
        for sizes in self._fakes:
            for e in sizes:
                if unknown := e.free_symbols - set(self.symbols):
                    raise Refused(f'the size {e}, whose part {min(map(str, unknown))} is no extent of an input')

    def _add(self, symbol: sympy.Symbol, size: Any, place: tuple[int, int], line: Line | None = None) -> None:
        environment = size.node.shape_env
        bounds = environment.bound_sympy(symbol)
        minimum = max(int(bounds.lower), 0) if bounds.lower.is_finite and bounds.lower.is_Integer else 0
        maximum = int(bounds.upper) if bounds.upper.is_finite and bounds.upper.is_Integer and bounds.upper < 1 << 31 else 0
        hint = size.node.hint
        if hint is None:
            raise Refused(f'the size {symbol}, which only the data decides')
        value = int(hint) if line is None else (int(hint) - line.plus) // line.times
        self.symbols.append(symbol), self.places.append(place), self._hints.append(value), self._bounds.append((minimum, maximum))

    def around(self, values: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """The range of each symbol that has this value: as torch bounds it, else up to a power of two."""
        found = []
        first_max = LEAST_MOST if len(self.symbols) < MANY else LESS_MOST
        for value, hint, (minimum, maximum) in zip(values, self._hints, self._bounds, strict=True):
            if maximum:
                found.append((minimum, maximum))
                continue
            first = max(first_max, 1 << max(hint - 1, 0).bit_length())
            above = first if value <= first else 1 << (value - 1).bit_length()
            found.append((minimum if above == first else above // 2 + 1, above))
        return tuple(found)

    @property
    def hints(self) -> list[int]:
        return list(self._hints)

    def values(self, tensors: Sequence[Any]) -> list[int]:
        found = [tensors[i].shape[axis] for i, axis in self.places]
        for number, line in self._lines.items():
            found[number] = (found[number] - line.plus) // line.times
        return found

    def written(self) -> dict[sympy.Symbol, Any]:
        """Where each symbol is found, as _dims has sizes."""
        found: dict[sympy.Symbol, Any] = {s: ['size', *place] for s, place in zip(self.symbols, self.places, strict=True)}
        for line in self._lines.values():
            found[line.symbol] = ['//', ['+', found[line.symbol], -line.plus], line.times]
        return found

    def shapes(self, values: Sequence[int]) -> list[list[int]]:
        """Of all inputs, for these values of the symbols."""
        given = dict(zip(self.symbols, values, strict=True))
        return [[int(e.xreplace(given)) if e.free_symbols else int(e) for e in sizes] for sizes in self._fakes]

    def profile(self, names: Sequence[str], around: Sequence[tuple[int, int]], usual: Sequence[int]) -> dict[str, Any]:
        """A size that decreases with a symbol is least where the symbol is largest, and no extent is less than 0."""
        ends = [self.shapes(v) for v in ([a for a, _ in around], usual, [b for _, b in around])]

        def of(i: int, choose: Callable[[Sequence[int]], int]) -> list[int]:
            return [max(choose(numbers), 0) for numbers in zip(*(shapes[i] for shapes in ends), strict=True)]
        return {name: (of(i, min), of(i, lambda n: n[1]), of(i, max)) for i, name in enumerate(names)}
