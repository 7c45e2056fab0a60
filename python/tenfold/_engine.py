"""Engine and Context: the native ones, with what is Python's own (pickling, futures, iteration)."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tenfold import _native

if TYPE_CHECKING:
    from tenfold._future import Future


class Context(_native.Context):
    """Runs an engine. One thread at a time; create_context() makes one for each.

    Arrays that are bound are read and written where they lie, in every run, and kept until others are bound.
    """

    def profile(self, inputs: Any = None, runs: int = 10) -> list[tuple[str, float]]:
        """Steps and their milliseconds: the median of some runs on these inputs (None: zeros at the usual shapes)."""
        from statistics import median   # here, for it would take a third of the package's import
        engine = self.engine
        if inputs is None:
            import numpy as np
            inputs = {b.name: np.zeros(engine.profile_shapes(0, b.name)[1], b.numpy_dtype) for b in engine.bindings if b.is_input}
        elif not isinstance(inputs, dict):
            inputs = {next(b.name for b in engine.bindings if b.is_input): inputs}
        for name, array in inputs.items():
            self.bind(name, array)
        self.run()
        taken = [self.profile_run() for _ in range(max(runs, 1))]
        return [(name, median(run[i][1] for run in taken)) for i, (name, _) in enumerate(taken[0])]


class Engine(_native.Engine):
    """A loaded plan: immutable, and shared by threads.

    engine(x) runs it on an array, engine(x, mask) on several in the order of the inputs, engine({"x": x}) by name. `out`: where results
    go (an array, a dict by name). `stream`: of a GPU, on which the run is enqueued. One output is returned as it is, several in a dict by
    name; they are NumPy's arrays, or torch's, CuPy's or DeviceArrays where inputs are.
    """

    if TYPE_CHECKING:   # the native type's own
        def __call__(self, *inputs: Any, out: Any = None, stream: Any = None) -> Any: ...

    def create_context(self, memory: int = 0, bytes: int = 0) -> Context:
        """A context: memory and workers for one run at a time. `memory`: an address on the engine's device, aligned to 256 bytes, with room
        for arena_bytes(), that outlives the context and belongs to contexts that never run at the same time; 0: the context's own."""
        return Context(self, memory, bytes)

    def run_async(self, *inputs: Any, **options: Any) -> Future:
        """Begins engine(*inputs, **options) and returns. The Future can be awaited, asked for its result() and cancelled.

        The arrays are the run's until it has ended. Some runs go on at once, others wait for their turn."""
        from tenfold._future import start
        return start(self.start, inputs, options)

    def refit(self, weights: Any) -> Engine:
        return Engine(super().refit(weights))

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.serialize(),)

    def __repr__(self) -> str:
        return f'<tenfold.Engine {self.info.model_name!r} on {self.info.device}: {", ".join(map(repr, self.bindings))}>'


def _unpickle(plan: bytes) -> Engine:
    return sys.modules['tenfold'].load(plan)
