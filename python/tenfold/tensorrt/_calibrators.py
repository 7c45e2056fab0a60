"""IInt8*Calibrator: their names. Calibration is not there yet, so making one is refused."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._enums import CalibrationAlgoType
from tenfold.tensorrt._names import refused

NO_CALIBRATION = 'there is no calibration yet: give it a model that is quantised (Q/DQ nodes)'


class IInt8Calibrator:
    _algorithm = CalibrationAlgoType.LEGACY_CALIBRATION

    def __init__(self, *_: Any) -> None:
        raise refused(type(self).__name__, NO_CALIBRATION)

    def get_algorithm(self) -> CalibrationAlgoType: return self._algorithm
    def get_batch_size(self) -> int: raise refused('get_batch_size()', NO_CALIBRATION)
    def get_batch(self, names: list[str]) -> Any: raise refused('get_batch()', NO_CALIBRATION)
    def read_calibration_cache(self) -> Any: raise refused('read_calibration_cache()', NO_CALIBRATION)
    def write_calibration_cache(self, cache: Any) -> None: raise refused('write_calibration_cache()', NO_CALIBRATION)


class IInt8LegacyCalibrator(IInt8Calibrator):
    pass


class IInt8EntropyCalibrator(IInt8Calibrator):
    _algorithm = CalibrationAlgoType.ENTROPY_CALIBRATION


class IInt8EntropyCalibrator2(IInt8Calibrator):
    _algorithm = CalibrationAlgoType.ENTROPY_CALIBRATION_2


class IInt8MinMaxCalibrator(IInt8Calibrator):
    _algorithm = CalibrationAlgoType.MINMAX_CALIBRATION
