"""What ONNX Runtime's sessions are given and give: arguments, values, bindings."""
from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tenfold import _native, errors
from tenfold._session_errors import NoArray
from tenfold._session_options import look_at

if TYPE_CHECKING:
    from tenfold.session import Session

_ONNX_NAMES = {'f32': 'float', 'f64': 'double', 'f16': 'float16', 'bf16': 'bfloat16', 'boolean': 'bool', 'bool': 'bool', 'i64': 'int64',
               'i32': 'int32', 'i16': 'int16', 'i8': 'int8', 'u64': 'uint64', 'u32': 'uint32', 'u16': 'uint16', 'u8': 'uint8',
               'string': 'string', 'i4': 'int4', 'u4': 'uint4',
               'f8e4m3fn': 'float8e4m3fn', 'f8e4m3fnuz': 'float8e4m3fnuz', 'f8e5m2': 'float8e5m2',
               'f8e5m2fnuz': 'float8e5m2fnuz'}
_ONNX_NUMBERS = {'float': 1, 'uint8': 2, 'int8': 3, 'uint16': 4, 'int16': 5, 'int32': 6, 'int64': 7, 'string': 8, 'bool': 9, 'float16': 10,
                 'double': 11, 'uint32': 12, 'uint64': 13, 'bfloat16': 16, 'float8e4m3fn': 17, 'float8e4m3fnuz': 18, 'float8e5m2': 19,
                 'float8e5m2fnuz': 20, 'uint4': 21, 'int4': 22}


class NodeArg:
    """An input or output: name, shape (the file's names, or None, where it is open), type ("tensor(float)")."""

    def __init__(self, name: str, type: str, shape: list[int | str | None]) -> None:
        self.name, self.type, self.shape = name, type, shape

    def __repr__(self) -> str:
        return f'NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})'


def arguments(declared: list[_native.DeclaredValue], bindings: list[_native.Binding], fixed: dict[str, int],
              names: dict[str, str | None]) -> list[NodeArg]:
    """What the file declares, completed by what is known of the engines' bindings. `fixed`: extents by the file's names. `names`: the
    file's, by the engines' own, to which inputs are added."""
    known = {b.name: b for b in bindings}
    return [_argument(one, known.get(one.name), fixed, names) for one in declared]


def _argument(one: _native.DeclaredValue, known: _native.Binding | None, fixed: dict[str, int], names: dict[str, str | None]) -> NodeArg:
    dims = [fixed.get(dim, dim) if isinstance(dim, str) else dim for dim in one.dims] if one.ranked else []
    found = list(known.dims) if known is not None else []
    if known is not None and known.is_input:
        names.update((of_engine, dim) for dim, of_engine in zip(dims, found) if isinstance(of_engine, str) and not isinstance(dim, int))
    if not one.ranked:
        dims = [dim if isinstance(dim, int) else names.get(dim) for dim in found]
    elif len(found) == len(dims):
        dims = [of_engine if isinstance(of_engine, int) else dim for dim, of_engine in zip(dims, found, strict=True)]
    return NodeArg(one.name, onnx_type(one.type), dims)


def onnx_type(text: str) -> str:
    """'tensor(float)' for 'tensor(f32)'."""
    for short, long in _ONNX_NAMES.items():
        for end in '),':
            text = text.replace(f'({short}{end}', f'({long}{end}')
    return text


class ModelMetadata:
    """What the model's file says of itself."""

    def __init__(self, metadata: _native.ModelMetadata) -> None:
        self.producer_name, self.domain, self.description = metadata.producer_name, metadata.domain, metadata.description
        self.graph_name, self.graph_description = metadata.graph_name, metadata.graph_description
        self.version = 2**63 - 1 if metadata.version is None else metadata.version   # what ONNX Runtime says where there is none
        self.custom_metadata_map: dict[str, str] = dict(metadata.properties)


