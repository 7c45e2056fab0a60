"""Arrays of a call under the names of who computes: NumPy, torch (Triton takes its tensors, too), CuPy. One of these for each context."""
from __future__ import annotations

import contextlib
import importlib
from typing import Any

from tenfold.plugins._types import Problem


class Numpy:
    """Host memory."""

    def __init__(self, problem: Problem) -> None:
        pass

    def array(self, given: Any) -> Any:
        return given.numpy()

    def on(self, stream: int) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext()


class Torch:
    """What torch allocates in a call comes from a pool of the context's own: a recorded graph uses that memory again in each replay."""

    def __init__(self, problem: Problem) -> None:
        self._torch, self._device = importlib.import_module('torch'), problem.ordinal
        self._pool = self._torch.cuda.MemPool() if problem.device == 'cuda' else None

    def array(self, given: Any) -> Any:
        return self._torch.utils.dlpack.from_dlpack(given.__dlpack__())

    def on(self, stream: int) -> contextlib.AbstractContextManager[Any]:
        stack = contextlib.ExitStack()
        stack.enter_context(self._torch.no_grad())
        if self._pool is not None:
            stack.enter_context(self._torch.cuda.stream(self._torch.cuda.ExternalStream(stream, device=self._device)))
            stack.enter_context(self._torch.cuda.use_mem_pool(self._pool))
        return stack


class Cupy:
    """As Torch."""

    def __init__(self, problem: Problem) -> None:
        self._cupy, self._device = importlib.import_module('cupy'), problem.ordinal
        self._pool = self._cupy.cuda.MemoryPool()

    def array(self, given: Any) -> Any:
        return self._cupy.asarray(given)

    def on(self, stream: int) -> contextlib.AbstractContextManager[Any]:
        stack = contextlib.ExitStack()
        stack.enter_context(self._cupy.cuda.Device(self._device))
        stack.enter_context(self._external(stream))
        stack.enter_context(self._cupy.cuda.using_allocator(self._pool.malloc))
        return stack


    def _external(self, stream: int) -> Any:
        kinds = self._cupy.cuda
        return kinds.Stream.from_external(_Stream(stream)) if hasattr(kinds.Stream, 'from_external') else kinds.ExternalStream(stream)


class _Stream:
    """A CUstream, in the form of the CUDA stream protocol."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._handle


class Raw(Numpy):
    """As they are given: `address`, `shape`, `dtype`, __dlpack__ and __cuda_array_interface__."""

    def array(self, given: Any) -> Any:
        return given


KINDS: dict[str, Any] = {'numpy': Numpy, 'torch': Torch, 'cupy': Cupy, 'raw': Raw}
_MODULES = {'torch': 'torch', 'cupy': 'cupy'}


def why_not(kind: str) -> str | None:
    """Whether it can be imported: None, or why not."""
    if kind not in _MODULES:
        return None
    try:
        importlib.import_module(_MODULES[kind])
    except ImportError as error:
        return f'{_MODULES[kind]} cannot be imported ({error})'
    return None
