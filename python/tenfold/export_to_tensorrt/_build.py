"""From an ONNX file, or a module of torch, to an engine: precision, shapes and device."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tenfold
from tenfold._log import once

if TYPE_CHECKING:
    from collections.abc import Sequence

PRECISIONS = ('fp32', 'fp16', 'int8')


@dataclass
class Settings:
    """What an export is asked for. `batches`: the smallest, usual and largest batch; None: that of `shape` alone."""

    shape: tuple[int, ...]
    precision: str = 'fp16'
    workspace_gb: float = 4
    batches: tuple[int, int, int] | None = None
    device: str = 'cuda'
    calibrator: Any = None

    def __post_init__(self) -> None:
        self.shape = tuple(int(extent) for extent in self.shape)
        if len(self.shape) < 3 or min(self.shape) < 1:
            raise tenfold.InvalidArgument(f'the input shape {list(self.shape)} has to be a batch, channels and spatial extents, each at '
                                          'least 1: 1 1 256 256, say')
        if self.precision not in PRECISIONS:
            raise tenfold.InvalidArgument(f'precision {self.precision!r} is none of {", ".join(PRECISIONS)}')
        if not self.workspace_gb > 0:
            raise tenfold.InvalidArgument(f'the workspace size {self.workspace_gb} has to be a number of GB above 0')
        if self.batches and not 1 <= self.batches[0] <= self.batches[1] <= self.batches[2]:
            raise tenfold.InvalidArgument('batches have to grow from the smallest (--min-batch, at least 1) over the usual (--opt-batch) '
                                          f'to the largest (--max-batch), got {", ".join(map(str, self.batches))}')
        if self.precision == 'int8' and self.calibrator is None:
            raise tenfold.InvalidArgument('precision int8 needs calibration data: --calibration-data DIR, or '
                                          'calibrator=create_int8_calibrator([...])')

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The smallest, usual and largest shape."""
        return tuple((batch, *self.shape[1:]) for batch in self.batches or (self.shape[0],) * 3)

    def options(self, name: str) -> dict[str, Any]:
        """Keywords of a build whose input is `name`. fp32 is exact; beside int8, a GPU computes the rest in fp16."""
        made: dict[str, Any] = {'workspace_bytes': int(self.workspace_gb * (1 << 30)), 'int8': self.precision == 'int8'}
        if self.precision == 'fp32':
            made['tf32'] = False
        if self.precision == 'fp16' or self.precision == 'int8' and resolve_device(self.device).startswith('cuda'):
            made['fp16'] = True
        if self.precision == 'int8':
            made['calibration'] = self.calibrator.options([name])
        return made


def resolve_device(device: Any) -> str:
    """'cpu', or 'cuda:N'. Without a GPU `cuda` is the CPU, and a warning says so once."""
    asked = str(device)
    if asked == 'cpu':
        return asked
    if asked.partition(':')[0] != 'cuda':
        raise tenfold.InvalidArgument(f'device {asked!r} is none of cpu, cuda, cuda:0, cuda:1 and so on')
    found = [one.device for one in tenfold.devices() if one.device.startswith('cuda')]
    if not found:
        once(f'there is no GPU ({tenfold.why_no_gpu()}): {asked!r} means the CPU')
        return 'cpu'
    wanted = asked if ':' in asked else found[0]
    if wanted not in found:
        raise tenfold.InvalidArgument(f'device {asked!r} is not here; there are {", ".join(found)} and cpu')
    return wanted


def build_onnx(model: str | os.PathLike[str], settings: Settings) -> tenfold.Engine:
    """The engine of an ONNX file with one input."""
    binding = one_input([b for b in tenfold.bindings(model) if b.is_input], model)
    if len(binding.shape) != len(settings.shape):
        raise tenfold.InvalidArgument(f'--input-shape {shown(settings.shape)} has {len(settings.shape)} extents; the input '
                                      f'{binding.name!r} of {model} has {len(binding.shape)}: {shown(binding.shape)} (-1: any)')
    smallest, _, largest = settings.shapes
    if smallest != largest and binding.shape[0] >= 0:
        raise tenfold.InvalidArgument(f'--dynamic-shapes: {model} fixes its batch at {binding.shape[0]}; export it with a dynamic first '
                                      'axis, or leave the flag out')
    for axis, (given, fixed) in enumerate(zip(settings.shape, binding.shape, strict=True)):
        if fixed >= 0 and given != fixed and not (axis == 0 and settings.batches):
            raise tenfold.InvalidArgument(f'--input-shape {shown(settings.shape)}: extent {axis} is {given}, and {fixed} in {model}: '
                                          f'{shown(binding.shape)} (-1: any)')
    options = settings.options(binding.name)
    if -1 in binding.shape:
        options['profiles'] = {binding.name: settings.shapes}
    return tenfold.build(model, device=resolve_device(settings.device), **options)


def one_input(inputs: Sequence[Any], model: Any) -> Any:
    if len(inputs) != 1:
        raise tenfold.InvalidArgument(f'{model} has {len(inputs)} inputs, {", ".join(b.name for b in inputs)}; expected a network of one '
                                      'image: tenfold.build() takes others')
    return inputs[0]


def with_all_heads(module: Any) -> Any:
    """CytoDL's networks of several tasks are told which heads to run: here all of them. Other modules are returned as they are."""
    import inspect

    import torch
    if 'run_heads' not in inspect.signature(module.forward).parameters or not hasattr(module, 'task_heads'):
        return module

    class AllHeads(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = module
            self.heads = list(module.task_heads)

        def forward(self, x: Any) -> Any:
            return self.network(x, run_heads=self.heads)
    return AllHeads().eval()


def export_module(module: Any, settings: Settings) -> Any:
    """A module as a tenfold.torch PlanModule: its answers are the module's, and torch.jit.save keeps it with its plan.

    It raises Unsupported, naming operators, where no engine of the whole module can be had: nothing is left to torch in silence."""
    import tenfold.torch
    import torch
    from tenfold.torch._plan_module import PlanModule
    from tenfold.torch_tensorrt._compile import names_of
    from tenfold.torch_tensorrt._input import Input
    module = with_all_heads(module)
    device = torch.device(resolve_device(settings.device))
    tensor = next(iter((*module.parameters(), *module.buffers())), None)
    if tensor is not None and tensor.device.type != device.type:
        raise tenfold.InvalidArgument(f'the module lies on {tensor.device}, and {settings.device!r} is asked for: '
                                      f'module.to({str(device)!r}) moves it')
    smallest, usual, largest = settings.shapes
    # torch.export takes an example's extent of 1 for a constant.
    shape = usual if smallest == largest else (max(2, usual[0]), *usual[1:])
    dtype = tensor.dtype if tensor is not None and tensor.is_floating_point() else torch.float32
    name = names_of(module, [Input(shape)])[0]
    given: dict[str, Any] = {}
    if smallest != largest:
        given = {'dynamic_shapes': ({0: torch.export.Dim.DYNAMIC(min=smallest[0], max=largest[0])},), 'profiles': {name: settings.shapes}}
    engine = tenfold.torch.export(module.eval(), (torch.zeros(shape, dtype=dtype, device=device),), **given, **settings.options(name))
    return PlanModule(engine)


def shown(shape: Sequence[int]) -> str:
    return ' '.join(map(str, shape))