class OrtValue:
    """An array as ONNX Runtime hands it about."""

    def __init__(self, array: Any) -> None:
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: Any, device_type: str = 'cpu', device_id: int = 0) -> OrtValue:
        if not hasattr(numpy_obj, 'dtype') or numpy_obj.dtype.hasobject:
            raise NoArray(f'an OrtValue is made of an array of numbers, got {type(numpy_obj).__name__}')
        if device_type == 'cpu':
            return OrtValue(numpy_obj)
        return OrtValue(_native.DeviceArray.of(numpy_obj, _device(device_type, device_id)))

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: str = 'cpu', device_id: int = 0) -> OrtValue:
        """`element_type`: NumPy's, or ONNX's number of one."""
        import numpy as np
        dtype = _dtype_of_number(element_type) if isinstance(element_type, int) else element_type
        if device_type == 'cpu':
            return OrtValue(np.zeros(tuple(shape), dtype))
        return OrtValue(_native.DeviceArray(shape, dtype, _device(device_type, device_id)))

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data: Any, onnx_element_type: int) -> OrtValue:
        """The bytes of an array as elements of another type of that size, such as bfloat16 (16) in uint16."""
        return OrtValue(data.view(_dtype_of_number(onnx_element_type)))

    @staticmethod
    def from_dlpack(array: Any, is_bool_tensor: bool = False) -> OrtValue:
        return OrtValue(array)

    def numpy(self) -> Any:
        return _on_host(self._array)

    def shape(self) -> list[int]:
        return list(self._array.shape)

    def data_type(self) -> str:
        names = {_native.numpy_name(short): long for short, long in _ONNX_NAMES.items() if short not in ('boolean', 'string')}
        return f'tensor({names.get(str(self._array.dtype), str(self._array.dtype))})'

    def element_type(self) -> int:
        """ONNX's number of it."""
        return _ONNX_NUMBERS[self.data_type()[len('tensor('):-1]]

    def tensor_size_in_bytes(self) -> int:
        return int(self._array.nbytes)

    def device_name(self) -> str:
        return 'cuda' if hasattr(self._array, '__cuda_array_interface__') else 'cpu'

    def data_ptr(self) -> int:
        return int(self._array.address if isinstance(self._array, _native.DeviceArray) else self._array.ctypes.data)

    def is_tensor(self) -> bool: return True
    def is_sparse_tensor(self) -> bool: return False
    def is_tensor_sequence(self) -> bool: return False
    def has_value(self) -> bool: return self._array is not None

    def update_inplace(self, array: Any) -> None:
        if isinstance(self._array, _native.DeviceArray):
            self._array.copy_from(array)
        elif tuple(array.shape) != tuple(self._array.shape):
            raise NoArray(f'the OrtValue has the shape {list(self._array.shape)}, an array of {list(array.shape)} is given')
        else:
            self._array[...] = array

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def _dtype_of_number(number: int) -> Any:
    import numpy as np
    names = {_ONNX_NUMBERS[long]: _native.numpy_name(short) for short, long in _ONNX_NAMES.items()
             if short not in ('boolean', 'string') and long in _ONNX_NUMBERS}
    if number not in names:
        raise errors.InvalidArgument(f'there is no element type of number {number}; there are {sorted(names)}')
    if names[number] in np.sctypeDict:
        return np.dtype(names[number])
    return np.dtype(getattr(importlib.import_module('ml_dtypes'), names[number]))


def _device(device_type: str, device_id: int) -> str:
    from tenfold._device import _with_libraries
    if device_type not in ('cpu', 'cuda'):
        raise errors.Unsupported(f"memory is made on 'cpu' or 'cuda', not on {device_type!r}")
    _with_libraries()
    return device_type if device_type == 'cpu' else f'cuda:{device_id}'


def _on_host(array: Any) -> Any:
    import numpy as np
    return array.numpy() if isinstance(array, _native.DeviceArray) else np.asarray(array)


