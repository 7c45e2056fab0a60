"""A graph of ATen operators as a Network: each operator by its function of aten/, symbolic sizes as dims."""
from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import tenfold
import torch
from tenfold._network import Network, Value
from tenfold.torch._call import Call, Refused, type_name
from tenfold.torch._sizes import Extents, expression
from tenfold.torch.aten import OPERATORS

RANDOM = torch.Tag.nondeterministic_seeded
UNFORESEEN = 'an unforeseen'
ATEN = torch.ops.aten
# What checks what torch knows of types, or a size that the data decides, which no engine takes for granted; it gives nothing.
CHECKS = (ATEN._assert_tensor_metadata.default, ATEN._assert_scalar.default, ATEN.sym_constrain_range.default,
          ATEN.sym_constrain_range_for_size.default)


class Conversion:
    """What became of a graph. `failed` says of operators why torch computes them; the network is whole where there are none."""

    def __init__(self, graph: torch.fx.Graph, weights: Mapping[torch.fx.Node, torch.Tensor], attributes: Any = None) -> None:
        self.network = Network('torch')
        self.extents = Extents(self.network)
        self.inputs: dict[torch.fx.Node, Value] = {}       # in the order of the network's inputs
        self.weights: dict[torch.fx.Node, Value] = {}
        self.failed: dict[torch.fx.Node, str] = {}
        self._values: dict[torch.fx.Node, Any] = {}
        self._attributes = attributes
        self.device = main_device(graph)
        for node in graph.nodes:
            if node.op == 'placeholder' and node in weights and weights[node].device == self.device:
                self._values[node] = self.weights[node] = self.network.constant(host(weights[node]), node.name)
            elif node.op == 'placeholder':
                self._take(node)
            elif node.op == 'get_attr':
                self._keep(node)
            elif node.op == 'call_function':
                self._try(node)

    def value(self, node: torch.fx.Node) -> Any:
        return self._values.get(node)

    def _take(self, node: torch.fx.Node) -> None:
        """A value from outside, an input of the network."""
        fake = node.meta.get('val')
        if not isinstance(fake, torch.Tensor) or fake.device != self.device:
            return
        try:
            dims = [int(e) if (e := expression(s)).is_number else str(e) if e.is_Symbol else f'{node.name}_{axis}'
                    for axis, s in enumerate(fake.shape)]
            value = self.network.input(node.name, type_name(fake.dtype), dims)
        except Refused:
            return                                             # who reads it is refused
        self.inputs[node] = self._values[node] = value
        self.extents.add_input(value, fake)

    def _keep(self, node: torch.fx.Node) -> None:
        found = self._attributes
        for part in str(node.target).split('.'):
            found = getattr(found, part, None)
        if isinstance(found, torch.Tensor) and not is_fake(found):
            try:
                type_name(found.dtype)
            except Refused:
                return
            self._values[node] = self.network.constant(host(found))

    def _try(self, node: torch.fx.Node) -> None:
        if is_size(node) or node.target in CHECKS:
            return
        if node.target is operator.getitem:
            whole = self._values.get(node.args[0])
            if whole is None:
                self._fail(node, 'a part of what torch computes')
            else:
                self._values[node] = whole[node.args[1]]
            return
        try:
            self._values[node] = self._called(node)
        except (Refused, tenfold.Error) as error:
            self._fail(node, str(error))
        except Exception as error:                # a fault of ours must not cost the user his module
            self._fail(node, f'{UNFORESEEN} {type(error).__name__}: {error}')

    def _fail(self, node: torch.fx.Node, why: str) -> None:
        self.failed[node] = why
        self._take(node)

    def _called(self, node: torch.fx.Node) -> Any:
        function = OPERATORS.get(str(node.target))
        if RANDOM in getattr(node.target, 'tags', ()) and 'dropout' not in str(node.target):
            raise Refused('a random operator')
        if function is None:
            raise Refused('no function for it')
        for fake in flat(node.meta.get('val')):
            if fake.device != self.device:
                raise Refused(f'a result on {fake.device}, where the graph is on {self.device}')
        call = Call(self.network, node, self.extents)
        made = checked(function(call, *(self._argument(a) for a in positional(node))), node)
        self.extents.add_result(made, node.meta['val'])
        return made

    def _argument(self, given: Any) -> Any:
        if isinstance(given, (list, tuple)):
            return [self._argument(g) for g in given]
        if not isinstance(given, torch.fx.Node):
            return given
        fake = given.meta.get('val')
        if isinstance(fake, torch.Tensor) or given.op == 'get_attr':
            if self._values.get(given) is None:
                raise Refused(f'an operand of the type {str(fake.dtype).removeprefix("torch.")} on {fake.device}' if fake is not None
                              else 'its operand')
            return self._values[given]
        return fake


def flat(value: Any) -> list[torch.Tensor]:
    return [value] if isinstance(value, torch.Tensor) else [t for v in value for t in flat(v)] if isinstance(value, (list, tuple)) else []


def main_device(graph: torch.fx.Graph) -> torch.device:
    """That of the inputs: a GPU, where one of them lies there."""
    given = [n.meta['val'].device for n in graph.nodes if n.op == 'placeholder' and isinstance(n.meta.get('val'), torch.Tensor)]
    return next((d for d in given if d.type not in ('cpu', 'meta')), torch.device('cpu'))


def is_size(node: torch.fx.Node) -> bool:
    """A symbolic number, which needs no node of a network."""
    return isinstance(node.meta.get('val'), (int, float, bool, torch.SymInt, torch.SymFloat, torch.SymBool))


def is_fake(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, torch._subclasses.FakeTensor)


def host(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, where it lies if that is the host's memory."""
    return tensor.detach().to('cpu').contiguous()


def positional(node: torch.fx.Node) -> list[Any]:
    """All arguments in the order of the schema, up to the last one that is given."""
    schema = node.target._schema.arguments
    last = max([len(node.args), *(i + 1 for i, a in enumerate(schema) if a.name in node.kwargs)])
    return [node.args[i] if i < len(node.args) else node.kwargs.get(a.name, a.default_value) for i, a in enumerate(schema[:last])]


def checked(made: Any, node: torch.fx.Node) -> Any:
    """The value, of which type and rank are those that torch foresees."""
    expected = node.meta['val']
    if isinstance(expected, (list, tuple)):
        made = list(made)
        if len(made) != len(expected):
            raise Refused(f'{len(made)} results, {len(expected)} were expected')
        return [m if m is None else one_checked(m, e) for m, e in zip(made, expected, strict=True)]
    return one_checked(made, expected)


def one_checked(value: Value, fake: torch.Tensor) -> Value:
    dims = value.dims
    wrong = len(dims) != fake.dim() or any(isinstance(d, int) and isinstance(s, int) and d != s
                                           for d, s in zip(dims, fake.shape, strict=False))
    if wrong or value.dtype != type_name(fake.dtype):
        raise Refused(f'a result {value.dtype}{list(dims)}, torch has {fake.dtype}{list(fake.shape)}')
    return value
