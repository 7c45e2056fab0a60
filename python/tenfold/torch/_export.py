"""export() and load(): a module as an engine that needs no torch, and a plan as a module."""
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import tenfold
import torch
from tenfold import _native
from tenfold.torch import _dims
from tenfold.torch._backend import decompositions
from tenfold.torch._call import Refused
from tenfold.torch._convert import Conversion, is_size
from tenfold.torch._subgraph import device_of
from tenfold.torch._options import Options, for_build
from tenfold.torch._sizes import Ranges, expression
from tenfold.torch._types import NAMES
from tenfold.torch._whole import keep_whole
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree

WEIGHTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


def export(module: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, *, dynamic_shapes: Any = None,
           profiles: Any = None, **options: Any) -> tenfold.Engine:
    """An engine of a whole module, which needs no torch to run.

    `module`: an nn.Module in eval(), or a torch.export.ExportedProgram. `dynamic_shapes` is torch.export's; a size without a bound reaches
    to 64, or to the next power of two. Other keywords are those of tenfold.build(). Inputs have the names of torch.export, outputs are
    "y0", "y1" and so on. Raises Unsupported, which names the operators, where torch would have to compute a part.
    """
    _native.check_options(options, 'tenfold.torch.export()', ['dynamic_shapes', 'profiles'], 'help(tenfold.build) lists them')
    if isinstance(module, torch.export.ExportedProgram):
        program = module
    else:
        with torch.no_grad():
            program = torch.export.export(module, tuple(args), dict(kwargs or {}), dynamic_shapes=dynamic_shapes, strict=False)
    keep_whole(program.graph_module)
    program = program.run_decompositions(decompositions())
    return built(program, profiles, options)


def weights_of(program: torch.export.ExportedProgram) -> dict[torch.fx.Node, torch.Tensor]:
    kinds = {s.arg.name: s for s in program.graph_signature.input_specs if s.kind in WEIGHTS}
    nodes = {n.name: n for n in program.graph.nodes if n.op == 'placeholder'}
    return {nodes[name]: program.state_dict[s.target] if s.target in program.state_dict else program.constants[s.target]
            for name, s in kinds.items()}


def built(program: torch.export.ExportedProgram, profiles: Any, options: Mapping[str, Any]) -> tenfold.Engine:
    for spec in program.graph_signature.output_specs:
        if spec.kind != OutputKind.USER_OUTPUT:
            raise tenfold.Unsupported(f'the module writes to {spec.target}: an engine only reads its weights and inputs')
    made = Conversion(program.graph, weights_of(program), program.graph_module)
    if made.failed:
        reported = sorted({f'{n.target}: {why}' for n, why in made.failed.items()})
        raise tenfold.Unsupported('no engine of the whole module can be had. ' + '; '.join(reported))
    inputs = list(made.inputs)
    for node in [n for n in inputs if not n.users]:
        made.network.remove_input(node.name)
        inputs.remove(node)
    if not inputs:
        raise tenfold.InvalidArgument('the module reads no tensor that is given to it')
    names = mark_outputs(program, made)
    fakes = [n.meta['val'] for n in inputs]
    try:
        build = for_build(Options(options), device_of(fakes))
        ranges = Ranges(fakes)
    except Refused as error:
        raise tenfold.Unsupported(str(error)) from None
    if profiles is not None:
        build['profiles'] = profiles
    elif ranges.symbols:
        build['profiles'] = ranges.profile([n.name for n in inputs], ranges.around(ranges.hints), ranges.hints)
    build['labels'] = {**build.get('labels', {}), 'torch.outputs': json.dumps(names), 'torch.call': call_of(program, inputs),
                       'torch.sizes': sizes_of(program, ranges)}
    made.network.remove_unused()
    return tenfold.build(made.network, **build)


def mark_outputs(program: torch.export.ExportedProgram, made: Conversion) -> list[str | None]:
    """Marks the results; their names, None for a result that is None."""
    names: list[str | None] = []
    for node in program.graph.output_node().args[0]:
        if node is None:
            names.append(None)
            continue
        if not isinstance(node, torch.fx.Node) or is_size(node):
            raise tenfold.Unsupported('a result that is no tensor')
        names.append(f'y{len(names)}')
        made.network.output(made.network.add('Identity', made.value(node)), names[-1])
    return names


def sizes_of(program: torch.export.ExportedProgram, ranges: Ranges) -> str:
    """Types and sizes of the results, from those of the inputs; empty: they have no such form."""
    places = ranges.written()
    fakes = [n.meta['val'] for n in program.graph.output_node().args[0] if n is not None]
    try:
        return json.dumps([{'dtype': NAMES[f.dtype], 'sizes': [_dims.written(expression(s), places) for s in f.shape]} for f in fakes])
    except ValueError:
        return ''


def call_of(program: torch.export.ExportedProgram, inputs: Sequence[torch.fx.Node]) -> str:
    """How arguments of the module become inputs, and outputs its results: for load()."""
    given = [s.arg.name for s in program.graph_signature.input_specs if s.kind == InputKind.USER_INPUT]
    places = [given.index(n.name) for n in inputs]
    try:
        shapes = [_pytree.treespec_dumps(spec) for spec in (program.call_spec.in_spec, program.call_spec.out_spec)]
    except NotImplementedError:                   # a class of results that torch cannot write down: load() gives a tuple
        shapes = []
    return json.dumps({'places': places, 'specs': shapes})


class LoadedModule(torch.nn.Module):
    """An engine that is called as the module was. It has no parameters and gives no gradients."""

    def __init__(self, engine: tenfold.Engine) -> None:
        super().__init__()
        self.engine = engine
        labels = engine.labels
        if 'torch.call' not in labels:
            raise tenfold.InvalidArgument('the plan was not made by tenfold.torch.export()')
        call = json.loads(labels['torch.call'])
        self._places, self._names = call['places'], json.loads(labels['torch.outputs'])
        self._specs = [_pytree.treespec_loads(s) for s in call['specs']]

    def outputs_of(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        found = self.engine(*(t.detach() for t in inputs))
        return list(found.values()) if isinstance(found, dict) else [found]

    def forward(self, *args: Any, **keywords: Any) -> Any:
        flat, spec = _pytree.tree_flatten((args, keywords))
        if self._specs and len(flat) != self._specs[0].num_leaves:
            raise tenfold.InvalidArgument(f'the module takes {self._specs[0].num_leaves} tensors, {len(flat)} are given')
        found = iter(self.outputs_of([flat[p] for p in self._places]))
        made = [None if n is None else next(found) for n in self._names]
        if self._specs:
            return _pytree.tree_unflatten(made, self._specs[1])
        return made[0] if len(made) == 1 else tuple(made)


def load(plan: Any, **options: Any) -> LoadedModule:
    """A plan of export() (a path, bytes, or the engine) as a module, which is called as the exported one was."""
    return LoadedModule(plan if isinstance(plan, tenfold.Engine) else tenfold.load(plan, **options))
