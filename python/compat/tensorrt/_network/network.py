"""INetworkDefinition: what a parser read, or what was added layer by layer."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenfold import _native
from tenfold._network import Network, Value
from tenfold.tensorrt._enums import NetworkDefinitionCreationFlag
from tenfold.tensorrt._logger import ILogger, say_once
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._network.add_plugins import AddPlugins
from tenfold.tensorrt._network.layer import ILayer
from tenfold.tensorrt._network.layer_at import MadeAt, ParsedNode, ResultTensor
from tenfold.tensorrt._network.marks import Marks
from tenfold.tensorrt._network.onnx_names import OnnxNames
from tenfold.tensorrt._network.tensor import ITensor
from tenfold.tensorrt._plugins.operators import on_host, operators
from tenfold.tensorrt._recorder import Recording


class INetworkDefinition(Marks, AddPlugins, Recording):
    has_implicit_batch_dimension = False

    @property
    def has_explicit_precision(self) -> bool:
        """Of 8.x: whether the flag was given."""
        return self.get_flag(NetworkDefinitionCreationFlag.EXPLICIT_PRECISION)

    def __init__(self, logger: ILogger, flags: int, builder: Any) -> None:
        self._logger, self._creation_flags, self._name, self._builder = logger, flags, '', builder
        self._graph = Network(data=_native.NetworkData('network', operators(on_host())))
        self._made: Any = None                             # layers that were added one by one, behind those that were parsed
        self._parsed = 0
        self._nodes: list[Any] | None = None               # of what was parsed, until something is changed there
        self._regions: list[Any] = []                      # loops and branches
        self._plugins: dict[int, Any] = {}                 # of layers, by their number
        self._types: dict[Any, tuple[ITensor, Any]] = {}   # of inputs and outputs, where the caller has others than the model
        self._fixed: dict[Any, tuple[int, ...]] = {}       # shapes of inputs, as the caller has set them
        self._metadata: dict[Any, str] = {}                # of layers
        self._notes: dict[tuple[Any, str], Any] = {}       # fields of layers that change nothing
        self._ranges: dict[Any, tuple[ITensor, tuple[float, float]]] = {}   # of tensors, as the caller has set them
        self._onnx_names = OnnxNames()
        self._precisions: dict[Any, Any] = {}              # of layers, with the layers
        self._output_types: dict[tuple[Any, int], Any] = {}
        self._marked_debug: list[ITensor] = []
        self._unfused = False
        self._weight_names: list[tuple[Any, str]] = []     # arrays, and the names by which they are to be refitted

    @property
    def builder(self) -> Any: return self._builder

    @property
    def flags(self) -> int: return self._creation_flags

    def get_flag(self, flag: NetworkDefinitionCreationFlag) -> bool:
        return bool(self._creation_flags >> int(NetworkDefinitionCreationFlag(flag)) & 1)

    @property
    def name(self) -> str: return self._name

    @name.setter
    def name(self, name: str) -> None: self._name = str(name)

    @property
    def num_inputs(self) -> int: return len(self._graph.inputs)
    @property
    def num_outputs(self) -> int: return len(self._outputs())
    def get_input(self, index: int) -> ITensor: return ITensor(self, self._at(self._graph.inputs, index, 'input'))
    def get_output(self, index: int) -> ITensor: return self._at(self._outputs(), index, 'output')

    def mark_output(self, tensor: ITensor) -> None:
        if tensor.is_network_output:
            return
        self._nodes = None
        if isinstance(tensor, ResultTensor):
            self._made.mark_output(tensor._operand(), tensor.name)
        else:
            self._graph.output(tensor._value, tensor.name)

    def unmark_output(self, tensor: ITensor) -> None:
        if not tensor.is_network_output:
            raise ValueError(f"'{tensor.name}' is no output of the network")
        self._nodes = None
        (self._graph.remove_output if self._made is None else self._made.unmark_output)(tensor.name)

    @property
    def num_layers(self) -> int: return len(self._parsed_nodes()) + (self._made.count() if self._made else 0)

    def get_layer(self, index: int) -> ILayer:
        """Those that were parsed, then those that were added. `layer.__class__ = trt.IConvolutionLayer` shows what only such have."""
        nodes, count = self._parsed_nodes(), self.num_layers
        number = index + count if index < 0 else index
        if not 0 <= number < count:
            raise IndexError(f'there is no layer {index}: the network has {count}')
        return ILayer(self, ParsedNode(self, nodes[number]) if number < len(nodes) else MadeAt(self, number - len(nodes)))

    def __len__(self) -> int: return self.num_layers
    def __bool__(self) -> bool: return True
    def __getitem__(self, index: int) -> ILayer: return self.get_layer(index)
    def __iter__(self) -> Iterator[ILayer]: return (self.get_layer(i) for i in range(self.num_layers))

    @staticmethod
    def _at(items: list[Any], index: int, what: str) -> Any:
        if not -len(items) <= index < len(items):
            raise IndexError(f'there is no {what} {index}: the network has {len(items)}')
        return items[index]

    def __getattr__(self, name: str) -> Any:
        if name.startswith('add_'):
            self._refuse_layer(name)
        return super().__getattr__(name)

    # For the parser and the builder.

    def _inputs(self) -> list[ITensor]: return [ITensor(self, value) for value in self._graph.inputs]

    def _outputs(self) -> list[ITensor]:
        self._finalize()
        return [self._of_value(value) for value in self._graph.outputs]

    # Layers that were added one by one.

    def _layers_made(self) -> Any:
        if self._made is None:
            self._made, self._parsed, self._nodes = _native.Layers(self._graph._data), len(self._graph.nodes), None
        return self._made

    def _take(self, graph: Network, model: Any) -> None:
        """What a parser read: of a path, or of bytes."""
        self._graph, self._nodes, self._onnx_names = graph, None, OnnxNames(model, graph)

    def _parsed_nodes(self) -> list[Any]:
        if self._nodes is None:
            self._nodes = self._graph.nodes[:self._parsed] if self._made else self._graph.nodes
        return self._nodes

    def _note(self, layer: Any, name: str, value: Any, why: str) -> None:
        """A field of a layer that has no effect, which is said once."""
        say_once(self._logger, f'{name} = {value} of a layer has no effect in Tenfold: {why}')
        self._notes[layer, name] = value

    def _finalize(self) -> None:
        if self._made:
            self._made.finalize()

    def _of_operand(self, operand: Any) -> ITensor | None:
        if operand is None:
            return None
        return ResultTensor(self, *operand) if isinstance(operand, tuple) else ITensor(self, Value(self._graph, operand))

    def _of_value(self, value: Value) -> ITensor:
        for layer in range(self._made.count() if self._made else 0):
            for result in range(self._made.results(layer)):
                if self._made.result(layer, result).key == value.ref.key:
                    return ResultTensor(self, layer, result)
        return ITensor(self, value)

    def _set_shape(self, tensor: ITensor, shape: tuple[int, ...]) -> None:
        dims = tensor._value.dims
        if len(shape) != len(dims) or any(isinstance(d, int) and d != s for d, s in zip(dims, shape)):
            raise refused(f"shape = {shape} of '{tensor.name}'", f'the model has {dims}, where only extents with a name can be set')
        self._fixed[tensor._value] = shape
