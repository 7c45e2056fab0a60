"""ILayer: a layer of a network, as get_layer() and iteration give it. `layer.__class__ = trt.IConvolutionLayer` shows its options, too."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._enums import DataType
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._network.layer_at import MadeAt, ParsedNode, type_of_kind
from tenfold.tensorrt._network.layer_precisions import Precisions
from tenfold.tensorrt._network.tensor import ITensor


class ILayer(Precisions):
    """`op` is ONNX's name of what a parsed layer computes, and the kind of one that was added."""

    _kind = ''   # of those classes that have options
    # On the class, too: tools list what a layer has beyond ILayer.
    _network: Any = None
    _at: ParsedNode | MadeAt = None   # type: ignore[assignment]

    @property
    def _made(self) -> Any: return self._network._made
    @property
    def _number(self) -> int: return self._at.number   # type: ignore[union-attr]

    def __init__(self, network: Any, at: ParsedNode | MadeAt) -> None:
        self._network, self._at = network, at

    def __setattr__(self, name: str, value: Any) -> None:
        if name == '__class__':
            self._check_class(value)
        super().__setattr__(name, value)

    def _check_class(self, requested: Any) -> None:
        """A cast to what the layer is; TensorRT reads other memory there, and here a wrong one is refused."""
        if not (isinstance(requested, type) and issubclass(requested, ILayer)):
            raise TypeError(f"the class of layer '{self.name}' can be ILayer or one that derives from it, got {requested!r}")
        if requested._kind and type_of_kind(requested._kind) != self._at.type:
            raise TypeError(f"layer '{self.name}' is no {requested.__name__}: its type is {self._at.type}")

    @property
    def name(self) -> str: return self._at.name

    @name.setter
    def name(self, name: str) -> None: self._at.rename(name)

    @property
    def op(self) -> str: return self._at.op

    @property
    def type(self) -> Any:
        """The LayerType of what the operator is in TensorRT; of what is there several layers, the last one's."""
        return self._at.type

    @property
    def metadata(self) -> str:
        """What the script notes of it; plans do not keep it."""
        return str(self._network._metadata.get(self._key(), ''))

    @metadata.setter
    def metadata(self, text: str) -> None: self._network._metadata[self._key()] = str(text)

    def _key(self) -> Any: return self._at.key
    def _is_boundary(self) -> bool: return self._at.is_boundary

    @property
    def num_ranks(self) -> int: return 1

    @num_ranks.setter
    def num_ranks(self, count: int) -> None:
        if count != 1:
            raise refused(f"num_ranks = {count} of layer '{self.name}'", 'a run uses one device: there are no collectives')

    @property
    def num_inputs(self) -> int: return self._at.num_inputs
    @property
    def num_outputs(self) -> int: return self._at.num_outputs
    def get_input(self, index: int) -> ITensor | None: return self._at.get_input(index)
    def set_input(self, index: int, tensor: ITensor) -> None: self._at.set_input(index, tensor)

    def get_output(self, index: int) -> ITensor | None:
        """None: there is none."""
        return self._at.get_output(index)

    # A layer that casts has the type of its output as an option, which is no request but what it computes.

    def _cast_note(self) -> tuple[Any, str]: return self._key(), 'to_type'

    def set_output_type(self, index: int, dtype: Any) -> None:
        """Of a layer that casts: the type that it casts to."""
        if not self._at.casts(index):
            return super().set_output_type(index, dtype)
        self._network._notes.setdefault(self._cast_note(), self._at.option(self._kind, 'to_type'))
        self._at.set_option('to_type', DataType(dtype).name)

    def output_type_is_set(self, index: int) -> bool:
        return self._cast_note() in self._network._notes if self._at.casts(index) else super().output_type_is_set(index)

    def get_output_type(self, index: int) -> DataType | None:
        output = self.get_output(index) if self._at.casts(index) else None
        return super().get_output_type(index) if output is None else output.dtype

    def reset_output_type(self, index: int) -> None:
        if not self._at.casts(index):
            super().reset_output_type(index)
        elif self.output_type_is_set(index):
            self._at.set_option('to_type', self._network._notes.pop(self._cast_note()))

    def __repr__(self) -> str: return f'<{type(self).__name__} {self.name!r} ({self.op})>'
