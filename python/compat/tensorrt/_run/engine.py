"""ICudaEngine: a loaded plan. Its inputs and outputs by name are 10.x; bindings.py has 8.x's, by number."""
from __future__ import annotations

import json
from typing import Any

from tenfold._engine import Engine
from tenfold.errors import Error
from tenfold.tensorrt._enums import (
    DataType, EngineStat, ExecutionContextAllocationStrategy, HardwareCompatibilityLevel, LayerInformationFormat, TensorFormat,
    TensorIOMode, TensorLocation,
)
from tenfold.tensorrt._logger import ILogger, fail, say_once
from tenfold.tensorrt._memory import IHostMemory, plan_of
from tenfold.tensorrt._recorder import Recording
from tenfold.tensorrt._run import engine_fixed
from tenfold.tensorrt._run.context import IExecutionContext
from tenfold.tensorrt._run.gpu_allocator import Asking
from tenfold.tensorrt._run.serialization import IRuntimeConfig, ISerializationConfig
from tenfold.tensorrt._types import Dims, datatype


LABEL = 'tenfold.tensorrt'   # of a plan: what an engine tells of its build


def _told(engine: Engine) -> dict[str, Any]:
    """Plans come from anywhere, and labels are anybody's to set."""
    try:
        reported = json.loads(engine.labels.get(LABEL, '{}'))
    except ValueError:
        reported = {}
    return reported if isinstance(reported, dict) else {}


