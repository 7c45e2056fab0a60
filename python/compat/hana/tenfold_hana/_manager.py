"""EnhancedMultiGPUManager: tasks on several devices of one process, a thread and a queue for each; who has none left takes others'."""
from __future__ import annotations

import heapq
import itertools
import json
import os
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import tenfold

from tenfold_hana._devices import device_name, gpu_of, gpus, log, tell_once
from tenfold_hana._workers import Task, TaskResult, Worker, current

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STRATEGIES = ('auto', 'round_robin', 'memory', 'utilization', 'pipeline')
STAGES = ('tokenization', 'embedding', 'pooling')
def _devices(device_ids: Sequence[Any] | None) -> list[Any]:
    """Those that are there. Without a GPU each of them is a worker on the CPU, and the log says so."""
    there = [gpu.index for gpu in gpus()]
    if device_ids is None:
        if not there:
            tell_once(f'no GPU can be used ({tenfold.why_no_gpu()}): the CPU computes')
        return list(there) or ['cpu']
    if not device_ids:
        raise tenfold.InvalidArgument('device_ids is empty; None means all GPUs')
    requested = [device_name(one) for one in device_ids]
    missing = [name for name in requested if name.startswith('cuda') and int(name[5:]) not in there]
    if missing:
        log.warning('%s cannot be used (%s): the CPU computes', ', '.join(missing), tenfold.why_no_gpu() or 'there is no such GPU')
    return ['cpu' if name in missing or not name.startswith('cuda') else int(name[5:]) for name in requested]


