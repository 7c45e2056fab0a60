"""What a long build of an engine shows: a line on stderr where that is a terminal, else one in the log now and then."""
from __future__ import annotations

import sys
import time

from tenfold_hana._devices import log

_SILENT, _BETWEEN = 3.0, 30.0   # seconds: a short build shows nothing, a log has a line in so many


class BuildProgress:
    """The function `progress` of tenfold.build for one engine: (phase, done, total)."""

    def __init__(self, what: str) -> None:
        self.what, self._begun, self._told, self._drawn = what, time.monotonic(), 0.0, False

    def __call__(self, phase: str, done: int, total: int) -> bool:
        now = time.monotonic()
        seconds = now - self._begun
        if seconds < _SILENT:
            return True
        line = f'building {self.what}: {phase}' + (f' {done} of {total}' if total else '') + f', {seconds:.0f} s'
        if sys.stderr.isatty():
            if now - self._told >= 0.2:
                sys.stderr.write(f'\r\x1b[K{line}')
                sys.stderr.flush()
                self._told, self._drawn = now, True
        elif now - self._told >= _BETWEEN:
            log.info('%s', line)
            self._told = now
        return True

    def end(self) -> None:
        if self._drawn:
            sys.stderr.write('\n')
