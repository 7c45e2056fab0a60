"""IAttention: query, key and value, what is done to their products, and a mask."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._enums import DataType
from tenfold.tensorrt._layer_enums import AttentionNormalizationOp
from tenfold.tensorrt._names import Named, refused
from tenfold.tensorrt._tensor import ITensor

_MASK, _SCALE = 3, 4   # numbers of operands


class IAttention(Named):
    """Of [batch, heads, places, size]; products of query and key are not scaled."""

    def __init__(self, layer: Any) -> None: self._layer = layer

    def _option(self, name: str) -> Any: return self._layer._made.option(self._layer._number, name)
    def _set(self, name: str, value: Any) -> None: self._layer._made.set(self._layer._number, name, value)

    @property
    def name(self) -> str: return str(self._layer.name)

    @name.setter
    def name(self, name: str) -> None: self._layer.name = name

    @property
    def metadata(self) -> str: return str(self._layer.metadata)

    @metadata.setter
    def metadata(self, text: str) -> None: self._layer.metadata = text

    @property
    def num_inputs(self) -> int: return sum(tensor is not None for tensor in map(self.get_input, range(5)))
    @property
    def num_outputs(self) -> int: return 1
    def get_input(self, index: int) -> ITensor | None: return self._layer.get_input(index)   # type: ignore[no-any-return]
    def get_output(self, index: int) -> ITensor | None: return self._layer.get_output(index) if index == 0 else None

    def set_input(self, index: int, tensor: ITensor) -> bool:
        """0 to 2: query, key, value; 3: the mask; 4: the scale of the quantised weights."""
        self._layer.set_input(index, tensor)
        return True

    @property
    def norm_op(self) -> AttentionNormalizationOp: return AttentionNormalizationOp[self._option('norm_op')]

    @norm_op.setter
    def norm_op(self, op: AttentionNormalizationOp) -> None: self._set('norm_op', AttentionNormalizationOp(op).name)

    @property
    def causal(self) -> bool:
        """Place i sees the places up to i."""
        return bool(self._option('causal'))

    @causal.setter
    def causal(self, causal: bool) -> None: self._set('causal', int(bool(causal)))

    @property
    def decomposable(self) -> bool:
        """Whether several kernels may compute it; they always may, where no fused one can."""
        return bool(self._option('decomposable'))

    @decomposable.setter
    def decomposable(self, decomposable: bool) -> None: self._set('decomposable', int(bool(decomposable)))

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
    def normalization_quantize_to_type(self) -> DataType:
        """FP8 or INT8, where there is a scale."""
        return DataType[self._option('normalization_quantize_to_type')]

    @normalization_quantize_to_type.setter
    def normalization_quantize_to_type(self, kind: DataType) -> None: self._set('normalization_quantize_to_type', DataType(kind).name)

    @property
    def num_ranks(self) -> int: return 1

    @num_ranks.setter
    def num_ranks(self, count: int) -> None:
        if count != 1:
            raise refused(f"num_ranks = {count} of '{self.name}'", 'a run uses one device: there are no collectives')
