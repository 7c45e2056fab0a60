"""Types that layers compute in and give, as the caller sets them: kept by the network, and asked for as tenfold.build(layer_types=)."""
from __future__ import annotations

from typing import Any

from tenfold.errors import InvalidArgument
from tenfold.tensorrt._enums import DataType
from tenfold.tensorrt._names import Named


class Precisions(Named):
    """Of a layer. A type that is set permits it, so that no flag is needed beside."""

    _network: Any
    name: Any

    def _key(self) -> Any: raise NotImplementedError
    def get_output(self, index: int) -> Any: raise NotImplementedError

    @property
    def precision(self) -> DataType:
        """The type that the products, sums and functions of the layer compute in. Where none is set: that of its first output."""
        if self.precision_is_set:
            return self._network._precisions[self._key()][1]   # type: ignore[no-any-return]
        output = self.get_output(0)
        return DataType.FLOAT if output is None else output.dtype

    @precision.setter
    def precision(self, kind: DataType) -> None: self._network._precisions[self._key()] = self, DataType(kind)

    @property
    def precision_is_set(self) -> bool: return self._key() in self._network._precisions

    def reset_precision(self) -> None: self._network._precisions.pop(self._key(), None)

    def set_output_type(self, index: int, dtype: DataType) -> None:
        """Results of FLOAT may be rounded to HALF or BF16 so. The layer's other results of floats get the same type, if none is set."""
        if self.get_output(index) is None:
            raise InvalidArgument(f"set_output_type({index}, {dtype}): layer '{self.name}' has no output {index}")
        self._network._output_types[self._key(), index] = self, DataType(dtype)

    def get_output_type(self, index: int) -> DataType | None:
        """Where none is set: what the model has."""
        if self.output_type_is_set(index):
            return self._network._output_types[self._key(), index][1]   # type: ignore[no-any-return]
        output = self.get_output(index)
        return None if output is None else output.dtype

    def output_type_is_set(self, index: int) -> bool: return (self._key(), index) in self._network._output_types
    def reset_output_type(self, index: int) -> None: self._network._output_types.pop((self._key(), index), None)
