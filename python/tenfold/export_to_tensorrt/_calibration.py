"""A calibrator of int8: samples, and the file that keeps their ranges."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import tenfold
from tenfold._log import once

if TYPE_CHECKING:
    from collections.abc import Sequence

_FEW = 50


class Int8Calibrator:
    """`samples`: arrays in the shape of the input, or anything with their length and indices. `cache_file` gets the ranges; where there are
    no samples, it is read."""

    def __init__(self, samples: Any, cache_file: str | os.PathLike[str] = 'calibration.cache', method: str = 'entropy') -> None:
        self.samples, self.cache_file, self.method = samples, os.fspath(cache_file), method
        if not len(samples) and not os.path.exists(self.cache_file):
            raise tenfold.InvalidArgument(f'calibration needs samples, and there are neither any nor the cache {self.cache_file!r}; '
                                          'give 100 to 500 images of the validation set')
        if 0 < len(samples) < _FEW:
            once(f'{len(samples)} calibration samples: fewer than {_FEW} may miss a part of the values; 100 to 500 are recommended')

    def options(self, names: Sequence[str]) -> dict[str, Any]:
        """The field `calibration` of a build whose inputs have these names. (torch_tensorrt.compile(calibrator=...) calls it, too.)"""
        if not len(self.samples):
            return {'cache': self.cache_file}
        if os.path.exists(self.cache_file):
            os.remove(self.cache_file)   # its ranges may be of another model
        os.makedirs(os.path.dirname(os.path.abspath(self.cache_file)), exist_ok=True)

        def sample(index: int) -> dict[str, Any] | None:
            return {names[0]: host_array(self.samples[index])} if index < len(self.samples) else None
        return {'sample': sample, 'samples': len(self.samples), 'method': self.method, 'cache': self.cache_file}


def host_array(given: Any) -> Any:
    """A sample as NumPy's array; of a batch as loaders give it (image, label) the image."""
    import numpy as np
    if isinstance(given, (list, tuple)):
        given = given[0]
    if hasattr(given, 'detach'):
        given = given.detach().cpu().numpy()
    return np.ascontiguousarray(given, np.float32)


def create_int8_calibrator(calibration_data: Sequence[Any], cache_file: str | os.PathLike[str] = 'calibration.cache') -> Int8Calibrator:
    """A calibrator by entropy from tensors or arrays in the shape of the input."""
    return Int8Calibrator(calibration_data if hasattr(calibration_data, '__getitem__') else list(calibration_data), cache_file)
