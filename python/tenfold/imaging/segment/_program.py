"""main(): errors as one message each, with the exit codes of the other verbs."""
from __future__ import annotations

import sys

from tenfold.errors import Cancelled, Error, InvalidArgument, InvalidModel, OutOfMemory, PlanRefused, Unsupported
from tenfold.imaging.segment._options import parse
from tenfold.imaging.segment._run import run
from tenfold.imaging.segment._sweep import Stopped

CODES = ((InvalidArgument, 2), (InvalidModel, 3), (Unsupported, 3), (PlanRefused, 4), (OutOfMemory, 6))
RUN_FAILED, OUT_OF_MEMORY, INTERRUPTED = 1, 6, 130


def main(words: list[str]) -> int:
    try:
        run(parse(words))
        return 0
    except KeyboardInterrupt:
        return report('interrupted before a plane was written', INTERRUPTED)
    except Stopped as stopped:
        error, note = stopped.error, stopped.note
    except Exception as other:
        error, note = other, ''
    if isinstance(error, (KeyboardInterrupt, Cancelled)):   # the second where Ctrl-C ended an engine's run
        return report(f'interrupted{note}', INTERRUPTED)
    if isinstance(error, Error):
        return report(f'{error}{note}', next((code for kind, code in CODES if isinstance(error, kind)), RUN_FAILED))
    if isinstance(error, MemoryError):
        return report(f'out of memory{note}; --swBatch and --roi make windows smaller, --sweep slabs', OUT_OF_MEMORY)
    return report(f'{type(error).__name__}: {error}{note}', RUN_FAILED)


def report(text: str, code: int) -> int:
    sys.stderr.write('tenfold: ' + ''.join(one if one.isprintable() else ' ' for one in text) + '\n')
    return code
