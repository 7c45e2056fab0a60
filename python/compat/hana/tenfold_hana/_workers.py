"""What a manager of devices keeps: tasks, their results, and a worker for each device."""
from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tenfold_hana._devices import device_name

if TYPE_CHECKING:
    from collections.abc import Callable

current = threading.local()


def current_worker() -> int | None:
    """The number of the worker whose thread this is: a task may ask it where it runs. None: no worker's."""
    return getattr(current, 'worker', None)


@dataclass
class TaskResult:
    task_id: str
    result: Any = None
    error: BaseException | None = None
    device_id: Any = None
    execution_time: float = 0.0   # seconds
    completion_time: float = field(default_factory=time.time)

    @property
    def success(self) -> bool:
        return self.error is None


@dataclass
class Task:
    call: Callable[[], Any]
    task_id: str
    pinned: bool
    begin_before: float   # time.monotonic()
    callback: Callable[[TaskResult], None] | None
    done: threading.Event = field(default_factory=threading.Event)
    result: TaskResult | None = None


class Worker:
    """A device with its queue; all of it under the manager's lock."""

    def __init__(self, device_id: Any) -> None:
        self.device_id, self.device = device_id, device_name(device_id)
        self.queue: list[tuple[int, int, Task]] = []
        self.available, self.running, self.completed, self.busy_seconds = True, 0, 0, 0.0

    @property
    def waiting_seconds(self) -> float:
        """What is queued and running, by the mean of what has run."""
        mean = self.busy_seconds / self.completed if self.completed else 1.0
        return (len(self.queue) + self.running) * mean
