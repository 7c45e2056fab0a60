"""Work of several devices at the same time."""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


def run_all(works: list[Callable[[], Any]], stop: threading.Event) -> None:
    """Each in a thread of its own, one alone in this one. `stop` is set where a work fails or a signal raises here, and the others are to
    end then. Raises what came first."""
    if len(works) == 1:
        works[0]()
        return
    errors: list[BaseException] = []

    def run(work: Callable[[], Any]) -> None:
        try:
            work()
        except BaseException as error:   # kept for the thread that waits
            errors.append(error)
            stop.set()
    threads = [threading.Thread(target=run, args=(work,), name='tenfold-segment') for work in works]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        try:
            for thread in threads:
                thread.join(0.05)
        except BaseException as error:   # Ctrl-C
            errors.insert(0, error)
            stop.set()
    if errors:
        raise errors[0]
