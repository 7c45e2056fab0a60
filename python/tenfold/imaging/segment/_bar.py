"""The bar on stderr: planes, windows and bytes a second, time left."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable


def duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f'{minutes // 60}:{minutes % 60:02}:{seconds:02}' if minutes >= 60 else f'{minutes}:{seconds:02}'


class Bar:
    """`planes`, `windows`: of the whole run; `done` tells planes and bytes, `shares` names and windows of several devices."""

    def __init__(self, kind: str, planes: int, windows: int, done: Callable[[], tuple[int, int]],
                 shares: Callable[[], list[tuple[str, int]]] | None = None):
        self._shown = kind == 'bar' or (kind == 'auto' and sys.stderr.isatty())
        self._planes, self._total, self._done, self._shares = planes, windows, done, shares
        self._begun = time.monotonic()
        self._drawn = 0.0
        self._width = 0
        self.windows = 0

    def __call__(self, windows: int) -> None:
        self.windows = windows
        now = time.monotonic()
        if self._shown and now - self._drawn >= 0.2:
            self._drawn = now
            self._draw(now - self._begun)

    def _draw(self, seconds: float) -> None:
        planes, read = self._done()
        rate = self.windows / seconds if seconds else 0.0
        left = duration((self._total - self.windows) / rate) if rate else '?'
        line = (f'segment: {planes}/{self._planes} planes, {rate:.1f} windows/s, {read / max(seconds, 1e-9) / 1e6:.1f} MB/s, '
                f'{left} left')
        if self._shares:
            shares = self._shares()
            total = sum(windows for _, windows in shares) or 1
            line += ' (' + ', '.join(f'{name} {100 * windows / total:.0f} %' for name, windows in shares) + ')'
        sys.stderr.write('\r' + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def clear(self) -> None:
        if self._width:
            sys.stderr.write('\r' + ' ' * self._width + '\r')
            sys.stderr.flush()
            self._width = 0

    def finish(self) -> None:
        if self._shown:
            self._draw(time.monotonic() - self._begun)
            sys.stderr.write('\n')
            self._width = 0
