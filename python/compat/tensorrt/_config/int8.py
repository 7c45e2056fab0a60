"""What an IBuilderConfig says of calibration: the calibrator, the profile of its batches, and CALIBRATE_BEFORE_FUSION."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._config.calibrators import IInt8Calibrator, need_calibrator
from tenfold.tensorrt._config.profile import IOptimizationProfile
from tenfold.tensorrt._enums import QuantizationFlag
from tenfold.tensorrt._logger import ILogger, fail


class Int8Config:
    _logger: ILogger
    _calibrator: IInt8Calibrator | None = None
    _calibration_profile: IOptimizationProfile | None = None
    _quantization_flags = 0

    def _reset_int8(self) -> None: self._calibrator, self._calibration_profile, self._quantization_flags = None, None, 0

    @property
    def int8_calibrator(self) -> IInt8Calibrator | None:
        """Gives ranges to a model without Q/DQ nodes, beside BuilderFlag.INT8."""
        return self._calibrator

    @int8_calibrator.setter
    def int8_calibrator(self, calibrator: IInt8Calibrator | None) -> None: self._calibrator = need_calibrator(calibrator)

    def set_calibration_profile(self, profile: IOptimizationProfile) -> bool:
        """Its opt is the shape of the calibrator's batches. False: something is wrong with it."""
        if not isinstance(profile, IOptimizationProfile):
            raise TypeError(f'a calibration profile comes from create_optimization_profile(), got {type(profile).__name__}')
        if wrong := profile._wrong():
            fail(self._logger, f'set_calibration_profile(): {wrong}')
            return False
        self._calibration_profile = profile
        return True

    def get_calibration_profile(self) -> IOptimizationProfile | None: return self._calibration_profile

    # CALIBRATE_BEFORE_FUSION is what is done, with the flag or without: ranges are taken before layers become one step.

    @property
    def quantization_flags(self) -> int:
        """A mask: 1 << int(flag) of each."""
        return self._quantization_flags

    @quantization_flags.setter
    def quantization_flags(self, mask: int) -> None:
        if QuantizationFlag.unknown(mask):
            raise ValueError(f'quantization_flags {mask:#x} has bits that are no QuantizationFlag')
        self._quantization_flags = mask

    def set_quantization_flag(self, flag: Any) -> None: self._quantization_flags |= 1 << int(QuantizationFlag(flag))
    def clear_quantization_flag(self, flag: Any) -> None: self._quantization_flags &= ~(1 << int(QuantizationFlag(flag)))
    def get_quantization_flag(self, flag: Any) -> bool: return bool(self._quantization_flags >> int(QuantizationFlag(flag)) & 1)
