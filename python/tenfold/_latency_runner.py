"""LatencyRunner: engines for one model that answer in microseconds; RunnerThread, which answers for other threads."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from tenfold import _native
from tenfold._build import load
from tenfold._engine import Engine
from tenfold._latency_answer import Answer, Message
from tenfold._latency_ports import Port, PortServer, number_of
from tenfold.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tenfold._latency_answer import Arrays

    EngineCandidate = Union[Engine, str, os.PathLike[str], Callable[[], Engine]]


def _ns(seconds: float) -> int:
    ns = seconds * 1e9
    if not abs(ns) < 2**63:   # nor a NaN
        raise InvalidArgument(f'{seconds} seconds are none that nanoseconds in 64 bits can count')
    return round(ns)


def _opener(candidate: EngineCandidate) -> Callable[[], Engine]:
    if isinstance(candidate, Engine):
        return lambda: candidate
    if isinstance(candidate, (str, os.PathLike)):
        return lambda: load(candidate)
    if callable(candidate):
        return candidate
    raise TypeError(f'a candidate is an engine, the path of a plan, or a function that gives an engine, not {type(candidate).__name__}')


def _candidates(candidates: Any) -> list[tuple[str, Callable[[], Engine]]]:
    if isinstance(candidates, Mapping):
        return [(str(name), _opener(candidate)) for name, candidate in candidates.items()]
    return [('engine', _opener(candidates))]


class LatencyRunner:
    """Engines for one model, best first, made, compared and warmed here; answers in the caller's thread.

        runner = tenfold.LatencyRunner({'engine': 'model.plan', 'cpu': lambda: tenfold.build('model.onnx', optimization_level=0)})
        answer = runner.infer(x)          # answer.output, answer.candidate, answer.late

    `candidates` is an engine, the path of a plan, a function that gives an engine, or a dict of such by name. A candidate that fails
    or takes longer than `deadline` (seconds) is left, and the next one answers the same request; it is tried aside, and
    comes back after `good_answers` in a row. `strict`: the first alone. `nan`: 'pass' or 'fail'. `tolerance`: how far a
    candidate's outputs may be from the last one's, as a part of the largest; None: nothing is compared. Shapes are fixed.

    infer() belongs to one thread at a time. The Python around it allocates; what it calls does not.
    """

    def __init__(self, candidates: EngineCandidate | Mapping[str, EngineCandidate], *, deadline: float = 0, strict: bool = False,
                 nan: str = 'pass',
                 warm_up_runs: int = 100, tolerance: float | None = 0.02, first_pause: float = 0.1, longest_pause: float = 60,
                 good_answers: int = 10, longest_silence: float = 1, log: Callable[[str, str], None] | None = None) -> None:
        if nan not in ('pass', 'fail'):
            raise InvalidArgument(f"nan is 'pass' or 'fail', not {nan!r}")
        self._native = _native.LatencyRunner(
            _candidates(candidates), deadline_ns=_ns(deadline), strict=strict, fails=nan == 'fail', warm_up_runs=warm_up_runs,
            tolerance=-1.0 if tolerance is None else float(tolerance), first_pause_ns=_ns(first_pause), longest_pause_ns=_ns(longest_pause),
            good_answers=good_answers, longest_silence_ns=_ns(longest_silence), log=log)
        self._input, self._output = Message(self._native, True), Message(self._native, False)

    def infer(self, inputs: Arrays, due_ns: int = 0) -> Answer:
        """One array, or a dict of arrays. `due_ns`: when the request was due, by time.monotonic_ns(); 0: now."""
        self._input.fill(inputs)
        native = self._native.infer(self._input.address, self._output.address, due_ns)
        return Answer(native, self._output.copies())

    def infer_at(self, window: int, due_ns: int = 0) -> Answer:
        """The only input lies at this address, as RowRing.push_at() gives it: nothing is copied in Python.

        Before the window is full, Answer.missing_rows says how many of its rows are zeros. Another address than a ring's has to be
        that of memory of the input's size: nothing can check it.
        """
        self._expect_window(window)
        native = self._native.infer(window, self._output.address, due_ns)
        return Answer(native, self._output.copies(), getattr(window, 'missing_rows', 0))

    @property
    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """The memory of infer_bound(), by the inputs' names: whoever fills these arrays in place copies nothing else."""
        return self._input.arrays

    def infer_bound(self, due_ns: int = 0) -> Answer:
        """infer() of what lies in `inputs`. Answer.outputs are the runner's own memory, which its next answer overwrites."""
        return Answer(self._native.infer(self._input.address, self._output.address, due_ns), self._output.arrays)

    def precompute(self, next_window: Arrays) -> str:
        """Computes what does not depend on the newest row of the window that comes next (build(..., newest_row='x:1')).

        The newest row and other inputs of `next_window` are not read. infer() compares the rows before the newest with
        these: if they differ, the window is computed as a whole. Returns 'ok', or what went wrong; 'not_ready': a
        RunnerThread has the runner, and does this by itself.
        """
        self._input.fill(next_window)
        return str(self._native.precompute(self._input.address))

    def precompute_at(self, window: int) -> str:
        """The same for the only input at this address: a window whose newest row is still to come."""
        self._expect_window(window)
        return str(self._native.precompute(window))

    def _expect_window(self, window: int) -> None:
        if self._input.only is None:
            raise InvalidArgument(f'there are {len(self._input.arrays)} inputs, not one')
        if not 0 < window < 2**64:
            raise InvalidArgument(f'a window lies at an address, not at {window}')

    def keep_warm(self) -> None:
        """Runs on a sample, without an answer: GPUs that idle slow down."""
        self._native.keep_warm()

    def open_port(self, slots: int = 64, when_full: str = 'reject') -> Port:
        """Rings to the RunnerThread that will have this runner. Full rings reject, drop_oldest or keep_newest."""
        return Port(self._native.open_port(slots, number_of(when_full)))

    def serve(self, path: str | os.PathLike[str], slots: int = 64, when_full: str = 'reject', max_clients: int = 8) -> PortServer:
        """Gives ports to other processes of this user, over a Unix socket; call it before the RunnerThread begins."""
        return PortServer(self, _native.PortServer(self._native, os.fspath(path), slots, number_of(when_full), max_clients))

    def swap(self, candidates: EngineCandidate | Mapping[str, EngineCandidate]) -> None:
        """New candidates take the place of all, between two answers. If they cannot be used, this raises, and the old ones go on."""
        self._native.swap(_candidates(candidates))

    @property
    def window_rows(self) -> tuple[int, int] | None:
        """The input and the axis along which rows lie whose newest comes last (newest_row); None: windows come as a whole."""
        input, axis = self._native.window_rows
        return None if input < 0 else (int(input), int(axis))

    @property
    def backend(self) -> str:
        """The name of the candidate that answers next."""
        return str(self._native.backend())

    def candidates(self) -> list[_native.CandidateState]:
        return list(self._native.candidates())

    @property
    def counts(self) -> _native.RunnerCounts:
        return self._native.counts()

    def ready(self) -> bool:
        """Whether the next request will be answered; why_not_ready() says why not."""
        return bool(self._native.ready()[0])

    def why_not_ready(self) -> str:
        return str(self._native.ready()[1])

    @property
    def bindings(self) -> Sequence[_native.Binding]:
        return list(self._native.bindings)


class RunnerThread:
    """A thread that serves the ports of some runners, in this order, until stop() or the end of `with`.

    `spin`: seconds for which it looks for work before it sleeps; None: it spins for ever. `keep_warm`: seconds.
    """

    def __init__(self, runners: LatencyRunner | Sequence[LatencyRunner], *, cpu: int | None = None, priority: int = 0,
                 spin: float | None = None,
                 keep_warm: float = 0) -> None:
        self._runners = [runners] if isinstance(runners, LatencyRunner) else list(runners)   # kept until it has ended
        self._native = _native.RunnerThread([r._native for r in self._runners], -1 if cpu is None else cpu, priority,
                                            -1 if spin is None else _ns(spin), _ns(keep_warm))

    def stop(self) -> None:
        """Answers what waits, and ends the thread."""
        self._native.stop()

    def __enter__(self) -> RunnerThread:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def id(self) -> int:
        """As the system counts threads; -1: it has ended."""
        return int(self._native.id)
