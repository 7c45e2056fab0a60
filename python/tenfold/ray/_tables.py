"""Tables as Ray Data hands them to a class: dicts of arrays, pandas' frames and Arrow's tables, each answered in its own form."""
from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.errors import InvalidArgument


class Table:
    """A batch. `with_vectors` gives it back with the columns that go on, and a column of vectors."""

    def __init__(self, batch: Any, column: str) -> None:
        self.batch, self._column = batch, column

    def columns(self) -> list[str]:
        return list(self.batch)

    def values(self, name: str) -> list[Any]:
        if name not in self.columns():
            raise InvalidArgument(f'the batch has no column {name!r}; it has {", ".join(map(repr, self.columns()))}')
        return self._list(name)

    def _list(self, name: str) -> list[Any]:
        raise NotImplementedError

    def with_vectors(self, kept: list[str], output: str, vectors: Any, failed: dict[int, str]) -> Any:
        raise NotImplementedError


class _Arrays(Table):
    def _list(self, name: str) -> list[Any]:
        return np.asarray(self.batch[name]).tolist()

    def with_vectors(self, kept: list[str], output: str, vectors: Any, failed: dict[int, str]) -> Any:
        return {**{name: self.batch[name] for name in kept}, output: vectors}


class _Frame(Table):
    def _list(self, name: str) -> list[Any]:
        column = self.batch[name]
        return column.astype(object).where(column.notna(), None).tolist()

    def with_vectors(self, kept: list[str], output: str, vectors: Any, failed: dict[int, str]) -> Any:
        return self.batch[kept].assign(**{output: list(vectors)})


class _Arrow(Table):
    def columns(self) -> list[str]:
        return list(self.batch.column_names)

    def _list(self, name: str) -> list[Any]:
        return self.batch.column(name).to_pylist()

    def with_vectors(self, kept: list[str], output: str, vectors: Any, failed: dict[int, str]) -> Any:
        import pyarrow as pa
        mask = np.zeros(len(vectors), bool)
        mask[list(failed)] = True
        flat = pa.array(np.ascontiguousarray(vectors, np.float32).ravel())
        column = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1], mask=pa.array(mask) if failed else None)
        return self.batch.select(kept).append_column(output, column)


class _ArrowWithNulls(_Arrow):
    """All blocks have the column of errors, or they would not fit together."""

    def with_vectors(self, kept: list[str], output: str, vectors: Any, failed: dict[int, str]) -> Any:
        import pyarrow as pa
        table = super().with_vectors(kept, output, vectors, failed)
        return table.append_column(f'{output}_error', pa.array([failed.get(at) for at in range(len(vectors))], pa.string()))


def table_of(batch: Any, column: str, nulls: bool) -> Table:
    kind = f'{type(batch).__module__.split(".")[0]}.{type(batch).__name__}'
    if kind == 'pyarrow.Table':
        return (_ArrowWithNulls if nulls else _Arrow)(batch, column)
    if nulls:
        raise InvalidArgument(f"on_error='null' needs batch_format='pyarrow' of map_batches, for arrays have no nulls; got {kind}")
    if isinstance(batch, dict):
        return _Arrays(batch, column)
    if kind == 'pandas.DataFrame':
        return _Frame(batch, column)
    raise InvalidArgument(f"Embedder takes a dict of arrays, a pandas.DataFrame or a pyarrow.Table, got {kind}: batch_format of "
                          "map_batches is 'numpy', 'pandas' or 'pyarrow'")
