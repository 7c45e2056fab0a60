"""Which device is meant is tenfold's question: TENFOLD_DEVICE, else the first GPU, else the CPU."""
from __future__ import annotations

import functools
from types import ModuleType

from tenfold._device import default_device
from tenfold.pycuda import _gpu, _host


@functools.cache
def used() -> ModuleType:
    """The functions of the device that is used."""
    return _gpu if default_device().startswith('cuda') else _host
