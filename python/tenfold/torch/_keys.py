"""Keys of kept plans: the graph, the weights' bytes, shapes, options and versions."""
from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import tenfold
import torch


def add_bytes(digest: Any, tensor: torch.Tensor) -> None:
    """The bytes of a tensor in the host's memory, read where they lie."""
    size = tensor.numel() * tensor.element_size()
    if size:
        digest.update((ctypes.c_char * size).from_address(tensor.data_ptr()))


def described(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f'{value.dtype}{list(value.shape)}'
    return str([described(v) for v in value]) if isinstance(value, (list, tuple)) else str(value)


def lines(graph: torch.fx.Graph) -> Iterable[str]:
    for node in graph.nodes:
        yield f'{node.op} {node.name} {node.target} {node.args} {node.kwargs} {described(node.meta.get("val"))}'


def digest_of(graph: torch.fx.Graph, constants: Iterable[torch.Tensor]) -> str:
    made = hashlib.sha256('\n'.join(lines(graph)).encode())
    for tensor in constants:
        made.update(described(tensor).encode())
        add_bytes(made, tensor)
    return made.hexdigest()


def plan_key(digest: str, build: Mapping[str, Any], refittable: bool) -> str:
    options = ' '.join(f'{name}={build[name]!r}' for name in sorted(build) if name not in ('log', 'progress', 'timing_cache', 'timings'))
    return f'torch {digest} {options} {refittable} tenfold {tenfold.__version__} torch {torch.__version__}'
