"""A plan inside a module that torch can trace, save and load: the plan is a buffer, its run an operator of torch.

`tenfold::run(plan, inputs, outputs)`: `outputs` describes types and sizes of results (JSON), for torch to foresee them.
"""
from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from typing import Any

import tenfold
import torch
from tenfold.torch import _dims
from tenfold.torch._export import LoadedModule
from tenfold.torch._types import TORCH
from tenfold.torch._whole import library

library.define('run(Tensor plan, Tensor[] inputs, str outputs) -> Tensor[]')
_engines: dict[tuple[int, int], tuple[torch.Tensor, tenfold.Engine]] = {}    # by where the plan lies, which is kept
_lock = threading.Lock()


def engine_of(plan: torch.Tensor) -> tenfold.Engine:
    key = (plan.data_ptr(), plan.numel())
    with _lock:
        if key not in _engines:
            host = plan.detach().cpu().contiguous()
            _engines[key] = plan, tenfold.load(memoryview(host.numpy()))
        return _engines[key][1]


def run(plan: torch.Tensor, inputs: Sequence[torch.Tensor], outputs: str) -> list[torch.Tensor]:
    engine = engine_of(plan)
    found = engine(*(t.detach() for t in inputs))
    return list(found.values()) if isinstance(found, dict) else [found]


def foreseen(plan: torch.Tensor, inputs: Sequence[torch.Tensor], outputs: str) -> list[torch.Tensor]:
    shapes = [t.shape for t in inputs]
    return [inputs[0].new_empty([_dims.read(size, shapes) for size in given['sizes']], dtype=TORCH[given['dtype']])
            for given in json.loads(outputs)]


library.impl('run', run, 'CompositeExplicitAutograd')
torch.library.register_fake('tenfold::run', foreseen, lib=library)


class PlanModule(LoadedModule):
    """An exported engine that torch.jit.save, torch.jit.trace and torch.export take, and that is saved with its plan."""

    def __init__(self, engine: tenfold.Engine) -> None:
        super().__init__(engine)
        plan = torch.frombuffer(bytearray(engine.serialize()), dtype=torch.uint8)
        self.register_buffer('plan', plan)
        _engines[plan.data_ptr(), plan.numel()] = plan, engine
        self._described = engine.labels['torch.sizes']
        if not self._described:
            raise tenfold.Unsupported('a result has a size that torch cannot be told of: the module cannot be saved with it')

    def outputs_of(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        return torch.ops.tenfold.run(self.plan, inputs, self._described)

    def traced(self) -> torch.jit.ScriptModule:
        """As TorchScript, for inputs as the engine is tuned for. Nested results become flat tuples."""
        bindings = [b for b in self.engine.bindings if b.is_input]
        device = 'cuda' if self.engine.info.on_gpu else 'cpu'
        inputs = tuple(torch.zeros(self.engine.profile_shapes(0, b.name)[1], dtype=TORCH[b.dtype], device=device) for b in bindings)
        with torch.no_grad():
            return torch.jit.trace(Flat(self), inputs, check_trace=False)

    def save(self, path: Any, _extra_files: Any = None) -> None:        # torch.jit.save() calls it
        self.traced().save(os.fspath(path), _extra_files=_extra_files or {})

    def save_to_buffer(self, _extra_files: Any = None) -> bytes:
        return self.traced().save_to_buffer(_extra_files=_extra_files or {})


class Flat(torch.nn.Module):
    """The run alone, from tensors to tensors."""

    def __init__(self, module: PlanModule) -> None:
        super().__init__()
        self.register_buffer('plan', module.plan)
        self._described = module._described

    def forward(self, *inputs: torch.Tensor) -> Any:
        found = torch.ops.tenfold.run(self.plan, list(inputs), self._described)
        return found[0] if len(found) == 1 else tuple(found)
