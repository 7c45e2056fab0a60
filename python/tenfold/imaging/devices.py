"""One network on several devices: each computes a band of the image, all at once."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tenfold import _native
from tenfold.errors import InvalidArgument


class Devices(tuple[Any, ...]):
    """Devices([on_gpu, on_cpu]) is a predictor for sliding_window_inference() and the inferers: engines of one network.

    Each computes rows of the second spatial axis, as many as it is quick; a device that is too slow for any gets none.
    An engine may stand there twice. Results are those of one of them, as far as all compute the same.
    """

    def __new__(cls, engines: Iterable[Any]) -> Devices:
        self = super().__new__(cls, engines)
        if not self:
            raise InvalidArgument('Devices([]): expected at least one tenfold.Engine')
        first = [_outputs(one, i) for i, one in enumerate(self)][0]
        for i, one in enumerate(self):
            if _outputs(one, i) != first:
                raise InvalidArgument(f'engine {i} of Devices gives {_outputs(one, i)}, engine 0 {first}; expected one network')
        return self

    def __call__(self, windows: Any) -> Any:   # where Python runs between windows
        return self[0](windows)

    def __repr__(self) -> str:
        return f'Devices({list(self)!r})'


def _outputs(engine: Any, number: int) -> list[str]:
    if not isinstance(engine, _native.Engine):
        raise InvalidArgument(f'engine {number} of Devices is a {type(engine).__name__}; expected a tenfold.Engine')
    return [binding.name for binding in engine.bindings if not binding.is_input]
