"""Debug tensors of a context: values that were marked in the network, or all that steps make, to a listener behind each run."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenfold import _native
from tenfold.tensorrt._enums import TensorLocation
from tenfold.tensorrt._logger import ILogger, fail
from tenfold.tensorrt._run.allocator import IDebugListener
from tenfold.tensorrt._types import Dims, datatype


class Debugging:
    _engine: Any
    _logger: ILogger
    _context: Any
    _stream: int
    _listener: IDebugListener | None = None
    _watched: set[str] = set()     # of marked tensors; never changed in place
    _unfused = False

    def set_debug_listener(self, listener: IDebugListener | None) -> bool:
        """None: none any more."""
        if listener is not None and not isinstance(listener, IDebugListener):
            raise TypeError(f'a debug listener derives from trt.IDebugListener, got {type(listener).__name__}')
        self._listener = listener
        return True

    def get_debug_listener(self) -> IDebugListener | None: return self._listener

    def set_tensor_debug_state(self, name: str, flag: bool) -> bool:
        """False: the network did not mark it (mark_debug)."""
        if name not in self._engine._debug:
            fail(self._logger, f'set_tensor_debug_state(): {name!r} was not marked by mark_debug() before the build')
            return False
        self._watched = self._watched | {name} if flag else self._watched - {name}
        return True

    def set_all_tensors_debug_state(self, flag: bool) -> bool:
        self._watched = set(self._engine._debug) if flag else set()
        return True

    def get_debug_state(self, name: str) -> bool: return name in self._watched

    @property
    def unfused_tensors_debug_state(self) -> bool:
        """Whether the listener hears of every value that a step leaves under a name of the network's."""
        return self._unfused

    @unfused_tensors_debug_state.setter
    def unfused_tensors_debug_state(self, flag: bool) -> None:
        if flag and not self._engine._told.get('unfused'):
            fail(self._logger, 'unfused_tensors_debug_state: the network was built without mark_unfused_tensors_as_debug_tensors()')
            return
        self._unfused = bool(flag)

    def _debugs(self) -> bool: return self._listener is not None and bool(self._watched or self._unfused)

    def _debugged_run(self) -> None:
        """Runs, waits, and tells the listener in the order in which values were computed: addresses of copies on the host."""
        for name, array in self._values():
            kind = datatype(_native.dtype_name(array.dtype), f"'{name}'")
            assert self._listener is not None
            self._listener.process_debug_tensor(array.ctypes.data, TensorLocation.HOST, kind, Dims(array.shape), name, self._stream)

    def _values(self) -> Iterator[tuple[str, Any]]:
        import numpy as np
        seen = self._context.observe_run(None if self._unfused else sorted(self._watched))
        yield from ((name, array) for _, name, array in seen)
        for name in sorted(self._watched - {name for _, name, _ in seen}):   # what is another's memory is no step's result
            yield name, np.asarray(self._context.outputs()[name])
