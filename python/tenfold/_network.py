"""Network: a model made in code, or read from ONNX, walked and edited. Operators are methods, by ONNX's names."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tenfold import _bodies, _native
from tenfold._registry import known_plugins, put_plugins


class Value:
    """A tensor of a network. Arithmetic adds nodes: x + 1, x @ w, -x; in the function of a body, to that body."""

    __slots__ = ('network', 'ref')

    def __init__(self, network: Network, ref: _native.TensorRef) -> None:
        self.network, self.ref = network, ref

    @property
    def name(self) -> str:
        return self.network._data.name(self.ref)

    @name.setter
    def name(self, name: str) -> None:
        self.network._data.rename(self.ref, name)

    @property
    def dtype(self) -> str:
        return self.network._data.dtype(self.ref)

    @property
    def dims(self) -> tuple[int | str, ...]:
        return self.network._data.dims(self.ref)

    @property
    def value(self) -> Any:
        """A constant's, as an array; None: it is none."""
        return self.network._data.constant_value(self.ref)

    @value.setter
    def value(self, array: Any) -> None:
        self.network._data.set_constant(self.ref, array)

    @property
    def producer(self) -> Node | None:
        ref = self.network._data.producer(self.ref)
        return Node(self.network, ref) if ref.defined else None

    @property
    def users(self) -> list[Node]:
        return [Node(self.network, ref) for ref in self.network._data.users(self.ref)]

    def replace(self, by: Value) -> None:
        """In all that reads it."""
        self.network._data.replace(self.ref, by.ref)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and self.ref.key == other.ref.key

    def __hash__(self) -> int:
        return hash(self.ref.key)

    def __repr__(self) -> str:
        return f'<{self.name or "value"}: {self.network._data.describe(self.ref)}>'

    def _with(self, op: str, other: Any, swapped: bool = False) -> Any:
        network = self.network._innermost()
        other = network._value(other, like=self)
        return network.add(op, *((other, self) if swapped else (self, other)))

    def __add__(self, other: Any) -> Any: return self._with('Add', other)
    def __radd__(self, other: Any) -> Any: return self._with('Add', other, True)
    def __sub__(self, other: Any) -> Any: return self._with('Sub', other)
    def __rsub__(self, other: Any) -> Any: return self._with('Sub', other, True)
    def __mul__(self, other: Any) -> Any: return self._with('Mul', other)
    def __rmul__(self, other: Any) -> Any: return self._with('Mul', other, True)
    def __truediv__(self, other: Any) -> Any: return self._with('Div', other)
    def __rtruediv__(self, other: Any) -> Any: return self._with('Div', other, True)
    def __matmul__(self, other: Any) -> Any: return self._with('MatMul', other)
    def __neg__(self) -> Any: return self.network._innermost().add('Neg', self)


class Node:
    """A node of a network."""

    __slots__ = ('network', 'ref')

    def __init__(self, network: Network, ref: _native.NodeRef) -> None:
        self.network, self.ref = network, ref

    def _info(self) -> Any:
        return self.network._data.node(self.ref)

    @property
    def name(self) -> str: return self._info()[0]

    @name.setter
    def name(self, name: str) -> None: self.network._data.rename_node(self.ref, name)

    @property
    def op(self) -> str: return self._info()[1]

    @property
    def domain(self) -> str: return self._info()[2]

    @property
    def inputs(self) -> list[Value | None]: return [self.network._wrap(ref) for ref in self._info()[3]]

    @property
    def outputs(self) -> list[Value | None]: return [self.network._wrap(ref) for ref in self._info()[4]]

    @property
    def attributes(self) -> dict[str, Any]: return self._info()[5]

    @property
    def bodies(self) -> list[Network]:
        """Of an If (then, else), Loop or Scan: copies, to be walked."""
        return [Network(data=self.network._data.body(self.ref, i)) for i in range(self._info()[6])]

    def set(self, name: str, value: Any) -> None:
        """An attribute; None removes it."""
        if value is None:
            self.network._data.remove_attribute(self.ref, name)
        else:
            self.network._data.set_attribute(self.ref, name, value)

    def set_input(self, index: int, value: Value) -> None: self.network._data.set_input(self.ref, index, value.ref)
    def remove(self) -> None: self.network._data.remove(self.ref)

    def __eq__(self, other: object) -> bool: return isinstance(other, Node) and self.ref.key == other.ref.key
    def __hash__(self) -> int: return hash(self.ref.key)
    def __repr__(self) -> str: return f'<node {self.name!r} ({self.op})>'


