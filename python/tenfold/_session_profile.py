"""SessionOptions.enable_profiling: what the steps of a session's runs take."""
from __future__ import annotations

import os
import threading
import time
from typing import Any

from tenfold._engine import Engine


class Profile:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._steps: dict[str, float] = {}
        self._runs = 0
        self.begin_ns = time.monotonic_ns()

    def run(self, engine: Engine, names: list[str] | None, feed: dict[str, Any]) -> list[Any]:
        """It refuses what run_feed() refuses, in its words, for it runs that first."""
        results = engine.run_feed(names, feed)
        context = engine.create_context()
        for name, array in feed.items():
            context.bind(name, array)
        with self._lock:
            for step, ms in context.profile_run():
                self._steps[step] = self._steps.get(step, 0.0) + ms
            self._runs += 1
        return results

    def write(self, prefix: str) -> str:
        """In Chrome's trace form; the file's name."""
        import json
        now = time.time_ns()
        name = f'{prefix}_{time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(now // 10**9))}_{now // 10**6 % 1000:03}.json'
        begin, events = 0.0, []
        with self._lock:
            for step, ms in self._steps.items():
                events.append(dict(cat='Node', ph='X', name=step, ts=begin, dur=ms * 1000, pid=os.getpid(), tid=0,
                                   args=dict(runs=self._runs)))
                begin += ms * 1000
        with open(name, 'w') as file:
            json.dump(events, file)
        return name