class EnhancedMultiGPUManager:
    """Runs functions on devices. Thread safe; close() (or `with`) ends its threads, which do not keep a process alive.

    `device_ids`: numbers of GPUs, or 'cpu'; one may be named twice. `strategy` says whose queue a task joins: `round_robin` each in turn,
    `memory` the one with the most free memory, `utilization` the one that has been busy least, `auto` the one that is done soonest;
    `pipeline` is for configure_pipeline(). A worker without tasks takes those of others. `monitor_interval`: seconds for which a reading of
    free memory counts. `stats_file`: get_status() as JSON, every `stats_interval` seconds. `enabled`: False runs tasks in submit_task().
    """

    def __init__(self, enabled: bool = True, strategy: str = 'auto', monitor_interval: float = 5.0, stats_interval: float = 60.0,
                 stats_file: Any = None, device_ids: Sequence[Any] | None = None) -> None:
        if strategy not in STRATEGIES:
            raise tenfold.InvalidArgument(f'strategy is {strategy!r}, expected one of {", ".join(STRATEGIES)}')
        self.enabled, self.strategy, self.monitor_interval = enabled, strategy, monitor_interval
        self.stats_interval, self.stats_file = stats_interval, stats_file
        self.stages: list[dict[str, Any]] = []
        self._wake, self._numbers, self._started = threading.Condition(), itertools.count(), time.monotonic()
        self._tasks: dict[str, Task] = {}
        self._submitted = self._failed = 0
        self._memory: dict[str, tuple[float, int]] = {}
        self._closed = False
        self.workers = [Worker(device) for device in _devices(device_ids)]
        threads = [(self._work, (number,)) for number in range(len(self.workers))] if enabled else []
        if enabled and stats_file is not None:
            threads.append((self._write_stats, ()))
        for target, args in threads:
            threading.Thread(target=target, args=args, daemon=True).start()

    @property
    def devices(self) -> list[Any]:
        return [worker.device_id for worker in self.workers]

    def __enter__(self) -> EnhancedMultiGPUManager:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends the threads when they have done what is queued. submit_task() raises from now on."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()

    def configure_pipeline(self, stages: Sequence[dict[str, Any]]) -> None:
        """Where tokenization, embedding and pooling run: [{'name', 'device_id'}, ...], each once, in this order. Tokens are the host's work
        whatever the device of `tokenization` is."""
        names = tuple(stage.get('name') for stage in stages)
        if names != STAGES or any('device_id' not in stage for stage in stages):
            raise tenfold.InvalidArgument(f'the stages are {list(stages)!r}, expected a name and a device_id each of {", ".join(STAGES)}')
        if self.strategy != 'pipeline':
            raise tenfold.InvalidArgument(f"stages are for strategy='pipeline', and this manager's is {self.strategy!r}")
        devices = _devices([stage['device_id'] for stage in stages])
        self.stages = [{'name': name, 'device_id': stage['device_id'], 'device': device_name(device)}
                       for name, stage, device in zip(names, stages, devices)]

    # From here on: which worker.
    def _free_memory(self, worker: Worker) -> int:
        read, free = self._memory.get(worker.device, (-1e9, 0))
        if time.monotonic() - read >= self.monitor_interval:
            gpu = gpu_of(worker.device)
            free = gpu.memory_free if gpu else 0
            self._memory[worker.device] = time.monotonic(), free
        return free

    def _best(self, number: int) -> Worker | None:
        there = [worker for worker in self.workers if worker.available]
        if not there:
            return None
        if self.strategy == 'round_robin':
            return there[number % len(there)]
        if self.strategy == 'memory':
            return max(there, key=lambda w: (self._free_memory(w), -w.waiting_seconds))
        if self.strategy == 'utilization':
            return min(there, key=lambda w: (w.busy_seconds + w.waiting_seconds))
        return min(there, key=lambda w: w.waiting_seconds)

    def get_best_device(self) -> Any:
        """The number of the GPU that the next task would go to, or 'cpu'. None: none is left."""
        with self._wake:
            best = self._best(self._submitted)
        return best and best.device_id

    # From here on: tasks.
    def submit_task(self, func: Callable[..., Any], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None,
                    task_id: str | None = None, priority: int = 0, device_preference: Any = None, timeout: float | None = None,
                    callback: Callable[[TaskResult], None] | None = None) -> str:
        """Queues func(*args, **kwargs) and returns its id. Higher priorities first; `device_preference`: it runs there and nowhere else;
        `timeout`: seconds within which it has to begin; `callback`: called with the TaskResult, in the worker's thread."""
        task = Task(lambda: func(*args, **(kwargs or {})), task_id or uuid.uuid4().hex, device_preference is not None,
                     time.monotonic() + (float('inf') if timeout is None else timeout), callback)
        with self._wake:
            if self._closed:
                raise tenfold.InvalidArgument('the manager is closed')
            if task.task_id in self._tasks:
                raise tenfold.InvalidArgument(f'there is a task {task.task_id!r} already')
            number, self._submitted = self._submitted, self._submitted + 1
            self._tasks[task.task_id] = task
            worker = self._best(number)
            if task.pinned:
                worker = next((w for w in self.workers if w.available and w.device == device_name(device_preference)), None)
            if worker is None and self.enabled:
                del self._tasks[task.task_id]
                raise tenfold.DeviceError(f'no device for the task: {device_preference!r} is not among {self.devices}, or has failed')
            if self.enabled and worker is not None:
                heapq.heappush(worker.queue, (-priority, next(self._numbers), task))
                self._wake.notify_all()
        if not self.enabled:
            self._finish(task, self._execute(task, None) or TaskResult(task.task_id))
        return task.task_id

    def wait_for_task(self, task_id: str, timeout: float | None = None) -> TaskResult | None:
        """What became of a task, once; None where it is not done within `timeout` seconds. Raises InvalidArgument for an unknown one."""
        with self._wake:
            task = self._tasks.get(task_id)
        if task is None:
            raise tenfold.InvalidArgument(f'there is no task {task_id!r}; each can be waited for once')
        if not task.done.wait(timeout):
            return None
        with self._wake:
            self._tasks.pop(task_id, None)
        return task.result

    def batch_process(self, func: Callable[..., Any], items: Sequence[Any], batch_size: int | None = None,
                      kwargs: dict[str, Any] | None = None, wait: bool = True, timeout: float | None = None) -> list[Any]:
        """func(some of the items, **kwargs) on all devices; its results in the order of the items (wait=False: the ids of the tasks).

        What a call raises is raised here. Raises TimeoutError where `timeout` seconds are not enough for all of them."""
        items = list(items)
        size = batch_size or max(1, -(-len(items) // (4 * len(self.workers))))
        ids = [self.submit_task(func, (items[first:first + size],), kwargs) for first in range(0, len(items), size)]
        if not wait:
            return ids
        return [one for part in self.results_of(ids, timeout) for one in part]

    def results_of(self, task_ids: Sequence[str], timeout: float | None = None) -> list[Any]:
        """What tasks returned, in this order; the first error is raised when all are done."""
        end = None if timeout is None else time.monotonic() + timeout
        results = []
        for task_id in task_ids:
            result = self.wait_for_task(task_id, None if end is None else max(0.0, end - time.monotonic()))
            if result is None:
                raise TimeoutError(f'{timeout} seconds were not enough for {len(task_ids)} tasks')
            results.append(result)
        for result in results:
            if result.error is not None:
                raise result.error
        return [result.result for result in results]

    def _next(self, worker: Worker) -> Task | None:
        """With the lock: the worker's own task, or the last that another one has waiting and may give."""
        if worker.queue:
            return heapq.heappop(worker.queue)[2]
        for other in sorted(self.workers, key=lambda w: -len(w.queue)):
            free = [entry for entry in other.queue if not entry[2].pinned]
            if free:
                other.queue.remove(max(free))
                heapq.heapify(other.queue)
                return max(free)[2]
        return None

    def _work(self, number: int) -> None:
        worker, current.worker = self.workers[number], number
        while True:
            with self._wake:
                task = self._next(worker)
                while task is None:
                    if self._closed or not worker.available:
                        return
                    self._wake.wait()
                    task = self._next(worker)
                worker.running += 1
            result = self._execute(task, worker)
            with self._wake:
                worker.running -= 1
                lost = self._lose(worker) if result is None else []
                if result is not None:
                    worker.busy_seconds += result.execution_time
                    worker.completed += 1
            for own, failed in lost:   # callbacks may ask the manager, or wait for who does
                self._finish(own, failed)
            if result is None:
                return
            self._finish(task, result)

    def _execute(self, task: Task, worker: Worker | None) -> TaskResult | None:
        """Runs a task. None: the device failed, and another one has the task."""
        result = TaskResult(task.task_id, device_id=worker and worker.device_id)
        start = time.monotonic()
        if start > task.begin_before:
            result.error = TimeoutError('the task did not begin within its timeout')
        else:
            try:
                result.result = task.call()
            except tenfold.DeviceError as error:
                result.error = error
                if worker is not None and self._give_away(task, worker, error):
                    return None
            except BaseException as error:   # whoever waits for the task gets it
                result.error = error
        result.execution_time, result.completion_time = time.monotonic() - start, time.time()
        return result

    def _finish(self, task: Task, result: TaskResult) -> None:
        with self._wake:
            self._failed += not result.success
        task.result = result
        task.done.set()
        if task.callback:
            try:
                task.callback(result)
            except Exception:   # it is nobody's task
                log.exception('the callback of task %s failed', task.task_id)

    def _give_away(self, task: Task, worker: Worker, error: tenfold.DeviceError) -> bool:
        with self._wake:
            others = [w for w in self.workers if w.available and w is not worker]
            if task.pinned or not others:
                return False
            log.warning('%s failed (%s): %s does its work', worker.device, error, ', '.join(sorted({w.device for w in others})))
            worker.available = False
            heapq.heappush(min(others, key=lambda w: w.waiting_seconds).queue, (0, next(self._numbers), task))
            self._wake.notify_all()
        return True

    def _lose(self, worker: Worker) -> list[tuple[Task, TaskResult]]:
        """With the lock: what the device still had waiting goes to others. Gives what only it could have run, and how that failed."""
        others = [w for w in self.workers if w.available]
        lost = []
        for entry in worker.queue:
            if not entry[2].pinned:
                heapq.heappush(min(others, key=lambda w: w.waiting_seconds).queue, entry)
                continue
            error = tenfold.DeviceError(f'{worker.device} has failed')
            lost.append((entry[2], TaskResult(entry[2].task_id, error=error, device_id=worker.device_id)))
        worker.queue = []
        self._wake.notify_all()
        return lost

    # From here on: what is told.
    def get_status(self) -> dict[str, Any]:
        with self._wake:
            uptime = time.monotonic() - self._started
            return {'enabled': self.enabled, 'initialized': not self._closed, 'strategy': self.strategy, 'device_count': len(self.workers),
                    'uptime_seconds': uptime, 'total_tasks_submitted': self._submitted, 'total_tasks_failed': self._failed,
                    'total_tasks_completed': sum(w.completed for w in self.workers),
                    'pending_tasks': sum(len(w.queue) + w.running for w in self.workers),
                    'total_execution_time': sum(w.busy_seconds for w in self.workers),
                    'devices': [{'device_id': w.device_id, 'device_name': w.device, 'is_available': w.available, 'active_tasks': w.running,
                                 'completed_tasks': w.completed, 'utilization': w.busy_seconds / max(uptime, 1e-9)} for w in self.workers],
                    'queue_sizes': {number: len(w.queue) for number, w in enumerate(self.workers)}}

    def _write_stats(self) -> None:
        while not self._closed:
            part = f'{os.fspath(self.stats_file)}.part'   # readers see all of it, or the one before
            with open(part, 'w', encoding='utf-8') as file:
                json.dump(self.get_status(), file)
            os.replace(part, self.stats_file)
            with self._wake:
                self._wake.wait_for(lambda: self._closed, self.stats_interval)
