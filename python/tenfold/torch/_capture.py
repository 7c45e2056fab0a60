"""Streams that a CUDA graph captures. Building or refitting an engine waits for the GPU and takes memory of it, which would end a capture:
torch computes a captured call that needs either, and the call after the capture does what was left out."""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch
from tenfold.torch._report import warn_once


def is_captured(device: torch.device) -> bool:
    return device.type == 'cuda' and torch.cuda.is_current_stream_capturing()


def tell(why: str) -> None:
    warn_once(f'tenfold: torch computes a call that a CUDA graph captures: {why}. A call at these sizes before the capture makes it ready')


class Later:
    """A graph that torch compiled while a CUDA graph was captured: torch computes it until a call is not captured, which makes it."""

    def __init__(self, module: torch.fx.GraphModule, device: torch.device, make: Callable[[], Callable[..., Any]]) -> None:
        self._module, self._device, self._make = module, device, make
        self._made: Callable[..., Any] | None = None
        self._lock = threading.Lock()

    def __call__(self, args: Sequence[Any]) -> Any:
        if self._made is None:
            if is_captured(self._device):
                tell('its graph was not compiled before')
                return self._module(*args)
            with self._lock:
                if self._made is None:
                    self._made = self._make()
        return self._made(args)
