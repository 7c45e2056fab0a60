"""IProgressMonitor, and how the library's progress comes to it."""
from __future__ import annotations

from collections.abc import Callable


class IProgressMonitor:
    """To be derived from. step_complete() returning False ends the build, which then gives None."""

    def __init__(self) -> None:
        pass

    def phase_start(self, phase_name: str, parent_phase: str | None, num_steps: int) -> None:
        raise NotImplementedError(f'{type(self).__name__} derives from IProgressMonitor and has no phase_start()')

    def step_complete(self, phase_name: str, step: int) -> bool:
        raise NotImplementedError(f'{type(self).__name__} derives from IProgressMonitor and has no step_complete()')

    def phase_finish(self, phase_name: str) -> None:
        raise NotImplementedError(f'{type(self).__name__} derives from IProgressMonitor and has no phase_finish()')


class Phases:
    """Tells a monitor of phases one after another: steps are counted from 0, as TensorRT does."""

    def __init__(self, monitor: IProgressMonitor) -> None:
        self._monitor, self._phase, self._done = monitor, '', 0

    def __call__(self, phase: str, done: int, total: int) -> bool:
        if phase != self._phase or done <= self._done:
            self.finish()
            self._monitor.phase_start(phase, None, total)
            self._phase = phase
        self._done = done
        return bool(self._monitor.step_complete(phase, done - 1))

    def finish(self) -> None:
        """Once more behind the build."""
        if self._phase:
            phase, self._phase = self._phase, ''
            self._monitor.phase_finish(phase)


def watched(monitor: IProgressMonitor | None) -> tuple[Callable[[str, int, int], bool] | None, Callable[[], None]]:
    """For build(progress=), and what to call behind it."""
    if monitor is None:
        return None, lambda: None
    phases = Phases(monitor)
    return phases, phases.finish
