"""What ONNX Runtime's sessions are given and give: options, arguments, values, bindings."""
from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tenfold import _native, errors

if TYPE_CHECKING:
    from tenfold.session import Session

_ONNX_NAMES = {'f32': 'float', 'f64': 'double', 'f16': 'float16', 'bf16': 'bfloat16', 'boolean': 'bool', 'bool': 'bool', 'i64': 'int64',
               'i32': 'int32', 'i16': 'int16', 'i8': 'int8', 'u64': 'uint64', 'u32': 'uint32', 'u16': 'uint16', 'u8': 'uint8',
               'string': 'string', 'i4': 'int4', 'u4': 'uint4',
               'f8e4m3fn': 'float8e4m3fn', 'f8e4m3fnuz': 'float8e4m3fnuz', 'f8e5m2': 'float8e5m2',
               'f8e5m2fnuz': 'float8e5m2fnuz'}


class GraphOptimizationLevel(enum.IntEnum):
    """Taken for how long a build searches: ORT_DISABLE_ALL is optimization_level 0, the others are the default."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """Options of a session. What has no use here is kept and changes nothing: inter_op_num_threads, execution_mode, memory patterns."""

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.enable_profiling = False
        self.profile_file_prefix = 'tenfold_profile'
        self.enable_cpu_mem_arena = self.enable_mem_pattern = self.enable_mem_reuse = True
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ''
        self.optimized_model_filepath = ''
        self.use_deterministic_compute = False
        self._entries: dict[str, str] = {}

    def add_session_config_entry(self, key: str, value: str) -> None:
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        if key not in self._entries:
            raise errors.InvalidArgument(f'the session options have no entry {key!r}')
        return self._entries[key]

    def register_custom_ops_library(self, path: str) -> None:
        raise errors.Unsupported("libraries of ONNX Runtime's custom operators cannot be loaded; tenfold.Plugins loads Tenfold's")

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        raise errors.Unsupported('free dimensions need no override: the session builds for the shapes that it meets')

    def _build_options(self) -> dict[str, Any]:
        options: dict[str, Any] = {'threads': self.intra_op_num_threads}
        if self.graph_optimization_level == GraphOptimizationLevel.ORT_DISABLE_ALL:
            options['optimization_level'] = 0
        return options


class RunOptions:
    """Options of one run: `terminate` ends runs that begin after it is set."""

    def __init__(self) -> None:
        self.terminate = False
        self.logid = ''
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.only_execute_path_to_fetches = False

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Kept for scripts that set one; none has a meaning here."""


def look_at(options: RunOptions | None) -> None:
    """What options say of a run that is about to begin."""
    if options is not None and options.terminate:
        raise errors.Cancelled('the run was cancelled: RunOptions.terminate is set')


class NodeArg:
    """An input or output: name, shape (names or None where it is open), type ("tensor(float)")."""

    def __init__(self, binding: _native.Binding) -> None:
        self.name = binding.name
        self.shape: list[int | str | None] = [d if d != '' else None for d in binding.dims]
        self.type = f'tensor({_ONNX_NAMES.get(binding.dtype, binding.dtype)})'

    def __repr__(self) -> str:
        return f'NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})'


class ModelMetadata:
    """What the model's file says of itself."""

    def __init__(self, said: _native.ModelMetadata) -> None:
        self.producer_name, self.domain, self.description = said.producer_name, said.domain, said.description
        self.graph_name, self.graph_description = said.graph_name, said.graph_description
        self.version = 2**63 - 1 if said.version is None else said.version   # what ONNX Runtime says where there is none
        self.custom_metadata_map: dict[str, str] = dict(said.properties)


class OrtValue:
    """An array as ONNX Runtime hands it about."""

    def __init__(self, array: Any) -> None:
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: Any, device_type: str = 'cpu', device_id: int = 0) -> OrtValue:
        if device_type == 'cpu':
            return OrtValue(numpy_obj)
        return OrtValue(_native.DeviceArray.of(numpy_obj, _device(device_type, device_id)))

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: str = 'cpu', device_id: int = 0) -> OrtValue:
        import numpy as np
        if device_type == 'cpu':
            return OrtValue(np.zeros(tuple(shape), element_type))
        return OrtValue(_native.DeviceArray(shape, element_type, _device(device_type, device_id)))

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

    def element_type(self) -> Any:
        return self._array.dtype

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
        else:
            self._array[...] = array

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


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
        self._inputs[name], self._changed = arr_on_cpu, True

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        self.bind_cpu_input(name, ortvalue._array)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        self._outputs[name], self._changed = ortvalue._array, True

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int) -> None:
        self.bind_cpu_input(name, _at(device_type, element_type, shape, buffer_ptr))

    def bind_output(self, name: str, device_type: str = 'cpu', device_id: int = 0, element_type: Any = None,
                    shape: Sequence[int] | None = None, buffer_ptr: int | None = None) -> None:
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

    def get_outputs(self) -> list[OrtValue]:
        return [OrtValue(self._made[name]) for name in self._outputs]

    def get_outputs_as_ortvaluevector(self) -> list[OrtValue]:
        return self.get_outputs()

    def copy_outputs_to_cpu(self) -> list[Any]:
        import numpy as np
        return [np.array(_on_host(self._made[name])) for name in self._outputs]

    def _run(self, options: RunOptions | None) -> None:
        look_at(options)
        if self._changed or (self._unsettled and self._session._engine(self._inputs) is not self._engine):
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
