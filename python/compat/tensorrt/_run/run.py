"""Runs of a context: addresses become arrays, which are bound anew only where address or shape changed."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold import _native
from tenfold.errors import Error, InvalidArgument, Unsupported
from tenfold.pycuda import _gpu, _host
from tenfold.tensorrt._logger import fail
from tenfold.tensorrt._memory import array_at, copy_to
from tenfold.tensorrt._recorder import Recording
from tenfold.tensorrt._run.known_sizes import KnownSizes
from tenfold.tensorrt._types import Dims, address_of

_ALIGNMENT = 256


class Run(KnownSizes, Recording):
    _engine: Any
    _context: Any
    _made_of: Any
    _profile: int
    _addresses: dict[str, int]
    _bound: dict[str, tuple[int, tuple[int, ...]]]   # address and shape of what the context has
    _by_run: set[str]
    _stream: int
    _managed: bool
    _memory: tuple[int, int]
    _settled: bool   # nothing changed since the last run
    _profiler: Any
    _consumed = 0    # an event

    def _debugs(self) -> bool: raise NotImplementedError
    def _debugged_run(self) -> None: raise NotImplementedError

    def execute_async_v3(self, stream_handle: Any = 0) -> bool:
        """On a CPU the run is over when this returns. False: the logger tells why."""
        return self._execute(stream_handle, self._consumed)

    def execute_v2(self, bindings: Sequence[Any]) -> bool:
        """Addresses in the order of the engine's inputs and outputs; runs and waits."""
        return self._take(bindings) and self._execute(None)

    def execute_async_v2(self, bindings: Sequence[Any], stream_handle: Any = 0, input_consumed: Any = None) -> bool:
        """`input_consumed`: an event, which is recorded behind the run: inputs may be overwritten when it has come."""
        return self._take(bindings) and self._execute(stream_handle, input_consumed)

    def execute(self, batch_size: int = 1, bindings: Sequence[Any] = ()) -> bool:
        """8.x's form for batches that are no dim of the network; here they are."""
        return self._one(batch_size) and self.execute_v2(bindings)

    def execute_async(self, batch_size: int = 1, bindings: Sequence[Any] = (), stream_handle: Any = 0, input_consumed: Any = None) -> bool:
        return self._one(batch_size) and self.execute_async_v2(bindings, stream_handle, input_consumed)

    def set_binding_shape(self, binding: int, shape: Sequence[int]) -> bool:
        return bool(self.set_input_shape(self._engine._binding(binding), shape))

    def get_binding_shape(self, binding: int) -> Dims:
        return Dims(self.get_tensor_shape(self._engine._binding(binding)))

    def get_strides(self, binding: int) -> Dims: return Dims(self.get_tensor_strides(self._engine._binding(binding)))

    def _one(self, batch_size: int) -> bool:
        if batch_size != 1:
            fail(self._logger, f'execute(batch_size={batch_size}): implicit-batch networks are not supported, and this one has its batch '
                 'as a dim: set it by set_binding_shape()')
        return batch_size == 1

    def _take(self, bindings: Sequence[Any]) -> bool:
        names, profiles = self._engine._names, self._engine.num_optimization_profiles
        if len(bindings) not in (len(names), len(names) * profiles):
            fail(self._logger, f'{len(bindings)} addresses are given, the engine has {len(names)} inputs and outputs: {", ".join(names)}')
            return False
        first = self._profile * len(names) if len(bindings) > len(names) else 0
        for number, name in enumerate(names):
            self._place(name, bindings[first + number])
        return True

    def _place(self, name: str, memory: Any) -> None:
        address = address_of(memory, name)
        if self._addresses.get(name) != address:
            self._addresses[name], self._settled = address, False

    def _execute(self, stream: Any, consumed: Any = None) -> bool:
        try:
            event = address_of(consumed or 0, 'input_consumed')
            if self._managed and not self._memory[0]:
                raise InvalidArgument('the context has no memory: device_memory sets it')
            if self._made_of is not self._engine._engine:
                self._begin()
            self._stream = address_of(stream or 0, 'stream_handle') if self._engine._on_gpu else 0
            copied = [] if self._settled else self._finalize()
            self._start(stream is not None)
            for name in copied:
                self._deliver(name)
            if event:   # a run reads its inputs to its end
                (_gpu if self._engine._on_gpu else _host).record(event, self._stream)
        except Error as error:
            self._unbind()
            self._engine._raise_of_allocator()
            fail(self._logger, error)
            return False
        return True

    def _finalize(self) -> list[str]:
        """Binds what changed. Outputs whose results are to be copied when the run is over: nobody knows their size before."""
        if missing := self._shapes_missing():
            raise InvalidArgument(f'inputs without a shape: {", ".join(missing)}; set_input_shape() sets it')
        copied = [name for name in self._engine._names if not self._bind(name)]
        self._settled = not copied and not self._allocators
        return copied

    def _start(self, enqueue: bool) -> None:
        if (self._debugs() or self._profiler is not None) and enqueue and self._engine._on_gpu:
            _native.synchronize_stream(self._engine._engine.device, self._stream)   # these runs are on the context's own
        if self._debugs():
            self._debugged_run()
        elif self._profiler is not None:
            for step, ms in self._context.profile_run():
                self._profiler.report_layer_time(step, ms)
        elif enqueue and self._engine._on_gpu:
            self._context.enqueue(self._stream)
        else:
            self._context.run()

    def _bind(self, name: str) -> bool:
        """False: the result is to be copied."""
        shape = self._context.shape(name)
        if -1 in shape:
            self._by_run.add(name)
            if name in self._engine._by_data:
                self._before[name] = tuple(shape)
        by_run = name in self._by_run
        if by_run and self._engine._on_gpu:
            raise Unsupported(f"the size of '{name}' is known only after the run; on a GPU such outputs need tenfold.Engine")
        allocator = self._allocators.get(name)
        if by_run:
            self._context.bind(name, None)
            self._bound.pop(name, None)
            return False
        if allocator is not None:
            self._allocate(name, shape)
        address = self._addresses.get(name, 0)
        if address == 0 and 0 not in shape and not self._engine._tensors[name].has_default:
            raise InvalidArgument(f"'{name}' has no address: set_tensor_address() sets it")
        if self._bound.get(name) != (address, shape) and (address or 0 in shape):
            self._context.bind(name, array_at(address, shape, self._engine._tensors[name].numpy_dtype, self._engine._on_gpu))
            self._bound[name] = (address, shape)
        if allocator is not None:
            allocator.notify_shape(name, Dims(shape))
        return True

    def _unbind(self) -> None:
        """Memory that is bound may be too small for other shapes, and then the context tells none."""
        for name in self._bound:
            self._context.bind(name, None)
        self._bound, self._settled = {}, False

    def _allocate(self, name: str, shape: Sequence[int], size: int | None = None) -> None:
        requested = self.get_max_output_size(name) if size is None else size
        given = self._allocators[name].reallocate_output_async(name, self._addresses.get(name, 0), requested, _ALIGNMENT, self._stream)
        self._addresses[name] = address_of(given, f"{name}, by its allocator")
        if not self._addresses[name] and 0 not in shape:
            raise InvalidArgument(f"the allocator of '{name}' gave no memory for {tuple(shape)}")

    def get_max_output_size(self, name: str) -> int:
        """Bytes at the shapes that are set, and at most where data decides; -1: it is no output, not all is set, or there is no bound."""
        import math
        tensor = self._engine._tensors.get(name)
        if tensor is None or tensor.is_input or self.infer_shapes():
            return -1
        per_element, shape = self._engine.get_tensor_dtype(name).itemsize, self.get_tensor_shape(name)
        if -1 not in shape:
            return int(math.ceil(math.prod(shape) * per_element))
        largest = self._largest(name) if name in self._engine._by_data else None
        return -1 if largest is None else math.ceil(largest * per_element)

    def _deliver(self, name: str) -> None:
        result = self._context.output(name)
        if name in self._allocators:
            self._allocate(name, result.shape, result.nbytes)
            self._allocators[name].notify_shape(name, Dims(result.shape))
        if not self._addresses.get(name) and result.size:
            raise InvalidArgument(f"'{name}' has no address: set_tensor_address() sets it; an allocator is asked when its size is known")
        copy_to(self._addresses.get(name, 0), result)
