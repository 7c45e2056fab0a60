"""IGpuAllocator, IGpuAsyncAllocator: device memory from the caller's functions, on the CPU too; and the native runtime that asks them."""
from __future__ import annotations

import sys
from typing import Any

from tenfold import _native
from tenfold.tensorrt._types import address_of
from tenfold.tensorrt._versioned import IVersionedInterface


class IGpuAllocator(IVersionedInterface):
    """To be derived from: allocate(size, alignment, flags) gives an address on the engine's device (of the host, where
    that is the CPU), or 0 or None; deallocate(memory) takes it back and says whether that went well. Called from any
    thread."""

    def __init__(self) -> None:
        pass

    def allocate(self, size: int, alignment: int, flags: int) -> int | None:
        raise NotImplementedError(f'{type(self).__name__} derives from {IGpuAllocator.__name__} and has no allocate()')

    def deallocate(self, memory: int) -> bool:
        if type(self).free is not IGpuAllocator.free:   # 8.x's name
            self.free(memory)
            return True
        raise NotImplementedError(f'{type(self).__name__} derives from {IGpuAllocator.__name__} and has no deallocate()')

    def free(self, memory: int) -> None:
        """8.x's name of deallocate(), which is asked where a class has this one alone."""
        self.deallocate(memory)

    def reallocate(self, address: int, alignment: int, new_size: int) -> int | None:
        """Not asked for: pieces are not resized (no AllocatorFlag is set)."""
        return None

    def allocate_async(self, size: int, alignment: int, flags: int, stream: int) -> int | None:
        return self.allocate(size, alignment, flags)

    def deallocate_async(self, memory: int, stream: int) -> bool: return self.deallocate(memory)


class IGpuAsyncAllocator(IGpuAllocator):
    """To be derived from: allocate_async() and deallocate_async(), which get the stream 0; it is waited for."""

    def allocate_async(self, size: int, alignment: int, flags: int, stream: int) -> int | None:
        raise NotImplementedError(f'{type(self).__name__} derives from IGpuAsyncAllocator and has no allocate_async()')

    def deallocate_async(self, memory: int, stream: int) -> bool:
        raise NotImplementedError(f'{type(self).__name__} derives from IGpuAsyncAllocator and has no deallocate_async()')

    def allocate(self, size: int, alignment: int, flags: int) -> int | None: return self.allocate_async(size, alignment, flags, 0)
    def deallocate(self, memory: int) -> bool: return self.deallocate_async(memory, 0)


class Asking:
    """A runtime whose device memory an allocator gives. What the caller's functions raise is kept, for raised() to raise it as it is."""

    def __init__(self, allocator: IGpuAllocator) -> None:
        self._pieces = _Pieces(allocator)
        self.runtime = _native.Runtime(allocator=self._pieces)

    def begin(self) -> None:
        """What was raised before, in calls that went well all the same, is of those."""
        self._pieces.error = None

    def raised(self) -> None:
        """Behind a call that failed."""
        error, self._pieces.error = self._pieces.error, None
        if error is not None:
            raise error


class _Pieces:
    """As tenfold.Runtime(allocator=) asks; the runtime keeps it, and it knows of no runtime."""

    def __init__(self, allocator: IGpuAllocator) -> None:
        self._allocator = allocator
        self.error: BaseException | None = None

    def _call(self, function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as error:   # it comes out where the memory was wanted
            self.error = self.error or error
            return None

    def allocate(self, size: int, alignment: int, device: str) -> int | None:
        given = self._call(self._allocator.allocate_async, size, alignment, 0, 0)
        return None if given is None else self._call(address_of, given, 'device memory')

    def release(self, address: int) -> None:
        """Nobody waits for it: what it raises is told as what a finalizer raises is."""
        try:
            self._allocator.deallocate_async(address, 0)
        except BaseException as error:
            sys.unraisablehook(sys.UnraisableHookArgs((type(error), error, error.__traceback__, None, self._allocator)))


def asking(allocator: Any) -> Asking | None:
    """None: none is given."""
    if allocator is not None and not isinstance(allocator, IGpuAllocator):
        raise TypeError(f'an allocator derives from trt.IGpuAllocator, got {type(allocator).__name__}')
    return None if allocator is None else Asking(allocator)


class Allocated:
    """Objects with a gpu_allocator."""

    _asking: Asking | None = None

    @property
    def gpu_allocator(self) -> IGpuAllocator | None:
        """Gives the device memory of what is built or loaded from now on, and of its contexts; None: the driver or the system does."""
        return None if self._asking is None else self._asking._pieces._allocator

    @gpu_allocator.setter
    def gpu_allocator(self, allocator: IGpuAllocator | None) -> None: self._asking = asking(allocator)

    def _runtime_option(self) -> dict[str, Any]:
        """Of build() and load()."""
        if self._asking is None:
            return {}
        self._asking.begin()
        return {'runtime': self._asking.runtime}

    def _raise_of_allocator(self) -> None:
        if self._asking is not None:
            self._asking.raised()
