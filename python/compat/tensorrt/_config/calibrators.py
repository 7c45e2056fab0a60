"""IInt8*Calibrator: what users derive from to give a build the batches that ranges of 8 bits are taken from."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._enums import CalibrationAlgoType


class IInt8Calibrator:
    """To be derived from: get_batch_size(), get_batch(names) and, for a cache, read_calibration_cache() and
    write_calibration_cache(cache)."""

    _algorithm = CalibrationAlgoType.LEGACY_CALIBRATION

    def __init__(self) -> None:
        pass

    def get_algorithm(self) -> CalibrationAlgoType: return self._algorithm
    def get_batch_size(self) -> int: raise self._lacks('get_batch_size()')

    def get_batch(self, names: list[str]) -> Any:
        """Addresses on the engine's device (of the host, where that is the CPU), one for each name; None: there are no more batches."""
        raise self._lacks('get_batch(names)')

    def read_calibration_cache(self) -> Any:
        """Bytes that write_calibration_cache() was given before: the build asks for no batch then. None: there are none."""
        return None

    def write_calibration_cache(self, cache: memoryview) -> None: """With the bytes of the ranges that the batches gave."""

    def _lacks(self, what: str) -> NotImplementedError:
        return NotImplementedError(f'{type(self).__name__} derives from IInt8Calibrator and has no {what}')


class IInt8LegacyCalibrator(IInt8Calibrator):
    """Ranges that hold 99.99 % of what was seen."""


class IInt8EntropyCalibrator(IInt8Calibrator):
    """Ranges of the least divergence between what was seen and what 8 bits make of it, as of IInt8EntropyCalibrator2."""

    _algorithm = CalibrationAlgoType.ENTROPY_CALIBRATION


class IInt8EntropyCalibrator2(IInt8Calibrator):
    """Ranges of the least divergence between what was seen and what 8 bits make of it."""

    _algorithm = CalibrationAlgoType.ENTROPY_CALIBRATION_2


class IInt8MinMaxCalibrator(IInt8Calibrator):
    """Ranges of all that was seen."""

    _algorithm = CalibrationAlgoType.MINMAX_CALIBRATION


def need_calibrator(calibrator: Any) -> IInt8Calibrator | None:
    if calibrator is not None and not isinstance(calibrator, IInt8Calibrator):
        raise TypeError(f'a calibrator derives from trt.IInt8EntropyCalibrator2 or its like, got {type(calibrator).__name__}')
    return calibrator
