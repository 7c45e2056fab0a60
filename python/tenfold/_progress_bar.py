"""A line on stderr that counts."""
from __future__ import annotations

import sys
from collections.abc import Callable


def progress_bar(show: object, what: str) -> Callable[[int, int], bool] | None:
    """A function of (done, total) that draws on stderr, or None."""
    if not show:
        return None

    def draw(done: int, total: int) -> bool:
        sys.stderr.write(f'\r{what}: {done}/{total}' + ('\n' if done == total else ''))
        sys.stderr.flush()
        return True
    return draw
