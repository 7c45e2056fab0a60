"""Runs in other threads: futures that can be awaited. Their threads are Python's own, which the interpreter waits for at its end."""
from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Callable, Generator
from typing import Any

_lock = threading.Lock()
_threads: concurrent.futures.ThreadPoolExecutor | None = None


def _executor() -> concurrent.futures.ThreadPoolExecutor:
    global _threads
    with _lock:
        if _threads is None:
            _threads = concurrent.futures.ThreadPoolExecutor(max_workers=(os.cpu_count() or 1) + 4, thread_name_prefix='tenfold')
        return _threads


def _after_fork() -> None:
    global _lock, _threads
    _lock, _threads = threading.Lock(), None   # the child has none of these threads


os.register_at_fork(after_in_child=_after_fork)


class Future:
    """The result of a run that goes on elsewhere: `await future`, or future.result()."""

    def __init__(self, future: concurrent.futures.Future[Any]) -> None:
        self._future = future

    def __await__(self) -> Generator[Any, None, Any]:
        return asyncio.wrap_future(self._future).__await__()

    def result(self, timeout: float | None = None) -> Any:
        return self._future.result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        return self._future.exception(timeout)

    def done(self) -> bool:
        return self._future.done()

    def cancel(self) -> bool:
        """True: the run had not begun, and will not."""
        return self._future.cancel()

    def add_done_callback(self, function: Callable[[Future], object]) -> None:
        self._future.add_done_callback(lambda _: function(self))


def start(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Future:
    return Future(_executor().submit(function, *arguments, **keywords))
