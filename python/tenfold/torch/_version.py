"""Which versions of torch this package knows."""
from __future__ import annotations

import re

import torch

OLDEST, NEWEST = (2, 11), (2, 15)      # the newest that was tried; later ones of the same first number are taken, and said so once


def version_of(text: str) -> tuple[int, int]:
    found = re.match(r'(\d+)\.(\d+)', text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def check_version(text: str = torch.__version__) -> None:
    """Raises ImportError for a torch that is too old or too new to know."""
    found = version_of(text)
    if found < OLDEST or found[0] > NEWEST[0]:
        raise ImportError(f'tenfold.torch knows torch from {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.*, this is torch {text}')
    if found > NEWEST:
        from tenfold.torch._report import warn_once
        warn_once(f'tenfold.torch was tried with torch up to {NEWEST[0]}.{NEWEST[1]}, this is torch {text}')