class Network:
    """A graph of ONNX operators at their newest opset, for build().

        net = tenfold.Network()
        x = net.input("x", "f32", ["batch", 4])
        net.output(net.Relu(x @ w), "y")            # w: an array, which becomes a constant

    net.Conv(x, w, b, strides=[2, 2]) adds any operator by its name: values and arrays are operands, None one that is left out, keywords are
    ONNX's attributes; `outputs`, `name` and `domain` are not. One thread at a time.
    """

    def __init__(self, name: str = 'network', data: Any = None) -> None:
        self._data = _native.NetworkData(name, known_plugins()) if data is None else data
        self._open: Network | None = None   # the body whose function runs

    @staticmethod
    def read(model: Any, **options: Any) -> Network:
        """The graph of an ONNX model: a path, bytes or an onnx.ModelProto. Keywords as for build()."""
        from tenfold._build import _model
        return Network(data=_native.NetworkData.read(_model(model), put_plugins(dict(options))))

    def _wrap(self, ref: _native.TensorRef) -> Value | None:
        return Value(self, ref) if ref.defined else None

    def _value(self, given: Any, like: Value | None = None) -> Value:
        if isinstance(given, Value):
            return given
        if like is not None and isinstance(given, (int, float)):   # a number has the type of what it meets
            import numpy as np
            given = np.asarray(given, _numpy_type(like.dtype))
        return self.constant(given)

    def input(self, name: str, dtype: Any, dims: Sequence[int | str]) -> Value:
        """`dims`: extents, or names for those that a profile decides."""
        return Value(self, self._data.input(name, dtype, dims))

    def constant(self, array: Any, name: str = '') -> Value:
        """A named one is a weight. The array is not copied: leave it alone until the build is over."""
        return Value(self, self._data.constant(array, name))

    def add(self, op: str, *operands: Any, outputs: int = 1, name: str = '', domain: str = '', **attributes: Any) -> Any:
        """A node; its result, or a list of them where `outputs` is not 1."""
        like = next((o for o in operands if isinstance(o, Value)), None)
        refs = [_native.TensorRef() if o is None else self._value(o, like).ref for o in operands]
        made = self._data.add(op, refs, attributes, outputs, name, domain)
        return Value(self, made[0]) if outputs == 1 else [Value(self, ref) for ref in made]

    def If(self, condition: Any, then: Callable[[Network], Any], otherwise: Callable[[Network], Any]) -> Any:
        """What `then` or `otherwise` returns, by `condition`, a boolean scalar.

        A body is a function of a network, to which it adds nodes. It may use all values around it, and returns a value
        or a tuple of them, equally many and of the types that the other one returns. One result, or a list of them.
        """
        return _bodies.branch(self, condition, then, otherwise)

    def Loop(self, count: Any, condition: Any, initial: Any, body: Callable[..., Any]) -> Any:
        """`body`(network, i, go_on, *carried) returns (go_on, *carried, *collected), round after round.

        There are at most `count` rounds (None: no limit), and as long as go_on holds, which begins as `condition` (None:
        True). `initial`, a value or a list, is carried into the first. Results: what was carried last, then what was
        collected, stacked along a new first axis. The function is called again where shapes vary from round to round.
        """
        return _bodies.loop(self, count, condition, initial, body)

    def Scan(self, initial: Any, sequences: Any, body: Callable[..., Any], **attributes: Any) -> Any:
        """`body`(network, *states, *slices) returns (*states, *collected), once for each slice of the sequences.

        Results: the last states, then what was collected, stacked. Attributes: scan_input_axes, scan_output_axes (0),
        scan_input_directions, scan_output_directions (1: from the back).
        """
        return _bodies.scan(self, initial, sequences, body, attributes)

    def _innermost(self) -> Network:
        network = self
        while network._open is not None:
            network = network._open
        return network

    def __getattr__(self, op: str) -> Callable[..., Any]:
        if not op[:1].isupper():
            raise AttributeError(f'a Network has no attribute {op!r}; operators begin with a capital, as in ONNX')
        return lambda *operands, **keywords: self.add(op, *operands, **keywords)

    def output(self, value: Value, name: str) -> None:
        self._data.mark_output(value.ref, name)

    @property
    def inputs(self) -> list[Value]: return [Value(self, ref) for ref in self._data.inputs()]

    @property
    def outputs(self) -> list[Value]: return [Value(self, ref) for ref in self._data.outputs()]

    @property
    def nodes(self) -> list[Node]:
        """In topological order: each after those that it reads."""
        return [Node(self, ref) for ref in self._data.nodes()]

    def __iter__(self) -> Iterator[Node]: return iter(self.nodes)

    def __getitem__(self, name: str) -> Value:
        ref = self._data.find(name)
        if not ref.defined:
            raise KeyError(name)
        return Value(self, ref)

    def remove_output(self, name: str) -> None: self._data.remove_output(name)
    def remove_input(self, name: str) -> None: self._data.remove_input(name)
    def remove_unused(self) -> int: return self._data.remove_unused()
    def __str__(self) -> str: return self._data.text()


def _numpy_type(dtype: str) -> str:
    return _native.numpy_name(dtype)
