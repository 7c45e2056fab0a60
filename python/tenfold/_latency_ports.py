"""Ports: requests to a RunnerThread from other threads, and from other processes over a Unix socket."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tenfold import _native
from tenfold._latency_answer import Answer, Message
from tenfold.errors import InvalidArgument

if TYPE_CHECKING:
    from tenfold._latency_answer import Arrays
    from tenfold._latency_runner import LatencyRunner

_WHEN_FULL = {'reject': 0, 'drop_oldest': 1, 'keep_newest': 2}


def number_of(when_full: str) -> int:
    if when_full not in _WHEN_FULL:
        raise InvalidArgument(f'when_full is one of {", ".join(_WHEN_FULL)}, not {when_full!r}')
    return _WHEN_FULL[when_full]


class Port:
    """Two rings between one thread that asks and a RunnerThread; LatencyRunner.open_port() and connect() make it."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self._input, self._output = Message(native, True), Message(native, False)

    def served(self) -> bool:
        """Whether a thread serves it, and its process lives."""
        return bool(self._native.served())

    @property
    def bindings(self) -> Sequence[_native.Binding]:
        return list(self._native.bindings)

    def submit(self, id: int, inputs: Arrays, due_ns: int = 0) -> bool:
        """False: the ring is full and rejects, or no thread serves it. It never waits."""
        self._input.fill(inputs)
        return bool(self._native.submit(id, self._input.address, due_ns))

    def poll(self) -> Answer | None:
        """The oldest answer, if there is one."""
        native = self._native.poll(self._output.address)
        return None if native is None else Answer(native, self._output.copies())

    @property
    def counts(self) -> _native.PortCounts:
        counts: _native.PortCounts = self._native.counts
        return counts


def connect(path: str | os.PathLike[str]) -> Port:
    """A port of the runner that another process serves there, LatencyRunner.serve()."""
    return Port(_native.connect_port(os.fspath(path)))


class PortServer:
    """Hands out ports of a runner until stop() or the end of `with`; LatencyRunner.serve() makes it."""

    def __init__(self, runner: LatencyRunner, native: Any) -> None:
        self._runner, self._native = runner, native   # the runner outlives it

    def stop(self) -> None:
        self._native.stop()

    @property
    def clients(self) -> int:
        """That are connected now."""
        return int(self._native.clients())

    def __enter__(self) -> PortServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
