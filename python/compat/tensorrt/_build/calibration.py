"""Ranges of 8 bits for one build, as tenfold.build(calibration=): from a calibrator's batches or cache, or dynamic ranges of tensors."""
from __future__ import annotations

import os
import tempfile
from typing import Any

from tenfold.tensorrt._build.batches import Batches
from tenfold.tensorrt._config.calibrators import IInt8Calibrator
from tenfold.tensorrt._enums import BuilderFlag, CalibrationAlgoType
from tenfold.tensorrt._logger import ILogger, native_log, say_once
from tenfold.tensorrt._network.dynamic_ranges import cache_of

_METHODS = {CalibrationAlgoType.LEGACY_CALIBRATION: ('percentile', b'LegacyCalibration'),
            CalibrationAlgoType.ENTROPY_CALIBRATION: ('entropy', b'EntropyCalibration'),
            CalibrationAlgoType.ENTROPY_CALIBRATION_2: ('entropy', b'EntropyCalibration2'),
            CalibrationAlgoType.MINMAX_CALIBRATION: ('minmax', b'MinMaxCalibration')}
_FEW, _ENOUGH = 'calibration took ranges from ', 25   # how the library's warning begins, and samples that it finds enough
_QUANTIZING = ('QuantizeLinear', 'DequantizeLinear', 'QLinearConv', 'QLinearMatMul', 'ConvInteger', 'MatMulInteger')


def is_quantized(network: Any) -> bool:
    """Whether the model has integers of its own. The network is settled."""
    return any(node.op in _QUANTIZING for node in network._graph.nodes)


class Calibration:
    """`with` it: `options` are for build(); behind the build the calibrator gets its cache."""

    options: dict[str, Any]

    def __init__(self, network: Any, config: Any, logger: ILogger) -> None:
        self.options, self._logger = {}, logger
        self._calibrator: IInt8Calibrator | None = config.int8_calibrator
        self._batches: Batches | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._network, self._config = network, config

    def _has_effect(self) -> bool:
        network, config = self._network, self._config
        what = 'int8_calibrator' if self._calibrator else 'set_dynamic_range()' if network._ranges else ''
        if what and not config.get_flag(BuilderFlag.INT8):
            say_once(self._logger, f'{what} has no effect: BuilderFlag.INT8 is not set')
        elif what and is_quantized(network):
            say_once(self._logger, f'{what} has no effect: the model has the ranges itself (Q/DQ nodes)')
        else:
            return bool(what)
        return False

    def _prepare(self) -> None:
        if self._calibrator is None:
            return self._use(cache_of(self._network), 'the dynamic ranges of tensors')
        if self._network._ranges:
            say_once(self._logger, 'set_dynamic_range() has no effect beside int8_calibrator, which gives the ranges')
        cache = self._calibrator.read_calibration_cache()
        if isinstance(cache, str):
            raise TypeError(f'{self._title}.read_calibration_cache() gives bytes or None, got str')
        if cache is not None and len(cache):
            return self._use(bytes(memoryview(cache)), f'{self._title}.read_calibration_cache()')
        self._batches = Batches(self._calibrator, self._network, self._config, self._logger)
        if hasattr(self._calibrator, 'get_quantile'):
            say_once(self._logger, f'{self._title}.get_quantile() has no effect: ranges hold 99.99 % of what was seen')
        self.options = {'calibration': dict(sample=self._batches.sample, samples=1 << 30, method=self._method[0],
                                            cache=self._path('cache'))}

    @property
    def _title(self) -> str: return type(self._calibrator).__name__

    @property
    def _method(self) -> tuple[str, bytes]:
        assert self._calibrator is not None
        return _METHODS[CalibrationAlgoType(self._calibrator.get_algorithm())]

    def _path(self, name: str) -> str:
        assert self._folder is not None
        return os.path.join(self._folder.name, name)

    def _use(self, cache: bytes, name: str) -> None:
        """Messages of the library name the file."""
        path = self._path(name)
        with open(path, 'wb') as file:
            file.write(cache)
        self.options = {'calibration': dict(cache=path)}

    def log(self) -> Any:
        """For build(log=). What the library says of few samples is said of batches."""
        log = native_log(self._logger)

        def lines(severity: str, text: str) -> None:
            if self._batches is None or not text.startswith(_FEW):
                log(severity, text)
            elif (given := self._batches.samples) < _ENOUGH:
                log(severity, f'{self._title} gave {given} samples only: {_ENOUGH} or more make ranges that hold for other data')
        return lines

    def __enter__(self) -> Calibration:
        if not self._has_effect():
            return self
        self._folder = tempfile.TemporaryDirectory()
        try:
            self._prepare()
        except BaseException:
            self._folder.cleanup()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """The calibrator gets its cache though the build may have failed after the calibration."""
        if self._folder is None:
            return
        with self._folder:
            if self._batches is not None and os.path.exists(self._path('cache')):
                with open(self._path('cache'), 'rb') as file:
                    written = file.read()
                assert self._calibrator is not None
                head, ranges = written.split(b'\n', 1)
                self._calibrator.write_calibration_cache(memoryview(head[:head.rindex(b'-') + 1] + self._method[1] + b'\n' + ranges))
