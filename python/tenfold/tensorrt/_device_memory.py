"""Contexts whose activations lie in the caller's memory (USER_MANAGED): contexts that never run at the same time may share it."""
from __future__ import annotations

from typing import Any

from tenfold.errors import Error
from tenfold.tensorrt._logger import fail
from tenfold.tensorrt._run import Run
from tenfold.tensorrt._types import address_of


class DeviceMemory(Run):
    _managed: bool                     # by the user
    _memory: tuple[int, int] = 0, 0    # address and bytes
    _owner: Any = None                 # kept, so that the memory lives as long as it is used

    def _begin(self) -> None: raise NotImplementedError

    def set_device_memory(self, memory: Any, size: int | None = None) -> bool:
        """Of the engine's device, aligned to 256 bytes; `size`: the engine's device_memory_size, which is meant where none is given.
        False: the logger tells why; the memory is what it was."""
        if not self._managed:
            fail(self._logger, 'this context has memory of its own; create_execution_context(USER_MANAGED) makes one that has none')
            return False
        wanted = self._engine.device_memory_size if size is None else int(size)
        before = self._memory, self._owner
        self._memory, self._owner = (address_of(memory, 'device_memory'), wanted), memory
        try:
            self._begin()
        except Error as error:
            self._memory, self._owner = before
            fail(self._logger, error)
            return False
        return True

    @property
    def device_memory(self) -> int: return self._memory[0]

    @device_memory.setter
    def device_memory(self, memory: Any) -> None:
        if not self.set_device_memory(memory):
            raise ValueError('device_memory cannot be that; the logger tells why')

    def update_device_memory_size_for_shapes(self) -> int:
        """Of the active profile; the largest shapes' size."""
        return int(self._engine.get_device_memory_size_for_profile(self._profile))
