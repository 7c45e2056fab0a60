"""Futures of runs: concurrent.futures' own kind, told by the thread in which the run ended."""
from __future__ import annotations

import asyncio
import concurrent.futures
import os
from collections.abc import Callable, Generator
from typing import Any

from tenfold import _native

os.register_at_fork(after_in_child=_native.forget_runs)


class Future(concurrent.futures.Future[Any]):
    """The result of a run that goes on elsewhere: `await future`, or future.result(). Functions of add_done_callback() are called by the
    run's thread; asyncio's loops take it from there to their own."""

    def __init__(self) -> None:
        super().__init__()
        self._token = _native.CancelToken()

    def __await__(self) -> Generator[Any, None, Any]:
        return asyncio.wrap_future(self).__await__()

    def cancel(self) -> bool:
        """True: there will be no result. A run that goes on ends between two of its steps; until then, which concurrent.futures.wait()
        waits for, it may still write to what it was given as out=."""
        cancelled = super().cancel()
        if cancelled:
            self._token.cancel()
        return cancelled

    def _finish(self, result: Any, error: BaseException | None) -> None:
        """Called once, when the run has ended."""
        if not self.set_running_or_notify_cancel():
            return
        if error is None:
            self.set_result(result)
        else:
            self.set_exception(error)


def start(begin: Callable[..., None], *arguments: Any) -> Future:
    """begin(future, token, *arguments) begins the run. What it raises comes out of the future, as what the run raises does."""
    future = Future()
    try:
        begin(future, future._token, *arguments)
    except Exception as error:
        future._finish(None, error)
    return future
