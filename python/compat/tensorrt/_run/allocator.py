"""What users derive from to hear of a run: IOutputAllocator, IDebugListener, IProfiler."""
from __future__ import annotations

from typing import Any


class IOutputAllocator:
    """Gives memory to an output whose size only the run knows."""

    tensorrt_version = 101600

    def __init__(self) -> None:
        pass

    def reallocate_output(self, tensor_name: str, memory: int, size: int, alignment: int) -> int:
        """An address with `size` bytes; `memory`: the last one, or 0."""
        raise NotImplementedError(f'{type(self).__name__} derives from IOutputAllocator and has no reallocate_output()')

    def reallocate_output_async(self, tensor_name: str, memory: int, size: int, alignment: int, stream: int) -> int:
        return self.reallocate_output(tensor_name, memory, size, alignment)

    def notify_shape(self, tensor_name: str, shape: Any) -> None:
        raise NotImplementedError(f'{type(self).__name__} derives from IOutputAllocator and has no notify_shape()')


class IDebugListener:
    """Hears of tensors that were marked for debugging, behind each run: `addr` is a copy on the host, until the call is over."""

    def __init__(self) -> None:
        pass

    def process_debug_tensor(self, addr: int, location: Any, type: Any, shape: Any, name: str, stream: int) -> bool:
        raise NotImplementedError(f'{self.__class__.__name__} derives from IDebugListener and has no process_debug_tensor()')


class IProfiler:
    """Hears what each step of a run took."""

    def __init__(self) -> None:
        pass

    def report_layer_time(self, layer_name: str, ms: float) -> None:
        raise NotImplementedError(f'{type(self).__name__} derives from IProfiler and has no report_layer_time()')


class Profiler(IProfiler):
    """Prints the times."""

    def report_layer_time(self, layer_name: str, ms: float) -> None:
        print(f'{layer_name}: {ms:g}ms')