class IOBinding:
    """Arrays that runs read and write where they lie."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, Any] = {}   # None: a new array
        self._made: dict[str, Any] = {}
        self._devices: dict[str, str] = {}   # where new arrays are made
        self._context: Any = None
        self._engine: Any = None
        self._changed = True
        self._unsettled = False   # a tuned engine may take its place

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        self._session._expect_input(name)
        if not hasattr(arr_on_cpu, 'shape'):
            raise NoArray(f'input {name!r} is bound to an array, got {type(arr_on_cpu).__name__}')
        self._inputs[name], self._changed = arr_on_cpu, True

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        self.bind_cpu_input(name, ortvalue._array)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        self._session._expect_output(name)
        self._outputs[name], self._changed = ortvalue._array, True

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int) -> None:
        self.bind_cpu_input(name, _at(device_type, element_type, shape, buffer_ptr))

    def bind_output(self, name: str, device_type: str = 'cpu', device_id: int = 0, element_type: Any = None,
                    shape: Sequence[int] | None = None, buffer_ptr: int | None = None) -> None:
        self._session._expect_output(name)
        given = None
        if buffer_ptr is not None and shape is not None:
            given = _at(device_type, element_type, shape, buffer_ptr)
        self._outputs[name], self._changed = given, True
        self._devices[name] = _device(device_type, device_id)

    def clear_binding_inputs(self) -> None:
        self._inputs, self._changed = {}, True

    def clear_binding_outputs(self) -> None:
        self._outputs, self._changed = {}, True

    def synchronize_inputs(self) -> None:
        """Nothing is on its way: runs wait for what they read."""

    def synchronize_outputs(self) -> None:
        """Runs are over when they return."""

    def _results(self) -> list[Any]:
        if missing := [name for name in self._outputs if name not in self._made]:
            raise errors.InvalidArgument(f'output {missing[0]!r} has no value yet: run_with_iobinding() comes first')
        return [self._made[name] for name in self._outputs]

    def get_outputs(self) -> list[OrtValue]:
        return [OrtValue(value) for value in self._results()]

    def get_outputs_as_ortvaluevector(self) -> list[OrtValue]:
        return self.get_outputs()

    def copy_outputs_to_cpu(self) -> list[Any]:
        import numpy as np
        return [np.array(_on_host(value)) for value in self._results()]

    def _run(self, options: Any) -> None:
        look_at(options)
        if self._changed or (self._unsettled and self._session._ask(self._inputs)[0] is not self._engine):
            self._bind()
        self._context.run()
        if self._by_run:
            self._made = {**self._outputs, **{name: self._context.output(name) for name in self._by_run}}

    def _bind(self) -> None:
        import numpy as np
        engine, settled = self._session._ask(self._inputs)
        self._engine, self._unsettled = engine, not settled
        context = engine.create_context()
        for name, array in self._inputs.items():
            context.bind(name, array)
        self._made, self._by_run = dict(self._outputs), []
        for name, array in self._outputs.items():
            shape = context.shape(name)
            if array is None and -1 in shape:
                self._by_run.append(name)
                continue
            if array is None:
                dtype = next(b.numpy_dtype for b in engine.bindings if b.name == name and not b.is_input)
                where = self._devices.get(name, 'cpu')
                array = np.empty(shape, dtype) if where == 'cpu' else _native.DeviceArray(shape, dtype, where)
            context.bind(name, array)
            self._made[name] = array
        self._context, self._changed = context, False


def _at(device_type: str, element_type: Any, shape: Sequence[int], address: int) -> Any:
    """An array over memory of the caller's."""
    import ctypes

    import numpy as np
    dtype = np.dtype(element_type)
    if device_type != 'cpu':
        return type('DeviceMemory', (), {'shape': tuple(shape), 'dtype': dtype, '__cuda_array_interface__': {
            'shape': tuple(shape), 'typestr': dtype.str, 'data': (int(address), False), 'version': 3}})()
    count = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer((ctypes.c_byte * count).from_address(int(address)), dtype).reshape(shape)
