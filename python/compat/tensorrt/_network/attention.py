"""IAttention: query, key and value, what is done to their products, and a mask."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._names import Named, refused
from tenfold.tensorrt._network.tensor import ITensor

_MASK, _SCALE = 3, 4   # numbers of operands


def _of_layer(name: str, reported: str) -> property:
    """An option of the layer that stands for the attention."""
    def get(self: IAttention) -> Any: return getattr(self._layer, name)
    def put(self: IAttention, value: Any) -> None: setattr(self._layer, name, value)
    return property(get, put, doc=reported)


class IAttention(Named):
    """Of [batch, heads, places, size]; products of query and key are not scaled."""

    name, metadata = _of_layer('name', 'In messages.'), _of_layer('metadata', 'What the script notes of it.')
    norm_op = _of_layer('norm_op', 'An AttentionNormalizationOp.')
    causal = _of_layer('causal', 'Place i sees the places up to i.')
    decomposable = _of_layer('decomposable', 'Whether several kernels may compute it; they always may, where no fused one can.')
    normalization_quantize_to_type = _of_layer('normalization_quantize_to_type', 'FP8 or INT8, where there is a scale.')

    def __init__(self, layer: Any) -> None: self._layer = layer

    @property
    def num_inputs(self) -> int: return sum(tensor is not None for tensor in map(self.get_input, range(5)))
    @property
    def num_outputs(self) -> int: return 1
    def get_input(self, index: int) -> ITensor | None: return self._layer.get_input(index)   # type: ignore[no-any-return]
    def get_output(self, index: int) -> ITensor | None: return self._layer.get_output(index) if index == 0 else None

    def set_input(self, index: int, tensor: ITensor) -> bool:
        """0 to 2: query, key, value; 3: the mask; 4: the scale of the quantized weights."""
        self._layer.set_input(index, tensor)
        return True

    @property
    def mask(self) -> ITensor | None:
        """Booleans that keep, or numbers that are added."""
        return self.get_input(_MASK)

    @mask.setter
    def mask(self, mask: ITensor) -> None: self.set_input(_MASK, mask)

    @property
    def normalization_quantize_scale(self) -> ITensor | None: return self.get_input(_SCALE)

    @normalization_quantize_scale.setter
    def normalization_quantize_scale(self, scale: ITensor) -> None: self.set_input(_SCALE, scale)

    @property
    def num_ranks(self) -> int: return 1

    @num_ranks.setter
    def num_ranks(self, count: int) -> None:
        if count != 1:
            raise refused(f"num_ranks = {count} of '{self.name}'", 'a run uses one device: there are no collectives')
