"""Keys of kept plans: the graph, the weights' bytes, shapes, options and versions."""
from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import tenfold
import torch
from tenfold.torch._convert import host


def hashed(tensor: torch.Tensor) -> bytes:
    """Of the type, the shape and the bytes of a tensor, which are read where they lie if that is the host's memory."""
    tensor = host(tensor)
    made = hashlib.sha256(described(tensor).encode())
    size = tensor.numel() * tensor.element_size()
    if size:
        made.update((ctypes.c_char * size).from_address(tensor.data_ptr()))
    return made.digest()


def described(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f'{value.dtype}{list(value.shape)}'
    return str([described(v) for v in value]) if isinstance(value, (list, tuple)) else str(value)


def lines(graph: torch.fx.Graph) -> Iterable[str]:
    for node in graph.nodes:
        yield f'{node.op} {node.name} {node.target} {node.args} {node.kwargs} {described(node.meta.get("val"))}'


def digest_of(graph: torch.fx.Graph, constants: Sequence[torch.Tensor]) -> str:
    made = hashlib.sha256('\n'.join(lines(graph)).encode())
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:      # hashes of large tensors run without Python's lock
        each = pool.map if all(t.device.type == 'cpu' for t in constants) else map     # one copy of a GPU's tensor at a time
        for one in each(hashed, constants):
            made.update(one)
    return made.hexdigest()


def plan_key(digest: str, build: Mapping[str, Any], refittable: bool) -> str:
    options = ' '.join(f'{name}={build[name]!r}' for name in sorted(build) if name not in ('log', 'progress', 'timing_cache', 'timings'))
    return f'torch {digest} {options} {refittable} tenfold {tenfold.__version__} torch {torch.__version__}'
