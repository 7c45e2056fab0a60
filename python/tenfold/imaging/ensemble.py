"""Several predictors as one: the mean of their outputs, in one sweep over windows that are cut once."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tenfold import _native
from tenfold.errors import InvalidArgument
from tenfold.imaging._arrays import is_torch
from tenfold.imaging._outputs import flatten, pack
from tenfold.imaging.devices import Devices


class Ensemble(tuple[Any, ...]):
    """Ensemble([engine, other, function]) is a predictor for sliding_window_inference(), the inferers and infer().

    All get the same windows and return outputs of the same names and shapes, whose mean is float32. Of engines alone no
    Python runs between windows. Beside functions, engines get the windows alone, and functions all arguments.
    """

    def __new__(cls, predictors: Iterable[Callable[..., Any]]) -> Ensemble:
        self = super().__new__(cls, predictors)
        if not self:
            raise InvalidArgument('Ensemble([]): expected at least one predictor, a function or a tenfold.Engine')
        for i, one in enumerate(self):
            if not callable(one):
                raise InvalidArgument(f'predictor {i} of the ensemble is a {type(one).__name__}; expected a function or '
                                      'a tenfold.Engine')
        return self

    def __call__(self, windows: Any, *args: Any, **kwargs: Any) -> Any:
        keys: list[Any] | None = None
        means: list[Any] = []
        for i, one in enumerate(self):
            outputs = one(windows) if isinstance(one, _native.Engine) else one(windows, *args, **kwargs)
            own_keys, arrays = flatten(outputs)
            if i == 0:
                keys, means = own_keys, [_float32(array) for array in arrays]
                continue
            if own_keys != keys or len(arrays) != len(means):
                raise InvalidArgument(f'predictor {i} of the ensemble returned {_text(own_keys, arrays)}, predictor 0 '
                                      f'{_text(keys, means)}; expected the same outputs')
            for at, (mean, array) in enumerate(zip(means, arrays)):
                if tuple(mean.shape) != tuple(array.shape):
                    raise InvalidArgument(f'output {at} of predictor {i} of the ensemble is {list(array.shape)}, of predictor '
                                          f'0 {list(mean.shape)}; expected the same shape')
                means[at] = mean + _float32(array)
        return pack(keys, [mean / len(self) for mean in means])

    def __repr__(self) -> str:
        return f'Ensemble({list(self)!r})'


def engines_of(predictor: Any) -> tuple[Any, ...]:
    """The engines of an engine, of an ensemble of engines or of Devices; else none."""
    all_of = predictor if isinstance(predictor, (Devices, Ensemble)) else (predictor,)
    return tuple(all_of) if all(isinstance(one, _native.Engine) for one in all_of) else ()


def _float32(array: Any) -> Any:
    return array.float() if is_torch(array) else np.asarray(array, np.float32)


def _text(keys: list[Any] | None, arrays: Any) -> str:
    return f'the outputs {keys}' if keys is not None else f'{len(arrays)} outputs'
