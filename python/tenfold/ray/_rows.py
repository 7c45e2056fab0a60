"""Rows of arrays through an engine: columns to inputs, pieces of as many rows as the engine takes, and results put together."""
from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.errors import InvalidArgument


def profiles_of(bindings: list[Any], batch_size: int, path: str) -> Any:
    """From 1 to batch_size rows for each input that leaves the rows open; None where no input is open."""
    inputs = [one for one in bindings if one.is_input]
    for one in inputs:
        if any(extent < 0 for extent in one.shape[1:]):
            raise InvalidArgument(f"the input '{one.name}' of '{path}' has the shape {_shape(one.shape)}, of which more than the rows is "
                                  f"open: give profiles={{'{one.name}': (smallest, usual, largest shape), ...}}")
    if not any(one.shape and one.shape[0] < 0 for one in inputs):
        return None
    return {one.name: tuple((rows, *one.shape[1:]) for rows in (1, batch_size, batch_size)) if one.shape and one.shape[0] < 0
            else one.shape for one in inputs}


def _shape(extents: Any) -> str:
    return '[' + ', '.join('?' if extent < 0 else str(extent) for extent in extents) + ']'


class Feed:
    """An engine with the columns that it reads and writes. Threads may share it."""

    def __init__(self, engine: Any, inputs: dict[str, str], outputs: dict[str, str] | None) -> None:
        self.engine = engine
        self._inputs = [one for one in engine.bindings if one.is_input]
        self._outputs = [one for one in engine.bindings if not one.is_input]
        self._columns, self._results = dict(inputs), {one.name: one.name for one in self._outputs} if outputs is None else dict(outputs)
        for given, known, what in ((self._columns, self._inputs, 'input'), (self._results, self._outputs, 'output')):
            if wrong := [name for name in given if all(name != one.name for one in known)]:
                raise InvalidArgument(f"{what}s has {wrong[0]!r}, and the model's {what}s are {', '.join(repr(one.name) for one in known)}")
        for one in self._inputs:
            if not one.shape:
                raise InvalidArgument(f"the input '{one.name}' is a single number, without rows: Predictor needs inputs of one row a "
                                      'sample')
        shapes = [[engine.profile_shapes(p, one.name) for one in self._inputs] for p in range(engine.info.profiles)]
        self._least = min(shape[0][0] for profile in shapes for shape in profile)
        self._most = max(shape[2][0] for profile in shapes for shape in profile)

    def result_names(self) -> list[str]:
        return list(self._results.values())

    def columns(self, batch: dict[str, Any]) -> dict[str, str]:
        """The column of each input: the one that was named, that of the input's name, or the only one there is."""
        found = {}
        for one in self._inputs:
            column = self._columns.get(one.name, one.name)
            if column not in batch and one.name not in self._columns and len(self._inputs) == len(batch) == 1:
                column = next(iter(batch))
            if column not in batch:
                raise InvalidArgument(f"the model's input '{one.name}' needs the column {column!r}, and the batch has "
                                      f"{', '.join(map(repr, batch))}: give inputs={{'{one.name}': COLUMN}}")
            found[one.name] = column
        return found

    def run(self, arrays: dict[str, Any], columns: dict[str, str]) -> dict[str, Any]:
        ready = {one.name: _array(one, arrays[one.name], columns[one.name]) for one in self._inputs}
        count = len(next(iter(ready.values())))
        for name, array in ready.items():
            if len(array) != count:
                raise InvalidArgument(f"the column '{columns[name]}' has {len(array)} rows, others have {count}")
        made: dict[str, Any] = {}
        for begin in range(0, count, self._most):
            end = min(begin + self._most, count)
            for name, rows in self._piece({name: array[begin:end] for name, array in ready.items()}, end - begin).items():
                if name not in made:
                    made[name] = np.empty((count, *rows.shape[1:]), rows.dtype)
                if rows.shape[1:] != made[name].shape[1:]:
                    raise InvalidArgument(f"the output '{name}' has rows of {_shape(rows.shape[1:])} and of "
                                          f'{_shape(made[name].shape[1:])}, which make no column')
                made[name][begin:end] = rows
        if not count:
            made = {one.name: np.empty((0, *(max(extent, 0) for extent in one.shape[1:])), one.numpy_dtype) for one in self._outputs}
        return {column: made[name] for name, column in self._results.items()}

    def _piece(self, piece: dict[str, Any], rows: int) -> dict[str, Any]:
        """Fewer rows than the engine takes are filled up with the last one, whose results go."""
        if rows < self._least:
            piece = {name: np.concatenate([array, np.repeat(array[-1:], self._least - rows, axis=0)]) for name, array in piece.items()}
        found = self.engine(piece)
        results = found if isinstance(found, dict) else {self._outputs[0].name: found}
        for name in self._results:
            if not results[name].ndim or len(results[name]) != max(rows, self._least):
                raise InvalidArgument(f"the output '{name}' is {_shape(results[name].shape)} for {max(rows, self._least)} rows: it has no "
                                      'row for each of them; leave it out by outputs={...}')
        return {name: results[name][:rows] for name in self._results}

    def run_zeros(self) -> None:
        self._piece({one.name: np.zeros(self.engine.profile_shapes(0, one.name)[0], one.numpy_dtype) for one in self._inputs}, self._least)


def _array(binding: Any, column: Any, name: str) -> Any:
    """A column as the engine's input takes it: rows of one shape, of its type."""
    array = np.asarray(column)
    if array.dtype == object:   # Ray's form of rows that differ in shape
        shapes = [np.shape(row) for row in array]
        if odd := [i for i, shape in enumerate(shapes) if shape != shapes[0]]:
            raise InvalidArgument(f"the column '{name}' has rows of several shapes: row 0 is {_shape(shapes[0])}, row {odd[0]} is "
                                  f"{_shape(shapes[odd[0]])}; an engine takes rows of one shape")
        if none := [i for i, row in enumerate(array) if row is None]:
            raise InvalidArgument(f"the column '{name}' has no value in row {none[0]} of the batch")
        array = np.stack(array) if len(array) else np.empty((0, *(max(extent, 0) for extent in binding.shape[1:])))
    wanted = np.dtype(binding.numpy_dtype)
    if array.dtype != wanted:
        if not np.can_cast(array.dtype, wanted, 'same_kind'):
            raise InvalidArgument(f"the column '{name}' is {array.dtype}, and the input '{binding.name}' takes {wanted}: convert it before")
        array = array.astype(wanted)
    expected = binding.shape[1:]
    if array.ndim != len(expected) + 1 or any(e >= 0 and e != found for e, found in zip(expected, array.shape[1:])):
        raise InvalidArgument(f"rows of the column '{name}' are {_shape(array.shape[1:])}, and those of the input '{binding.name}' are "
                              f'{_shape(expected)}')
    return np.ascontiguousarray(array)
