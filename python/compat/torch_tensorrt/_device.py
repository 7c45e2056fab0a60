"""Device: where an engine runs."""
from __future__ import annotations

from typing import Any

import torch
from tenfold.torch_tensorrt._settings import no_effect


class Device:
    """Device("cuda:0"), Device(gpu_id=0); of accelerators beside GPUs there are none. Without arguments: where the module lies."""

    def __init__(self, device: Any = None, *, gpu_id: int | None = None, dla_core: int = -1, allow_gpu_fallback: bool = False) -> None:
        if dla_core != -1:
            raise ValueError('dla_core: there are engines for GPUs and CPUs only')
        if allow_gpu_fallback:
            no_effect('Device(allow_gpu_fallback=True)', 'there is no DLA that a GPU would stand in for')
        if isinstance(device, Device):
            self.device = device.device
        elif device is not None:
            self.device = torch.device(str(device).replace('gpu', 'cuda'))
        else:
            self.device = None if gpu_id is None else torch.device('cuda', gpu_id)

    def __repr__(self) -> str:
        return f'Device({str(self.device)!r})'
