"""IErrorRecorder: failures as codes and texts, beside the logger's lines."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._enums import ErrorCodeTRT
from tenfold.tensorrt._logger import ILogger
from tenfold.tensorrt._names import Named

_CODES = {'invalid_argument': 'INVALID_ARGUMENT', 'out_of_memory': 'FAILED_ALLOCATION', 'device': 'FAILED_EXECUTION',
          'invalid_model': 'INVALID_ARGUMENT', 'plan_refused': 'FAILED_INITIALIZATION', 'io': 'FAILED_INITIALIZATION',
          'unsupported': 'UNSUPPORTED_STATE', 'internal': 'INTERNAL_ERROR'}


class IErrorRecorder:
    """To be derived from: report_error(code, text) receives every failure of the objects it is set on, and of what these make."""

    MAX_DESC_LENGTH = 127

    def __init__(self) -> None:
        pass

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(f'{type(self).__name__} derives from IErrorRecorder and has no {what}')

    def report_error(self, val: ErrorCodeTRT, desc: str) -> bool: raise self._missing('report_error(val, desc)')
    def num_errors(self) -> int: raise self._missing('num_errors()')
    def get_error_code(self, error_index: int) -> ErrorCodeTRT: raise self._missing('get_error_code(index)')
    def get_error_desc(self, error_index: int) -> str: raise self._missing('get_error_desc(index)')
    def has_overflowed(self) -> bool: raise self._missing('has_overflowed()')
    def clear(self) -> None: raise self._missing('clear()')


class Recorded(ILogger):
    """A logger beside which failures are recorded."""

    def __init__(self, logger: ILogger, recorder: IErrorRecorder) -> None:
        self.plain, self.recorder = logger, recorder

    def log(self, severity: Any, msg: str) -> None: self.plain.log(severity, msg)

    def _record_failure(self, failure: object) -> None:
        code = ErrorCodeTRT[_CODES.get(getattr(failure, 'kind', ''), 'UNSPECIFIED_ERROR')]
        self.recorder.report_error(code, str(failure)[:IErrorRecorder.MAX_DESC_LENGTH])


def plain(logger: ILogger) -> ILogger:
    """The logger that was given."""
    return logger.plain if isinstance(logger, Recorded) else logger


class Recording(Named):
    _logger: ILogger

    @property
    def error_recorder(self) -> IErrorRecorder | None:
        return self._logger.recorder if isinstance(self._logger, Recorded) else None

    @error_recorder.setter
    def error_recorder(self, recorder: IErrorRecorder | None) -> None:
        if recorder is not None and not isinstance(recorder, IErrorRecorder):
            raise TypeError(f'an error recorder derives from trt.IErrorRecorder, got {type(recorder).__name__}')
        self._logger = plain(self._logger) if recorder is None else Recorded(plain(self._logger), recorder)