class ICudaEngine(engine_fixed.Fixed):
    def __init__(self, engine: Engine, logger: ILogger, asking: Asking | None = None) -> None:
        self._engine, self._logger, self._asking = engine, logger, asking
        self._told = _told(engine)
        debug = self._told.get('debug')
        self._debug: dict[str, bool] = debug if isinstance(debug, dict) else {}   # marked tensors; True: an output for their sake alone
        self._tensors = {b.name: b for b in engine.bindings if not self._debug.get(b.name)}
        self._names = list(self._tensors)
        self._inputs = [b.name for b in self._tensors.values() if b.is_input]
        self._open = [name for name in self._inputs if -1 in self._tensors[name].shape]
        self._on_gpu, self._profiles = engine.info.on_gpu, engine.info.profiles
        self._hosts: list[str] = [] if self._on_gpu else list(self._told.get('hosts', ()))   # inputs whose elements decide sizes
        self._by_hosts, self._by_data = ([] if self._on_gpu else list(self._told.get(key, ())) for key in ('by_hosts', 'by_data'))

    def _raise_of_allocator(self) -> None:
        """Behind a call that failed: what the caller's allocator has raised."""
        if self._asking is not None:
            self._asking.raised()

    @property
    def name(self) -> str: return self._engine.labels.get('network') or self._engine.info.model_name
    @property
    def num_layers(self) -> int: return self._engine.info.steps
    @property
    def num_optimization_profiles(self) -> int: return self._profiles
    @property
    def refittable(self) -> bool: return bool(self._engine.refittable_weights)
    @property
    def hardware_compatibility_level(self) -> HardwareCompatibilityLevel:
        """That of the build; NONE, too, where the plan was not built by these names."""
        return HardwareCompatibilityLevel(self._told.get('hardware', 0))

    @property
    def tactic_sources(self) -> int: return int(self._told.get('sources', 0))
    def is_debug_tensor(self, name: str) -> bool: return name in self._debug or bool(self._of(name, False))

    def get_engine_stat(self, stat: EngineStat = EngineStat.TOTAL_WEIGHTS_SIZE) -> int:
        """Bytes. No weights are ever stripped."""
        return self._engine.info.weight_bytes if EngineStat(stat) == EngineStat.TOTAL_WEIGHTS_SIZE else 0

    @property
    def device_memory_size(self) -> int: return self._engine.arena_bytes()
    @property
    def device_memory_size_v2(self) -> int: return self._engine.arena_bytes()

    def get_device_memory_size_for_profile(self, profile_index: int) -> int:
        """What its largest shapes take."""
        if not 0 <= profile_index < self._profiles:
            raise IndexError(f'there is no profile {profile_index}: the engine has {self._profiles}')
        return self._engine.arena_bytes(profile_index)

    get_device_memory_size_for_profile_v2 = get_device_memory_size_for_profile

    @property
    def num_io_tensors(self) -> int: return len(self._names)

    def get_tensor_name(self, index: int) -> str:
        if not 0 <= index < len(self._names):
            raise IndexError(f'there is no tensor {index}: the engine has {len(self._names)}')
        return self._names[index]

    def _tensor(self, name: str) -> Any:
        if name not in self._tensors:
            raise ValueError(f'the engine has no input or output {name!r}; it has {", ".join(self._names)}')
        return self._tensors[name]

    def get_tensor_mode(self, name: str) -> TensorIOMode:
        """NONE: there is no such input or output."""
        if name not in self._tensors:
            return TensorIOMode.NONE
        return TensorIOMode.INPUT if self._tensors[name].is_input else TensorIOMode.OUTPUT

    def get_tensor_shape(self, name: str) -> Dims: return Dims(self._tensor(name).shape)
    def get_tensor_dtype(self, name: str) -> DataType: return datatype(self._tensor(name).dtype, f"'{name}'")

    def get_tensor_format(self, name: str, profile_index: int = 0) -> TensorFormat:
        self._tensor(name)
        return TensorFormat.LINEAR

    def get_tensor_format_desc(self, name: str, profile_index: int = 0) -> str:
        return f'Row major linear {self._tensor(name).dtype}'

    def get_tensor_location(self, name: str) -> TensorLocation:
        """DEVICE, where the engine runs: on a CPU that is the host's memory. HOST: elements that decide sizes."""
        return TensorLocation.HOST if self.is_shape_inference_io(name) else TensorLocation.DEVICE

    def is_shape_inference_io(self, name: str) -> bool:
        """Whether the elements of an input decide sizes. On a GPU no tensor has to lie on the host."""
        self._tensor(name)
        return name in self._hosts

    def get_tensor_profile_shape(self, name: str, profile_index: int) -> list[Dims]:
        """[min, opt, max] of an input."""
        self._tensor(name)
        return [Dims(shape) for shape in self._engine.profile_shapes(profile_index, name)]

    def serialize(self) -> IHostMemory: return plan_of(self._engine)

    def create_serialization_config(self) -> ISerializationConfig: return ISerializationConfig(self._logger)

    def serialize_with_config(self, config: ISerializationConfig) -> IHostMemory:
        if not isinstance(config, ISerializationConfig):
            raise TypeError(f'serialize_with_config() takes what create_serialization_config() makes, got {type(config).__name__}')
        return self.serialize()

    def create_runtime_config(self) -> IRuntimeConfig: return IRuntimeConfig()

    def create_execution_context_without_device_memory(self) -> IExecutionContext | None:
        """The caller gives memory of device_memory_size bytes before the first run."""
        return self.create_execution_context(ExecutionContextAllocationStrategy.USER_MANAGED)

    def create_execution_context(self, strategy: Any = None, *, runtime_config: IRuntimeConfig | None = None) -> IExecutionContext | None:
        """`strategy`: an ExecutionContextAllocationStrategy or an IRuntimeConfig; STATIC unless told."""
        config = strategy if runtime_config is None else runtime_config
        if not isinstance(config, IRuntimeConfig):
            config = IRuntimeConfig()
            config.set_execution_context_allocation_strategy(ExecutionContextAllocationStrategy.STATIC if strategy is None else strategy)
        if config.get_execution_context_allocation_strategy() == ExecutionContextAllocationStrategy.ON_PROFILE_CHANGE:
            say_once(self._logger, 'ON_PROFILE_CHANGE has no effect in Tenfold: a context has the memory of its largest profile')
        try:
            return IExecutionContext(self, self._logger, config)
        except Error as error:
            self._raise_of_allocator()
            fail(self._logger, error)
            return None

    def create_engine_inspector(self) -> EngineInspector: return EngineInspector(self)


class EngineInspector(Recording):
    """Steps of an engine, in the form of TensorRT's layer information."""

    def __init__(self, engine: ICudaEngine) -> None:
        self._engine, self._logger = engine, engine._logger
        self._context: Any = None

    @property
    def execution_context(self) -> Any: return self._context

    @execution_context.setter
    def execution_context(self, context: Any) -> None:
        if context is not None:
            if not isinstance(context, IExecutionContext):
                raise TypeError(f'execution_context takes what create_execution_context() makes, got {type(context).__name__}')
            say_once(self._logger, 'execution_context of an EngineInspector has no effect in Tenfold: layers are told with the '
                     'shapes of the plan')
        self._context = context

    def _layers(self) -> Any: return json.loads(self._engine._engine.inspect_json())['Layers']

    def get_engine_information(self, format: Any) -> str:
        """JSON, or ONELINE: the plan in words."""
        as_json = LayerInformationFormat(format).name == 'JSON'
        return self._engine._engine.inspect_json() if as_json else self._engine._engine.inspect(0)

    def get_layer_information(self, layer_index: int, format: Any) -> str:
        layer = self._layers()[layer_index]
        return json.dumps(layer) if LayerInformationFormat(format).name == 'JSON' else str(layer['Name'])
