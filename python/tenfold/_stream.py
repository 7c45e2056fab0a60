"""Stream: a CUDA stream, of one's own or somebody else's."""
from __future__ import annotations

from typing import Any

from tenfold import _native


class Stream:
    """Stream(handle): a CUstream that somebody else owns and keeps alive. Stream(): a new one of the GPU `device`, which ends
    with the object.

    engine(x, stream=stream) enqueues a run on it, and so do calls of engines on GPUs inside `with stream:`, in this thread.
    Streams of torch and CuPy can be given as they are.
    """

    def __init__(self, handle: int | None = None, device: str = 'cuda:0') -> None:
        from tenfold._device import _with_libraries
        _with_libraries()
        self._own = _native.DeviceStream(device) if handle is None else None
        self.handle = self._own.handle if self._own is not None else int(handle)   # type: ignore[arg-type]
        self.device = device

    def synchronize(self) -> None:
        """Waits until all that the stream was given is done."""
        _native.synchronize_stream(self.device, self.handle)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def __enter__(self) -> Stream:
        _native.enter_stream(self)
        return self

    def __exit__(self, *_: object) -> None:
        _native.leave_stream()

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Stream) and self.handle == other.handle

    def __hash__(self) -> int:
        return hash(self.handle)

    def __repr__(self) -> str:
        return f'tenfold.Stream({self.handle:#x}, {self.device!r})'
