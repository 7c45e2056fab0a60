"""What a session tells, by its options' log_severity_level and logid."""
from __future__ import annotations

import logging
import sys
from collections.abc import Callable

from tenfold._log import logger
from tenfold._session_options import SessionOptions

_SEVERITIES = {'verbose': (0, logging.DEBUG), 'info': (1, logging.INFO), 'warning': (2, logging.WARNING), 'error': (3, logging.ERROR)}
_default = -1   # of sessions whose options name no severity; -1: what the logger "tenfold" is set to


def set_default_severity(severity: int) -> None:
    global _default
    _default = int(severity)


def severity_of(options: SessionOptions) -> int:
    return options.log_severity_level if options.log_severity_level >= 0 else _default


def log_of(options: SessionOptions) -> Callable[[str, str], None] | None:
    """None: all goes to the logger "tenfold". What is asked for and this logger does not show goes to stderr."""
    minimum, begin = severity_of(options), f'{options.logid}: ' if options.logid else ''
    if minimum < 0 and not begin:
        return None

    def log(severity: str, text: str) -> None:
        number, level = _SEVERITIES[severity]
        if number < minimum:
            return
        if minimum >= 0 and not logger.isEnabledFor(level):
            print(f'{begin}{text}', file=sys.stderr)
        else:
            logger.log(level, '%s%s', begin, text)
    return log
