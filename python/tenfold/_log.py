"""Lines of the library's log, on their way to the logger "tenfold" of the module logging."""
import logging

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)   # by tenfold::Severity
logger = logging.getLogger('tenfold')


def line(severity: int, text: str) -> None:
    logger.log(_LEVELS[severity], '%s', text)


_said: set[str] = set()


def once(text: str) -> None:
    """A warning that a process gives once."""
    if text not in _said:
        _said.add(text)
        logger.warning('%s', text)
