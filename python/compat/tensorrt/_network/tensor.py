"""ITensor: a value of a network."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold._network import Value
from tenfold.tensorrt._enums import DataType, TensorFormat, TensorLocation
from tenfold.tensorrt._names import Named, refused
from tenfold.tensorrt._network.dynamic_ranges import checked
from tenfold.tensorrt._network.host_sizes import Sizes
from tenfold.tensorrt._types import Dims, datatype, native_dtype, shape_of

_LINEAR = 1 << int(TensorFormat.LINEAR)


class ITensor(Named):
    is_execution_tensor = True

    def __init__(self, network: Any, value: Value) -> None:
        self._network, self._value = network, value

    def _operand(self) -> Any:
        """As layers name where their operands come from."""
        return self._value.ref

    @property
    def name(self) -> str: return self._value.name

    @name.setter
    def name(self, name: str) -> None: self._value.name = name

    @property
    def shape(self) -> Dims:
        """-1: decided by a profile, or by the run."""
        return Dims(self._network._fixed.get(self._value) or shape_of(self._value.dims))

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        """Of an input: gives extents that the model leaves open."""
        if not self.is_network_input:
            raise refused(f"shape = {tuple(shape)} of '{self.name}'", 'it is no input of the network')
        self._network._set_shape(self, tuple(shape))

    @property
    def dtype(self) -> DataType:
        given = self._network._types.get(self._key())
        return given[1] if given else datatype(self._value.dtype, f"'{self.name}'")

    @dtype.setter
    def dtype(self, kind: DataType) -> None:
        """Of an input or output, or of what becomes one before the build: the type in the caller's memory; what the model has is cast from
        it or to it."""
        native_dtype(kind)
        self._network._types[self._key()] = self, DataType(kind)

    @property
    def is_shape_tensor(self) -> bool:
        """Whether it is an input whose elements decide sizes: set_shape_input() gives their ranges."""
        return self.is_network_input and self._value.dtype in ('i32', 'i64') and self.name in Sizes(self._network).hosts

    @property
    def is_network_input(self) -> bool: return self._value in self._network._graph.inputs
    @property
    def is_network_output(self) -> bool: return self._value in self._network._graph.outputs

    def get_dimension_name(self, index: int) -> str:
        """What the model calls an open extent; '' if it is a number."""
        extent = self._value.dims[index]
        return extent if isinstance(extent, str) else ''

    def set_dimension_name(self, index: int, name: str) -> None:
        raise refused(f"set_dimension_name({index}, {name!r}) of '{self.name}'",
                      'extents get their names where the input is made: tenfold.Network.input() takes them')

    @property
    def location(self) -> TensorLocation: return TensorLocation.DEVICE

    @location.setter
    def location(self, location: TensorLocation) -> None:
        if TensorLocation(location) != TensorLocation.DEVICE:
            raise refused(f"location = {TensorLocation(location)} of '{self.name}'", 'inputs and outputs lie on the device')

    @property
    def broadcast_across_batch(self) -> bool: return False

    @broadcast_across_batch.setter
    def broadcast_across_batch(self, broadcast: bool) -> None:
        if broadcast:
            raise refused(f"broadcast_across_batch of '{self.name}'", 'batches are a dim of the network: give it the extent 1')

    @property
    def allowed_formats(self) -> int:
        """A mask of TensorFormat; LINEAR alone."""
        return _LINEAR

    @allowed_formats.setter
    def allowed_formats(self, mask: int) -> None:
        if not mask & _LINEAR:
            raise refused(f"allowed_formats = {mask:#x} of '{self.name}'", 'inputs and outputs are LINEAR')

    def set_dynamic_range(self, min: float, max: float) -> bool:
        """What 8 bits cover, where no calibrator says it: the larger magnitude to both sides, from zero on where the operator gives nothing
        negative."""
        self._network._ranges[self._key()] = self, checked(min, max, self.name)
        return True

    @property
    def dynamic_range(self) -> tuple[float, float] | None:
        """None: none was set."""
        return self._network._ranges[self._key()][1] if self._key() in self._network._ranges else None

    @dynamic_range.setter
    def dynamic_range(self, bounds: Any) -> None: self.set_dynamic_range(*bounds)

    def reset_dynamic_range(self) -> None: self._network._ranges.pop(self._key(), None)
    def _key(self) -> Any: return self._value.ref.key

    def __eq__(self, other: object) -> bool: return isinstance(other, ITensor) and self._value == other._value
    def __hash__(self) -> int: return hash(self._value)
    def __repr__(self) -> str: return f'<ITensor {self._value!r}>'
