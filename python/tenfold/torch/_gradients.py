"""Who asks for gradients gets torch."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._dynamo.symbolic_convert import InstructionTranslator


def why_gradients(args: Sequence[Any]) -> str:
    """Why this call asks for gradients; empty: it does not. Weights of a module in eval() ask for none."""
    if not torch.is_grad_enabled():
        return ''
    tensors = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
    if any(not isinstance(t, torch.nn.Parameter) for t in tensors):
        return 'an input asks for gradients'
    if not tensors:
        return ''
    seen = modules()
    if not seen:   # a module of a closure or a global, which may be in training mode
        return 'weights ask for gradients, and the compiled function holds no module that says whether it is in eval(): use torch.no_grad()'
    if any(part.training for module in seen for part in module.modules()):
        return 'the module is in training mode: eval() or torch.no_grad() gives it engines'
    return ''


def modules() -> list[torch.nn.Module]:
    """The modules that the frame which is being compiled sees."""
    try:
        scope = InstructionTranslator.current_tx().output.root_tx.f_locals
    except (AttributeError, RuntimeError):
        return []
    return [v for v in scope.values() if isinstance(v, torch.nn.Module)]
