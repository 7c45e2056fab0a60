"""Contexts whose activations lie in the caller's memory (USER_MANAGED): contexts that never run at the same time may share it."""
from __future__ import annotations

import weakref
from typing import Any

from tenfold.errors import Error
from tenfold.tensorrt._logger import fail
from tenfold.tensorrt._run.gpu_allocator import IGpuAllocator
from tenfold.tensorrt._run.run import _ALIGNMENT, Run
from tenfold.tensorrt._types import address_of


class DeviceMemory(Run):
    _managed: bool                     # by the user
    _memory: tuple[int, int] = 0, 0    # address and bytes
    _owner: Any = None                 # kept, so that the memory lives as long as it is used
    _temporary: IGpuAllocator | None = None
    _given_back: Any = None            # gives the memory of that back

    def _begin(self) -> None: raise NotImplementedError

    def set_device_memory(self, memory: Any, size: int | None = None) -> bool:
        """Of the engine's device, aligned to 256 bytes; `size`: the engine's device_memory_size, which is meant where none is given.
        False: the logger tells why; the memory is what it was."""
        if not self._managed:
            fail(self._logger, 'set_device_memory(): this context has memory of its own; create_execution_context(USER_MANAGED) makes one '
                 'that has none')
            return False
        requested = self._engine.device_memory_size if size is None else int(size)
        before = self._memory, self._owner
        self._memory, self._owner = (address_of(memory, 'device_memory'), requested), memory
        try:
            self._begin()
        except Error as error:
            self._memory, self._owner = before
            fail(self._logger, error)
            return False
        return True

    @property
    def temporary_allocator(self) -> IGpuAllocator | None:
        """Gives the memory of this context's activations; None: it has some of its own."""
        return self._temporary

    @temporary_allocator.setter
    def temporary_allocator(self, allocator: IGpuAllocator | None) -> None:
        if allocator is not None and not isinstance(allocator, IGpuAllocator):
            raise TypeError(f'an allocator derives from trt.IGpuAllocator, got {type(allocator).__name__}')
        before, self._given_back = self._given_back, None
        self._temporary, self._memory, self._owner = allocator, (0, 0), None
        size = self._engine.device_memory_size
        if allocator is not None and size > 0:   # an engine of one step has no activations
            address = address_of(allocator.allocate_async(size, _ALIGNMENT, 0, 0) or 0, 'temporary_allocator')
            if not address:
                self._temporary = None
                fail(self._logger, f'temporary_allocator: the allocator gave no memory: {size} bytes were wanted')
            else:
                self._memory = address, size
                self._given_back = weakref.finalize(self, allocator.deallocate_async, address, 0)
                self._given_back.atexit = False
        self._begin()
        if before is not None:
            before()

    @property
    def device_memory(self) -> int: return self._memory[0]

    @device_memory.setter
    def device_memory(self, memory: Any) -> None:
        if not self.set_device_memory(memory):
            raise ValueError('device_memory cannot be that; the logger tells why')

    def update_device_memory_size_for_shapes(self) -> int:
        """Of the active profile; the largest shapes' size."""
        return int(self._engine.get_device_memory_size_for_profile(self._profile))
