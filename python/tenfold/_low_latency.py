"""Low latency: runners, threads with ports, and the last rows of streams."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from tenfold import _native
from tenfold._build import load
from tenfold._engine import Engine
from tenfold._native import LatencyRecorder as LatencyRecorder
from tenfold.errors import InvalidArgument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    EngineCandidate = Union[Engine, str, os.PathLike[str], Callable[[], Engine]]
    Arrays = Union[NDArray[Any], Mapping[str, Any]]

_WHEN_FULL = {'reject': 0, 'drop_oldest': 1, 'keep_newest': 2}


def _ns(seconds: float) -> int:
    ns = seconds * 1e9
    if not abs(ns) < 2**63:   # nor a NaN
        raise InvalidArgument(f'{seconds} seconds are none that nanoseconds in 64 bits can count')
    return round(ns)


class _WindowAddress(int):
    """Where a window lies, and how many of its rows were not pushed yet."""

    missing_rows: int = 0


def _number(when_full: str) -> int:
    if when_full not in _WHEN_FULL:
        raise InvalidArgument(f'when_full is one of {", ".join(_WHEN_FULL)}, not {when_full!r}')
    return _WHEN_FULL[when_full]


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


class _Message:
    """Memory of all inputs or outputs, with an array for each of them."""

    def __init__(self, native: Any, is_input: bool) -> None:
        import numpy as np
        size = native.input_bytes if is_input else native.output_bytes
        memory = np.zeros(size + 64, np.uint8)
        self.address = memory.ctypes.data + -memory.ctypes.data % 64
        memory = memory[self.address - memory.ctypes.data:]
        self.arrays: dict[str, NDArray[Any]] = {}
        for binding, info in enumerate(native.bindings):
            if info.is_input != is_input:
                continue
            dtype = np.dtype(info.numpy_dtype)
            begin, count = native.offset(binding), int(np.prod(info.shape))
            self.arrays[info.name] = memory[begin:begin + count * dtype.itemsize].view(dtype).reshape(info.shape)
        self.only = next(iter(self.arrays.values())) if len(self.arrays) == 1 else None

    def fill(self, given: Arrays) -> None:
        if isinstance(given, Mapping):
            if given.keys() != self.arrays.keys():
                raise InvalidArgument(f'inputs are {", ".join(self.arrays)}; given were {", ".join(map(str, given)) or "none"}')
            for name, array in given.items():
                self._copy(name, array)
        elif self.only is None:
            raise InvalidArgument(f'give a dict of arrays: there are {len(self.arrays)} inputs: {", ".join(self.arrays)}')
        else:
            self._copy(next(iter(self.arrays)), given)

    def _copy(self, name: str, array: Any) -> None:
        to = self.arrays[name]
        shape, dtype = getattr(array, 'shape', None), getattr(array, 'dtype', None)
        if shape != to.shape or dtype != to.dtype:
            given = f'{dtype}{list(shape)}' if shape is not None else type(array).__name__
            raise InvalidArgument(f"input '{name}' is {to.dtype}{list(to.shape)}; given was {given}")
        to[...] = array

    def copies(self) -> dict[str, NDArray[Any]]:
        return {name: array.copy() for name, array in self.arrays.items()}


class Answer:
    """What a request got: `outputs` by name, and how it was answered. Times are nanoseconds of time.monotonic_ns()."""

    __slots__ = ('outputs', '_native', '_missing_rows')

    def __init__(self, native: Any, outputs: dict[str, NDArray[Any]], missing_rows: int = 0) -> None:
        self._native, self.outputs, self._missing_rows = native, outputs, missing_rows

    @property
    def output(self) -> NDArray[Any]:
        """The only one."""
        if len(self.outputs) != 1:
            raise InvalidArgument(f'there are {len(self.outputs)} outputs: {", ".join(self.outputs)}')
        return next(iter(self.outputs.values()))

    @property
    def ok(self) -> bool:
        return bool(self._native.status == 'ok')

    @property
    def status(self) -> str:
        """'ok', or the name of what went wrong; outputs mean nothing then."""
        return str(self._native.status)

    @property
    def id(self) -> int:
        return int(self._native.id)

    @property
    def candidate(self) -> int:
        """Which of LatencyRunner.candidates() answered; -1: none."""
        return int(self._native.candidate)

    @property
    def late(self) -> bool:
        return bool(self._native.late)

    @property
    def not_finite(self) -> bool:
        """An input or output holds a NaN or an infinity."""
        return bool(self._native.not_finite)

    @property
    def late_start(self) -> bool:
        """It was due before the rows before its newest row were computed, and waited for that."""
        return bool(self._native.late_start)

    @property
    def full_recompute(self) -> bool:
        """The engine has early steps, and the window was computed as a whole: nobody ran early, or for another window."""
        return bool(self._native.full_recompute)

    @property
    def missing_rows(self) -> int:
        """Of LatencyRunner.infer_at(): rows of the window that were not pushed yet, and count as zeros."""
        return self._missing_rows or int(self._native.missing_rows)

    @property
    def due_ns(self) -> int:
        return int(self._native.due_ns)

    @property
    def started_ns(self) -> int:
        return int(self._native.started_ns)

    @property
    def ended_ns(self) -> int:
        return int(self._native.ended_ns)

    def __repr__(self) -> str:
        missing = f', {self.missing_rows} rows missing' if self.missing_rows else ''
        return (f'<Answer {self.id}: {self.status}, candidate {self.candidate}, '
                f'{(self.ended_ns - self.due_ns) / 1000:.1f} us after it was due'
                f'{missing}>')


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
        self._input, self._output = _Message(self._native, True), _Message(self._native, False)

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
        return Port(self._native.open_port(slots, _number(when_full)))

    def serve(self, path: str | os.PathLike[str], slots: int = 64, when_full: str = 'reject', max_clients: int = 8) -> PortServer:
        """Gives ports to other processes of this user, over a Unix socket; call it before the RunnerThread begins."""
        return PortServer(self, _native.PortServer(self._native, os.fspath(path), slots, _number(when_full), max_clients))

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


class Port:
    """Two rings between one thread that asks and a RunnerThread; LatencyRunner.open_port() and connect() make it."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self._input, self._output = _Message(native, True), _Message(native, False)

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


