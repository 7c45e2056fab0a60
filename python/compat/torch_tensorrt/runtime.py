"""torch_tensorrt.runtime: how modules run, by Torch-TensorRT's names."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tenfold.torch._plan_module import PlanModule
from tenfold.torch_tensorrt._settings import no_effect

TorchTensorRTModule = PythonTorchTensorRTModule = PlanModule


@contextlib.contextmanager
def enable_cudagraphs(compiled_module: Any) -> Iterator[Any]:
    """The module itself: its runs become part of the graph that the caller captures."""
    no_effect('runtime.enable_cudagraphs()', 'torch.cuda.graph() captures calls of a module')
    yield compiled_module


def set_cudagraphs_mode(mode: bool) -> None:
    if mode:
        no_effect('runtime.set_cudagraphs_mode(True)', 'torch.cuda.graph() captures calls of a module')


def get_cudagraphs_mode() -> bool: return False


class set_multi_device_safe_mode:   # noqa: N801 (the name is Torch-TensorRT's)
    """A function, and a context."""

    def __init__(self, mode: bool) -> None:
        if not mode:
            no_effect('runtime.set_multi_device_safe_mode(False)', 'an engine always looks where its inputs lie')

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def __getattr__(name: str) -> None:
    raise AttributeError(f'torch_tensorrt.runtime of Tenfold has no {name!r}')
