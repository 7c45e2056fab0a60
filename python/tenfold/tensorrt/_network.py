"""INetworkDefinition: what a parser read, its tensors and layers."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenfold._network import Network
from tenfold.tensorrt._enums import NetworkDefinitionCreationFlag
from tenfold.tensorrt._layer import ILayer
from tenfold.tensorrt._logger import ILogger
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._recorder import Recording
from tenfold.tensorrt._tensor import ITensor


class INetworkDefinition(Recording):
    has_implicit_batch_dimension = False

    def __init__(self, logger: ILogger, flags: int) -> None:
        self._logger, self._creation_flags, self._name = logger, flags, ''
        self._graph = Network()
        self._types: dict[Any, Any] = {}                   # of inputs and outputs, where the caller has others than the model
        self._fixed: dict[Any, tuple[int, ...]] = {}       # shapes of inputs, as the caller has set them

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
    def num_outputs(self) -> int: return len(self._graph.outputs)
    def get_input(self, index: int) -> ITensor: return ITensor(self, self._at(self._graph.inputs, index, 'input'))
    def get_output(self, index: int) -> ITensor: return ITensor(self, self._at(self._graph.outputs, index, 'output'))

    def mark_output(self, tensor: ITensor) -> None:
        if tensor.is_network_output:
            return
        self._graph.output(tensor._value, tensor.name)

    def unmark_output(self, tensor: ITensor) -> None:
        if not tensor.is_network_output:
            raise ValueError(f"'{tensor.name}' is no output of the network")
        self._graph.remove_output(tensor.name)

    @property
    def num_layers(self) -> int: return len(self._graph.nodes)
    def get_layer(self, index: int) -> ILayer: return ILayer(self, self._at(self._graph.nodes, index, 'layer'))
    def __len__(self) -> int: return self.num_layers
    def __bool__(self) -> bool: return True
    def __getitem__(self, index: int) -> ILayer: return self.get_layer(index)
    def __iter__(self) -> Iterator[ILayer]: return (ILayer(self, node) for node in self._graph.nodes)

    @staticmethod
    def _at(items: list[Any], index: int, what: str) -> Any:
        if not -len(items) <= index < len(items):
            raise IndexError(f'there is no {what} {index}: the network has {len(items)}')
        return items[index]

    def __getattr__(self, name: str) -> Any:
        if name.startswith('add_'):
            raise AttributeError(f'{name}(): tenfold.tensorrt adds no layers one by one yet; tenfold.Network does (docs/python.md)')
        return super().__getattr__(name)

    # For the parser and the builder.

    def _inputs(self) -> list[ITensor]: return [ITensor(self, value) for value in self._graph.inputs]
    def _outputs(self) -> list[ITensor]: return [ITensor(self, value) for value in self._graph.outputs]

    def _set_shape(self, tensor: ITensor, shape: tuple[int, ...]) -> None:
        dims = tensor._value.dims
        if len(shape) != len(dims) or any(isinstance(d, int) and d != s for d, s in zip(dims, shape)):
            raise refused(f"shape = {shape} of '{tensor.name}'", f'the model has {dims}, where only extents with a name can be set')
        self._fixed[tensor._value] = shape
