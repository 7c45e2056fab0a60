"""What a plug-in is made from: named fields; and the enumerations around plug-ins."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tenfold.tensorrt._enums import Enum


class PluginFieldType(Enum):
    FLOAT16, FLOAT32, FLOAT64, INT8, INT16, INT32, CHAR, DIMS, UNKNOWN, BF16, INT64, FP8, INT4, FP4 = range(14)


class PluginCapabilityType(Enum):
    CORE, BUILD, RUNTIME = range(3)


class PluginCreatorVersion(Enum):
    V1, V1_PYTHON = 0, 64


class PluginArgType(Enum):
    INT = 0


class PluginArgDataType(Enum):
    INT8, INT16, INT32 = range(3)


class TensorRTPhase(Enum):
    BUILD, RUNTIME = range(2)


class QuickPluginCreationRequest(Enum):
    UNKNOWN, PREFER_JIT, PREFER_AOT, STRICT_JIT, STRICT_AOT = range(5)


_NUMPY = {'FLOAT16': 'float16', 'FLOAT32': 'float32', 'FLOAT64': 'float64', 'INT8': 'int8', 'INT16': 'int16', 'INT32': 'int32',
          'DIMS': 'int64', 'INT64': 'int64'}


class PluginField:
    """A name with numbers, or with bytes (CHAR, UNKNOWN and the types that NumPy lacks). `data` is an array of the type's elements."""

    def __init__(self, name: str = '', data: Any = None, type: PluginFieldType = PluginFieldType.UNKNOWN) -> None:
        self._name, self._type = name, PluginFieldType(type)
        self.data = () if data is None else data

    @property
    def name(self) -> str: return self._name

    @name.setter
    def name(self, name: str) -> None: self._name = name

    @property
    def type(self) -> PluginFieldType: return self._type

    @type.setter
    def type(self, kind: PluginFieldType) -> None: self._type = PluginFieldType(kind)

    @property
    def data(self) -> Any: return self._data

    @data.setter
    def data(self, given: Any) -> None:
        import numpy as np
        kind = _NUMPY.get(self.type.name)
        if isinstance(given, str):
            given = given.encode()
        if isinstance(given, (bytes, bytearray, memoryview)):
            self._data = np.frombuffer(bytes(given), kind or 'int8')
        else:
            array = np.ascontiguousarray(given)
            self._data = array.reshape(-1).view('int8') if kind is None else array.astype(kind).reshape(-1)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self._data.size)

    def __repr__(self) -> str: return f'<PluginField {self.name!r} {self.type.name} {self._data.tolist()}>'


class PluginFieldCollection(list):   # type: ignore[type-arg]
    """A list of fields."""

    def __init__(self, fields: Iterable[PluginField] = ()) -> None:
        super().__init__(fields)
        for field in self:
            if not isinstance(field, PluginField):
                raise TypeError(f'a PluginFieldCollection holds PluginFields, got {type(field).__name__}')


PluginFieldCollection_ = PluginFieldCollection   # 10.x has a second form of it


def fields_to_json(fields: Iterable[PluginField]) -> list[list[Any]]:
    """Readable in a plan: ["pads", "INT32", [1, 1]]; bytes that are no text are told as numbers."""
    return [[f.name, f.type.name, f.data.tolist()] for f in fields]


def fields_from_json(rows: Iterable[list[Any]]) -> PluginFieldCollection:
    import numpy as np
    return PluginFieldCollection(PluginField(name, np.array(values, _NUMPY.get(kind, 'int8')), PluginFieldType[kind])
                                 for name, kind, values in rows)


def default_attribute(field: PluginField) -> Any:
    """What an ONNX node's attribute for the field is where the node has none; its type decides the attribute's."""
    if field.type.name.startswith('FLOAT') or field.type.name in ('BF16', 'FP8', 'FP4'):
        return [float('nan')]
    return [] if field.type.name.startswith('INT') or field.type.name == 'DIMS' else ''


def field_of_attribute(field: PluginField, value: Any) -> PluginField | None:
    """None: the node has no such attribute."""
    if not len(value) or (isinstance(value, list) and value[0] != value[0]):
        return None
    return PluginField(field.name, value, field.type)