class RowRing:
    """The last rows of streams, each in one piece of memory, mapped twice: a push copies one row."""

    def __init__(self, rows: int, width: int, dtype: Any = 'float32', streams: int = 1) -> None:
        import numpy as np
        self.dtype = np.dtype(dtype)
        self.rows, self.width, self.streams = rows, width, streams
        self._native = _native.RowRing(rows, width * self.dtype.itemsize, streams)

    def push(self, row: Any, stream: int = 0) -> NDArray[Any]:
        """The window after the push, read-only: [rows, width], the oldest row first. It is valid until the push after the next."""
        return self._view(self.push_at(row, stream))

    def push_at(self, row: Any, stream: int = 0) -> int:
        """The same, as the window's address for LatencyRunner.infer_at()."""
        import numpy as np
        array = np.ascontiguousarray(row, self.dtype)
        if array.shape != (self.width,):
            raise InvalidArgument(f'a row has the shape ({self.width},), not {array.shape}')
        address = _WindowAddress(self._address(self._native.push(stream, array.ctypes.data), stream))
        address.missing_rows = self.rows - self.filled(stream)
        return address

    def window(self, stream: int = 0) -> NDArray[Any]:
        return self._view(self._address(self._native.window(stream), stream))

    def filled(self, stream: int = 0) -> int:
        """How many rows of the window were pushed; those before are zeros."""
        return int(self._native.filled(stream))

    def clear(self, stream: int = 0) -> None:
        self._native.clear(stream)

    def _address(self, address: int, stream: int) -> int:
        if not address:
            raise InvalidArgument(f'there is no stream {stream}; there are {self.streams}')
        return address

    def _view(self, address: int) -> NDArray[Any]:
        import numpy as np
        buffer = (ctypes.c_char * (self.rows * self.width * self.dtype.itemsize)).from_address(address)
        setattr(buffer, '_ring', self)   # the view keeps the memory
        view: NDArray[Any] = np.frombuffer(buffer, self.dtype).reshape(self.rows, self.width)
        view.flags.writeable = False
        return view
