"""An engine of fixed shapes behind tenfold.LatencyRunner, in memory that is bound once."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

import tenfold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


class BoundEngine:
    """Where there is one input and one output, `window` is the input's memory: infer() is the answer, `output` its name.

    `dtype` and `shape` are the input's, or None, so that no array fits. Answers lie in the runner's memory.
    """

    __slots__ = ('dtype', 'infer', 'output', 'runner', 'shape', 'window')

    def __init__(self, engine: tenfold.Engine) -> None:
        self.runner = tenfold.LatencyRunner(engine, tolerance=None, warm_up_runs=10)
        self.infer = self.runner.infer_bound
        outputs = [binding.name for binding in engine.bindings if not binding.is_input]
        windows = list(self.runner.inputs.values())
        one = len(windows) == 1 and len(outputs) == 1
        self.window: Array = windows[0] if one else np.zeros(0)
        self.output = outputs[0] if one else ''
        self.dtype: Any = self.window.dtype if one else None
        self.shape: tuple[int, ...] | None = self.window.shape if one else None

    def fail(self, answer: tenfold.Answer) -> NoReturn:
        raise RuntimeError(f'TensorRT execution failed: {answer.status}: {self.runner.why_not_ready()}')

    def run(self, given: dict[str, Array]) -> dict[str, Array]:
        """Outputs by name, which are the caller's; types become the engine's, as far as TRTEngine lets them."""
        for name, array in given.items():
            self.runner.inputs[name][...] = array
        answer = self.infer()
        return {name: array.copy() for name, array in answer.outputs.items()} if answer.candidate >= 0 else self.fail(answer)
