"""Which device is meant where nobody says it: TENFOLD_DEVICE, else the first GPU, else the CPU."""
from __future__ import annotations

import functools
import os
import sys
from typing import Any

from tenfold import _native


@functools.cache
def _with_libraries() -> None:
    # NVIDIA's wheels lie in this environment, the driver's own places are known to the library.
    _native.look_for_libraries_in(sys.prefix)


def devices() -> list[_native.Device]:
    """All devices that engines can run on."""
    _with_libraries()
    return _native.devices()


@functools.cache
def _first() -> str:
    return next((d.device for d in devices() if d.device.startswith('cuda')), 'cpu')


def default_device() -> str:
    return os.environ.get('TENFOLD_DEVICE') or _first()


def put_device(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a build, with the device."""
    _with_libraries()
    if options.get('device') is None:
        options = {**options, 'device': default_device()}
    return options
