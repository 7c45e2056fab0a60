"""Texts of coroutines that wait at the same time, computed by one call."""
from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_Waiting = list[tuple[str, 'asyncio.Future[Any]']]


class _Queue:
    """Of one event loop: what waits while a call computes."""

    def __init__(self) -> None:
        self.waiting: _Waiting = []
        self.task: asyncio.Task[None] | None = None   # None: nothing computes


class Together:
    """`compute`: from a list of texts to as many answers, in another thread. The first text goes at once; those that come meanwhile go
    together as soon as it is done. A text that is refused takes no other one with it."""

    def __init__(self, compute: Callable[[list[str]], Any]) -> None:
        self._compute = compute
        self._queues: weakref.WeakKeyDictionary[Any, _Queue] = weakref.WeakKeyDictionary()

    async def answer(self, text: str) -> Any:
        loop = asyncio.get_running_loop()
        queue = self._queues.get(loop)
        if queue is None:
            queue = self._queues[loop] = _Queue()
        future = loop.create_future()
        queue.waiting.append((text, future))
        if queue.task is None:
            queue.task = loop.create_task(self._work(queue))
        return await future

    async def _work(self, queue: _Queue) -> None:
        try:
            while queue.waiting:
                texts, queue.waiting = queue.waiting, []
                await self._call([one for one in texts if not one[1].done()])
        finally:
            queue.task = None

    async def _call(self, texts: _Waiting) -> None:
        if not texts:
            return
        try:
            answers = await asyncio.to_thread(self._compute, [text for text, _ in texts])
        except Exception as error:
            if len(texts) > 1:
                for one in texts:
                    await self._call([one])
            elif not texts[0][1].done():
                texts[0][1].set_exception(error)
            return
        for (_, future), answer in zip(texts, answers):
            if not future.done():   # whoever waited may have gone
                future.set_result(answer)
