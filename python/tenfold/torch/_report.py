"""What a compilation made: engines, what torch computes between them, and why. Each reason is logged once in a process."""
from __future__ import annotations

import dataclasses
import threading
import warnings

from tenfold._log import logger

_told: set[str] = set()
_lock = threading.Lock()


def first_time(text: str) -> bool:
    with _lock:
        new = text not in _told
        _told.add(text)
        return new


def log_once(text: str) -> None:
    if first_time(text):
        logger.info('%s', text)


def warn_once(text: str) -> None:
    if first_time(text):
        warnings.warn(text, stacklevel=3)


@dataclasses.dataclass
class Report:
    """Of one graph."""
    engines: list[str] = dataclasses.field(default_factory=list)           # a line for each
    breaks: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # an operator that torch computes, and why
    eager: str = ''                                                        # why torch computes all of it
    built: list[list[tuple[int, int]]] = dataclasses.field(default_factory=list)   # of each engine, when it is built: ranges of its sizes
    cut: str = ''                                                          # why torch ended the graph

    def leave(self, operator: str, why: str) -> None:
        self.breaks.append((operator, why))
        log_once(f'torch computes {operator}: {why}')

    def leave_all(self, why: str, warn: bool = True) -> None:
        self.eager = why
        text = f'tenfold: torch computes this module: {why}'
        warn_once(text) if warn else log_once(text)

    def all_breaks(self) -> list[tuple[str, str]]:
        ends = [('the whole graph', self.eager)] if self.eager else []
        return self.breaks + ends + ([('the rest of the module', self.cut)] if self.cut else [])

    def __str__(self) -> str:
        return '\n'.join([f'engine: {e}' for e in self.engines] + [f'torch: {o}: {w}' for o, w in self.all_breaks()])
