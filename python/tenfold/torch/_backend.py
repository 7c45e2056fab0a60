"""The backend: from a graph of torch.compile to a function of engines."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tenfold
import torch
from tenfold.torch import _free, _partition, _weights
from tenfold.torch._call import Refused
from tenfold.torch._capture import Later, is_captured
from tenfold.torch._convert import Conversion, main_device
from tenfold.torch._gradients import gradients_inside, modules, transforms, why_gradients
from tenfold.torch._subgraph import Subgraph
from tenfold.torch._options import Options, read_options
from tenfold.torch._report import Report, log_once
from tenfold.torch._whole import keep_whole
from tenfold.torch._writes import Written, groups_of, take_writes
from torch._decomp import core_aten_decompositions
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch._functorch.aot_autograd import aot_module_simplified, make_boxed_func

KEPT = ('hardswish', 'hardsigmoid', 'silu', 'mish', 'upsample_bicubic2d', 'upsample_nearest1d', 'upsample_nearest2d', 'upsample_nearest3d',
        'upsample_linear1d', 'upsample_bilinear2d', 'upsample_trilinear3d', '_fused_rms_norm', 'stack', 'unbind', 'split', 'all', 'sum',
        'transpose', 't', 'detach', 'baddbmm', 'linear', 'matmul',          # which have functions of ours: taking them apart gains nothing
        '_scaled_dot_product_flash_attention_for_cpu')         # whose parts give no sums, which its gradients read


Weights = Mapping[torch.fx.Node, torch.Tensor]     # placeholders of a graph, and what is constant behind them


def decompositions() -> dict[Any, Any]:
    return {op: function for op, function in core_aten_decompositions().items()
            if str(getattr(op, '_schema', op)).split('(')[0].split('.')[0].removeprefix('aten::') not in KEPT}


def backend(module: torch.fx.GraphModule, args: Sequence[Any], *, options: Mapping[str, Any] | None = None, mode: str | None = None,
            **rest: Any) -> Callable[..., Any]:
    """torch.compile(m, backend="tenfold", options={...}): fields of BuildConfig, and min_block_size, frozen, plan_cache."""
    if rest:
        raise TypeError(f'the backend "tenfold" has no argument {next(iter(rest))!r}')
    return compiled(module, args, read_options(options, mode), [])


def compiled(module: torch.fx.GraphModule, args: Sequence[Any], options: Options, reports: list[Report]) -> Callable[..., Any]:
    report = Report()
    reports.append(report)
    reason = getattr(module, 'compile_subgraph_reason', None)
    if reason is not None and reason.graph_break:
        report.cut = reason.reason.splitlines()[0]
        log_once(f'torch breaks a module: {report.cut}')
    if why := why_gradients(args):
        report.leave_all(why)
        return module.forward
    static = _weights.places(module, args)
    made: list[tuple[Any, Weights]] = []

    def compile_inference(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        writes = take_writes(graph)
        written = groups_of(graph.graph, writes)
        weights = _weights.behind(graph, module, args, static, writes)

        def make() -> Callable[..., Any]:
            with unset_fake_temporarily():   # weights are real
                found, read = subgraphs(graph, weights, options, report)
            made.append((found, read))
            return boxed(found) if isinstance(found, Subgraph) else make_boxed_func(found)
        device = main_device(graph.graph)
        run = Later(graph, device, make) if is_captured(device) else make()
        return boxed(Written(run, written) if writes else run)

    transformed = transforms(module)
    if transformed and any(p.requires_grad for p in module.parameters()):
        report.leave_all('it computes gradients of its own, and holds parameters as attributes')
        return module.forward
    try:      # operators of ours have no gradients, and no rule for a batch of torch.func's
        whole = module if transformed else keep_whole(module)
        with gradients_inside(module, args, transformed and torch.is_grad_enabled()), torch.no_grad():
            run = aot_module_simplified(whole, args, fw_compiler=compile_inference, decompositions=decompositions(),
                                        keep_inference_input_mutations=True)
    except (torch._dynamo.exc.RestartAnalysis, torch._dynamo.exc.SkipFrame):       # which ask torch to do otherwise
        raise
    except Exception as error:                      # whatever torch's tracing or a function of ours raises: eager mode can do it
        if options.raises:
            raise
        report.leave_all(f'{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ""}')
        return module.forward
    return freeing(run, module, args, *made[0]) if options.free_weights and made else run


def boxed(run: Callable[..., Any]) -> Callable[..., Any]:
    """A function, for torch copies the attributes of what it is given. It takes all arguments in one list."""
    if getattr(run, '_boxed_call', False):
        return run

    def call(args: list[Any]) -> Any:
        return run(args)
    call._boxed_call = True                  # type: ignore[attr-defined]
    return call


def freeing(run: Callable[..., Any], module: torch.fx.GraphModule, args: Sequence[Any], made: Any, weights: Weights) -> Callable[..., Any]:
    """The compiled graph, which drops the weights that engines alone read."""
    def subgraph_of(node: torch.fx.Node) -> Subgraph | None:
        if isinstance(made, Subgraph):
            return made if node.op != 'output' else None
        called = getattr(made, node.target) if node.op == 'call_module' else None
        return called.subgraph if isinstance(called, Called) else None
    alone = _free.engines_alone(weights, subgraph_of)
    if not (slots := _free.slots_of(modules(), alone)):
        log_once('free_weights: no weight is dropped, for the compiled function sees no module that holds one which engines alone read')
        return run
    _free.drop_guards(module, args, alone)
    held = [made] if isinstance(made, Subgraph) else [c.subgraph for c in made.children() if isinstance(c, Called)]
    return _free.Freeing(run, held, slots).__call__


def subgraphs(graph: torch.fx.GraphModule, weights: Weights, options: Options, report: Report) -> tuple[Any, Weights]:
    """The graph with engines in the place of what they can compute, and the weights by its own nodes."""
    whole, calls = _partition.split(graph, weights, options.min_block_size, report)
    if isinstance(calls, Conversion):
        return attempted(whole, weights, options, report, calls) or whole, weights
    named = {node.name: weight for node, weight in weights.items()}      # who splits a graph may copy its nodes
    weights = {node: named[node.name] for node in whole.graph.nodes if node.op == 'placeholder' and node.name in named}
    for node in calls:
        part = getattr(whole, node.target)
        inner = [n for n in part.graph.nodes if n.op == 'placeholder']
        given = {i: tensor for i, o in zip(inner, node.args, strict=True) if (tensor := known(whole, weights, o)) is not None}
        if (subgraph := attempted(part, given, options, report)) is not None:
            setattr(whole, node.target, Called(subgraph))
    return whole, weights


def known(module: torch.fx.GraphModule, weights: Weights, argument: Any) -> torch.Tensor | None:
    """A weight, or a tensor that the graph itself holds."""
    if isinstance(argument, torch.fx.Node) and argument.op == 'get_attr':
        held = getattr(module, argument.target)
        return held if isinstance(held, torch.Tensor) else None
    return weights.get(argument) if isinstance(argument, torch.fx.Node) else None


class Called(torch.nn.Module):
    """An subgraph as a submodule."""

    def __init__(self, subgraph: Subgraph) -> None:
        super().__init__()
        self.subgraph = subgraph

    def forward(self, *args: Any) -> Any:
        return self.subgraph(args)


def attempted(part: torch.fx.GraphModule, weights: Weights, options: Options, report: Report,
              made: Conversion | None = None) -> Subgraph | None:
    """None: torch computes the part, and the report tells why."""
    try:
        subgraph = Subgraph(part.graph, weights, options, part, report, made)
    except (Refused, tenfold.Error, MemoryError) as error:
        if options.raises:
            raise tenfold.Unsupported(str(error)) if isinstance(error, Refused) else error
        report.leave_all(f'{type(error).__name__}: {error}' if not isinstance(error, Refused) else str(error))
        return None
    report.engines.append(f'{subgraph.operators} operators on {subgraph.device}, {len(subgraph.names)} inputs, '
                          f'{len(subgraph.results.names)} outputs, '
                           f'sizes {dict(zip(map(str, subgraph.ranges.symbols), subgraph.ranges.hints))}')
    return subgraph
