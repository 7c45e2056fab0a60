"""GPUs, which device an encoder computes on, and what there is of tensor cores."""
from __future__ import annotations

import functools
import logging
import os
import re
from dataclasses import dataclass
from typing import Any

import tenfold
from tenfold import InvalidArgument, _native
from tenfold._device import default_device

log = logging.getLogger('tenfold.hana')
_MEGABYTE = 1 << 20


@dataclass(frozen=True)
class GPUInfo:
    """A GPU; memory in MB."""
    index: int
    name: str
    memory_total: int
    memory_free: int
    compute_capability: str


@functools.cache
def tell_once(text: str) -> None:
    log.warning('%s', text)


def gpus() -> list[GPUInfo]:
    """All that engines can run on."""
    found = []
    for device in tenfold.devices():
        if device.device.startswith('cuda:'):
            arch = re.search(r'sm_(\d+)(\d)', device.features)
            found.append(GPUInfo(int(device.device.partition(':')[2]), device.name, device.memory_bytes // _MEGABYTE,
                                 _native.free_memory(device.device) // _MEGABYTE, '.'.join(arch.groups()) if arch else ''))
    return found


def gpu_of(device: str) -> GPUInfo | None:
    return next((gpu for gpu in gpus() if device == f'cuda:{gpu.index}'), None)


def device_name(given: Any) -> str:
    """Of a number, which is a GPU's, or of a device's name."""
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return f'cuda:{given}'
    if isinstance(given, str) and re.fullmatch(r'cpu|null|cuda(:\d+)?', given):
        return 'cuda:0' if given == 'cuda' else given
    raise InvalidArgument(f"a device is {given!r}, expected the number of a GPU, 'cuda:0' or 'cpu'")


def usable_device(requested: Any, memory_threshold: float) -> str:
    """The device itself, or the CPU where the GPU is not there, or has less free memory than `memory_threshold` percent. It is told."""
    device = device_name(default_device() if requested is None else requested)
    if not device.startswith('cuda'):
        if requested is None and not os.environ.get('TENFOLD_DEVICE') and tenfold.why_no_gpu():
            tell_once(f'no GPU can be used ({tenfold.why_no_gpu()}): the CPU computes')
        return device
    gpu = gpu_of(device)
    if gpu is None:
        log.warning('%s cannot be used (%s): the CPU computes', device, tenfold.why_no_gpu() or 'there is no such GPU')
        return 'cpu'
    free = 100 * gpu.memory_free / max(gpu.memory_total, 1)
    if free < memory_threshold:
        log.warning('%s has %d of %d MB free, less than the %g %% of gpu_memory_threshold: the CPU computes', device, gpu.memory_free,
                    gpu.memory_total, memory_threshold)
        return 'cpu'
    return device


class TensorCoreOptimizer:
    """Tells whether products run on tensor cores. Tenfold uses them wherever a GPU has them and a precision permits it, and pads what their
    shapes need: nothing has to be switched on."""

    def __init__(self, device: Any = None, tensor_core_enabled: bool = True, precision: str = 'fp16', workspace_size_mb: int = 1024,
                 enable_profiling: bool = False) -> None:
        if precision not in ('fp32', 'tf32', 'bf16', 'fp16', 'int8'):
            raise InvalidArgument(f'precision is {precision!r}, expected one of fp32, tf32, bf16, fp16, int8')
        self.device = None if device is None else device_name(device)
        self.tensor_core_enabled, self.precision = tensor_core_enabled, precision
        self.workspace_size_mb, self.enable_profiling = workspace_size_mb, enable_profiling

    def is_supported(self) -> bool:
        """Whether the GPU (None: any of them) has tensor cores: compute capability 7.0 or later. False without a GPU."""
        return any(float(gpu.compute_capability or 0) >= 7 for gpu in gpus() if self.device in (None, f'cuda:{gpu.index}'))

    @property
    def alignment(self) -> int:
        """The multiple that extents of products are padded to: 16 with int8, 8 with 16 bits, 4 with floats."""
        return {'int8': 16, 'fp16': 8, 'bf16': 8}.get(self.precision, 4)
