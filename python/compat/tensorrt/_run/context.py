"""IExecutionContext: shapes and addresses by name; run.py binds them and runs."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.errors import Error
from tenfold.tensorrt._enums import ProfilingVerbosity
from tenfold.tensorrt._logger import ILogger, fail, say_once
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._noted import noted
from tenfold.tensorrt._run.allocator import IOutputAllocator, IProfiler
from tenfold.tensorrt._run.debug import Debugging
from tenfold.tensorrt._run.device_memory import DeviceMemory
from tenfold.tensorrt._run.serialization import IRuntimeConfig
from tenfold.tensorrt._types import Dims, address_of


class IExecutionContext(Debugging, DeviceMemory):
    def __init__(self, engine: Any, logger: ILogger, config: IRuntimeConfig) -> None:
        self._engine, self._logger, self._config = engine, logger, config
        self._managed = config.get_execution_context_allocation_strategy().name == 'USER_MANAGED'
        self._profile, self._name = 0, ''
        self._shapes = self._fixed_shapes()   # of inputs
        self._addresses: dict[str, int] = {}
        self._held, self._before = {}, {}
        self._bound: dict[str, tuple[int, tuple[int, ...]]] = {}
        self._by_run: set[str] = set()   # outputs whose sizes only the run knows
        self._allocators: dict[str, IOutputAllocator] = {}
        self._profiler: IProfiler | None = None
        self._begin()

    def _begin(self) -> None:
        """A context of the engine as it is now: a refit gives it other weights. Profile, shapes and addresses stay."""
        self._made_of = self._engine._engine
        self._context, self._bound, self._settled = self._made_of.create_context(*self._memory), {}, False
        if self._engine._profiles > 1:
            self._context.set_profile(self._profile)   # TensorRT's contexts begin with the first
        for name, shape in self._shapes.items():
            self._context.set_shape(name, shape)

    # What is taken and changes nothing: each run is its own graph of kernels, in one stream.

    debug_sync, nvtx_verbosity = noted('debug_sync', False), noted('nvtx_verbosity', ProfilingVerbosity.DETAILED)
    persistent_cache_limit = noted('persistent_cache_limit', 0)

    def set_aux_streams(self, aux_streams: Sequence[Any]) -> None:
        say_once(self._logger, 'set_aux_streams() has no effect in Tenfold: a run uses the stream that it is given')

    @property
    def engine(self) -> Any: return self._engine

    @property
    def name(self) -> str: return self._name

    @name.setter
    def name(self, name: str) -> None: self._name = str(name)

    # Profiles and shapes.

    @property
    def active_optimization_profile(self) -> int: return self._profile

    @active_optimization_profile.setter
    def active_optimization_profile(self, profile_index: int) -> None:
        if not self.set_optimization_profile_async(profile_index, 0):
            raise RuntimeError(f'the engine has no optimization profile {profile_index}')

    def set_optimization_profile_async(self, profile_index: int, stream_handle: Any) -> bool:
        """Shapes that are open have to be set anew."""
        if not self._try(self._context.set_profile, profile_index):
            return False
        self._profile, self._shapes = profile_index, self._fixed_shapes()
        self._unbind()
        return True

    def _fixed_shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: self._engine._tensors[name].shape for name in self._engine._inputs if name not in self._engine._open}

    def set_input_shape(self, name: str, shape: Sequence[int]) -> bool:
        """False: the model or the profile does not have it; the logger tells more."""
        requested = tuple(shape)
        if self._shapes.get(name) == requested:
            return True
        if not self._try(self._context.set_shape, name, requested):
            self._shapes.pop(name, None)
            return False
        self._shapes[name] = requested
        self._before = {}
        self._unbind()
        if not self._shapes_missing():   # the last one: only now it is known whether they fit each other and a profile
            if not self._try(self._context.shape, self._engine._names[-1]):   # an output
                del self._shapes[name]
                return False
        return True

    def get_tensor_shape(self, name: str) -> Dims:
        """-1: not decided yet, or only by the run."""
        tensor = self._engine._tensor(name)
        if tensor.is_input or self._shapes_missing():
            return Dims(self._shapes.get(name, tensor.shape))
        if name in self._engine._by_hosts and any(self._hosts_missing()):
            return Dims(self._context.shape(name))
        return self._told_shape(name)

    def get_tensor_strides(self, name: str) -> Dims:
        """In elements, row major."""
        strides: list[int] = []
        stride = 1
        for extent in reversed(self.get_tensor_shape(name)):
            strides.insert(0, stride)
            stride = -1 if stride < 0 or extent < 0 else stride * extent
        return Dims(strides)

    def infer_shapes(self) -> list[str]:
        """Names of inputs whose shapes are not set, or whose elements decide sizes and have no address; empty: all shapes are known
        that can be before a run."""
        return [*self._shapes_missing(), *(name for name in self._hosts_missing() if name not in self._shapes_missing())]

    def _shapes_missing(self) -> list[str]: return [name for name in self._engine._open if name not in self._shapes]

    @property
    def all_binding_shapes_specified(self) -> bool: return not self._shapes_missing()
    @property
    def all_shape_inputs_specified(self) -> bool: return not any(self._hosts_missing())

    # Addresses.

    def set_tensor_address(self, name: str, memory: Any) -> bool:
        """Of the engine's device; it holds the tensor's shape, dense and row major, until the run is over."""
        if name not in self._engine._tensors:
            fail(self._logger, f'set_tensor_address(): the engine has no input or output {name!r}; it has {", ".join(self._engine._names)}')
            return False
        self._place(name, memory)
        return True

    def get_tensor_address(self, name: str) -> int:
        self._engine._tensor(name)
        return self._addresses.get(name, 0)

    def set_output_allocator(self, name: str, output_allocator: IOutputAllocator | None) -> bool:
        """Asked for memory in each run, when the size is known. None: none any more."""
        tensor = self._engine._tensors.get(name)
        if tensor is None or tensor.is_input:
            fail(self._logger, f'set_output_allocator(): the engine has no output {name!r}')
            return False
        self._settled = False
        if output_allocator is None:
            self._allocators.pop(name, None)
        else:
            self._allocators[name] = output_allocator
        return True

    def get_output_allocator(self, name: str) -> IOutputAllocator | None:
        self._engine._tensor(name)
        return self._allocators.get(name)

    # Listeners.

    @property
    def profiler(self) -> IProfiler | None: return self._profiler

    @profiler.setter
    def profiler(self, profiler: IProfiler | None) -> None: self._profiler = profiler

    def report_to_profiler(self) -> bool:
        """Each run of a context with a profiler tells it all; False: there is none."""
        return self._profiler is not None

    @property
    def enqueue_emits_profile(self) -> bool: return True

    @enqueue_emits_profile.setter
    def enqueue_emits_profile(self, emits: bool) -> None:
        if not emits:
            say_once(self._logger, 'enqueue_emits_profile = False has no effect in Tenfold: a run with a profiler reports to it')

    def get_runtime_config(self) -> IRuntimeConfig: return self._config

    def set_input_consumed_event(self, event: Any) -> bool:
        """Recorded by execute_async_v3() behind its run: inputs may be overwritten when it has come. 0 or None: none is."""
        self._consumed = address_of(event or 0, 'input_consumed_event')
        return True

    def get_input_consumed_event(self) -> int: return self._consumed

    # What has no counterpart.

    def set_communicator(self, communicator: Any) -> bool:
        raise refused('set_communicator()', 'a run uses one device: there are no collectives')

    def _try(self, call: Any, *arguments: Any) -> bool:
        try:
            call(*arguments)
        except Error as error:
            fail(self._logger, error)
            return False
        return True
