"""Streams and events."""
from __future__ import annotations

from tenfold.pycuda._used import used


class Stream:
    """A stream of ours; `handle` is what execute_async takes."""

    def __init__(self, flags: int = 0) -> None:
        self._device = used()
        self.handle: int = self._device.new_stream(flags)

    def synchronize(self) -> None: self._device.wait_stream(self.handle)
    def is_done(self) -> bool: return bool(self._device.stream_done(self.handle))
    def wait_for_event(self, event: Event) -> None: self._device.stream_waits(self.handle, event.handle)
    def __cuda_stream__(self) -> tuple[int, int]: return 0, self.handle

    def __del__(self) -> None:
        if getattr(self, 'handle', 0):
            self._device.end_stream(self.handle)


class Event:
    def __init__(self, flags: int = 0) -> None:
        self._device = used()
        self.handle: int = self._device.new_event(flags)

    def record(self, stream: Stream | None = None) -> Event:
        self._device.record(self.handle, stream.handle if stream else 0)
        return self

    def synchronize(self) -> Event:
        self._device.wait_event(self.handle)
        return self

    def query(self) -> bool: return bool(self._device.event_done(self.handle))
    def time_since(self, event: Event) -> float: return float(self._device.milliseconds(event.handle, self.handle))
    def time_till(self, event: Event) -> float: return float(self._device.milliseconds(self.handle, event.handle))

    def __del__(self) -> None:
        if getattr(self, 'handle', 0):
            self._device.end_event(self.handle)
