"""export_to_tensorrt(): a module of torch as an engine."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenfold.export_to_tensorrt import Settings, export_module, save_module

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence


def export_to_tensorrt(model: Any, input_shape: Sequence[int], precision: str = 'fp16', workspace_size: float = 4, min_batch_size: int = 1,
                       max_batch_size: int = 16, opt_batch_size: int = 4, output_path: str | os.PathLike[str] | None = None,
                       enable_dynamic_shapes: bool = False, device: Any = 'cuda', *, calibrator: Any = None) -> Any:
    """A module of torch as a module that runs an engine, which torch.jit.save takes.

    `output_path`: a file for it, TorchScript where it ends in `.ts`, else a plan. `workspace_size` is in GB. `calibrator`: of
    create_int8_calibrator(), for precision='int8'. The batches are used with `enable_dynamic_shapes`. Unsupported is raised where a part
    of the module has no engine: the uncompiled module is never returned in silence.
    """
    batches = (min_batch_size, opt_batch_size, max_batch_size) if enable_dynamic_shapes else None
    made = export_module(model, Settings(tuple(input_shape), precision, workspace_size, batches, str(device), calibrator))
    if output_path is not None:
        save_module(made, output_path)
    return made
